"""A row of `writes` as a record and back. What a row goes through is `writes`."""

import sqlite3
from collections.abc import Mapping

from gateway.records import Evidence, NewWrite, Origin, Status, Write
from gateway.store.encoding import (
    clean,
    operations_of,
    operations_text,
    optional_time_of,
    optional_time_text,
    strings_of,
    strings_text,
    time_of,
    time_text,
    values_of,
    values_text,
)

SELECT = """
    SELECT writes.*, spaces.name AS space_name
      FROM writes JOIN spaces ON spaces.id = writes.space
"""


def columns_of(new: NewWrite) -> Mapping[str, object]:
    """The columns of a row at birth: one that is born decided was decided then."""
    decided = None if new.status is Status.STAGED else new.created_at
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
        "created_at": time_text(new.created_at),
        "expires_at": optional_time_text(new.expires_at),
        "decided_by": new.decided_by,
        "decided_at": optional_time_text(decided),
        "decided_in": new.decided_in,
        "applied_at": optional_time_text(new.created_at if new.status is Status.APPLIED else None),
    }


def write_of(row: sqlite3.Row) -> Write:
    """A row found by `SELECT`."""
    return Write(
        id=row["id"],
        space=row["space"],
        space_name=row["space_name"],
        kind=row["kind"],
        about=row["target"],
        operations=operations_of(row["operations"]),
        origin=Origin(row["origin"]),
        evidence=Evidence(row["evidence"], row["evidence_by"], row["quote"]),
        flags=strings_of(row["flags"]),
        status=Status(row["status"]),
        reason=row["reason"],
        reason_values=values_of(row["reason_values"]),
        message=row["message"],
        session=row["session"],
        review_turn=row["review_turn"],
        base_hash=row["base_hash"],
        before_hash=row["before_hash"],
        after_hash=row["after_hash"],
        before=row["before"],
        after=row["after"],
        created_at=time_of(row["created_at"]),
        expires_at=optional_time_of(row["expires_at"]),
        decided_by=row["decided_by"],
        decided_at=optional_time_of(row["decided_at"]),
        decided_in=row["decided_in"],
        undone_by=row["undone_by"],
        undone_at=optional_time_of(row["undone_at"]),
        edited_by=row["edited_by"],
        redrawn=row["redrawn"],
    )
