"""Forgetting one fact among a million messages: the plan, the erasing with its proof, and the chat meanwhile.

The floor of erasing is reading the database once from end to end. An append while it goes on is what a turn has to
wait for; a backup is rewritten beside.
"""

import sys
import threading
import time
from datetime import UTC, datetime
from statistics import median

from gateway.chat import Chat
from gateway.clock import SystemClock
from gateway.core import Core, open_core
from gateway.home import Home
from gateway.memory import backup
from gateway.memory.forgetting import Forgetting
from gateway.memory.layers.layer import Scope
from gateway.records import Role, Space
from gateway.store import copying, forgets, messages, spaces
from gateway.store.db import Database
from tests.bench import filling, growth, searching
from tests.bench.rig import Figure, in_ms, percentile, scratch

MANY, MANY_WHEN_QUICK = 1_000_000, 100_000
FACT, TALK = "Quillfeather bakery", "Copperwhistle"
SAID = 20
PAUSE_SECONDS = 0.1
"""Between two turns: nobody writes faster."""


def forget(*, quick: bool = False) -> list[Figure]:
    """One fact, said twenty times over the years."""
    count = MANY_WHEN_QUICK if quick else MANY
    with scratch() as folder:
        home = Home(folder / "home")
        home.path.mkdir(mode=0o700)
        began = time.perf_counter()
        with filling.filling(home) as db:
            searching.fill(db, count)
        print(f"{count:,} messages: {time.perf_counter() - began:.0f} s", file=sys.stderr)
        core = open_core(home)
        try:
            found = _forgotten(core, count)
            id = _begun(core)
        finally:
            core.close()
        return found + _turns(home, id, count)


def _forgotten(core: Core, count: int) -> list[Figure]:
    with core.db.read() as rd:
        space = spaces.space(rd, searching.SPACE)
    for number in range(SAID):
        _say(core, space, f"message {number}: we met at the {FACT} again")
    alone = [_seconds_to_say(core, space, number) for number in range(100)]
    forgetting = Forgetting(core.db, core.home, core.clock, core.loaded.settings, core.memory)
    scope = Scope(passages=(FACT,))

    began = time.perf_counter()
    plan = forgetting.plan(space, scope)
    planned = time.perf_counter() - began
    floor = _read_once(core.home)

    began = time.perf_counter()
    _go_on(forgetting, forgetting.forget(space, scope, "terminal:owner"))
    erased = time.perf_counter() - began

    _say(core, space, f"what we talk about all the time is called {TALK}")
    began = time.perf_counter()
    talked = forgetting.forget(space, Scope(passages=(TALK,)), "terminal:owner")
    meanwhile = _while_forgetting(core, space, forgetting, talked)
    beside = time.perf_counter() - began

    return [
        Figure(f"forget: plan ({count:,})", in_ms(planned), f"{plan.found} found", "≤ 1 s", planned <= 1),
        Figure(
            f"forget: erase and verify ({count:,})", f"{erased:.1f} s", f"{floor:.1f} s (read once)", "≤ 10 s",
            erased <= 10,
        ),
        Figure(f"the same while somebody writes 20 times a second ({count:,})", f"{beside:.1f} s", "", "–", None),
        Figure(
            "append while forgetting, p95",
            in_ms(percentile(meanwhile, 95)),
            in_ms(median(alone)),
            "–",
            None,
        ),
        *_with_backup(core, space, forgetting, count),
    ]  # fmt: skip


def _begun(core: Core) -> int:
    """A forget that the next gateway goes on with when it starts."""
    with core.db.read() as rd:
        space = spaces.space(rd, searching.SPACE)
    _say(core, space, "the lighthouse is called Merlinspire")
    forgetting = Forgetting(core.db, core.home, core.clock, core.loaded.settings, core.memory)
    return forgetting.forget(space, Scope(passages=("Merlinspire",)), "terminal:owner")


def _turns(home: Home, id: int, count: int) -> list[Figure]:
    """Turns through a gateway that erases, and afterwards as many in another chat: both grow equally long."""
    for one in backup.listed(home):
        copying.remove_folder(one.path)
    with growth.bot(home.path) as bot, Database.open(home, SystemClock()) as db:
        began = time.perf_counter()
        meanwhile: list[float] = []
        while not _is_done(db, id):
            meanwhile += _talk(bot, filling.OWNER)
        erased = time.perf_counter() - began
        alone: list[float] = []
        while len(alone) < len(meanwhile):
            alone += _talk(bot, filling.OWNER + 1)
    slow, usual = percentile(meanwhile, 95), percentile(alone, 95)
    return [
        Figure(
            f"turn while forgetting, p95 ({count:,}; {len(meanwhile)} turns, {erased:.0f} s)",
            in_ms(slow),
            f"{in_ms(usual)} (afterwards)",
            f"≤ 2× ({slow / usual:.2f}×)",
            slow <= 2 * usual,
        ),
        Figure(
            f"turn while forgetting, p50 ({count:,})",
            in_ms(median(meanwhile)),
            f"{in_ms(median(alone))} (afterwards)",
            "–",
            None,
        ),
    ]


def _is_done(db: Database, id: int) -> bool:
    with db.read() as rd:
        return forgets.get(rd, id).status == "done"


def _talk(bot: growth.Bot, chat: int) -> list[float]:
    time.sleep(PAUSE_SECONDS)
    seconds: list[float] = bot.server.ask("/run", chats=1, turns=1, first=chat)["latencies"]
    return seconds


def _go_on(forgetting: Forgetting, id: int) -> None:
    while not forgetting.go_on(id):
        time.sleep(0.1)


def _while_forgetting(core: Core, space: Space, forgetting: Forgetting, id: int) -> list[float]:
    done = threading.Event()
    seconds: list[float] = []

    def talk() -> None:
        while not done.wait(0.05):
            seconds.append(_seconds_to_say(core, space, len(seconds)))

    talking = threading.Thread(target=talk)
    talking.start()
    try:
        _go_on(forgetting, id)
    finally:
        done.set()
        talking.join()
    return seconds or [0.0]


def _with_backup(core: Core, space: Space, forgetting: Forgetting, count: int) -> list[Figure]:
    """The same with one backup that holds it."""
    _say(core, space, "the ferry is called Kestrelwing")
    began = time.perf_counter()
    backup.create(core.db, core.home, core.clock, 7)
    made = time.perf_counter() - began
    began = time.perf_counter()
    id = forgetting.forget(space, Scope(passages=("Kestrelwing",)), "terminal:owner")
    _go_on(forgetting, id)
    both = time.perf_counter() - began
    return [
        Figure(f"backup create ({count:,})", f"{made:.1f} s", "", "–", None),
        Figure(f"forget with one backup ({count:,})", f"{both:.1f} s", "", "≤ 30 s", both <= 30),
    ]


def _say(core: Core, space: Space, text: str) -> None:
    new = messages.NewMessage(
        space=space.id,
        chat=Chat("telegram", "1000"),
        person="telegram:1000",
        role=Role.USER,
        text=text,
        at=datetime.now(UTC),
    )
    with core.db.write() as tx:
        messages.keep(tx, new)


def _seconds_to_say(core: Core, space: Space, number: int) -> float:
    began = time.perf_counter()
    _say(core, space, f"and another thing, number {number}, 花見をした")
    return time.perf_counter() - began


def _read_once(home: Home) -> float:
    began = time.perf_counter()
    with home.state_db.open("rb") as file:
        while file.read(1 << 23):
            pass
    return time.perf_counter() - began
