"""Undoing an applied write in two steps, so that a kill between ledger and file is made good.

`begin` commits that it is undone; then the file is put back; `done` says that it was. What was begun and is not
done is found by `due` and finished like an approved write (design.md, House pattern: think, commit, act).
"""

from datetime import datetime

from gateway.records import FORGOTTEN, Write
from gateway.store.encoding import time_text
from gateway.store.transaction import Reader, Transaction
from gateway.store.writerows import SELECT, write_of

DUE = "undo.due"
"""Stands in `reason` while the file is still to be put back."""


def begin(
    tx: Transaction,
    id: int,
    *,
    by: str,
    at: datetime,
    through: int | None = None,
    before_hash: str = "",
    after_hash: str = "",
) -> bool:
    """applied -> undone, with the file still to be put back. True if this call was the one.

    `through` is the command or tap that asked; the hashes are the file as it is and as it will be.
    """
    return tx.changed(
        """
        UPDATE writes
           SET status = 'undone', reason = :due, undone_by = :by, undone_at = :at, undone_in = :through,
               undo_before_hash = :before_hash, undo_after_hash = :after_hash
         WHERE id = :id AND status = 'applied'
        """,
        {
            "id": id,
            "due": DUE,
            "by": by,
            "at": time_text(at),
            "through": through,
            "before_hash": before_hash,
            "after_hash": after_hash,
        },
    )


def aim(tx: Transaction, id: int, before_hash: str, after_hash: str, at: datetime) -> bool:
    """Begin the second half anew on a file that was changed by hand meanwhile: it comes after that change."""
    return tx.changed(
        """
        UPDATE writes
           SET undo_before_hash = :before_hash, undo_after_hash = :after_hash, undone_at = max(undone_at, :at)
         WHERE id = :id AND status = 'undone' AND reason = :due
        """,
        {"id": id, "due": DUE, "before_hash": before_hash, "after_hash": after_hash, "at": time_text(at)},
    )


def done(tx: Transaction, id: int, reason: str = "") -> bool:
    """The file is put back; or (`reason`) it cannot be any more, and the write is in force as before."""
    return tx.changed(
        """
        UPDATE writes
           SET reason = :reason,
               status = CASE WHEN :reason = '' THEN status ELSE 'applied' END,
               undone_by = CASE WHEN :reason = '' THEN undone_by ELSE '' END,
               undone_at = CASE WHEN :reason = '' THEN undone_at END
         WHERE id = :id AND status = 'undone' AND reason = :due
        """,
        {"id": id, "reason": reason, "due": DUE},
    )


def due(rd: Reader, kind: str) -> list[Write]:
    """What was undone and whose file is still to be put back, newest first."""
    # DUE as a literal and the plus signs: else SQLite would not use the index of the few rows that have it, but
    # read all that was ever undone, twice for each write.
    rows = rd.rows(
        f"""
        {SELECT} WHERE reason = '{DUE}' AND +status = 'undone' AND writes.kind = :kind ORDER BY +writes.id DESC
        """,
        {"kind": kind},
    )
    return [write_of(row) for row in rows]


def undone_in(rd: Reader, command: int) -> Write | None:
    """What this command or tap has already taken back (it is done again when it was killed)."""
    row = rd.row(f"{SELECT} WHERE undone_in = :command ORDER BY writes.id DESC LIMIT 1", {"command": command})
    return None if row is None else write_of(row)


def newest_applied(rd: Reader, space: int, kind: str) -> Write | None:
    """What was applied last in a space."""
    row = rd.row(
        f"""
        {SELECT} WHERE status = 'applied' AND writes.space = :space AND writes.kind = :kind
           AND reason <> '{FORGOTTEN}'
         ORDER BY applied_at DESC, writes.id DESC LIMIT 1
        """,
        {"space": space, "kind": kind},
    )
    return None if row is None else write_of(row)
