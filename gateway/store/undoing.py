"""Undoing an applied write in two steps, so that a kill between ledger and file is made good.

`begin` commits that it is undone; then the file is put back; `done` says that it was. What was begun and is not
done is found by `due` and finished like an approved write (design.md, House pattern: think, commit, act).
"""

from datetime import datetime

from gateway.records import Write
from gateway.store.encoding import time_text
from gateway.store.transaction import Reader, Transaction
from gateway.store.writerows import SELECT, write_of

DUE = "undo.due"
"""Stands in `reason` while the file is still to be put back."""


def begin(tx: Transaction, id: int, *, by: str, at: datetime) -> bool:
    """applied -> undone, with the file still to be put back. True if this call was the one."""
    return tx.changed(
        """
        UPDATE writes SET status = 'undone', reason = :due, undone_by = :by, undone_at = :at
         WHERE id = :id AND status = 'applied'
        """,
        {"id": id, "due": DUE, "by": by, "at": time_text(at)},
    )


def done(tx: Transaction, id: int, reason: str = "") -> bool:
    """The file is put back, or (`reason`) cannot be any more."""
    return tx.changed(
        "UPDATE writes SET reason = :reason WHERE id = :id AND status = 'undone' AND reason = :due",
        {"id": id, "reason": reason, "due": DUE},
    )


def due(rd: Reader, kind: str) -> list[Write]:
    """What was undone and whose file is still to be put back, newest first."""
    rows = rd.rows(
        f"{SELECT} WHERE status = 'undone' AND reason = :due AND writes.kind = :kind ORDER BY writes.id DESC",
        {"due": DUE, "kind": kind},
    )
    return [write_of(row) for row in rows]
