"""Marks, without the words, of what was forgotten.

What they are hashes of, and when a text is held because of them, is `memory.tombstones`. A check asks for hundreds
of beginnings, nearly all of them in vain: a small filter of each space says so without a search. Nothing is taken
out of it: it is made anew when marks are lifted.
"""

import secrets
import sqlite3
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TypeVar

from gateway.store.encoding import time_of, time_text
from gateway.store.transaction import Reader, Transaction

T = TypeVar("T")

KEY_BYTES = 32


class Kind(StrEnum):
    """What a mark is of."""

    PASSAGE = "passage"
    ENTRY = "entry"
    PART = "part"
    ROW = "row"


@dataclass(frozen=True, slots=True)
class Mark:
    """One mark that is to be kept. Of a row, `mark` is its name (`messages:412`); else it is a keyed hash."""

    kind: Kind
    fact: int
    mark: str
    start: int = 0
    size: int = 0
    whole: int = 0
    parts: int = 0


@dataclass(frozen=True, slots=True)
class Tombstone:
    """A mark that is kept."""

    id: int
    forget: int
    at: datetime
    mark: Mark


PartOfFact = tuple[int, int, int, int, int]
"""Start, fact, weight, and of the fact: what all parts weigh, and how many there are."""


def row(table: str, id: int | str) -> Mark:
    """That a row went: what is restored from an older copy loses it again."""
    return Mark(Kind.ROW, 0, f"{table}:{id}")


# -- the key -------------------------------------------------------------------------------------------------


def key(tx: Transaction) -> bytes:
    """What the marks of this home are keyed with; made at the first use."""
    tx.execute(
        "INSERT INTO tombstone_keys (id, key) VALUES (1, :key) ON CONFLICT DO NOTHING",
        {"key": secrets.token_bytes(KEY_BYTES)},
    )
    found = known_key(tx)
    assert found is not None
    return found


def known_key(rd: Reader) -> bytes | None:
    """The same, where there are marks."""
    found = rd.row("SELECT key FROM tombstone_keys WHERE id = 1")
    return None if found is None else bytes(found["key"])


# -- change --------------------------------------------------------------------------------------------------


def add(tx: Transaction, space: int, forget: int, marks: Iterable[Mark], at: datetime) -> None:
    """Keep these marks. The same ones again change nothing."""
    kept, time = list(marks), time_text(at)
    tx.connection.executemany(
        """
        INSERT INTO tombstones (space, forget, kind, fact, start, size, whole, parts, mark, at)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT DO NOTHING
        """,
        [
            (space, forget, one.kind.value, one.fact, one.start, one.size, one.whole, one.parts, one.mark, time)
            for one in kept
        ],
    )
    _extend(tx, space, {(one.start, one.size) for one in kept if one.kind in (Kind.PASSAGE, Kind.ENTRY)})


def lift(tx: Transaction, space: int, ids: Iterable[int]) -> None:
    """The person said to keep it after all: these marks are gone, with the others of the same facts."""
    for id in ids:
        tx.execute(
            """
            DELETE FROM tombstones
             WHERE space = :space AND kind <> 'row'
               AND fact = (SELECT fact FROM tombstones WHERE id = :id AND space = :space)
            """,
            {"space": space, "id": id},
        )
    _renew_filter(tx, space)


def drop(tx: Transaction, space: int) -> None:
    """No mark of this space is left."""
    tx.execute("DELETE FROM tombstones WHERE space = :space", {"space": space})
    _renew_filter(tx, space)


# -- look ----------------------------------------------------------------------------------------------------


def is_marked(rd: Reader, space: int) -> bool:
    """Whether words were ever forgotten here."""
    return rd.row("SELECT 1 FROM tombstone_filters WHERE space = :space", {"space": space}) is not None


def filter_of(rd: Reader, space: int) -> bytes | None:
    """What `likely` asks; None where nothing was forgotten."""
    found = rd.row("SELECT bits FROM tombstone_filters WHERE space = :space", {"space": space})
    return None if found is None else found["bits"]


def likely(bits: bytes, starts: Sequence[int]) -> list[int]:
    """Of these beginnings the few that marks of the space may have."""
    mask = len(bits) * 8 - 1
    found = []
    for start in starts:
        place = start & mask
        if bits[place >> 3] >> (place & 7) & 1:
            place = start >> _SECOND & mask
            if bits[place >> 3] >> (place & 7) & 1:
                found.append(start)
    return found


def sizes(rd: Reader, space: int, starts: Sequence[int]) -> list[tuple[int, int]]:
    """The beginnings that marks do have, and how many words what begins so has."""
    found = []
    for some in _batches(starts):
        found += rd.rows(
            f"SELECT start, size FROM tombstone_starts WHERE space = ? AND start IN ({_marks(some)})",
            (space, *some),
        )
    return [(one["start"], one["size"]) for one in found]


def with_marks(rd: Reader, space: int, marks: Sequence[str]) -> list[Tombstone]:
    """The passages and entries of which these are the hashes."""
    found = []
    for some in _batches(marks):
        found += rd.rows(
            f"""
            SELECT {_COLUMNS} FROM tombstones INDEXED BY tombstones_by_mark
             WHERE space = ? AND mark IN ({_marks(some)}) AND kind IN ('passage', 'entry') ORDER BY id
            """,
            (space, *some),
        )
    return [_tombstone(one) for one in found]


