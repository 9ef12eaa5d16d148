"""The composition root of a job, and the one place where its errors end.

A job runs in a process of its own: the work horse of an RQ worker, or a burst. It opens the home, takes the
job's lock and the claim that names it, has `workers.review` or `workers.tidy` think and commit, and writes down how
that ended. Nothing is ever raised to RQ, which would store it. SQLite says what is to be done again, and when.
"""

import asyncio
import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta

from gateway import failpoints, llm, logs, providers, settings
from gateway.broker import connect_url
from gateway.clock import SystemClock
from gateway.errors import ModelRefused, Refused, TryLater
from gateway.home import Home
from gateway.jobs import ForgetJob, Job, ReviewJob, TidyJob
from gateway.memory import dailytokens
from gateway.memory.writing import Memory
from gateway.ports import Clock, JobQueue
from gateway.records import Usage
from gateway.rq_queue import RqQueue
from gateway.settings import Settings
from gateway.store import doorbell, locks, reviews, tidies, usage
from gateway.store.db import Database, Transaction
from workers import due
from workers.attempts import Attempt, ReviewAttempt, TidyAttempt, Trouble
from workers.forget import Eraser
from workers.review import Ending, Reviewer
from workers.tidy import Tidier, Useless

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


def tidy(id: str, attempt: int) -> None:
    """Likewise for a tidy."""
    run(settings.find_home(), TidyJob(id, attempt))


def forget(id: int, attempt: int) -> None:
    """Likewise for asking an external memory to forget."""
    run(settings.find_home(), ForgetJob(id, attempt))


def run(home: Home, job: Job) -> None:
    """Do one job, if it is still to be done. Returns whatever happens."""
    try:
        with _opened(home) as runtime:
            runtime.do(job)
    except Exception:
        # Before anything was claimed: it is still due, and somebody will ring for it again.
        log.exception("job.failed")


def job_queue(home: Home, chosen: Settings) -> JobQueue:
    """The doorbell, for who looks for lost rings."""
    return RqQueue(connect_url(home, chosen), chosen.review_seconds)


def warm_up(chosen: Settings) -> None:
    """Import before the work horses are forked what each of them would have to import."""
    llm.warm_up(chosen.review_model() or chosen.chat_model())


