"""The long form: `python -m tests.crash [--kills 500] [--seed N]`. Prints the seed, what was done and what broke.
With --frozen or --bursts, the long form of that test instead.

One home lives through everything: a SIGKILL at a named step or at a random moment, of the gateway with all its
children, of a worker or of Redis; Redis wiped; the database held by another program; the disk full.
After each fault the bot is started again (if it died) and the promises are checked.
"""

import argparse
import asyncio
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Coroutine
from contextlib import closing, suppress
from pathlib import Path

from tests.crash.test_bursts import bursts
from tests.crash.test_crash import STEPS_OF_A_TURN
from tests.crash.test_frozen import frozen_session
from tests.crash.world import World, world
from tests.processes import until

REQUESTS = 1_000
TURNS, CHATS = 2_000, 40
REVIEW_STEPS = ("review.claimed", "review.thought", "review.committed", "command.done")
NAMES = (
    "ant",
    "bee",
    "cow",
    "doe",
    "eel",
    "fox",
    "gnu",
    "hen",
    "ibis",
    "jay",
    "kid",
    "lark",
    "mole",
    "newt",
    "owl",
)


class Trouble:
    """Makes faults in a world, each chosen by a seeded chance."""

    def __init__(self, one: World, chance: random.Random) -> None:
        self.one = one
        self.chance = chance
        self.told = 0
        self.done: Counter[str] = Counter()

    def say_something(self) -> None:
        """One to three messages; a third of them a fact."""
        for _ in range(self.chance.randint(1, 3)):
            if self.chance.random() < 0.3 and len(self.one.facts) < 40:
                self.told += 1
                self.one.remember(f"{self.chance.choice(NAMES)}{_letters(self.told)}")
            else:
                self.one.chat(f"good morning {self.chance.randint(0, 999)}")

    def at_a_step(self) -> None:
        """Start with a step armed and let it die there, or at a random moment where it is not reached."""
        step = self.chance.choice(STEPS_OF_A_TURN + REVIEW_STEPS)
        self.one.here.end(self.one.process)
        self.one.start("up", HIKAE_FAILPOINT=f"{step}:{self.chance.randint(1, 3)}")
        self.say_something()
        with suppress(subprocess.TimeoutExpired):
            self.one.process.wait(self.chance.uniform(1.5, 3))
        self._kill_and_start()

    def at_a_moment(self) -> None:
        self.say_something()
        with suppress(subprocess.TimeoutExpired):
            self.one.process.wait(self.chance.uniform(0.0, 1.5))
        self._kill_and_start()

    def a_worker(self) -> None:
        """One of the worker's processes, or Redis, whichever is found first."""
        self.say_something()
        pids = self.one.here.pids("workers") or self.one.here.pids("redis")
        if pids:
            with suppress(ProcessLookupError):
                os.kill(self.chance.choice(pids), signal.SIGKILL)

    def redis_wiped(self) -> None:
        self.say_something()
        for path in (self.one.here.home.path / "run" / "redis").rglob("*"):
            if path.is_file():
                path.unlink(missing_ok=True)
        for pid in self.one.here.pids("redis"):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def database_held(self) -> None:
        """Another program holds the database for up to two seconds."""
        with closing(sqlite3.connect(self.one.here.home.state_db, timeout=10, isolation_level=None)) as db:
            db.execute("BEGIN IMMEDIATE")
            self.say_something()
            time.sleep(self.chance.uniform(0.2, 2))
            db.execute("ROLLBACK")

    def disk_full(self) -> None:
        """No file of the gateway may grow for up to two seconds."""
        with suppress(ProcessLookupError):
            self.one.here.limit_files(self.one.process, 1)
            self.say_something()
            time.sleep(self.chance.uniform(0.2, 2))
            self.one.here.limit_files(self.one.process)
        if self.one.died():  # one that was just starting could not even say so
            self.one.start("up")

    def _kill_and_start(self) -> None:
        self.one.kill()
        self.one.start("up")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.crash")
    parser.add_argument("--kills", type=int, default=500, help="how many faults")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    instead = parser.add_mutually_exclusive_group()
    instead.add_argument("--frozen", action="store_true", help="1,000 requests of one session")
    instead.add_argument("--bursts", action="store_true", help="2,000 turns over 40 chats in bursts")
    asked = parser.parse_args()
    print(f"seed {asked.seed}", flush=True)
    if asked.frozen:
        return _of_one_process("requests of one session", lambda path: frozen_session(path, REQUESTS), REQUESTS)
    if asked.bursts:
        return _of_one_process(
            f"turns over {CHATS} chats", lambda path: bursts(path, TURNS, CHATS, asked.seed), TURNS
        )
    with tempfile.TemporaryDirectory(prefix="hikae-crash-") as folder, world(Path(folder), interval=3) as one:
        return _run(one, Trouble(one, random.Random(asked.seed)), asked.kills)


def _of_one_process(what: str, check: Callable[[Path], Coroutine[None, None, list[str]]], count: int) -> int:
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="hikae-crash-") as folder:
        problems = asyncio.run(check(Path(folder)))
    print(f"{count} {what} in {time.monotonic() - began:.0f} s: {problems or 'all is well'}")
    return 1 if problems else 0


def _run(one: World, trouble: Trouble, faults: int) -> int:
    kinds: tuple[tuple[Callable[[], None], int], ...] = (
        (trouble.at_a_step, 6),
        (trouble.at_a_moment, 6),
        (trouble.a_worker, 3),
        (trouble.redis_wiped, 1),
        (trouble.database_held, 1),
        (trouble.disk_full, 1),
    )
    one.start("up")
    problems: list[str] = []
    for number in range(1, faults + 1):
        fault = trouble.chance.choices([kind for kind, _ in kinds], [weight for _, weight in kinds])[0]
        fault()
        trouble.done[fault.__name__] += 1
        if number % 10 == 0 or number == faults:
            one.settle()
            until(one.reviews_are_done, 120)
            problems = one.broken_promises()
            so_far = f"{number} faults, {len(one.asked)} messages, {one.kills} kills"
            print(f"{so_far}: {problems or 'all is well'}", flush=True)
            if not problems:
                one.start("up")
        if problems:
            break
    done = f"{sum(trouble.done.values())} faults: {dict(trouble.done)}"
    print(f"{done}; {len(one.asked)} messages, {len(one.facts)} facts")
    return 1 if problems else 0


def _letters(number: int) -> str:
    """A number as letters, since the offline model reads words."""
    return "".join(chr(ord("a") + int(digit)) for digit in str(number))


if __name__ == "__main__":
    sys.exit(main())
