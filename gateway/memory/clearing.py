"""Deletes conversations that are older than `session.keep_days`; which may be deleted now.

Those that a person names go as a forget of whole rows does (`forgetting`): out of the backups, too. One that is
talking is left alone: its lock is taken first, so that no process answers in it meanwhile. What was learnt from it
stays in memory and in the ledger, where people take it back; `resting` says what that is.
"""

import logging
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial

from gateway import failpoints
from gateway.chat import TERMINAL_OWNER
from gateway.errors import Refused
from gateway.home import Home
from gateway.memory import cards
from gateway.records import NewOutgoing, Session
from gateway.settings import Settings
from gateway.store import (
    erasing,
    locks,
    outbox,
    pruning,
    resting,
    reviews,
    sessions,
    turns,
)
from gateway.store.db import Database
from gateway.store.erasing import Erased
from gateway.store.pruning import Wanted
from gateway.store.transaction import Transaction

log = logging.getLogger(__name__)


Also = Callable[[Transaction, Session], None]
"""What else belongs into the commit that deletes a conversation; called with it as it was."""


def refuse_busy(db: Database, home: Home, id: str) -> None:
    """Raises NotFound, and Refused while something is being answered in a conversation."""
    with db.read() as rd:
        id = sessions.get(rd, id).id
        busy = turns.is_talking(rd, id)
    if busy or locks.is_locked(home.session_lock(id)):
        raise Refused("session.busy", id=id)


def delete(db: Database, home: Home, id: str, also: Also = lambda tx, session: None) -> Erased:
    """Delete one conversation. Raises NotFound, and Refused while something is being answered in it."""
    with db.read() as rd:
        id = sessions.get(rd, id).id
    lock = locks.try_lock(home.session_lock(id))
    if lock is None:
        raise Refused("session.busy", id=id)
    try:
        with db.write() as tx:
            session = sessions.get(tx, id)  # somebody else may have been first
            if turns.is_talking(tx, id):
                raise Refused("session.busy", id=id)
            resting.erase_quotes(tx, id)
            erased = erasing.session(tx, id)
            also(tx, session)
        failpoints.reach("session.deleted")
    finally:
        lock.discard()
    log.info("session.deleted", extra={"session": id, "messages": erased.messages, "reviews": erased.reviews})
    return erased


def delete_old(
    db: Database, home: Home, settings: Settings, now: datetime, also: Also = lambda tx, session: None
) -> int:
    """Delete the conversations in which nothing was said for `session.keep_days`; how many those were.

    One that is still to be reviewed waits for that. Where one was still open, its chat is told.
    """
    days = settings.session.keep_days
    if not days:
        return 0
    with db.read() as rd:
        old = pruning.chosen(rd, Wanted(before=now - timedelta(days=days)))
        ids = [each.id for each in old if not reviews.is_open(rd, each.id)]
    deleted = 0
    for id in ids:
        try:
            delete(db, home, id, partial(_gone, settings=settings, now=now, also=also))
        except Refused:
            continue  # talking after all, or somebody else was first
        deleted += 1
    return deleted


def _gone(tx: Transaction, session: Session, settings: Settings, now: datetime, also: Also) -> None:
    _tell(tx, session, settings, now)
    also(tx, session)


def _tell(tx: Transaction, session: Session, settings: Settings, now: datetime) -> None:
    """Who goes on would find nothing there. A terminal begins with a conversation of its own anyway."""
    chat = cards.audience(tx, settings, session.chat)
    if (
        session.ended_at is not None
        or not session.turns
        or chat is None
        or chat.platform == TERMINAL_OWNER.platform
    ):
        return
    outbox.put(
        tx,
        NewOutgoing(
            dedupe=f"kept-{session.id}",
            kind="warning",
            chat=chat,
            space=session.space,
            created_at=now,
            values={"key": "session.days_over", "days": settings.session.keep_days},
        ),
    )
