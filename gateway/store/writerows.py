"""A row of `writes` as a record and back. What a row goes through is `writes`.

A row that an older version or another program wrote may say what cannot be read. It is listed all the same, as a
change without a text that nobody can approve: one odd row must not hide the others.
"""

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TypeVar

from gateway.records import Action, Evidence, NewWrite, Operation, Origin, Status, Target, Write
from gateway.store.encoding import (
    clean,
    numbers_of,
    numbers_text,
    operations_of,
    operations_text,
    optional_time_text,
    strings_of,
    strings_text,
    time_of,
    time_text,
    values_of,
    values_text,
)
from gateway.store.transaction import Reader

T = TypeVar("T")

_ORIGINS = frozenset(Origin)
_TARGETS = frozenset(Target)
_NONE: tuple[Operation, ...] = ()
_OF_MEMORY = (Action.ADD, Action.REPLACE, Action.REMOVE)
_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)

UNREADABLE = "reason.row_unreadable"
"""The `Write.reason` of a row that cannot be read."""

SELECT = """
    SELECT writes.*, spaces.name AS space_name
      FROM writes JOIN spaces ON spaces.id = writes.space
"""


def columns_of(new: NewWrite) -> Mapping[str, object]:
    """The columns of a row at birth: one that is born decided was decided then."""
    decided = None if new.status is Status.STAGED else new.decided_at or new.created_at
    return {
        "dedupe": new.dedupe,
        "space": new.space,
        "kind": new.kind,
        "target": new.target,
        "operations": operations_text(new.operations),
        "origin": new.origin,
        "evidence": new.evidence.message,
        "evidence_by": new.evidence.by,
        "quote": clean(new.evidence.quote),
        "flags": strings_text(new.flags),
        "status": new.status,
        "reason": new.reason,
        "reason_values": values_text(new.reason_values),
        "message": new.message,
        "session": new.session,
        "review_turn": new.review_turn,
        "base_hash": new.base_hash,
        "before_hash": new.before_hash,
        "after_hash": new.after_hash,
        "before": clean(new.before),
        "after": clean(new.after),
        "places": numbers_text(new.places),
        "created_at": time_text(new.created_at),
        "expires_at": optional_time_text(new.expires_at),
        "decided_by": new.decided_by,
        "decided_at": optional_time_text(decided),
        "decided_in": new.decided_in,
        "applied_at": optional_time_text(new.created_at if new.status is Status.APPLIED else None),
    }


def write_at_birth(new: NewWrite, id: int, space_name: str) -> Write:
    """What `write_of` says of the row that `columns_of` makes, without reading it back."""
    decided = None if new.status is Status.STAGED else new.decided_at or new.created_at
    return Write(
        id=id,
        space=new.space,
        space_name=space_name,
        kind=new.kind,
        about=new.target,
        operations=tuple(
            Operation(one.action, clean(one.content), clean(one.old_text), clean(one.path))
            for one in new.operations
        ),
        origin=new.origin,
        evidence=Evidence(new.evidence.message, new.evidence.by, clean(new.evidence.quote)),
        flags=tuple(new.flags),
        status=new.status,
        reason=new.reason,
        reason_values=values_of(values_text(new.reason_values)) if new.reason_values else {},
        message=new.message,
        session=new.session,
        review_turn=new.review_turn,
        base_hash=new.base_hash,
        before_hash=new.before_hash,
        after_hash=new.after_hash,
        before=clean(new.before),
        after=clean(new.after),
        created_at=new.created_at.astimezone(UTC),
        expires_at=_in_utc(new.expires_at),
        decided_by=new.decided_by,
        decided_at=_in_utc(decided),
        decided_in=new.decided_in,
        undone_by="",
        undone_at=None,
        edited_by="",
        redrawn=0,
        applied_at=_in_utc(new.created_at) if new.status is Status.APPLIED else None,
        places=tuple(new.places),
    )


def _in_utc(at: datetime | None) -> datetime | None:
    return None if at is None else at.astimezone(UTC)


def write_of(row: sqlite3.Row) -> Write:
    """A row found by `SELECT`."""
    is_skill = row["kind"] == "skill"
    operations: tuple[Operation, ...] = _leniently(operations_of, row["operations"], _NONE)
    odd = not _fits(operations, is_skill) or row["origin"] not in _ORIGINS
    odd = odd or not (is_skill or row["target"] in _TARGETS)
    nothing = Operation(Action.EDIT if is_skill else Action.ADD)
    return Write(
        id=row["id"],
        space=row["space"],
        space_name=row["space_name"],
        kind=row["kind"],
        about=row["target"] if is_skill or row["target"] in _TARGETS else Target.MEMORY,
        operations=(nothing,) if odd else operations,
        origin=Origin(row["origin"]) if row["origin"] in _ORIGINS else Origin.FOREGROUND,
        evidence=Evidence(row["evidence"], row["evidence_by"], row["quote"]),
        flags=_leniently(strings_of, row["flags"], ()),
        status=Status(row["status"]),
        reason=UNREADABLE if odd else row["reason"],
        reason_values=_leniently(values_of, row["reason_values"], {}),
        message=row["message"],
        session=row["session"],
        review_turn=row["review_turn"],
        base_hash=row["base_hash"],
        before_hash=row["before_hash"],
        after_hash=row["after_hash"],
        before=row["before"],
        after=row["after"],
        created_at=_leniently(_instant, row["created_at"], _LONG_AGO),
        expires_at=_leniently(_optional_instant, row["expires_at"], None),
        decided_by=row["decided_by"],
        decided_at=_leniently(_optional_instant, row["decided_at"], None),
        decided_in=row["decided_in"],
        undone_by=row["undone_by"],
        undone_at=_leniently(_optional_instant, row["undone_at"], None),
        edited_by=row["edited_by"],
        redrawn=row["redrawn"],
        applied_at=_leniently(_optional_instant, row["applied_at"], None),
        edited_at=_leniently(_optional_instant, row["edited_at"], None),
        original=_leniently(operations_of, row["original"], _NONE) if row["original"] else (),
        places=_leniently(numbers_of, row["places"], ()),
        undone_in=row["undone_in"],
        undo_before_hash=row["undo_before_hash"],
        undo_after_hash=row["undo_after_hash"],
    )


def is_readable(new: NewWrite) -> bool:
    """Whether `write_of` will read such a row as it is."""
    is_skill = new.kind == "skill"
    return (is_skill or new.target in _TARGETS) and _fits(new.operations, is_skill)


def _fits(operations: Sequence[Operation], is_skill: bool) -> bool:
    """Whether a write of this kind can hold these operations."""
    actions = [operation.action for operation in operations]
    if is_skill:
        return len(actions) == 1 and actions[0] not in (*_OF_MEMORY, Action.BATCH)
    return bool(actions) and all(action in _OF_MEMORY for action in actions)


def _instant(text: str) -> datetime:
    at = time_of(text)
    return at if at.tzinfo is not None else at.replace(tzinfo=UTC)


def _optional_instant(text: str | None) -> datetime | None:
    return None if text is None else _instant(text)


def _leniently(read: Callable[[str], T], text: str, otherwise: T) -> T:
    """What a column says; `otherwise` where that is not what we write there."""
    try:
        return read(text)
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError):
        return otherwise


def some(rd: Reader, where: str, **parameters: object) -> list[Write]:
    """The writes of a condition, with its order."""
    return [write_of(row) for row in rd.rows(f"{SELECT} {where}", parameters)]
