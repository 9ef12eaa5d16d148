"""A forget is killed at random moments, again and again, until it is done; then every byte is looked for.

    .venv/bin/python -m tests.crash.forgetting --kills 200 --seed 1

One home is prepared in which two phrases went through every door (`everywhere`); each try works on a copy of it,
with real processes and our own Redis. Killed is who erases, whoever that is: the gateway, the bot with its worker
and Redis, or the command of the terminal. A worker thinks of a review that would bring the words back.
"""

import argparse
import json
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from os import kill
from pathlib import Path
from subprocess import Popen

from gateway import broker
from gateway.clock import SystemClock
from gateway.home import Home
from gateway.memory import verifying
from gateway.memory.forgetting import Forgetting, Scope
from gateway.memory.writing import Memory
from gateway.records import Forget
from gateway.settings import Settings
from gateway.store import forgets, people
from gateway.store.db import Database
from tests.bot import ANNA
from tests.crash import everywhere
from tests.fakes.model import Json, ModelServer, is_review
from tests.fakes.telegram import FakeTelegram
from tests.processes import Machine, until
from tests.store.canaries import BOTH, ENGLISH, JAPANESE

OWNER = f"telegram:{ANNA}"
SCOPE = Scope((ENGLISH, JAPANESE))
PATIENCE_SECONDS = 240.0
COUNTED = ("entries", "ledger", "skills", "messages", "summaries", "titles", "prompts", "outbox", "files")


@dataclass
class Trial:
    """The prepared home, the fakes around it, and what was done so far."""

    folder: Path
    planted: Home
    telegram: FakeTelegram
    server: ModelServer
    chance: random.Random
    before: Mapping[str, object]
    expected: Mapping[str, int]
    """How much each layer held."""
    kills: int = 0
    done: Counter[str] = field(default_factory=Counter)

    def run(self, kills: int, told: Callable[[str], None] = lambda _: None) -> list[str]:
        """Try until so many kills were survived. What was wrong with the last try; [] when all is well."""
        ways = (self.at_the_start, self.with_a_worker, self.in_the_chat, self.in_the_terminal)
        weights = (4, 3, 3, 4)
        while self.kills < kills:
            way = self.chance.choices(ways, weights)[0]
            problems = self._try(way, min(self.chance.randint(2, 7), kills - self.kills))
            if problems:
                return [f"{way.__name__}: {problem}" for problem in problems]
            told(f"{self.kills} kills, {dict(self.done)}")
        return []

    def _try(self, way: Callable[["One"], None], kills: int) -> list[str]:
        number = sum(self.done.values())
        home = Home(self.folder / f"try-{number:04}" / "home")
        shutil.copytree(self.planted.path, home.path, ignore=shutil.ignore_patterns("*.sock"))
        one = One(Machine(home), self, kills)
        try:
            way(one)
            until(one.all_done, PATIENCE_SECONDS)
            problems = one.problems(counts=way != self.with_a_worker)
        except AssertionError as error:
            problems = [f"{error}; {one.state()}"]
        finally:
            one.here.end_all()
        self.done[way.__name__] += 1
        if not problems:
            shutil.rmtree(home.path.parent)
        return problems

    # -- who erases ------------------------------------------------------------------------------------------

    def at_the_start(self, one: "One") -> None:
        """The yes is committed; the gateway goes on with it whenever it starts."""
        one.says_yes()
        one.is_killed_again_and_again("gateway")
        one.start("gateway")

    def with_a_worker(self, one: "One") -> None:
        """All of the bot; a review is being thought that has read it and wants to keep it."""
        self.server.forget_script()
        self.server.calls("memory", when=has_read_it, action="add", content=f"Still sees {BOTH}", target="memory")
        one.start("up")
        until(lambda: one.here.pids("workers"), PATIENCE_SECONDS)
        time.sleep(self.chance.uniform(0, 1))
        one.says_yes()
        one.kill()
        one.is_killed_again_and_again("up")
        one.start("up")

    def in_the_chat(self, one: "One") -> None:
        """`/forget` and a tap, one phrase after the other."""
        for number, text in enumerate((ENGLISH, JAPANESE), 1):
            one.start("gateway")
            cards = self._cards()
            self.telegram.says(ANNA, f"/forget {text}")
            until(lambda known=cards: self._cards() > known, PATIENCE_SECONDS)  # type: ignore[misc]  # bound at once
            card = next(shown for shown in reversed(self.telegram.screen(ANNA)) if "Forget" in shown.labels)
            self.telegram.taps(ANNA, card, "Forget")
            time.sleep(self.chance.uniform(0, 0.3))
            one.kill_at_a_moment(number)
            one.is_killed_again_and_again("gateway", begun=number)
            one.start("gateway")
            until(lambda known=number: one.all_done(known), PATIENCE_SECONDS)  # type: ignore[misc]  # bound at once
            one.end()

    def _cards(self) -> int:
        return sum("Forget" in shown.labels for shown in self.telegram.sent)

    def in_the_terminal(self, one: "One") -> None:
        """`hikae forget`, alone or beside a running gateway, given again each time it was killed."""
        command = ("forget", ENGLISH, "--also", JAPANESE, "--yes")
        if self.chance.random() < 0.5:
            one.start("gateway")
            until(lambda: one.here.home.gateway_socket.exists(), PATIENCE_SECONDS)
        one.is_killed_again_and_again(*command)
        one.start(*command)
        until(one.has_ended, PATIENCE_SECONDS)


