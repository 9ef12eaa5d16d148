"""What the search index needs now and then: what is not indexed yet, what sessions are about, what was taken out.

All of it is done in slices, each a transaction of its own, and goes on where it was when it is broken off.
"""

import logging
import time
from datetime import datetime, timedelta

from gateway import failpoints
from gateway.store import search_index
from gateway.store.db import Database
from gateway.store.encoding import time_text
from gateway.store.transaction import Transaction

log = logging.getLogger(__name__)

SLICE = 200
"""Messages that are indexed in one transaction."""
SLICES_AT_ONCE = 250
"""After so many other things come to their turn: the rest is for the next time."""
QUIET = timedelta(minutes=30)
"""A session in which nothing was said for so long is looked at again."""
SESSIONS_AT_ONCE = 100
_PAGES = 200
"""So many pages of the index are rewritten in one transaction."""
BREATH = 0.3
_MOST_SLICES = 10_000
_SWEEPING = 2
"""Stands in `sweep` from the beginning of a merge on, until something more is taken out or all is done."""


def keep(db: Database, now: datetime) -> None:
    """Do what is due."""
    with db.read() as rd:
        if search_index.is_degraded(rd):
            return
        behind = search_index.count_unindexed(rd)
    if behind:
        _catch_up(db)
    _digest(db, now)
    if is_due(db):
        sweep(db)


def is_due(db: Database) -> bool:
    """Whether something was taken out whose words still lie in the index."""
    with db.read() as rd:
        return rd.row("SELECT 1 FROM search_state WHERE sweep > 0 AND degraded = 0") is not None


def ask_for_sweep(tx: Transaction) -> None:
    """Something was taken out for good: its words must leave the pages of the index, too."""
    tx.execute("UPDATE search_state SET sweep = 1")


def sweep(db: Database) -> bool:
    """Rewrite the index, so that no word of what was taken out is left in the file. False: try again later.

    SQLite only notes that a row is gone; the words stay until its part of the index is merged. All of it is merged
    here into one, which also makes searches faster.
    """
    merge(db)
    clean = db.checkpoint()
    if clean:
        swept(db)
    log.info("search.swept", extra={"clean": clean})
    return clean


def swept(db: Database) -> None:
    """Note that nothing is left of what was taken out before the last merge began."""
    with db.write() as tx:
        tx.execute(f"UPDATE search_state SET sweep = 0 WHERE sweep = {_SWEEPING}")


def merge(db: Database, breath: float = BREATH) -> None:
    """Merge all parts of the index into one, in slices, so that no write waits for long.

    After each slice, so much of the time that it took belongs to whoever else wants to write.
    """
    with db.write() as tx:
        tx.execute(f"UPDATE search_state SET sweep = {_SWEEPING}")
    for table in ("message_words", "session_words"):
        pages = -_PAGES
        for _ in range(_MOST_SLICES):
            began = time.monotonic()
            with db.write() as tx:
                before = tx.connection.total_changes
                tx.execute(f"INSERT INTO {table} ({table}, rank) VALUES ('merge', ?)", (pages,))
                done = tx.connection.total_changes - before < 2
            if done and pages > 0:
                break
            pages = _PAGES
            time.sleep((time.monotonic() - began) * breath)
            failpoints.reach("search.merged")


def _catch_up(db: Database) -> None:
    for _ in range(SLICES_AT_ONCE):
        with db.write() as tx:
            more = search_index.catch_up(tx, SLICE)
        if not more:
            log.info("search.reindexed")
            return


def _digest(db: Database, now: datetime) -> None:
    with db.read() as rd:
        rows = rd.rows(
            """
            SELECT session FROM searched_sessions JOIN sessions ON sessions.id = searched_sessions.session
             WHERE stale = 1 AND (ended_at IS NOT NULL OR last_at < :quiet)
             ORDER BY number
             LIMIT :most
            """,
            {"quiet": time_text(now - QUIET), "most": SESSIONS_AT_ONCE},
        )
        sessions = [row["session"] for row in rows]
    for session in sessions:
        with db.write() as tx:
            search_index.digest(tx, session)
