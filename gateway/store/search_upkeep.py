"""What the search index needs now and then: what is not indexed yet, what sessions are about, what was taken out.

All of it is done in slices, each a transaction of its own, and goes on where it was when it is broken off.
"""

import logging
import time
from dataclasses import dataclass
from datetime import datetime, timedelta

from gateway import failpoints
from gateway.store import search_index
from gateway.store.db import Database, GaveWay
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
_PAGES = 10
"""So many pages of the index are rewritten at a step."""
_MOST_SLICES = 100_000


@dataclass(frozen=True, slots=True)
class Pace:
    """How much of the merge is done at a time."""

    slice_seconds: float
    """After so long steps are committed; sooner where somebody waits."""
    steps_in_wal: int
    """After so many the WAL is moved into the database. A step puts an eighth of a megabyte into it."""
    rests: float = 0
    """After each slice, so many times as long nothing is done."""


BRISK = Pace(0.035, 64)
CAREFUL = Pace(0.006, 20, rests=2)
"""While people talk with the bot. (A very common word takes 50 ms at a step, whatever is asked for.)"""
ALONE = Pace(0.5, 160)
"""Where nobody else has the database."""
CAREFUL_SECONDS = 5.0
"""So long after somebody waited the merge is careful."""


def keep(db: Database, now: datetime) -> None:
    """Do what is due."""
    with db.read() as rd:
        if search_index.is_degraded(rd):
            return
        behind = search_index.count_unindexed(rd)
    if behind:
        _catch_up(db)
    _digest(db, now)
    if _holds(db, "asked > swept"):
        sweep(db)


def is_due(db: Database) -> bool:
    """Whether something was taken out whose words still lie in the index, be it that somebody asked for a sweep or
    that a message was only edited: housekeeping lets that wait for the next sweep, a forget does not."""
    return _holds(db, "taken > merged")


def _holds(db: Database, condition: str) -> bool:
    with db.read() as rd:
        return rd.row(f"SELECT 1 FROM search_state WHERE {condition} AND degraded = 0") is not None


def ask_for_sweep(tx: Transaction) -> None:
    """Something was taken out for good: its words must leave the pages of the index, too."""
    tx.execute("UPDATE search_state SET taken = taken + 1, asked = taken + 1")


def sweep(db: Database) -> bool:
    """Rewrite the index, so that no word of what was taken out is left in the file. False: try again later.

    SQLite only notes that a row is gone; the words stay until its part of the index is merged. All of it is merged
    here into one, which also makes searches faster.
    """
    merge(db)
    clean = swept(db)
    log.info("search.swept", extra={"clean": clean})
    return clean


def swept(db: Database) -> bool:
    """Empty the WAL and note how far nothing is left in the file. False: a reader was in the way.

    Only what was merged before is noted: what somebody else merges meanwhile may not be in the file yet.
    """
    with db.read() as rd:
        row = rd.row("SELECT merged FROM search_state")
    clean = db.checkpoint()
    if clean and row is not None:
        with db.write() as tx:
            tx.execute("UPDATE search_state SET swept = :merged WHERE swept < :merged", dict(row))
    return clean


def merge(db: Database, pace: Pace = BRISK) -> None:
    """Merge all parts of the index into one, in slices, so that no write waits for long.

    No slice is waited for until it is on disk: what a power cut takes back is merged again, for `merged` is written
    after the last one. Of what is taken out meanwhile the words may lie where the merge has been already.
    """
    with db.read() as rd:
        row = rd.row("SELECT taken FROM search_state")
    careful_until = 0.0
    for table in ("message_words", "session_words"):
        steps, in_wal = 0, 0
        yields = True
        for _ in range(_MOST_SLICES):
            began = time.monotonic()
            now = CAREFUL if began < careful_until else pace
            some, done, waited = _merge_slice(db, table, now, first=not steps, yields=yields)
            steps, in_wal, yields = steps + some, in_wal + some, some > 0
            failpoints.reach("search.merged")
            if done:
                break
            time.sleep((time.monotonic() - began) * now.rests)
            if db.give_way() or waited:
                careful_until = time.monotonic() + CAREFUL_SECONDS
            if in_wal >= now.steps_in_wal:
                db.shorten()
                in_wal = 0
    if row is not None:
        with db.write() as tx:
            tx.execute("UPDATE search_state SET merged = :taken WHERE merged < :taken", dict(row))


def _merge_slice(db: Database, table: str, pace: Pace, *, first: bool, yields: bool) -> tuple[int, bool, bool]:
    """A transaction of some steps. How many, whether nothing is left to be done, whether somebody waits.

    None, where it had to yield: what takes long cannot be made shorter, so the next does not yield.
    """
    steps, done, waited = 0, False, False
    try:
        with db.write(durable=False, yields=yields) as tx:
            until = time.monotonic() + pace.slice_seconds
            while not (done or waited) and (not steps or time.monotonic() < until):
                done = _merge_step(tx, table, first=first and not steps)
                steps += 1
                waited = db.is_waited_for()
    except GaveWay:
        return 0, False, True
    return steps, done, waited


def _merge_step(tx: Transaction, table: str, *, first: bool) -> bool:
    """Rewrite a few pages; the first time, all parts are told to become one. True: nothing is left to be done."""
    before = tx.connection.total_changes
    pages = -_PAGES if first else _PAGES
    tx.execute(f"INSERT INTO {table} ({table}, rank) VALUES ('merge', ?)", (pages,))
    return not first and tx.connection.total_changes - before < 2


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
