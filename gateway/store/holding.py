"""Background work that waits for the next day because today's tokens are used up: rows of reviews and tidies.

They stay due; only their time has not come. When that is, and what it is measured by, is `memory.dailytokens`.
"""

from datetime import datetime

from gateway.store.encoding import optional_time_of, time_text
from gateway.store.transaction import Reader, Transaction

REASON = "daily_tokens"
"""What stands in `reason` of a row that waits for this."""

_TABLES = ("reviews", "tidies")


def hold(tx: Transaction, until: datetime) -> int:
    """Let everything due wait that nobody asked for; returns how many rows that were."""
    held = 0
    for table in _TABLES:
        held += tx.execute(
            f"""
            UPDATE {table} SET reason = :reason, retry_at = :until
             WHERE status = 'due' AND cause <> 'asked' AND (retry_at IS NULL OR retry_at < :until)
            """,
            {"reason": REASON, "until": time_text(until)},
        ).rowcount
    return held


def release(tx: Transaction) -> None:
    """What was held may be done now."""
    for table in _TABLES:
        tx.execute(
            f"UPDATE {table} SET reason = '', retry_at = NULL WHERE status = 'due' AND reason = ?", (REASON,)
        )


def ask(tx: Transaction, session: str) -> None:
    """Somebody asks for what is held of a session: it is done now, whatever it costs."""
    tx.execute(
        """
        UPDATE reviews SET cause = 'asked', reason = '', retry_at = NULL
         WHERE session = :session AND status = 'due' AND reason = :reason
        """,
        {"session": session, "reason": REASON},
    )


def turns_of(rd: Reader, session: str) -> list[tuple[int, int]]:
    """The first and the last turn of each held review of a session, oldest first."""
    rows = rd.rows(
        """
        SELECT first_turn, turn FROM reviews
         WHERE session = :session AND status = 'due' AND reason = :reason ORDER BY turn
        """,
        {"session": session, "reason": REASON},
    )
    return [(row["first_turn"], row["turn"]) for row in rows]


def until(rd: Reader, now: datetime) -> datetime | None:
    """When what is held can be done; None where nothing is."""
    row = rd.row(
        """
        SELECT min(retry_at) AS retry_at FROM (
            SELECT retry_at FROM reviews WHERE status = 'due' AND reason = :reason AND retry_at > :now
             UNION ALL
            SELECT retry_at FROM tidies WHERE status = 'due' AND reason = :reason AND retry_at > :now)
        """,
        {"reason": REASON, "now": time_text(now)},
    )
    return None if row is None else optional_time_of(row["retry_at"])