def parts(rd: Reader, space: int, starts: Sequence[int], most: int) -> list[PartOfFact]:
    """The facts that have these parts, for each part at most so many."""
    found = []
    for some in _batches(starts):
        values = [value for start in some for value in (space, start, most)]
        found += rd.rows(" UNION ALL ".join([_PARTS] * len(some)), values)
    return [tuple(one) for one in found]


def parts_of(rd: Reader, space: int, facts: Sequence[int]) -> list[PartOfFact]:
    """All parts of these facts."""
    found = rd.rows(
        f"""
        SELECT start, fact, size, whole, parts FROM tombstones INDEXED BY tombstones_by_fact
         WHERE space = ? AND kind = 'part' AND fact IN ({_marks(facts)})
        """,
        (space, *facts),
    )
    return [tuple(one) for one in found]


def of_facts(rd: Reader, space: int, facts: Sequence[int]) -> list[Tombstone]:
    """All marks of these facts, whichever forgets left them."""
    found = []
    for some in _batches(facts):
        found += rd.rows(
            f"""
            SELECT {_COLUMNS} FROM tombstones INDEXED BY tombstones_by_fact
             WHERE space = ? AND fact IN ({_marks(some)}) AND kind <> 'row' ORDER BY id
            """,
            (space, *some),
        )
    return [_tombstone(one) for one in found]


def rows(rd: Reader, space: int) -> frozenset[str]:
    """The rows of this space that went, as `messages:412`."""
    found = rd.rows("SELECT mark FROM tombstones WHERE space = :space AND kind = 'row'", {"space": space})
    return frozenset(one["mark"] for one in found)


def every(rd: Reader, space: int) -> list[Tombstone]:
    """All marks of a space, for a copy of the home that is to have them, too."""
    found = rd.rows(f"SELECT {_COLUMNS} FROM tombstones WHERE space = :space ORDER BY id", {"space": space})
    return [_tombstone(one) for one in found]


def take_key(tx: Transaction, key: bytes) -> None:
    """Another home's marks come with what they are keyed with. Marks of another key would never be found again."""
    tx.execute(
        "DELETE FROM tombstones WHERE kind <> 'row' AND (SELECT key FROM tombstone_keys) <> :key", {"key": key}
    )
    tx.execute(
        "INSERT INTO tombstone_keys (id, key) VALUES (1, :key) ON CONFLICT (id) DO UPDATE SET key = :key",
        {"key": key},
    )


_COLUMNS = "id, forget, kind, fact, start, size, whole, parts, mark, at"
_PARTS = """
    SELECT * FROM (
        SELECT start, fact, size, whole, parts FROM tombstones INDEXED BY tombstones_by_start
         WHERE space = ? AND kind = 'part' AND start = ? LIMIT ?
    )
"""
_MOST_AT_ONCE = 100


def _batches(values: Sequence[T]) -> Iterator[Sequence[T]]:
    return (values[place : place + _MOST_AT_ONCE] for place in range(0, len(values), _MOST_AT_ONCE))


def _marks(values: Sequence[object]) -> str:
    return ",".join("?" * len(values))


def _tombstone(found: sqlite3.Row) -> Tombstone:
    mark = Mark(
        Kind(found["kind"]),
        found["fact"],
        found["mark"],
        found["start"],
        found["size"],
        found["whole"],
        found["parts"],
    )
    return Tombstone(found["id"], found["forget"], time_of(found["at"]), mark)


# -- the filter ----------------------------------------------------------------------------------------------

_BITS_EACH = 8
_FEWEST_BYTES = 256
_SECOND = 29
"""The second place of a start in the filter is made of its bits from here on."""


def _extend(tx: Transaction, space: int, starts: Set[tuple[int, int]]) -> None:
    """Let `likely` and `sizes` know of further beginnings."""
    if not starts:
        return
    tx.connection.executemany(
        "INSERT INTO tombstone_starts (space, start, size) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
        [(space, start, size) for start, size in starts],
    )
    row = tx.row("SELECT count(*) AS count FROM tombstone_starts WHERE space = :space", {"space": space})
    bits = filter_of(tx, space)
    if bits is None or row is None or row["count"] * _BITS_EACH > len(bits) * 8:
        _renew_filter(tx, space)
    else:
        _put_filter(tx, space, bytearray(bits), (start for start, _ in starts))


def _renew_filter(tx: Transaction, space: int) -> None:
    tx.execute("DELETE FROM tombstone_starts WHERE space = :space", {"space": space})
    tx.execute(
        """
        INSERT INTO tombstone_starts (space, start, size)
        SELECT DISTINCT space, start, size FROM tombstones WHERE space = :space AND kind IN ('passage', 'entry')
        """,
        {"space": space},
    )
    starts = [one["start"] for one in tx.rows("SELECT start FROM tombstone_starts WHERE space = ?", (space,))]
    if starts:
        size = max(_FEWEST_BYTES, 1 << (len(starts) * _BITS_EACH // 8).bit_length())
        _put_filter(tx, space, bytearray(size), starts)
    else:
        tx.execute("DELETE FROM tombstone_filters WHERE space = :space", {"space": space})


def _put_filter(tx: Transaction, space: int, bits: bytearray, starts: Iterable[int]) -> None:
    mask = len(bits) * 8 - 1
    for start in starts:
        for place in (start & mask, start >> _SECOND & mask):
            bits[place >> 3] |= 1 << (place & 7)
    tx.execute(
        """
        INSERT INTO tombstone_filters (space, bits) VALUES (:space, :bits)
            ON CONFLICT (space) DO UPDATE SET bits = :bits
        """,
        {"space": space, "bits": bytes(bits)},
    )
