"""What memory costs by itself: the prompt's blocks, a write, and `/memory` when its ledger has grown (issue 5).

No chat and no model: the doors that turns and commands go through, called in this process.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from statistics import median

from gateway.chat import Chat
from gateway.conversation.commands import VIEWS, ledger
from gateway.conversation.commands.call import Services
from gateway.core import Core, open_core, services_of
from gateway.home import Home
from gateway.memory.proposals import Ending, Proposal
from gateway.memory.writing import Memory
from gateway.policy import Said
from gateway.records import Action, Evidence, NewWrite, Operation, Origin, Outgoing, Space, Status, Target
from gateway.store import people, writes
from tests.bench.rig import Figure, bare_syncs, in_ms, scratch

FEW, MANY = 100, 10_000
WAITING = 20
"""Of the ledger's rows, in the short one as in the long one."""
ROUNDS = 60
SNAPSHOT_SECONDS, WRITE_SECONDS = 0.001, 0.003
GROWTH = 1.5
LONG_AGO = datetime(2026, 1, 1, tzinfo=UTC)
CHAT = Chat("telegram", "1000")


def governance() -> list[Figure]:
    with scratch() as folder:
        return [*_snapshots(folder), *_writes(folder), *_commands(folder)]


# -- notes as people keep them -------------------------------------------------------------------------------


_SENTENCES = (
    "The {a} of the {b} is in the {c}, behind the box with number {n}",
    "Prefers short answers about {a} and {b}, with examples, since {n}",
    "{b} backups run on the {c} server at {n} past three, not on Sundays",
    "The {a} meeting with {c} moved to room {n}; {b} brings the slides",
    "犬の名前は{a}、毎朝{n}分散歩する。{b}は苦手",
    "{c}さんの誕生日は{n}日、好きなものは{a}と{b}",
)
_NAMES = ("tuba", "printer", "garden", "invoice", "router", "Bergen", "Kyoto", "violin", "ladder", "Osaka", "lamp")


def notes(seed: int) -> Iterator[str]:
    """Ordinary notes without end, never the same one twice for different seeds."""
    chance = Random(seed)
    for number in range(1_000_000):
        a, b, c = chance.sample(_NAMES, 3)
        yield chance.choice(_SENTENCES).format(a=a, b=b, c=c, n=seed * 1000 + number)


def _full(seed: int, budget: int) -> str:
    """A file as full as it may be."""
    entries: list[str] = []
    for note in notes(seed):
        if len("\n§\n".join((*entries, note))) > budget:
            return "\n§\n".join(entries) + "\n"
        entries.append(note)
    raise AssertionError


# -- the prompt's blocks -------------------------------------------------------------------------------------


def _snapshots(folder: Path) -> list[Figure]:
    """Both files full, read, scanned and framed; known entries, and entries that were never seen before."""
    home, core, space = _opened(folder / "snapshots")
    known, new = [], []
    try:
        for number in range(ROUNDS):
            for target in Target:
                path = home.memory_file(space.name, target)
                path.write_text(_full(number * 2 + 1, core.loaded.settings.budget(target)), "utf-8")
            new.append(_seconds(lambda: _blocks(core, space)))
            known.append(_seconds(lambda: _blocks(core, space)))
    finally:
        core.close()
    return [
        _within("snapshot of two full files, p50", median(known[10:]), SNAPSHOT_SECONDS),
        Figure("the same with every entry new to the scan, p50", in_ms(median(new[10:])), "–", "–", None),
    ]


def _blocks(core: Core, space: Space) -> None:
    assert all(core.memory.blocks(space))


# -- a write -------------------------------------------------------------------------------------------------