@dataclass(frozen=True, slots=True)
class Runtime:
    """The objects of one job."""

    home: Home
    settings: Settings
    db: Database
    memory: Memory
    clock: Clock

    def do(self, job: Job) -> None:
        """Take the job and do it, if it is due and nobody else has it."""
        due.void_abandoned(self.db, self.home, self.clock)
        dailytokens.release(self.db, self.settings, self.clock.now())
        if isinstance(job, ForgetJob):
            self._forget(job)
            return
        with self._claimed(job) as attempt:
            if attempt is None:
                log.info("job.not_to_be_done")
            else:
                # Only what stands in our own rows may be logged: a ring could name anything.
                session = {"session": attempt.session} if attempt.session else {}
                with logs.bind(job=attempt.job, **session):
                    _log_completion(attempt, self._do(attempt))
        doorbell.ring(self.home)

    @contextmanager
    def _claimed(self, job: Job) -> Iterator[Attempt | None]:
        """Hold the lock that the claim names. Taken in this process, after the fork, so it dies with us."""
        latest = self._latest(job)
        if latest is None or isinstance(latest, ForgetJob):
            yield None
            return
        lock = locks.try_lock(self.home.job_lock(latest.id))
        if lock is None:
            yield None
            return
        try:
            with self.db.write() as tx:
                attempt = self._claim(tx, latest)
            failpoints.reach(f"{_kind(latest)}.claimed")
            yield attempt
        finally:
            lock.discard()

    def _forget(self, job: ForgetJob) -> None:
        """Ask the external memory to erase; whoever erases here goes on when it has."""
        latest = self._latest(job)
        lock = locks.try_lock(self.home.job_lock(latest.id)) if latest else None
        if lock is None:
            return
        try:
            with logs.bind(job=job.id):
                asyncio.run(self._erase_outside(job))
        finally:
            lock.discard()
        doorbell.ring(self.home)

    async def _erase_outside(self, job: ForgetJob) -> None:
        provider = providers.build(self.settings.memory.provider)
        try:
            await Eraser(self.db, self.clock, provider).erase(job.forget)
        except TryLater as busy:  # it stays due
            log.warning("forget.busy", extra={"error": type(busy).__name__, "after": busy.after})
        finally:
            if provider is not None:
                await provider.close()

    def _latest(self, job: Job) -> Job | None:
        """The job by the attempt that is due now; a ring may be of an earlier one. None: not due."""
        return next((now for now in due.due(self.db, self.clock) if due.same(now, job)), None)

    def _claim(self, tx: Transaction, job: ReviewJob | TidyJob) -> Attempt | None:
        now = self.clock.now()
        if not due.was_asked_for(tx, job) and dailytokens.hold(tx, self.settings, now):
            return None
        lease_until = now + timedelta(seconds=self.settings.review_seconds) + _LEASE_SLACK
        claim = due.claim_of(job)
        if isinstance(job, TidyJob):
            tidy = tidies.claim(tx, job.tidy, claim, lease_until, now)
            tidier = Tidier(self.db, self.memory.tidies, self.clock, job.id)
            return TidyAttempt(tidier, tidy) if tidy else None
        review = reviews.claim(tx, job.session, job.turn, claim, lease_until, now)
        reviewer = Reviewer(self.db, self.memory, self.settings, self.clock, job.id)
        return ReviewAttempt(reviewer, review) if review else None

    def _do(self, attempt: Attempt) -> Ending:
        try:
            ending = asyncio.run(self._think_and_commit(attempt))
            if ending is Trouble.CHANGED:
                return self._again(attempt, ending, at_once=True)
            if ending is Ending.VOID:
                self._note_usage(attempt.used)
            return Ending(ending)
        except ModelRefused as refused:
            log.error(_event(attempt, "model_refused"), extra={"status": refused.status})
            return self._fail(attempt, Trouble.MODEL_REFUSED)
        except Useless as useless:
            log.warning("tidy.useless", extra={"reason": useless.reason})
            return self._fail(attempt, useless.reason)
        except TryLater as busy:
            log.warning(_event(attempt, "busy"), extra={"error": type(busy).__name__, "after": busy.after})
            return self._again(attempt, Trouble.BUSY, busy.after)
        except Refused as refused:  # a memory file that cannot be read or changed
            log.warning(_event(attempt, "refused"), extra={"reason": refused.key})
            again = self._again if attempt.waits_for_files else self._fail
            return again(attempt, Trouble.FILE_REFUSED)
        except Exception:
            log.exception(_event(attempt, "broken"))
            if attempt.attempts % due.MOST_ATTEMPTS >= _MOST_BROKEN:
                return self._fail(attempt, Trouble.BROKEN)
            return self._again(attempt, Trouble.BROKEN)

    async def _think_and_commit(self, attempt: Attempt) -> Ending | Trouble:
        model = llm.build(self.settings.review_model() or self.settings.chat_model())
        try:
            return await attempt.do(model)
        finally:
            await model.close()

    def _again(self, attempt: Attempt, reason: str, after_seconds: float = 0.0, *, at_once: bool = False) -> Ending:
        """Put it back for later, unless it has been tried often enough."""
        if due.is_last(attempt.attempts):
            return self._fail(attempt, reason)
        pause = min(_FIRST_PAUSE * 2 ** (attempt.attempts % due.MOST_ATTEMPTS - 1), _LONGEST_PAUSE)
        wait = timedelta(0) if at_once else max(pause, timedelta(seconds=after_seconds))
        with self.db.write() as tx:
            ours = attempt.put_back(tx, reason, self.clock.now() + wait)
        self._note_usage(attempt.used)
        return Ending.PUT_BACK if ours else Ending.VOID

    def _fail(self, attempt: Attempt, reason: str) -> Ending:
        with self.db.write() as tx:
            ours = attempt.fail(tx, reason, self.clock.now())
        self._note_usage(attempt.used)
        return Ending.FAILED if ours else Ending.VOID

    def _note_usage(self, used: Sequence[Usage]) -> None:
        """What was paid for nothing counts, too."""
        with self.db.write() as tx:
            for one in used:
                usage.add(tx, one)


def _kind(job: Job) -> str:
    return "tidy" if isinstance(job, TidyJob) else "review"


def _event(attempt: Attempt, what: str) -> str:
    return f"{attempt.kind}.{what}"


def _log_completion(attempt: Attempt, ending: Ending) -> None:
    used = attempt.used
    log.info(
        "Background %s complete: job=%s calls=%d in=%d out=%d cached=%d result=%s",
        attempt.kind,
        attempt.job,
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
        memory = Memory(db, home, clock, chosen)
        try:
            yield Runtime(home, chosen, db, memory, clock)
        finally:
            memory.overwrite_replaced()
