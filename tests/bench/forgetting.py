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
from gateway.core import Core, open_core
from gateway.home import Home
from gateway.memory import backup
from gateway.memory.forgetting import Forgetting
from gateway.memory.layers.layer import Scope
from gateway.records import Role, Space
from gateway.store import messages, spaces
from tests.bench import filling, searching
from tests.bench.rig import Figure, in_ms, percentile, scratch

MANY, MANY_WHEN_QUICK = 1_000_000, 100_000
FACT = "Quillfeather bakery"
SAID = 20


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
            return _forgotten(core, count)
        finally:
            core.close()


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
    meanwhile = _while_forgetting(core, space, forgetting, forgetting.forget(space, scope, "terminal:owner"))
    erased = time.perf_counter() - began

    return [
        Figure(f"forget: plan ({count:,})", in_ms(planned), f"{plan.found} found", "≤ 1 s", planned <= 1),
        Figure(
            f"forget: erase and verify ({count:,})", f"{erased:.1f} s", f"{floor:.1f} s (read once)", "≤ 10 s",
            erased <= 10,
        ),
        Figure(
            "append while forgetting, p95",
            in_ms(percentile(meanwhile, 95)),
            in_ms(median(alone)),
            "–",
            None,
        ),
        *_with_backup(core, space, forgetting, count),
    ]  # fmt: skip


def _while_forgetting(core: Core, space: Space, forgetting: Forgetting, id: int) -> list[float]:
    done = threading.Event()
    seconds: list[float] = []

    def talk() -> None:
        while not done.wait(0.05):
            seconds.append(_seconds_to_say(core, space, len(seconds)))

    talking = threading.Thread(target=talk)
    talking.start()
    try:
        while not forgetting.go_on(id):
            time.sleep(0.1)
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
    while not forgetting.go_on(id):
        time.sleep(0.1)
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
