"""Start here: `python -m workers` works until told to stop, `--burst` works off what is due and ends.

A running worker is two processes and, while there is something to do, a third: this one, the supervisor;
the RQ worker, which it starts by this same command with `--rq-worker`; and that one's work horse.
"""

import argparse
import contextlib
import logging
import os
import signal
import sys
from collections.abc import Sequence

from redis.exceptions import RedisError

from gateway import failpoints, lifeline, logs, settings
from gateway.broker import Broker, connect_url
from gateway.clock import SystemClock
from gateway.errors import ConfigError, GatewayError, StoreBusy
from gateway.home import Home
from gateway.memory.writing import Memory
from gateway.settings import Settings
from gateway.store import locks, textfile
from gateway.store.db import Database
from workers import burst, rq_worker, runtime
from workers.supervisor import Supervisor

log = logging.getLogger("workers")  # __name__ is "__main__" here, which is nobody's

_FOR_A_FORMER_WORKER_SECONDS = 15.0
"""With a parent, the worker of a former parent may still be finishing its review."""


def main(argv: Sequence[str] | None = None) -> int:
    """Returns the exit code: 0 done, 1 refused or failed, 2 configuration."""
    lifeline.leave_no_core()
    asked = _parse(argv)
    if asked.with_parent:
        lifeline.die_with(asked.with_parent, signal.SIGKILL if asked.rq_worker else signal.SIGTERM)
    try:
        home = settings.find_home(home=asked.home)
        chosen = settings.load(home).settings
        textfile.prepare_home(home)
        logs.setup(home, to_stderr=not (asked.burst or asked.with_parent), secrets=chosen.secrets())
        failpoints.arm(chosen.failpoint)
        return _work(home, chosen, asked)
    except ConfigError as error:
        print(error, file=sys.stderr)
        return 2
    except GatewayError as error:
        print(error, file=sys.stderr)
        return 1
    finally:
        logs.close()


def _parse(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m workers", description="Review what was said, and more.")
    parser.add_argument("--home", help="the home to work for (default: $HIKAE_HOME, else ~/.hikae)")
    parser.add_argument("--burst", action="store_true", help="work off what is due, then end")
    parser.add_argument(
        "--with-parent", type=int, nargs="?", const=os.getppid(), metavar="PID", help="end when the parent ends"
    )
    parser.add_argument("--rq-worker", metavar="NAME", help=argparse.SUPPRESS)
    return parser.parse_args(argv)


def _work(home: Home, chosen: Settings, asked: argparse.Namespace) -> int:
    if asked.rq_worker:
        return _take_jobs(home, chosen, asked.rq_worker)
    if asked.burst:
        return _work_off(home, chosen)
    return _supervise(home, chosen, wait_seconds=_FOR_A_FORMER_WORKER_SECONDS if asked.with_parent else 0.1)


def _supervise(home: Home, chosen: Settings, *, wait_seconds: float) -> int:
    with contextlib.ExitStack() as held:
        try:
            held.enter_context(locks.lock(home.worker_lock, wait_seconds))
        except StoreBusy:
            holder = locks.holder(home.worker_lock) or "unknown"
            print(f"A worker of {home.path} runs already (process {holder}).", file=sys.stderr)
            return 1
        clock = SystemClock()
        db = held.enter_context(Database.open(home, clock))
        memory = Memory(db, home, clock, chosen)
        held.callback(memory.overwrite_replaced)
        broker = Broker(home, connect_url(home, chosen))
        Supervisor(home, db, memory, broker, runtime.job_queue(home, chosen), clock).run()
    return 0


def _work_off(home: Home, chosen: Settings) -> int:
    clock = SystemClock()
    with Database.open(home, clock) as db:
        memory = Memory(db, home, clock, chosen)
        try:
            memory.finish_interrupted()
        finally:
            memory.overwrite_replaced()
        burst.work_off(home, db, clock, lambda job: runtime.run(home, job))
    return 0


def _take_jobs(home: Home, chosen: Settings, name: str) -> int:
    runtime.warm_up(chosen)
    try:
        rq_worker.serve(connect_url(home, chosen), name)
    except RedisError as error:
        log.warning("worker.redis_away", extra={"error": type(error).__name__})
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