@dataclass
class One:
    """One home, and the processes on it."""

    here: Machine
    trial: Trial
    left: int
    """So many kills are still to come."""
    running: list[Popen[bytes]] = field(default_factory=list)

    # -- doing -----------------------------------------------------------------------------------------------

    def says_yes(self) -> None:
        """As a tap does: commit it, erase nothing."""
        clock = SystemClock()
        with Database.open(self.here.home, clock) as db:
            with db.read() as rd:
                space = people.space_named(rd, "owner")
            forgetting_of(self.here.home, db).forget(space, SCOPE, OWNER)

    def start(self, *arguments: str) -> None:
        environment = {
            "TELEGRAM_BOT_TOKEN": self.trial.telegram.token,
            "HIKAE_TELEGRAM_BASE_URL": self.trial.telegram.url,
        }
        self.running.append(self.here.start(*arguments, **environment))

    def is_killed_again_and_again(self, *arguments: str, begun: int = 1) -> None:
        """Started anew each time, unless it is done before."""
        while self.left > 0 and not self.all_done(begun):
            self.start(*arguments)
            self.kill_at_a_moment(begun)

    def kill_at_a_moment(self, begun: int) -> None:
        """Wait until some layers more are erased, and some milliseconds."""
        wanted = self.trial.chance.randint(self.steps(), 18)
        until(lambda: self.steps() >= wanted or self.all_done(begun) or self.has_ended(), PATIENCE_SECONDS)
        time.sleep(self.trial.chance.uniform(0, 0.3 if wanted < 15 else 1.5))
        children = self.here.pids("workers") + self.here.pids("redis")
        if children and self.trial.chance.random() < 0.4:
            with suppress(ProcessLookupError):
                kill(self.trial.chance.choice(children), signal.SIGKILL)
            self.trial.kills += 1
            self.left -= 1
        self.kill()
        self.trial.kills += 1
        self.left -= 1

    def kill(self) -> None:
        """The one that was started last."""
        self.here.kill(self.running.pop())

    def end(self) -> None:
        """All of them, in order."""
        while self.running:
            process = self.running.pop()
            if process.poll() is None:
                self.here.end(process)

    def has_ended(self) -> bool:
        return self.running[-1].poll() is not None

    # -- looking ---------------------------------------------------------------------------------------------

    def steps(self) -> int:
        """How many layers of the newest forget are erased."""
        sql = "SELECT count(done_at) FROM forget_steps WHERE forget = (SELECT max(forget) FROM forget_steps)"
        return int(everywhere.rows(self.here.home, sql)[0][0])

    def all_done(self, begun: int = 1) -> bool:
        """Whether so many forgets were begun, and all that were are done."""
        sql = "SELECT status FROM forgets WHERE status IN ('erasing', 'done')"
        statuses = [status for (status,) in everywhere.rows(self.here.home, sql)]
        return len(statuses) >= begun and set(statuses) == {"done"}

    def state(self) -> str:
        """Where it stands, for whoever asks why it did not happen. The words in it are ours."""
        forgets_now = everywhere.rows(self.here.home, "SELECT id, status FROM forgets")
        running = [(one.args[4:], one.poll(), self.here.output(one)[-600:]) for one in self.running]  # type: ignore[index]
        return f"forgets {forgets_now}, {self.steps()} layers erased, {self.left} kills left, processes {running}"

    def problems(self, *, counts: bool) -> list[str]:
        """What does not hold, now that it is done. Ends the bot."""
        home = self.here.home
        redis = tuple(broker.contents(broker.own_url(home)))
        self.end()
        with Database.open(home, SystemClock()) as db:
            found = verifying.verify(home, db, everywhere.PASSAGES, redis=redis)
            with db.read() as rd:
                receipts = forgets.listed(rd, None)
        return [
            *(f"{path} holds it" for path in everywhere.hits(home.path)),
            *(f"Redis holds it in {key}" for key, value in redis if everywhere.holds(value)),
            *([] if found.is_clean else [f"verify finds {found.hits[:3]} {found.unreadable}"]),
            *(problem for one in receipts for problem in _untrue(one)),
            *(_miscounted(receipts, self.trial.expected) if counts else ()),
            *_changed(self.trial.before, everywhere.others(home)),
        ]


