"""`session.keep_days`: conversations that are over their days go through the layers, quietly, once a day.

Here each goes at once, in one commit with the row of the forget that takes it out of the backups, too; so there is
one receipt a day and space, and none where nothing went.
"""

from contextlib import ExitStack
from datetime import datetime, timedelta

from gateway.memory import clearing
from gateway.memory.forgetting import Forgetting, Scope
from gateway.records import Session
from gateway.store import forgets, people, textfile
from gateway.store.transaction import Transaction

BY = "keep_days"
"""Who said yes: the setting."""
ONCE_IN = timedelta(days=1)


def erase_old(forgetting: Forgetting) -> int:
    """Delete the conversations that are over their days, if that was not done today; how many. `resume` goes on.

    Nobody erases meanwhile: a forget that is gone on with knows only the rows that it had then.
    """
    now = forgetting.clock.now()
    with forgetting.db.read() as rd:
        last = forgets.last_by(rd, BY)
    if last is not None and now < last + ONCE_IN:
        return 0
    with ExitStack() as alone:
        lock = textfile.try_lock(forgetting.home.forget_lock)
        if lock is None:
            return 0  # in a minute, then
        alone.callback(lock.release)
        return _erase_old(forgetting, now)


def _erase_old(forgetting: Forgetting, now: datetime) -> int:
    begun: dict[int, int] = {}

    def forget_it(tx: Transaction, session: Session) -> None:
        ref = f"sessions:{session.id}"
        if session.space in begun:
            forgets.add_row(tx, begun[session.space], ref)
            return
        id = forgetting.propose(tx, people.space(tx, session.space), Scope(rows=(ref,)), BY, marks=False)
        forgetting.begin(tx, id, BY)
        begun[session.space] = id

    return clearing.delete_old(forgetting.db, forgetting.home, forgetting.settings, now, forget_it)
