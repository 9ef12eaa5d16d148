"""Incognito sessions: they read memory and write none, are in no index, list or review, and leave nothing.

They end like others (`/new`, a reset, another conversation taken up), when their terminal is gone, and when nothing
was said for a day; with that everything said in them is erased, in the same commit. What a kill left open is ended
by the next who keeps house.
"""

import logging
from datetime import datetime, timedelta
from pathlib import Path

from gateway import failpoints
from gateway.home import Home
from gateway.ports import Clock
from gateway.records import NewOutgoing, Session
from gateway.store import copying, erasing, incognito, locks, outbox, sessions, textfile, turns
from gateway.store.db import Database
from gateway.store.transaction import Transaction

log = logging.getLogger(__name__)

QUIET_FOR = timedelta(days=1)
ENDED = "incognito_ended"
"""The kind of the outbox row that says so."""


def erase(tx: Transaction, session: Session, now: datetime) -> None:
    """Take an incognito session away with all that was said in it, and say so in its chat."""
    outbox.put(
        tx,
        NewOutgoing(
            dedupe=f"incognito-{session.id}-ended",
            kind=ENDED,
            chat=session.chat,
            space=session.space,
            created_at=now,
        ),
    )
    erasing.session(tx, session.id)


def leave_out(db: Database, copy: Path, clock: Clock) -> None:
    """Take incognito sessions out of a copy of the home: a backup outlives them."""
    with db.read() as rd:
        if not incognito.every(rd):
            return
    there = Home(copy)
    with Database.open(there, clock) as database:
        with database.write() as tx:
            for session in incognito.every(tx):
                erasing.session(tx, session.id)
        database.rewrite()
        database.checkpoint()
    for inner in (there.run, there.logs, there.exports, there.backups):
        copying.remove_folder(inner)
    for beside in copy.glob("state.db-*"):
        textfile.remove(beside)


def end_abandoned(db: Database, home: Home, now: datetime) -> int:
    """End those of terminals that are gone, and those in which nothing was said for a day; how many."""
    with db.read() as rd:
        found = [session for session in incognito.every(rd) if _is_abandoned(home, session, now)]
    return sum(_end(db, home, session, now) for session in found)


def _is_abandoned(home: Home, session: Session, now: datetime) -> bool:
    if session.chat.platform == "terminal":
        return not locks.is_locked(home.chat_lock(session.chat.id))
    return session.last_at < now - QUIET_FOR


def _end(db: Database, home: Home, session: Session, now: datetime) -> bool:
    lock = locks.try_lock(home.session_lock(session.id))
    if lock is None:
        return False
    try:
        with db.write() as tx:
            is_terminals = session.chat.platform == "terminal"
            if sessions.find(tx, session.id) is None or (turns.is_talking(tx, session.id) and not is_terminals):
                return False
            erase(tx, session, now)
        failpoints.reach("incognito.ended")
    finally:
        lock.discard()
    log.info("incognito.ended", extra={"session": session.id})
    return True
