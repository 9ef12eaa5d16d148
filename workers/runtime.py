"""The composition root of a job, and the one place where its errors end.

A job runs in a process of its own: the work horse of an RQ worker, or a burst. It opens the home, takes the
job's lock and the claim that names it, has `workers.review` think and commit, and writes down how that ended.
Nothing is ever raised to RQ, which would store it. SQLite says what is to be done again, and when.
"""

import asyncio
import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta

from gateway import failpoints, llm, logs, settings
from gateway.broker import connect_url
from gateway.clock import SystemClock
from gateway.errors import ModelRefused, Refused, TryLater
from gateway.home import Home
from gateway.jobs import ReviewJob
from gateway.memory.writing import Memory
from gateway.ports import Clock, JobQueue
from gateway.records import Review, Usage
from gateway.rq_queue import RqQueue
from gateway.settings import Settings
from gateway.store import doorbell, locks, reviews, usage
from gateway.store.db import Database
from workers import due
from workers.review import Ending, Reviewer

log = logging.getLogger(__name__)

_MOST_BROKEN = 3
"""Attempts of a review that ends by an error of ours: it will hardly go better the fourth time."""

_FIRST_PAUSE = timedelta(seconds=15)
_LONGEST_PAUSE = timedelta(hours=1)
"""With these, a model may be away for about two hours until a review counts as failed."""
_LEASE_SLACK = timedelta(minutes=2)


def review(session: str, turn: int, attempt: int) -> None:
    """The job's name in Redis. What it is given comes from there and is only looked up, never trusted."""
    run(settings.find_home(), ReviewJob(session, turn, attempt))


def run(home: Home, job: ReviewJob) -> None:
    """Do one job, if it is still to be done. Returns whatever happens."""
    try:
        with _opened(home) as runtime:
            runtime.review(job)
    except Exception:
        # Before anything was claimed: the review is still due, and somebody will ring for it again.
        log.exception("job.failed")


def job_queue(home: Home, chosen: Settings) -> JobQueue:
    """The doorbell, for who looks for lost rings."""
    return RqQueue(connect_url(home, chosen), chosen.review_seconds)


def warm_up(chosen: Settings) -> None:
    """Import before the work horses are forked what each of them would have to import."""
    llm.warm_up(chosen.review_model() or chosen.chat_model())


@dataclass(frozen=True)
class Runtime:
    """What a job needs, opened."""

    home: Home
    settings: Settings
    db: Database
    memory: Memory
    clock: Clock

    def review(self, job: ReviewJob) -> None:
        """Take the review and do it, unless it is done, not due, or somebody else is at it."""
        due.void_abandoned(self.db, self.home, self.clock)
        with self._claimed(job) as claimed:
            if claimed is None:
                log.info("review.not_to_be_done")
                return
            # Only what stands in our own rows may be logged: a ring could name anything.
            with logs.bind(job=due.job_id_of(claimed), session=claimed.session):
                self._do_claimed(claimed)
        doorbell.ring(self.home)

    def _do_claimed(self, claimed: Review) -> None:
        reviewer = Reviewer(self.db, self.memory, self.settings, self.clock, due.job_id_of(claimed))
        ending = self._do(reviewer, claimed)
        _log_completion(reviewer, ending)

    @contextmanager
    def _claimed(self, job: ReviewJob) -> Iterator[Review | None]:
        """Hold the lock that the claim names. Taken in this process, after the fork, so it dies with us."""
        latest = self._latest(job)
        lock = locks.try_lock(self.home.job_lock(latest.id)) if latest else None
        if latest is None or lock is None:
            yield None
            return
        try:
            now = self.clock.now()
            lease_until = now + timedelta(seconds=self.settings.review_seconds) + _LEASE_SLACK
            with self.db.write() as tx:
                claim = due.claim_of(latest)
                claimed = reviews.claim(tx, latest.session, latest.turn, claim, lease_until, now)
            failpoints.reach("review.claimed")
            yield claimed
        finally:
            lock.discard()

    def _latest(self, job: ReviewJob) -> ReviewJob | None:
        """The job by the attempt that is due now; a ring may be of an earlier one. None: not due."""
        return next(
            (now for now in due.due(self.db, self.clock) if (now.session, now.turn) == (job.session, job.turn)),
            None,
        )

    def _do(self, reviewer: Reviewer, claimed: Review) -> Ending:
        try:
            ending = asyncio.run(self._think_and_commit(reviewer, claimed))
            if ending is Ending.VOID:
                self._note_usage(reviewer.used)
            return ending
        except ModelRefused as refused:
            log.error("review.model_refused", extra={"status": refused.status})
            return self._fail(reviewer, claimed, "model_refused")
        except TryLater as busy:
            log.warning("review.busy", extra={"error": type(busy).__name__, "after": busy.after})
            return self._again(reviewer, claimed, "busy", busy.after)
        except Refused as refused:  # a memory file that cannot be read or changed
            log.warning("review.refused", extra={"reason": refused.key})
            return self._again(reviewer, claimed, "file_refused")
        except Exception:
            log.exception("review.broken")
            if claimed.attempts % due.MOST_ATTEMPTS >= _MOST_BROKEN:
                return self._fail(reviewer, claimed, "broken")
            return self._again(reviewer, claimed, "broken")

    async def _think_and_commit(self, reviewer: Reviewer, claimed: Review) -> Ending:
        model = llm.build(self.settings.review_model() or self.settings.chat_model())
        try:
            return await reviewer.review(model, claimed)
        finally:
            await model.close()

    def _again(self, reviewer: Reviewer, claimed: Review, reason: str, after_seconds: float = 0.0) -> Ending:
        """Put it back for later, unless it has been tried often enough."""
        if due.is_last(claimed):
            return self._fail(reviewer, claimed, reason)
        pause = min(_FIRST_PAUSE * 2 ** (claimed.attempts % due.MOST_ATTEMPTS - 1), _LONGEST_PAUSE)
        retry_at = self.clock.now() + max(pause, timedelta(seconds=after_seconds))
        with self.db.write() as tx:
            ours = reviews.put_back(tx, claimed.session, claimed.turn, claimed.claim, reason, retry_at)
        self._note_usage(reviewer.used)
        return Ending.PUT_BACK if ours else Ending.VOID

    def _fail(self, reviewer: Reviewer, claimed: Review, reason: str) -> Ending:
        with self.db.write() as tx:
            ours = reviews.fail(tx, claimed.session, claimed.turn, claimed.claim, reason, self.clock.now())
        self._note_usage(reviewer.used)
        return Ending.FAILED if ours else Ending.VOID

    def _note_usage(self, used: Sequence[Usage]) -> None:
        """What was paid for nothing counts, too."""
        with self.db.write() as tx:
            for one in used:
                usage.add(tx, one)


def _log_completion(reviewer: Reviewer, ending: Ending) -> None:
    used = reviewer.used
    log.info(
        "Background review complete: job=%s calls=%d in=%d out=%d cached=%d result=%s",
        reviewer.job,
        len(used),
        sum(one.input for one in used),
        sum(one.output for one in used),
        sum(one.cached for one in used),
        ending,
    )


@contextmanager
def _opened(home: Home) -> Iterator[Runtime]:
    chosen = settings.load(home).settings
    failpoints.arm(chosen.failpoint)
    clock = SystemClock()
    with Database.open(home, clock) as db:
        yield Runtime(home, chosen, db, Memory(db, home, clock, chosen), clock)
