"""What SQLite says is to be done, whatever Redis remembers of it.

A claim names the lock of the process that made it; where that lock is free, the process is gone and its
claim is void. A review that is due is rung for again until somebody takes it, so a lost ring is a delay of
seconds. Doing the review is `workers.runtime`.
"""

import logging
from collections.abc import Iterator
from pathlib import Path

from gateway.home import Home
from gateway.jobs import ReviewJob
from gateway.ports import Clock, JobQueue
from gateway.records import Review
from gateway.store import locks, reviews, textfile
from gateway.store.db import Database, Reader, Transaction

log = logging.getLogger(__name__)

MOST_ATTEMPTS = 10
"""Of a review, whatever ends them; then it is failed, where the owner sees it."""

_CLAIM = "job-"

_MOST_RINGS = 50
"""At a time; a worker takes them one by one anyway."""


def claim_of(job: ReviewJob) -> str:
    """How a claim names the lock `run/job-ID.lock`."""
    return _CLAIM + job.id


def job_id_of(claimed: Review) -> str:
    """The id of the job whose claim it is."""
    return claimed.claim.removeprefix(_CLAIM)


def void_abandoned(db: Database, home: Home, clock: Clock) -> int:
    """Put back the reviews whose process is gone; returns how many. Several processes may do so at once."""
    with db.read() as rd:
        if not any(_abandoned(rd, home)):
            return 0
    # Looked at again inside the transaction: meanwhile another process may have put one back and a third
    # one taken it. In here nobody can take anything.
    with db.write() as tx:
        found = list(_abandoned(tx, home))
        for review in found:
            _give_up_or_put_back(tx, review, clock)
    for review in found:
        textfile.remove(_lock_of(review, home))
        log.warning("review.abandoned", extra={"session": review.session, "turn": review.turn})
    return len(found)


def ring(db: Database, queue: JobQueue, clock: Clock) -> int:
    """Ring for what is due; returns for how many. Stops at the first ring that does not go through."""
    rung = 0
    for job in due(db, clock)[:_MOST_RINGS]:
        if not queue.put(job):
            break
        rung += 1
    return rung


def due(db: Database, clock: Clock) -> list[ReviewJob]:
    """The jobs to do now."""
    with db.read() as rd:
        return [job_of(review) for review in reviews.due(rd, clock.now())]


def job_of(review: Review) -> ReviewJob:
    """The job that does this review; each attempt is another one."""
    return ReviewJob(review.session, review.turn, review.attempts)


def is_last(review: Review) -> bool:
    """Whether no other attempt follows this one by itself. Attempts are counted on when the owner retries."""
    return review.attempts % MOST_ATTEMPTS == 0


def _abandoned(rd: Reader, home: Home) -> Iterator[Review]:
    return (review for review in reviews.running(rd) if not locks.is_locked(_lock_of(review, home)))


def _give_up_or_put_back(tx: Transaction, review: Review, clock: Clock) -> None:
    if is_last(review):
        # Perhaps it is this review that kills its process: it must not do so for ever.
        reviews.fail(tx, review.session, review.turn, review.claim, "killed", clock.now())
    else:
        reviews.void(tx, review.session, review.turn, review.claim)


def _lock_of(review: Review, home: Home) -> Path:
    return home.job_lock(job_id_of(review))
