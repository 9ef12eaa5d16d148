"""The ledger of proposed writes.

A write moves one way: staged -> approved -> applied, or it ends refused, rejected, expired, failed or undone.
Each move is a single UPDATE that names the state it leaves, so two people tapping at once cannot both win.
The last move, applied -> undone, is `undoing`; what the ledger knows of one file is `filewrites`. Changing the
file is `memory.writing`; the words shown to people are in `conversation.notices`.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime

from gateway.errors import NotFound
from gateway.records import NewWrite, Operation, Status, Write
from gateway.store.encoding import clean, numbers_text, operations_text, strings_text, time_text, values_text
from gateway.store.filewrites import put_in as put_in
from gateway.store.filewrites import waiting_twin as waiting_twin
from gateway.store.knownfiles import known_file as known_file
from gateway.store.knownfiles import set_known_file as set_known_file
from gateway.store.transaction import Reader, Transaction
from gateway.store.writerows import columns_of, is_readable, some, write_at_birth


def born(tx: Transaction, new: NewWrite) -> tuple[Write, bool]:
    """The row of a proposal, and True if it was born now. The same `dedupe` again finds the first row."""
    row = tx.row(
        """
        INSERT INTO writes (dedupe, space, kind, target, operations, origin, evidence, evidence_by, quote, flags,
                            status, reason, reason_values, message, session, review_turn, base_hash,
                            before_hash, after_hash, before, after, places, created_at, expires_at,
                            decided_by, decided_at, decided_in, applied_at)
        VALUES (:dedupe, :space, :kind, :target, :operations, :origin, :evidence, :evidence_by, :quote, :flags,
                :status, :reason, :reason_values, :message, :session, :review_turn, :base_hash,
                :before_hash, :after_hash, :before, :after, :places, :created_at, :expires_at,
                :decided_by, :decided_at, :decided_in, :applied_at)
            ON CONFLICT (dedupe) DO NOTHING
        RETURNING id, (SELECT name FROM spaces WHERE spaces.id = space) AS space_name
        """,
        columns_of(new),
    )
    if row is not None:
        if not is_readable(new):
            return get(tx, row["id"]), True
        return write_at_birth(new, row["id"], row["space_name"]), True
    known = by_dedupe(tx, new.dedupe)
    assert known is not None
    return known, False


def get(rd: Reader, id: int) -> Write:
    """The write with this id. Raises NotFound."""
    found = some(rd, "WHERE writes.id = :id", id=id)
    if not found:
        raise NotFound("write.unknown", id=id)
    return found[0]


def by_dedupe(rd: Reader, dedupe: str) -> Write | None:
    return next(iter(some(rd, "WHERE dedupe = :dedupe", dedupe=dedupe)), None)


def staged(rd: Reader, space: int | None, kind: str = "", limit: int = -1, begins: str = "") -> list[Write]:
    """What waits for a yes, oldest first, in one space or (None) in all; of one kind or ("") of both.

    With `begins`: those whose number begins so.
    """
    return some(
        rd,
        """
        WHERE status = 'staged' AND (:space IS NULL OR writes.space = :space) AND :kind IN ('', writes.kind)
          AND substr(writes.id, 1, length(:begins)) = :begins
        ORDER BY writes.id LIMIT :limit
        """,
        space=space,
        kind=kind,
        limit=limit,
        begins=begins,
    )


def in_force(rd: Reader, space: int | None, kind: str, limit: int, begins: str = "") -> list[Write]:
    """What is applied, the newest number first: what can be taken back. See `staged`."""
    # With the sign it begins at the newest and ends when it has enough; else it sorts all that was ever applied.
    return some(
        rd,
        """
        WHERE +status = 'applied' AND (:space IS NULL OR writes.space = :space) AND writes.kind = :kind
          AND substr(writes.id, 1, length(:begins)) = :begins
        ORDER BY writes.id DESC LIMIT :limit
        """,
        space=space,
        kind=kind,
        limit=limit,
        begins=begins,
    )


def count_staged(rd: Reader, space: int | None, kind: str = "") -> int:
    """How many wait for a yes."""
    row = rd.row(
        """
        SELECT count(*) AS waiting FROM writes
         WHERE status = 'staged' AND (:space IS NULL OR space = :space) AND :kind IN ('', kind)
        """,
        {"space": space, "kind": kind},
    )
    return 0 if row is None else int(row["waiting"])


def unfinished(rd: Reader) -> list[Write]:
    """What was approved and is not applied yet, oldest first: to be finished after a crash."""
    return some(rd, "WHERE status = 'approved' ORDER BY writes.id")


def of_message(rd: Reader, message: int) -> list[Write]:
    """What the turn or command of a message proposed, in order."""
    return some(rd, "WHERE message = :message ORDER BY writes.id", message=message)


def of_review(rd: Reader, session: str, turn: int) -> list[Write]:
    """What a review proposed, in order."""
    return some(
        rd, "WHERE session = :session AND review_turn = :turn ORDER BY writes.id", session=session, turn=turn
    )


def log(rd: Reader, space: int | None, limit: int, below: int | None = None, kind: str = "") -> list[Write]:
    """The ledger, newest first, of one space or (None) of all; of one kind or ("") of both.

    `below` gives the part of it with smaller ids: the next page.
    """
    here = "" if space is None else "writes.space = :space AND"  # an OR would read all that others have
    return some(
        rd,
        f"""
        WHERE {here} writes.id < coalesce(:below, 1 << 62) AND :kind IN ('', writes.kind)
        ORDER BY writes.id DESC LIMIT :limit
        """,
        space=space,
        limit=limit,
        below=below,
        kind=kind,
    )


def approve(
    tx: Transaction,
    id: int,
    *,
    by: str,
    at: datetime,
    through: int | None,
    base_hash: str,
    before_hash: str,
    after_hash: str,
    before: str,
    after: str,
    places: Sequence[int] = (),
) -> bool:
    """staged -> approved, with what the file is and will be. True if this call was the one that did it.

    `through` is the command or tap that decided; `before` and `after` are the entries as they were and will be.
    """
    return tx.changed(
        """
        UPDATE writes
           SET status = 'approved', reason = '', reason_values = '{}',
               decided_by = :by, decided_at = :at, decided_in = :through,
               base_hash = :base_hash, before_hash = :before_hash, after_hash = :after_hash,
               before = :before, after = :after, places = :places
         WHERE id = :id AND status = 'staged'
        """,
        {
            "id": id,
            "by": by,
            "at": time_text(at),
            "through": through,
            "base_hash": base_hash,
            "before_hash": before_hash,
            "after_hash": after_hash,
            "before": clean(before),
            "after": clean(after),
            "places": numbers_text(places),
        },
    )


def applied(tx: Transaction, id: int, at: datetime) -> bool:
    """approved -> applied: the file now says it."""
    return tx.changed(
        "UPDATE writes SET status = 'applied', applied_at = :at WHERE id = :id AND status = 'approved'",
        {"id": id, "at": time_text(at)},
    )


def failed(
    tx: Transaction,
    id: int,
    reason: str,
    values: Mapping[str, object],
    at: datetime,
    frm: Sequence[Status] = (Status.APPROVED,),
    *,
    by: str = "",
    through: int | None = None,
) -> bool:
    """approved (or one of `frm`) -> failed. `by` and `through` say whose approval ended so, for a staged one."""
    return tx.changed(
        """
        UPDATE writes
           SET status = 'failed', reason = :reason, reason_values = :values,
               decided_by = CASE WHEN :by = '' THEN decided_by ELSE :by END,
               decided_at = coalesce(decided_at, :at), decided_in = coalesce(:through, decided_in)
         WHERE id = :id AND status IN (SELECT value FROM json_each(:frm))
        """,
        {
            "id": id,
            "reason": reason,
            "values": values_text(values),
            "at": time_text(at),
            "frm": strings_text(frm),
            "by": by,
            "through": through,
        },
    )


def reject(tx: Transaction, id: int, *, by: str, at: datetime, through: int | None) -> bool:
    """staged -> rejected."""
    return tx.changed(
        """
        UPDATE writes SET status = 'rejected', decided_by = :by, decided_at = :at, decided_in = :through
         WHERE id = :id AND status = 'staged'
        """,
        {"id": id, "by": by, "at": time_text(at), "through": through},
    )


def expire(tx: Transaction, now: datetime) -> list[int]:
    """staged -> expired, for all whose time is over; their ids."""
    rows = tx.rows(
        """
        UPDATE writes SET status = 'expired', decided_at = :now
         WHERE status = 'staged' AND expires_at <= :now
        RETURNING id
        """,
        {"now": time_text(now)},
    )
    return sorted(row["id"] for row in rows)


def redraw(
    tx: Transaction, id: int, reason: str, values: Mapping[str, object], base_hash: str, *, before: str
) -> bool:
    """Leave a write staged on a file that has changed: its card shows the new state and needs a new tap.

    `before` is the text that it would replace or remove now.
    """
    return tx.changed(
        """
        UPDATE writes
           SET reason = :reason, reason_values = :values, base_hash = :base_hash, before = :before,
               redrawn = redrawn + 1
         WHERE id = :id AND status = 'staged'
        """,
        {
            "id": id,
            "reason": reason,
            "values": values_text(values),
            "base_hash": base_hash,
            "before": clean(before),
        },
    )


def edit(
    tx: Transaction, id: int, operations: Sequence[Operation], flags: Sequence[str], by: str, at: datetime
) -> bool:
    """Change what a staged write says. It stays staged; what was proposed first is kept as `original`.

    To whoever has its card open it is redrawn: a yes to the former text is none to this one.
    """
    return tx.changed(
        """
        UPDATE writes
           SET original = coalesce(original, operations), operations = :operations, flags = :flags,
               reason = '', reason_values = '{}', edited_by = :by, edited_at = :at, redrawn = redrawn + 1
         WHERE id = :id AND status = 'staged'
        """,
        {
            "id": id,
            "operations": operations_text(operations),
            "flags": strings_text(flags),
            "by": by,
            "at": time_text(at),
        },
    )
