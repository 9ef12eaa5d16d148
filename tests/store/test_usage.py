"""What calls cost."""

from gateway.records import Usage, UsageDay
from gateway.store import usage
from gateway.store.db import Database
from tests.store import given
from tests.store.given import NINE


def test_calls_are_summed_by_day_and_task(db: Database) -> None:
    """A review's tokens must not hide among the chat's."""
    with db.write() as tx:
        for at, task in (
            (NINE, "chat"),
            (NINE, "chat"),
            (NINE, "background_review"),
            (given.after(days=1), "chat"),
        ):
            usage.add(tx, Usage(task, "s", 1, "offline", 100, 10, 60, at))

        assert usage.by_day(tx, NINE) == [
            UsageDay("2026-12-01", "chat", 1, 100, 10, 60),
            UsageDay("2026-11-30", "background_review", 1, 100, 10, 60),
            UsageDay("2026-11-30", "chat", 2, 200, 20, 120),
        ]
        assert usage.spent(tx, "chat", given.after(hours=1)) == 110
        assert usage.spent(tx, "tidy", NINE) == 0
