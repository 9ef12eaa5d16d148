"""`session.keep_days`: conversations that are over their days go through the layers, quietly, once a day.

Here each goes at once, in one commit with the row of the forget that takes it out of the backups, too; so there is
one receipt a day and space, and none where nothing went.
"""

from datetime import datetime, timedelta

from gateway.memory import clearing
from gateway.memory.forgetting import Forgetting, Scope
from gateway.records import Session
from gateway.store import forgets, people
from gateway.store.transaction import Transaction

BY = "keep_days"
"""Who said yes: the setting."""
ONCE_IN = timedelta(days=1)


def erase_old(forgetting: Forgetting) -> int:
    """Delete the conversations that are over their days, if that was not done today; how many. `resume` goes on."""
    now, begun = forgetting.clock.now(), dict[int, int]()
    with forgetting.db.read() as rd:
        last = forgets.last_by(rd, BY)
    if last is not None and now < last + ONCE_IN:
        return 0

    def forget_it(tx: Transaction, session: Session) -> None:
        ref = f"sessions:{session.id}"
        if session.space in begun:
            forgets.add_row(tx, begun[session.space], ref)
            return
        id = forgetting.propose(tx, people.space(tx, session.space), Scope(rows=(ref,)), BY, marks=False)
        forgetting.begin(tx, id, BY)
        begun[session.space] = id

    return _delete(forgetting, now, forget_it)


def _delete(forgetting: Forgetting, now: datetime, also: clearing.Also) -> int:
    return clearing.delete_old(forgetting.db, forgetting.home, forgetting.settings, now, also)
