"""One function per figure: what is measured, how, and the floor beside it in the same run.

What follows a kill is in `recovery`, what comes with the years in `growth`, everybody at once in `flood`, the other
platform in `discord`, what memory costs by itself in `governance`.
"""

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

from gateway.core import open_core
from gateway.home import Home
from gateway.memory.proposals import Proposal
from gateway.records import Action, Operation, Origin, Target
from gateway.store import people
from tests.bench import discord, flood, forgetting, governance, growth, recovery, search, tombstones
from tests.bench.rig import (
    Figure,
    Running,
    Server,
    bare_syncs,
    best_of,
    configure,
    hikae,
    in_ms,
    percentile,
    scratch,
)

SESSIONS, TURNS, CHATS = 10, 20, 20
NO_REVIEWS = "nudge_interval: 0"


def turns(server: Server) -> list[Figure]:
    """Warm turns in one chat, then 20 chats, then a slow model; floor and bot after each other."""
    with scratch() as folder:
        floor = _played(server, lambda: Running(_floor_command(server, folder)))
        home = folder / "home"
        environment = configure(home, server, memory=NO_REVIEWS)
        bot = _played(server, lambda: Running(hikae(home, "gateway"), **environment))
    p50, p99 = bot.p50 / floor.p50, bot.p99 / floor.p99
    share, cpu = bot.rate / floor.rate, bot.cpu / floor.cpu
    return [
        Figure("warm turn, p50", in_ms(bot.p50), in_ms(floor.p50), f"≤ 2× ({p50:.2f}×)", p50 <= 2),
        Figure("warm turn, p99", in_ms(bot.p99), in_ms(floor.p99), f"≤ 4× ({p99:.2f}×)", p99 <= 4),
        Figure("CPU a turn", in_ms(bot.cpu), in_ms(floor.cpu), f"≤ 2× ({cpu:.2f}×)", cpu <= 2),
        Figure("20 chats, turns/s", f"{bot.rate:.1f}", f"{floor.rate:.1f}", f"≥ 0.7× ({share:.2f}×)", share >= 0.7),
        Figure(
            "20 chats, model takes 2 s, turns/s",
            f"{bot.slow_rate:.1f} ({bot.most_thinking} at once)",
            f"{floor.slow_rate:.1f}",
            "≥ 9.5, 20 at once",
            bot.slow_rate >= 9.5 and bot.most_thinking >= 20,
        ),
        Figure("first turn of a new session, p50", in_ms(bot.first), "–", "≤ 60 ms", bot.first <= 0.060),
        Figure("ready", f"{bot.ready:.2f} s", f"{floor.ready:.2f} s", "≤ 0.8 s", bot.ready <= 0.8),
        Figure("gateway idle", f"{bot.idle:.0f} MB", f"{floor.idle:.0f} MB", "≤ 100 MB", bot.idle <= 100),
        Figure(
            "gateway with 20 chats",
            f"{bot.busy:.0f} MB",
            f"{floor.busy:.0f} MB",
            "≤ idle + 20 MB",
            bot.busy - bot.idle <= 20,
        ),
    ]


@dataclass(frozen=True, slots=True)
class _Played:
    ready: float
    idle: float
    busy: float
    p50: float
    p99: float
    cpu: float
    rate: float
    slow_rate: float
    most_thinking: int
    first: float


def _played(server: Server, start: Callable[[], Running]) -> _Played:
    running = start()
    try:
        server.ask("/wait_poll")
        ready = time.perf_counter() - running.began
        server.ask("/run", chats=1, turns=TURNS)
        idle = running.megabytes()
        cpu = running.cpu_seconds()
        one = []
        for number in range(SESSIONS):
            # The first turn of a session is a figure of its own.
            one += server.ask("/run", chats=1, turns=TURNS, first=2000 + number)["latencies"][1:]
        cpu = (running.cpu_seconds() - cpu) / (SESSIONS * TURNS)
        server.ask("/run", chats=CHATS, turns=3)
        many = server.ask("/run", chats=CHATS, turns=15)
        server.ask("/model", seconds=2.0)
        slow = server.ask("/run", chats=CHATS, turns=2)
        server.ask("/model", seconds=0.0)
        first = server.ask("/run", chats=1, turns=1, first=3000)["latencies"]
        for number in range(1, 15):
            first += server.ask("/run", chats=1, turns=1, first=3000 + number)["latencies"]
        return _Played(
            ready=ready,
            idle=idle,
            busy=running.megabytes(),
            p50=percentile(one, 50),
            p99=percentile(one, 99),
            cpu=cpu,
            rate=CHATS * 15 / many["seconds"],
            slow_rate=CHATS * 2 / slow["seconds"],
            most_thinking=slow["most_thinking"],
            first=median(first),
        )
    finally:
        running.end()


