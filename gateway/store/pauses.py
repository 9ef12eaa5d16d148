"""Where a platform asked us to wait, and until when: it holds after a restart, too.

A scope is a platform (`telegram`) or one chat of it with all its threads (`telegram:-100200`).
"""

from collections.abc import Mapping
from datetime import datetime

from gateway.store.encoding import time_of, time_text
from gateway.store.transaction import Reader, Transaction


def put(tx: Transaction, scope: str, until: datetime) -> None:
    """Say nothing in this scope until then."""
    tx.execute(
        """
        INSERT INTO pauses (scope, until) VALUES (:scope, :until)
            ON CONFLICT (scope) DO UPDATE SET until = max(until, :until)
        """,
        {"scope": scope, "until": time_text(until)},
    )


def sweep(tx: Transaction, now: datetime) -> None:
    """Forget the pauses that are over."""
    tx.execute("DELETE FROM pauses WHERE until <= ?", (time_text(now),))


def every(rd: Reader) -> Mapping[str, datetime]:
    """All pauses, by scope, those that are over included."""
    return {row["scope"]: time_of(row["until"]) for row in rd.rows("SELECT scope, until FROM pauses")}