def _untrue(receipt: Forget) -> Iterator[str]:
    if not receipt.verified.get("clean"):
        yield f"receipt {receipt.id} says {dict(receipt.verified)}"
    yield from (f"{step.layer} is not done" for step in receipt.steps if step.erased is None)


def _miscounted(receipts: list[Forget], expected: Mapping[str, int]) -> Iterator[str]:
    """All receipts together say that at least so much went as there was of it."""
    for layer in COUNTED:
        told = sum(step.erased or 0 for one in receipts for step in one.steps if step.layer == layer)
        if told < expected[layer]:
            yield f"{expected[layer]} of {layer} were there, the receipts say {told}"


def _changed(before: Mapping[str, object], after: Mapping[str, object]) -> list[str]:
    return [f"{name} is another" for name in before if after.get(name) != before[name]]


def has_read_it(asked: Json) -> bool:
    """A review whose request still holds the phrases: what a model has not read it cannot say again."""
    return is_review(asked) and everywhere.holds(json.dumps(asked, ensure_ascii=False).encode())


def forgetting_of(home: Home, db: Database) -> Forgetting:
    clock = SystemClock()
    return Forgetting(db, home, clock, Settings(), Memory(db, home, clock, Settings()))


@contextmanager
def trial(folder: Path, seed: int) -> Iterator[Trial]:
    """The prepared home and its fakes; all processes are gone afterwards."""
    with FakeTelegram() as telegram, ModelServer() as server:
        (folder / "planted").mkdir()
        planted = everywhere.plant(folder / "planted", telegram, server)
        with Database.open(planted, SystemClock()) as db:
            with db.read() as rd:
                space = people.space_named(rd, "owner")
            plan = forgetting_of(planted, db).plan(space, SCOPE)
        expected = {layer.layer: layer.found for layer in plan.layers}
        before = everywhere.others(planted)
        yield Trial(folder, planted, telegram, server, random.Random(seed), before, expected)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.crash.forgetting")
    parser.add_argument("--kills", type=int, default=200, help="how many kills are to be survived")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    asked = parser.parse_args()
    print(f"seed {asked.seed}", flush=True)
    began = time.monotonic()
    folder = Path(tempfile.mkdtemp(prefix="hikae-crash-"))
    with trial(folder, asked.seed) as one:
        problems = one.run(asked.kills, partial(print, flush=True))
    took = f"{one.kills} kills in {sum(one.done.values())} homes, {time.monotonic() - began:.0f} s"
    print(f"{took}, {dict(one.done)}: {problems or 'all is well'}")
    if problems:
        print(f"the home is left in {folder}")
    else:
        shutil.rmtree(folder)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
