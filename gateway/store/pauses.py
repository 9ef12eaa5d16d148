"""Where a platform asked us to wait, and until when: it holds after a restart, too.

A scope is a platform (`telegram`) or one chat of it with all its threads (`telegram:-100200`).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from gateway.store.encoding import time_of, time_text
from gateway.store.transaction import Reader, Transaction


@dataclass(frozen=True, slots=True)
class Pause:
    """From when until when nothing is to be said."""

    since: datetime
    until: datetime

    def holds(self, now: datetime) -> bool:
        """Whether it is on. A clock that was put back behind its beginning ends it."""
        return self.since <= now < self.until


def put(tx: Transaction, scope: str, pause: Pause) -> None:
    """Say nothing in this scope for so long; the pauses that are over are forgotten."""
    tx.execute("DELETE FROM pauses WHERE until <= :now OR since > :now", {"now": time_text(pause.since)})
    tx.execute(
        """
        INSERT INTO pauses (scope, since, until) VALUES (:scope, :since, :until)
            ON CONFLICT (scope) DO UPDATE SET until = max(until, :until)
        """,
        {"scope": scope, "since": time_text(pause.since), "until": time_text(pause.until)},
    )


def every(rd: Reader) -> Mapping[str, Pause]:
    """All pauses, by scope, those that are over included."""
    rows = rd.rows("SELECT scope, since, until FROM pauses")
    return {row["scope"]: Pause(time_of(row["since"]), time_of(row["until"])) for row in rows}
