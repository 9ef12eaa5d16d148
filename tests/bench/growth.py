"""What comes with the years: the same figure with little and with much in the home, in turns, in one run.

Two bots run side by side on homes of their own, and each measurement alternates between them, so that what
else the machine does weighs on both alike.
"""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

from gateway.chat import Chat
from gateway.core import Core, open_core
from gateway.home import Home
from gateway.records import Role
from gateway.store import messages, outbox, reviews, writes
from tests.bench import filling
from tests.bench.rig import Figure, Running, Server, configure, hikae, in_ms, running, scratch

CHATS = 10_000
FEW, MANY, MANY_WHEN_QUICK = 10_000, 1_000_000, 100_000
ROUNDS, TURNS, NEWCOMERS = 24, 5, 16
TIMES, STARTS = 300, 5
GROWTH = 1.25
"""How much more the same may cost before we call it growth: two runs of the same thing differ by less."""


@dataclass(frozen=True)
class Bot:
    """A gateway with a load server of its own."""

    server: Server
    process: Running


@contextmanager
def bot(home: Path, **sections: str) -> Iterator[Bot]:
    server = Server()
    try:
        environment = configure(home, server, memory="nudge_interval: 0", **sections)
        with running(hikae(home, "gateway"), **environment) as process:
            server.ask("/wait_poll")
            yield Bot(server, process)
    finally:
        server.close()


def known_chats() -> list[Figure]:
    """From a handful of known chats to ten thousand."""
    with scratch() as folder, ExitStack() as bots:
        with filling.filling(Home(_made(folder / "many"))) as db:
            filling.known_people(db, CHATS)
        few, many = (bots.enter_context(bot(_made(folder / name))) for name in ("few", "many"))
        turn_few, turn_many = _warm_turns(few, many)
        memory_few, memory_many = (one.process.megabytes() for one in (few, many))
    grown = memory_many - memory_few
    name = f"with {CHATS:,} known chats"
    return [
        _figure(f"warm turn {name}, p50", turn_many, turn_few),
        Figure(f"gateway {name}", f"{memory_many:.0f} MB", f"{memory_few:.0f} MB", "≤ +20 MB", grown <= 20),
    ]


def stored_messages(*, quick: bool = False) -> list[Figure]:
    """From ten thousand stored messages to a million, half of them in the space that talks."""
    most = MANY_WHEN_QUICK if quick else MANY
    with scratch() as folder:
        homes = Home(_made(folder / "few")), Home(_made(folder / "many"))
        for home, count in zip(homes, (FEW, most), strict=True):
            began = time.perf_counter()
            with filling.filling(home) as db:
                filling.stored_messages(db, count)
            size = home.state_db.stat().st_size / 2**20
            print(f"{count:,} messages: {size:.0f} MB, {time.perf_counter() - began:.0f} s", file=sys.stderr)
        append_few, append_many = _side_by_side(_append, *homes)
        look_few, look_many = _side_by_side(_look, *homes)
        ready_few, ready_many = _starts(*homes)
        with ExitStack() as bots:
            few, many = (bots.enter_context(bot(home.path)) for home in homes)
            turn_few, turn_many = _warm_turns(few, many)
            first_few, first_many = _first_turns(few, many)
            memory_few, memory_many = (one.process.megabytes() for one in (few, many))
    grown = memory_many - memory_few
    name = f"with {most:,} stored messages"
    return [
        _figure(f"warm turn {name}, p50", turn_many, turn_few),
        _figure(f"first turn of a session {name}, p50", first_many, first_few),
        _figure(f"append {name}, p50", append_many, append_few),
        _figure(f"look for something to do {name}, p50", look_many, look_few),
        _figure(f"ready {name}, median", ready_many, ready_few),
        Figure(f"gateway {name}", f"{memory_many:.0f} MB", f"{memory_few:.0f} MB", "≤ +20 MB", grown <= 20),
    ]


def _figure(name: str, much: float, little: float) -> Figure:
    ratio = much / little
    return Figure(name, in_ms(much), in_ms(little), f"≤ {GROWTH}× ({ratio:.2f}×)", ratio <= GROWTH)


def _made(folder: Path) -> Path:
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def _in_turns(few: Bot, many: Bot, measure: Callable[[Bot, int], list[float]], rounds: int) -> tuple[float, float]:
    """The medians of something measured round by round on one and on the other."""
    found: tuple[list[float], list[float]] = ([], [])
    for number in range(rounds):
        for one, seconds in zip((few, many), found, strict=True):
            seconds += measure(one, number)
    return median(found[0]), median(found[1])


def _warm_turns(few: Bot, many: Bot) -> tuple[float, float]:
    """In the owner's chat: one session each, equally long."""

    def measure(one: Bot, _: int) -> list[float]:
        seconds: list[float] = one.server.ask("/run", chats=1, turns=TURNS, first=filling.OWNER)["latencies"]
        return seconds

    measure(few, 0), measure(many, 0)
    return _in_turns(few, many, measure, ROUNDS)


def _first_turns(few: Bot, many: Bot) -> tuple[float, float]:
    """Of people who have not written before."""

    def measure(one: Bot, number: int) -> list[float]:
        seconds: list[float] = one.server.ask("/run", chats=1, turns=1, first=3000 + number)["latencies"]
        return seconds

    return _in_turns(few, many, measure, NEWCOMERS)


def _starts(few: Home, many: Home) -> tuple[float, float]:
    """From the start of a gateway to its first poll."""
    found: tuple[list[float], list[float]] = ([], [])
    for _ in range(STARTS):
        for home, seconds in zip((few, many), found, strict=True):
            began = time.perf_counter()
            with bot(home.path):
                seconds.append(time.perf_counter() - began)
    return median(found[0]), median(found[1])


def _side_by_side(act: Callable[[Core, int], None], few: Home, many: Home) -> tuple[float, float]:
    """The median seconds of something done without a gateway."""
    found: tuple[list[float], list[float]] = ([], [])
    with ExitStack() as cores:
        opened = [open_core(home) for home in (few, many)]
        for core in opened:
            cores.callback(core.close)
        for number in range(TIMES):
            for core, seconds in zip(opened, found, strict=True):
                began = time.perf_counter()
                act(core, number)
                seconds.append(time.perf_counter() - began)
    return median(found[0]), median(found[1])


def _append(core: Core, number: int) -> None:
    """A message kept in a transaction of its own, in the owner's space."""
    new = messages.NewMessage(
        space=1,
        chat=Chat("telegram", str(filling.OWNER)),
        person="",
        role=Role.ASSISTANT,
        text=f"word {number} of a message that is about as long as most of them are",
        at=datetime.now(UTC),
    )
    with core.db.write() as tx:
        messages.keep(tx, new)


def _look(core: Core, _: int) -> None:
    """What gateway and worker look for all the time: something to say, to review, to finish."""
    with core.db.read() as rd:
        outbox.waiting(rd, ("telegram",), datetime.now(UTC))
        reviews.due(rd, datetime.now(UTC))
        reviews.running(rd)
        writes.unfinished(rd)
