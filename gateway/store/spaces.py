"""Spaces: one MEMORY.md and USER.md pair each, and for whom it was made. Used through `people`."""

import itertools
import sqlite3
from datetime import datetime

from gateway.errors import NotFound
from gateway.records import Space
from gateway.store.encoding import time_text
from gateway.store.transaction import Reader, Transaction


def ensure_space(tx: Transaction, name: str, kind: str, whose: str, at: datetime) -> Space:
    """The space with this folder name, made now if there is none. `whose` is a person's or a chat's key."""
    tx.execute(
        """
        INSERT INTO spaces (name, kind, whose, created_at) VALUES (:name, :kind, :whose, :at)
            ON CONFLICT (name) DO NOTHING
        """,
        {"name": name, "kind": kind, "whose": whose, "at": time_text(at)},
    )
    return space_named(tx, name)


def space(rd: Reader, id: int) -> Space:
    """The space with this number. Raises NotFound."""
    row = rd.row("SELECT * FROM spaces WHERE id = ?", (id,))
    if row is None:
        raise NotFound("space.unknown", name=id)
    return _space(row)


def space_named(rd: Reader, name: str) -> Space:
    """The space with this folder name. Raises NotFound."""
    row = rd.row("SELECT * FROM spaces WHERE name = ?", (name,))
    if row is None:
        raise NotFound("space.unknown", name=name)
    return _space(row)


def spaces(rd: Reader) -> list[Space]:
    """All spaces, oldest first."""
    return [_space(row) for row in rd.rows("SELECT * FROM spaces ORDER BY id")]


def open_space_of(rd: Reader, key: str) -> Space | None:
    """The space that was made for this account and is still in use."""
    row = rd.row(
        """
        SELECT * FROM spaces WHERE kind = 'person' AND whose = ? AND closed_at IS NULL ORDER BY id DESC LIMIT 1
        """,
        (key,),
    )
    return None if row is None else _space(row)


def new_space(tx: Transaction, name: str, kind: str, whose: str, at: datetime) -> Space:
    """A new space with this folder name, or with the next number behind it: a name is given once and kept."""
    taken = tx.rows("SELECT name FROM spaces WHERE name = :name OR name GLOB :name || '-*'", {"name": name})
    names = {row["name"] for row in taken}
    numbered = (f"{name}-{number}" for number in itertools.count(2))
    free = next(each for each in itertools.chain((name,), numbered) if each not in names)
    return ensure_space(tx, free, kind, whose, at)


def whose(rd: Reader, id: int) -> str:
    """The key of the person or chat for whom a space was made."""
    row = rd.row("SELECT whose FROM spaces WHERE id = ?", (id,))
    return "" if row is None else str(row["whose"])


def close_space(tx: Transaction, id: int, at: datetime) -> None:
    """Nobody uses this space any more; it stays as it is."""
    tx.execute(
        "UPDATE spaces SET closed_at = :at WHERE id = :id AND closed_at IS NULL", {"id": id, "at": time_text(at)}
    )


def is_closed(rd: Reader, id: int) -> bool:
    return rd.row("SELECT 1 FROM spaces WHERE id = ? AND closed_at IS NOT NULL", (id,)) is not None


def closed_spaces(rd: Reader) -> list[Space]:
    """Spaces that nobody uses any more (their account joined another person), oldest first."""
    return [_space(row) for row in rd.rows("SELECT * FROM spaces WHERE closed_at IS NOT NULL ORDER BY id")]


def _space(row: sqlite3.Row) -> Space:
    return Space(row["id"], row["name"], row["kind"])
