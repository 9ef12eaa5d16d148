"""What SQLite says is to be done, whatever Redis remembers of it.

A claim names the lock of the process that made it; where that lock is free, the process is gone and its
claim is void. What is due is rung for again until somebody takes it, so a lost ring is a delay of seconds.
Doing it is `workers.runtime`.
"""

import logging
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from gateway.errors import NotFound
from gateway.home import Home
from gateway.jobs import ForgetJob, Job, TidyJob
from gateway.memory import tidiness
from gateway.ports import Clock, JobQueue
from gateway.records import Review, Tidy
from gateway.store import duejobs, locks, reviews, textfile, tidies
from gateway.store.db import Database, Reader, Transaction

log = logging.getLogger(__name__)

MOST_ATTEMPTS = 10
"""Of one job, whatever ends them; then it is failed, where people see it."""

_CLAIM = "job-"

_MOST_RINGS = 50
"""At a time; a worker takes them one by one anyway."""


def claim_of(job: Job) -> str:
    """How a claim names the lock `run/job-ID.lock`."""
    return _CLAIM + job.id


def job_id_of(claimed: Review | Tidy) -> str:
    """The id of the job whose claim it is."""
    return claimed.claim.removeprefix(_CLAIM)


def void_abandoned(db: Database, home: Home, clock: Clock) -> int:
    """Put back what is claimed by a process that is gone; returns how many. Several may do so at once."""
    with db.read() as rd:
        if not any(_abandoned(rd, home)):
            return 0
    # Looked at again inside the transaction: meanwhile another process may have put one back and a third
    # one taken it. In here nobody can take anything.
    with db.write() as tx:
        found = list(_abandoned(tx, home))
        for work in found:
            _give_up_or_put_back(tx, work, clock)
    for work in found:
        textfile.remove(_lock_of(work, home))
        _log_abandoned(work)
    return len(found)


def ring(db: Database, queue: JobQueue, clock: Clock) -> int:
    """Ring for what is due; returns for how many. Stops at the first ring that does not go through."""
    rung = 0
    for job in due(db, clock)[:_MOST_RINGS]:
        if not queue.put(job):
            break
        rung += 1
    return rung


def due(db: Database, clock: Clock) -> list[Job]:
    """The jobs to do now."""
    with db.read() as rd:
        return duejobs.due(rd, clock.now())


def was_asked_for(rd: Reader, job: Job) -> bool:
    """Whether a person waits for it: that is not for the day's tokens to stop."""
    if isinstance(job, TidyJob):
        tidy = tidies.find(rd, job.tidy)
        return tidy is not None and tidy.cause == "asked"
    if isinstance(job, ForgetJob):
        return True
    try:
        return reviews.get(rd, job.session, job.turn).cause == "asked"
    except NotFound:  # deleted since it was found to be due
        return False


def same(one: Job, other: Job) -> bool:
    """Whether two jobs do the same, whichever attempt they are."""
    return replace(one, attempt=0) == replace(other, attempt=0)


def is_last(attempts: int) -> bool:
    """Whether no other attempt follows this one by itself. Attempts are counted on when the owner retries."""
    return attempts % MOST_ATTEMPTS == 0


def _abandoned(rd: Reader, home: Home) -> Iterator[Review | Tidy]:
    claimed: list[Review | Tidy] = [*tidies.running(rd), *reviews.running(rd)]
    return (work for work in claimed if not locks.is_locked(_lock_of(work, home)))


def _give_up_or_put_back(tx: Transaction, work: Review | Tidy, clock: Clock) -> None:
    """Perhaps it is this one that kills its process: it must not do so for ever."""
    last = is_last(work.attempts)
    match work:
        case Tidy() if last:
            tidiness.fail(tx, work, "reason.tidy_broken", clock.now())
        case Tidy():
            tidies.void(tx, work.id, work.claim)
        case Review() if last:
            reviews.fail(tx, work.session, work.turn, work.claim, "killed", clock.now())
        case Review():
            reviews.void(tx, work.session, work.turn, work.claim)


def _log_abandoned(work: Review | Tidy) -> None:
    if isinstance(work, Tidy):
        log.warning("tidy.abandoned", extra={"tidy": work.id})
    else:
        log.warning("review.abandoned", extra={"session": work.session, "turn": work.turn})


def _lock_of(work: Review | Tidy, home: Home) -> Path:
    return home.job_lock(job_id_of(work))