def _floor_command(server: Server, folder: Path) -> list[str]:
    return [sys.executable, "-m", "tests.bench.floor", server.url, str(folder / "floor.db")]


def family(server: Server) -> list[Figure]:
    """`hikae up`: all its processes together, and how soon a review's notice follows the reply."""
    with scratch() as folder:
        home = folder / "home"
        environment = configure(home, server, memory="nudge_interval: 1")
        running = Running(hikae(home, "up"), **environment)
        try:
            server.ask("/wait_poll")
            waits = _reply_to_notice(server)
            everything = running.megabytes(whole_family=True)
        finally:
            running.end()
    return [
        Figure("hikae up, all processes", f"{everything:.0f} MB", "–", "≤ 230 MB", everything <= 230),
        Figure("reply → notice, p50", in_ms(median(waits)), "–", "≤ 100 ms", median(waits) <= 0.100),
    ]


INSTRUMENTS = tuple(
    "tuba violin piano flute harp cello drum oboe banjo organ trumpet lute".split()  # noqa: SIM905
)
"""Facts that contradict none of the others: a card would ask about one that does."""


def _reply_to_notice(server: Server) -> list[float]:
    server.ask("/run", chats=1, turns=1)
    # The worker may still be starting; the review of this first turn must not take what later ones are to say.
    server.ask("/wait_asked", task="review", times=1)
    waits = []
    for instrument in INSTRUMENTS:
        text = f"I play the {instrument}"
        call = {"action": "add", "content": f"Plays the {instrument}", "evidence": text}
        server.ask("/model", review_calls=[call])
        found = server.ask("/pair", first=1000, text=text)
        if "Memory" in found["text"]:
            waits.append(found["seconds"])
    return waits[2:]


def commands() -> list[Figure]:
    """How long the command line takes, best of several: bytecode cached, offline model."""
    with scratch() as folder:
        home = folder / "home"
        best_of(1, hikae(home, "chat", "-q", "hello", "--no-review"), HOME=str(folder))
        version = best_of(7, [sys.executable, "-m", "gateway", "--version"])
        pending = best_of(5, hikae(home, "memory", "pending", program="gateway"), HOME=str(folder))
        chat = best_of(5, hikae(home, "chat", "-q", "hello", "--no-review"), HOME=str(folder))
        python = best_of(7, [sys.executable, "-c", "pass"])
    bare = in_ms(python)
    return [
        Figure("hikae --version", in_ms(version), bare, "≤ 150 ms", version <= 0.150),
        Figure("hikae memory pending", in_ms(pending), bare, "≤ 300 ms", pending <= 0.300),
        Figure("hikae chat -q, offline model", in_ms(chat), bare, "≤ 1 s", chat <= 1.0),
    ]


def memory_write() -> list[Figure]:
    """A write of memory against its own five fsyncs: two commits, the file, its folder, the old file's end."""
    with scratch() as folder:
        writes = _memory_writes(folder / "home")
        syncs = bare_syncs(folder)
    ratio = median(writes) / median(syncs)
    return [
        Figure("memory write, p50", in_ms(median(writes)), in_ms(median(syncs)), f"≤ 2× ({ratio:.2f}×)", ratio <= 2)
    ]


def _memory_writes(path: Path) -> list[float]:
    core = open_core(Home(path))
    with core.db.write() as tx:
        space = people.ensure_space(tx, "owner", "owner", "owner", datetime.now(UTC))
    seconds = []
    for number in range(60):
        proposal = Proposal(
            space=space,
            target=Target.MEMORY,
            operations=(Operation(Action.ADD, f"Entry {number}"),),
            origin=Origin.PERSON,
            dedupe=f"bench-{number}",
            by="terminal:owner",
        )
        began = time.perf_counter()
        core.memory.propose(proposal)
        seconds.append(time.perf_counter() - began)
    core.close()
    return seconds[10:]


ALL: Sequence[tuple[str, Callable[..., list[Figure]]]] = (
    ("turns", turns),
    ("discord", discord.turns),
    ("flood", flood.flood),
    ("family", family),
    ("commands", commands),
    ("memory_write", memory_write),
    ("governance", governance.governance),
    ("tombstones", tombstones.tombstone_checks),
    ("forget", forgetting.forget),
    ("recovery", recovery.replies_and_reviews),
    ("backlog", recovery.backlog),
    ("known_chats", growth.known_chats),
    ("stored_messages", growth.stored_messages),
    ("search", search.searches),
)