def _writes(folder: Path) -> list[Figure]:
    """An entry added by the model to a file half full: evidence, scan, conflicts, ledger, file."""
    home, core, space = _opened(folder / "writes")
    budget = core.loaded.settings.budget(Target.MEMORY)
    home.memory_file(space.name, Target.MEMORY).write_text(_full(1, budget // 2), "utf-8")
    seconds = []
    try:
        for number, note in zip(range(ROUNDS), notes(2), strict=False):
            added = Operation(Action.ADD, note)
            seconds.append(_seconds(lambda: _propose(core.memory, space, added, f"add-{number}")))  # noqa: B023
            _propose(core.memory, space, Operation(Action.REMOVE, "", note), f"remove-{number}")
    finally:
        core.close()
    spent, floor = median(seconds[10:]), median(bare_syncs(folder))
    name = "memory write with scan, conflicts and ledger, p50"
    return [Figure(name, in_ms(spent), in_ms(floor), "≤ 3 ms", spent <= WRITE_SECONDS)]


def _propose(memory: Memory, space: Space, operation: Operation, dedupe: str) -> None:
    said = operation.content or operation.old_text
    proposal = Proposal(
        space=space,
        target=Target.MEMORY,
        operations=(operation,),
        origin=Origin.FOREGROUND,
        dedupe=dedupe,
        own=(Said(1, "telegram:1000", f"please remember: {said}"),),
        message=1,
    )
    outcome = memory.propose(proposal)
    assert outcome.ending is Ending.APPLIED, outcome


# -- /memory with a long ledger ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Ledger:
    """A home with so many rows in its ledger."""

    services: Services
    space: Space

    def shows(self, view: str, **values: object) -> None:
        row = Outgoing(
            id=1,
            dedupe="bench",
            kind="answer",
            chat=CHAT,
            space=self.space.id,
            token="",
            message=None,
            write=None,
            review=None,
            edits=None,
            values={"say": view, **values},
            reply_to="",
            via="",
            status="waiting",
            attempts=0,
            due_at=LONG_AGO,
            created_at=LONG_AGO,
        )
        assert VIEWS[view](self.services, row, "en")

    def writes(self) -> None:
        """An entry in and out again."""
        operations = Operation(Action.ADD, "Likes rain"), Operation(Action.REMOVE, "", "Likes rain")
        for operation in operations:
            _propose(self.services.memory, self.space, operation, f"bench-{time.perf_counter_ns()}")

    def why(self) -> None:
        """Where the oldest entry of the file comes from."""
        first = self.services.memory.read(self.space, Target.MEMORY).texts[0]
        self.shows("why", id=ledger.named(self.services, self.space, first)[0])


_SHOWN: tuple[tuple[str, Callable[[Ledger], object]], ...] = (
    ("/memory", lambda home: home.shows("memory", space=home.space.id)),
    ("/memory pending", lambda home: home.shows("pending", all=True)),
    ("/memory log", lambda home: home.shows("log", all=True)),
    ("snapshot", lambda home: home.services.memory.blocks(home.space)),
    ("memory write, in and out again,", lambda home: home.writes()),
)


def _commands(folder: Path) -> list[Figure]:
    """The same answers in turns on both homes."""
    with ExitStack() as cores:
        few, many = (_ledger(cores, folder / f"rows-{count}", count) for count in (FEW, MANY))
        why = _compared("/memory why", Ledger.why, few, many)
        return [*(_compared(name, show, few, many) for name, show in _SHOWN), replace(why, goal="–", met=None)]


def _compared(name: str, show: Callable[[Ledger], object], few: Ledger, many: Ledger) -> Figure:
    found: tuple[list[float], list[float]] = ([], [])
    for _ in range(ROUNDS * 3):
        for one, seconds in zip((few, many), found, strict=True):
            seconds.append(_seconds(lambda: show(one)))  # noqa: B023
    little, much = median(found[0]), median(found[1])
    ratio = much / little
    name = f"{name} with {MANY:,} ledger rows, p50"
    return Figure(name, in_ms(much), in_ms(little), f"≤ {GROWTH}× ({ratio:.2f}×)", ratio <= GROWTH)


def _ledger(cores: ExitStack, path: Path, count: int) -> Ledger:
    """Rows of every ending, the newest of them waiting, and a file that is three quarters full."""
    home, core, space = _opened(path)
    cores.callback(core.close)
    text = _full(1, core.loaded.settings.budget(Target.MEMORY) * 3 // 4)
    home.memory_file(space.name, Target.MEMORY).write_text(text, "utf-8")
    core.memory.notice_hand_edits(space)
    endings = (Status.APPLIED, Status.REJECTED, Status.UNDONE, Status.FAILED, Status.EXPIRED)
    with core.db.write() as tx:
        for number, note in zip(range(count), notes(3), strict=False):
            status = Status.STAGED if number >= count - WAITING else endings[number % len(endings)]
            writes.born(tx, _row(space, number, note, status))
    return Ledger(services_of(core, "bench"), space)


def _row(space: Space, number: int, note: str, status: Status) -> NewWrite:
    return NewWrite(
        space=space.id,
        target=Target.MEMORY,
        operations=(Operation(Action.ADD, note),),
        origin=Origin.REVIEW,
        evidence=Evidence(None, "", ""),
        status=status,
        dedupe=f"bench-{number}",
        created_at=LONG_AGO + timedelta(minutes=number),
        before=note,
        after=note,
        decided_by="telegram:1000" if status is Status.REJECTED else "",
    )


# -- small things --------------------------------------------------------------------------------------------


def _opened(path: Path) -> tuple[Home, Core, Space]:
    home = Home(path)
    core = open_core(home)
    with core.db.write() as tx:
        space = people.ensure_space(tx, "owner", "owner", "owner", datetime.now(UTC))
    home.memory_file(space.name, Target.MEMORY).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    return home, core, space


def _seconds(act: Callable[[], object]) -> float:
    began = time.perf_counter()
    act()
    return time.perf_counter() - began


def _within(name: str, seconds: float, most: float) -> Figure:
    return Figure(name, in_ms(seconds), "–", f"≤ {most * 1000:.0f} ms", seconds <= most)
