"""Which conversations of another bot were brought here, and how far."""

import hashlib
from dataclasses import dataclass
from datetime import datetime

from gateway.store.encoding import time_text
from gateway.store.transaction import Reader, Transaction


@dataclass(frozen=True, slots=True)
class Brought:
    """A conversation that was brought: ours, and the number of the last message there."""

    session: str
    last: int


def mark_of(source: str, id: str) -> str:
    """What stands for the name of a conversation there."""
    return hashlib.sha256(f"{source}\0{id}".encode("utf-8", "replace")).hexdigest()


def find(rd: Reader, space: int, mark: str) -> Brought | None:
    """Whether it was brought, and how far."""
    row = rd.row(
        "SELECT session, last FROM imported_sessions WHERE space = :space AND mark = :mark",
        {"space": space, "mark": mark},
    )
    return None if row is None else Brought(row["session"], row["last"])


def bring(tx: Transaction, space: int, mark: str, session: str, last: int, at: datetime) -> None:
    """Say that it was brought up to this message."""
    tx.execute(
        """
        INSERT INTO imported_sessions (space, mark, session, last, at)
        VALUES (:space, :mark, :session, :last, :at)
            ON CONFLICT (space, mark) DO UPDATE SET last = max(last, :last), at = :at
        """,
        {"space": space, "mark": mark, "session": session, "last": last, "at": time_text(at)},
    )
