"""Settings that a chat command changed, per space, with who and when. How they rank among others: `settings`."""

import sqlite3
from datetime import datetime

from gateway.records import Choice
from gateway.store.encoding import time_of, time_text
from gateway.store.transaction import Reader, Transaction


def set(tx: Transaction, choice: Choice) -> None:
    """Keep a choice; the newest of a space and key holds, and that there was this one stays known (`changes`)."""
    values = {
        "space": choice.space,
        "key": choice.key,
        "value": choice.value,
        "by": choice.by,
        "at": time_text(choice.at),
    }
    tx.execute(
        """
        INSERT INTO choices (space, key, value, by, at) VALUES (:space, :key, :value, :by, :at)
            ON CONFLICT (space, key) DO UPDATE SET value = :value, by = :by, at = :at
        """,
        values,
    )
    tx.execute(
        "INSERT INTO choice_changes (space, key, value, by, at) VALUES (:space, :key, :value, :by, :at)", values
    )


def changes(rd: Reader, space: int | None, since: datetime | None, until: datetime | None) -> list[Choice]:
    """What was chosen in a time (an end that is None is open), in one space or (None) in all, newest first."""
    rows = rd.rows(
        """
        SELECT * FROM choice_changes
         WHERE (:space IS NULL OR space = :space) AND at >= :since AND at < :until
         ORDER BY at DESC, id DESC
        """,
        {
            "space": space,
            "since": time_text(since) if since is not None else "",
            "until": time_text(until) if until is not None else "~",
        },
    )
    return [_choice(row) for row in rows]


def get(rd: Reader, space: int, key: str) -> str | None:
    """What was chosen, or None."""
    row = rd.row("SELECT value FROM choices WHERE space = ? AND key = ?", (space, key))
    return None if row is None else str(row["value"])


def is_on(rd: Reader, space: int, key: str, *, otherwise: bool) -> bool:
    """Whether a switch is on: as it was chosen for this space, else `otherwise`."""
    chosen = get(rd, space, key)
    return otherwise if chosen is None else chosen == "on"


def switch(tx: Transaction, space: int, key: str, *, on: bool, by: str, at: datetime) -> None:
    """Keep how a switch was set."""
    set(tx, Choice(space, key, "on" if on else "off", by, at))


def all(rd: Reader, space: int | None) -> list[Choice]:
    """The choices of one space or (None) of all, by key."""
    rows = rd.rows(
        "SELECT * FROM choices WHERE :space IS NULL OR space = :space ORDER BY space, key", {"space": space}
    )
    return [_choice(row) for row in rows]


def _choice(row: sqlite3.Row) -> Choice:
    return Choice(row["space"], row["key"], row["value"], row["by"], time_of(row["at"]))
