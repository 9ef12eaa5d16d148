"""What calls cost: by day as people's calendars have it, by session, by task."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from gateway.memory import dailytokens
from gateway.records import Usage, UsageDay, UsageSum
from gateway.settings import Settings
from gateway.store import usage
from gateway.store.db import Database
from gateway.store.transaction import Transaction
from tests.store import given
from tests.store.given import NINE

OSLO = ZoneInfo("Europe/Oslo")


def call(tx: Transaction, at: datetime, task: str = "chat", session: str = "s", space: int = 1) -> None:
    usage.add(tx, Usage(task, session, space, "offline", 100, 10, 60, at))


def test_calls_are_summed_by_day_and_task(db: Database) -> None:
    """A review's tokens must not hide among the chat's."""
    with db.write() as tx:
        for at, task in (
            (NINE, "chat"),
            (NINE, "chat"),
            (NINE, "background_review"),
            (given.after(days=1), "chat"),
        ):
            call(tx, at, task)

        assert usage.by_day(tx, date(2026, 12, 1), 3, OSLO) == [
            UsageDay("2026-12-01", "chat", 1, 100, 10, 60),
            UsageDay("2026-11-30", "background_review", 1, 100, 10, 60),
            UsageDay("2026-11-30", "chat", 2, 200, 20, 120),
        ]
        assert usage.by_day(tx, date(2026, 12, 1), 1, OSLO) == [UsageDay("2026-12-01", "chat", 1, 100, 10, 60)]


@pytest.mark.parametrize(
    ("day", "hours"), [(date(2026, 3, 29), 23), (date(2026, 10, 25), 25), (date(2026, 7, 1), 24)]
)
def test_a_day_has_as_many_hours_as_the_clock_on_the_wall_gives_it(db: Database, day: date, hours: int) -> None:
    """One call an hour, over both changes of the clock: none counts twice, none is lost."""
    begins = datetime(day.year, day.month, day.day, tzinfo=OSLO).astimezone(UTC) - timedelta(days=1)
    with db.write() as tx:
        for hour in range(80):
            call(tx, begins + timedelta(hours=hour))

        (found,) = usage.by_day(tx, day, 1, OSLO)
        assert (found.day, found.calls) == (day.isoformat(), hours)
        assert sum(each.calls for each in usage.by_day(tx, day + timedelta(days=5), 10, OSLO)) == 80


def test_calls_are_summed_by_session_and_by_space(db: Database) -> None:
    """What one conversation cost, and what one person did."""
    with db.write() as tx:
        call(tx, NINE, session="one")
        call(tx, NINE, "background_review", session="one", space=2)
        call(tx, NINE, session="two")

        assert usage.of_session(tx, "one") == [
            UsageSum("background_review", 1, 100, 10, 60),
            UsageSum("chat", 1, 100, 10, 60),
        ]
        assert usage.between(tx, NINE, given.after(hours=1), 2) == [UsageSum("background_review", 1, 100, 10, 60)]
        assert usage.between(tx, given.after(seconds=1), given.after(hours=1)) == []


def test_what_a_deleted_session_cost_stays_as_numbers(db: Database) -> None:
    """The bill does not shrink when words are taken away."""
    with db.write() as tx:
        session = given.session(tx)
        call(tx, NINE, session=session.id)
        tx.execute("DELETE FROM sessions WHERE id = ?", (session.id,))

        assert usage.of_session(tx, session.id) == [UsageSum("chat", 1, 100, 10, 60)]


def settings(bound: int) -> Settings:
    """A day's bound, in Oslo."""
    wanted = {"session": {"timezone": "Europe/Oslo"}, "auxiliary": {"background_review": {"daily_tokens": bound}}}
    return Settings.model_validate(wanted)


def test_the_day_that_counts_is_the_owners(db: Database) -> None:
    """Half past midnight in Oslo is still yesterday in Greenwich."""
    with db.write() as tx:
        call(tx, datetime(2026, 11, 30, 22, 30, tzinfo=UTC), "background_review")
        call(tx, datetime(2026, 11, 30, 23, 30, tzinfo=UTC), "tidy")
        call(tx, datetime(2026, 11, 30, 23, 40, tzinfo=UTC), "chat")

        today = dailytokens.today(tx, settings(110), datetime(2026, 12, 1, 8, 0, tzinfo=UTC))
        assert (today.day, today.used, today.used_up) == (date(2026, 12, 1), 110, True)
        assert today.until == datetime(2026, 12, 1, 23, 0, tzinfo=UTC)


@pytest.mark.parametrize(("day", "until"), [("2026-03-29", "2026-03-29 22:00"), ("2026-10-25", "2026-10-25 23:00")])
def test_a_day_of_a_change_ends_at_its_own_midnight(db: Database, day: str, until: str) -> None:
    """After 23 hours in March, after 25 in October."""
    noon = datetime.fromisoformat(f"{day} 12:00").replace(tzinfo=OSLO)
    with db.write() as tx:
        today = dailytokens.today(tx, settings(1), noon)

    assert (today.day.isoformat(), today.until) == (day, datetime.fromisoformat(until).replace(tzinfo=UTC))


def test_without_a_bound_nothing_is_ever_used_up(db: Database) -> None:
    """0 is no bound, not none left."""
    with db.write() as tx:
        call(tx, NINE, "background_review")

        assert not dailytokens.today(tx, settings(0), NINE).used_up
        assert not dailytokens.hold(tx, settings(0), NINE)


def test_what_a_wrong_clock_put_into_the_future_is_not_todays(db: Database) -> None:
    """A jump forward and back must not use up the days between."""
    with db.write() as tx:
        call(tx, given.after(days=400), "background_review")

        assert dailytokens.today(tx, settings(1), NINE).used == 0
