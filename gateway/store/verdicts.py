"""How a staged write ends or is asked about anew, the same for memory and for skills.

Each is one commit with what its cards have to say, which is handed in as `say` (`memory.cards.update`): cards are
a room above this one. What a yes comes to differs, and is in `memory.deciding` and `skills.deciding`.
"""

from collections.abc import Callable, Mapping
from datetime import datetime

from gateway.decisions import Decision, DecisionEnding, as_it_stands
from gateway.records import Status, Write
from gateway.store import writes
from gateway.store.db import Database
from gateway.store.transaction import Transaction

Say = Callable[[Transaction, Write, str, datetime], object]


def reject(db: Database, say: Say, write: Write, *, by: str, at: datetime, through: int | None) -> Decision:
    """A person's no; whoever was first stays first."""
    with db.write() as tx:
        rejected = writes.reject(tx, write.id, by=by, at=at, through=through)
        if rejected:
            say(tx, write, "rejected", at)
    write = _get(db, write.id)
    return Decision(DecisionEnding.REJECTED, write) if rejected else as_it_stands(write, through)


def redraw(
    db: Database,
    say: Say,
    write: Write,
    *,
    reason: str,
    values: Mapping[str, object],
    base_hash: str,
    before: str,
    at: datetime,
) -> Decision:
    """It stays staged; its card shows what is there now and needs another tap."""
    with db.write() as tx:
        if writes.redraw(tx, write.id, reason, values, base_hash, before=before):
            after = writes.get(tx, write.id)
            say(tx, after, f"redrawn-{after.redrawn}", at)
    write = _get(db, write.id)
    if write.status is not Status.STAGED:
        return as_it_stands(write, None)
    return Decision(DecisionEnding.REDRAWN, write, reason, values)


def fail(
    db: Database,
    say: Say,
    write: Write,
    *,
    reason: str,
    values: Mapping[str, object],
    by: str,
    at: datetime,
    through: int | None,
) -> Decision:
    """A yes that cannot be carried out any more."""
    with db.write() as tx:
        if writes.failed(tx, write.id, reason, values, at, frm=(Status.STAGED,), by=by, through=through):
            say(tx, write, "failed", at)
    return as_it_stands(_get(db, write.id), None, ours=True)


def _get(db: Database, id: int) -> Write:
    with db.read() as rd:
        return writes.get(rd, id)
