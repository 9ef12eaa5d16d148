"""Works off what is due and ends: what a one-shot run leaves behind when no worker lives.

It asks SQLite alone and needs no Redis. One per home, by `run/burst.lock`. Whoever finds that lock taken
may have made a review due after the holder's last look; so the holder looks again when it is free.
"""

import logging
from collections.abc import Callable

from gateway.home import Home
from gateway.jobs import Job
from gateway.ports import Clock
from gateway.store import locks
from gateway.store.db import Database
from workers import due

log = logging.getLogger(__name__)


def work_off(home: Home, db: Database, clock: Clock, run: Callable[[Job], None]) -> None:
    """Run every job that is due, until there is none or somebody else is at it."""
    log.info("burst.started")
    tried: set[Job] = set()
    while _next(home, db, clock, tried) and _work_off_locked(home, db, clock, run, tried):
        pass
    log.info("burst.ended", extra={"jobs": len(tried)})


def _work_off_locked(home: Home, db: Database, clock: Clock, run: Callable[[Job], None], tried: set[Job]) -> bool:
    """False when somebody else is at it."""
    if locks.is_locked(home.worker_lock):
        return False
    lock = locks.try_lock(home.burst_lock)
    if lock is None:
        return False
    try:
        while job := _next(home, db, clock, tried):
            tried.add(job)
            run(job)
    finally:
        lock.release()
    return True


def _next(home: Home, db: Database, clock: Clock, tried: set[Job]) -> Job | None:
    """What is due and was not tried by us: each attempt is another job, so nothing is run in a circle."""
    due.void_abandoned(db, home, clock)
    return next((job for job in due.due(db, clock) if job not in tried), None)
