"""Keeps one RQ worker at work: the parent that outlives its deaths.

It sees to it that Redis answers, starts the worker again the moment it dies and gives back what it had
taken. Every few seconds it looks into SQLite for reviews whose process or whose ring was lost, and for writes
that were approved and not carried out. On SIGTERM and SIGINT a running review may finish for a while; then its
worker is killed and the review is put back. When the supervisor itself is killed, worker and work horse end
with it, and the next start goes on.
"""

import hashlib
import logging
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType

from redis.exceptions import RedisError

from gateway import settings
from gateway.broker import Broker
from gateway.errors import Refused, TryLater
from gateway.home import Home
from gateway.memory.writing import Memory
from gateway.ports import Clock, JobQueue
from gateway.store import doorbell
from gateway.store.db import Database
from workers import due, rq_worker

log = logging.getLogger(__name__)

LOOK_SECONDS = 2.0
"""How often it looks for lost work when nothing wakes it."""

STOP_SECONDS = 8.0
"""How long a running review may go on after we were told to stop (service managers wait 10 seconds)."""

_SOON_SECONDS = 1.0
"""A worker that lives no longer than this is not started again at once."""


@dataclass
class Supervisor:
    """Holds the worker process. One per home, by `run/worker.lock`, which the caller has."""

    home: Home
    db: Database
    memory: Memory
    broker: Broker
    queue: JobQueue
    clock: Clock
    _worker: subprocess.Popen[bytes] | None = None
    _starts: int = 0
    _started_at: float = field(default=-_SOON_SECONDS)

    def run(self) -> None:
        """Work until told to stop."""
        with _signals() as signals:
            log.info("worker.started")
            if self.broker.ensure():
                self._bury()  # of a supervisor that was killed
            while not signals.told_to_stop:
                self._tend()
                signals.wait(LOOK_SECONDS)
            self._end()
            log.info("worker.ended")

    def _tend(self) -> None:
        redis = self.broker.ensure()
        if self._worker is not None and self._worker.poll() is not None:
            log.warning("worker.died", extra={"exit": self._worker.returncode})
            self._worker = None
            if redis:
                self._bury()
        if redis and self._worker is None and time.monotonic() - self._started_at > _SOON_SECONDS:
            self._start()
        self._look_for_lost_work(ring=redis)

    def _look_for_lost_work(self, *, ring: bool) -> None:
        try:
            due.void_abandoned(self.db, self.home, self.clock)
            if ring:
                due.ring(self.db, self.queue, self.clock)
            if self.memory.finish_interrupted():  # by a work horse that was killed after its commit
                doorbell.ring(self.home)
        except (TryLater, Refused) as error:
            log.info("worker.looks_again_later", extra={"error": type(error).__name__})

    def _start(self) -> None:
        self._starts += 1
        self._started_at = time.monotonic()
        name = f"{_names(self.home)}{os.getpid()}-{self._starts}"
        self._worker = subprocess.Popen(
            [sys.executable, "-m", "workers", "--rq-worker", name, "--with-parent", str(os.getpid())],
            env=settings.child_environment(self.home),
            stdin=subprocess.DEVNULL,
            process_group=0,  # Ctrl-C is for us; we pass it on in our own time
        )

    def _bury(self) -> None:
        try:
            rq_worker.bury(self.broker.url, _names(self.home))
        except RedisError as error:
            log.warning("worker.redis_away", extra={"error": type(error).__name__})

    def _end(self) -> None:
        if self._worker is not None:
            self._worker.terminate()
            try:
                self._worker.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                log.warning("worker.killed")
                self._worker.kill()
                self._worker.wait()
        self._look_for_lost_work(ring=False)
        self.broker.stop()


def _names(home: Home) -> str:
    """How the names of this home's workers begin: homes may share a Redis."""
    return f"hikae-{hashlib.sha256(bytes(home.path)).hexdigest()[:8]}-"


class _Signals:
    """What the process was told, and a wait that ends early when it is told something."""

    def __init__(self, wakes: int) -> None:
        self.told_to_stop = False
        self._wakes = wakes

    def stop(self, _number: int, _frame: FrameType | None) -> None:
        self.told_to_stop = True

    def child_ended(self, _number: int, _frame: FrameType | None) -> None:
        """Only wakes."""

    def wait(self, seconds: float) -> None:
        if not self.told_to_stop and select.select([self._wakes], [], [], seconds)[0]:
            os.read(self._wakes, 4096)


@contextmanager
def _signals() -> Iterator[_Signals]:
    wakes, told = os.pipe()
    os.set_blocking(told, False)
    signals = _Signals(wakes)
    handlers = {
        signal.SIGTERM: signals.stop,
        signal.SIGINT: signals.stop,
        signal.SIGCHLD: signals.child_ended,
    }
    former = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    former_fd = signal.set_wakeup_fd(told, warn_on_full_buffer=False)
    try:
        yield signals
    finally:
        signal.set_wakeup_fd(former_fd)
        for number, handler in former.items():
            signal.signal(number, handler)
        os.close(told)
        os.close(wakes)
