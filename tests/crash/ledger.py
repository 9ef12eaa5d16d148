"""Many processes at one memory: `python -m tests.crash.ledger [--seconds 60] [--processes 8] [--seed N]`.

They add, replace, remove, approve, reject, edit, undo, reset and edit by hand; one is killed now and then.
Afterwards the ledger replayed from empty must come to what the file says, and what each was told must be what the
ledger says.
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from gateway.clock import SystemClock
from gateway.errors import Refused, TryLater
from gateway.home import Home
from gateway.memory import entries, undos
from gateway.memory.proposals import Proposal
from gateway.memory.writing import Memory
from gateway.policy import Said
from gateway.records import Operation, Origin, Space, Status, Target, Write
from gateway.sections import MemorySettings
from gateway.settings import Settings
from gateway.store import people, textfile, writes
from gateway.store.db import Database
from tests.store.remembering import add, remove, swap

OWNER = "telegram:123"
ROOM = 3_000
SAID = (Said(412, OWNER, "remember this"),)
DONE = {"applied": (Status.APPLIED, Status.UNDONE), "rejected": (Status.REJECTED,), "undone": (Status.UNDONE,)}
"""What may have become of a write of which somebody was told so."""
EMPTY = textfile.sha256(b"")


# -- one process ---------------------------------------------------------------------------------------------


@dataclass
class Worker:
    """Somebody who changes the memory at random, and writes down what he was told."""

    name: str
    db: Database
    home: Home
    chance: random.Random
    journal: Path
    made: int = 0
    space: Space = field(init=False)
    memory: Memory = field(init=False)

    def __post_init__(self) -> None:
        with self.db.write() as tx:
            self.space = people.ensure_space(tx, "owner", "owner", OWNER, SystemClock().now())
        self.memory = memory_of(self.db, self.home)

    def work(self, until: float) -> None:
        acts: tuple[tuple[Callable[[], None], int], ...] = (
            (self.proposes, 10),
            (self.approves, 8),
            (self.rejects, 2),
            (self.edits, 2),
            (self.undoes, 8),
            (self.writes_by_hand, 4),
            (self.keeps_house, 1),
        )
        while time.monotonic() < until:
            act = self.chance.choices([one for one, _ in acts], [weight for _, weight in acts])[0]
            with suppress(Refused, TryLater):
                act()
            if self.chance.random() < 0.004:
                self.memory.reset(self.space, [Target.MEMORY], OWNER)

    def proposes(self) -> None:
        texts = self.memory.read(self.space, Target.MEMORY).texts
        some = [self._operation(texts) for _ in range(self.chance.choice((1, 1, 1, 2, 3)))]
        self.made += 1
        outcome = self.memory.propose(
            Proposal(
                space=self.space,
                target=Target.MEMORY,
                operations=tuple(some),
                batch=len(some) > 1,
                origin=Origin.FOREGROUND,
                dedupe=f"{self.name}-{self.made}",
                own=SAID,
                message=412,
                approval_required=self.chance.random() < 0.5,
            )
        )
        if outcome.write is not None and outcome.ending.value == "applied":
            self._told("applied", outcome.write)

    def approves(self) -> None:
        if (id := self._some(Status.STAGED)) is not None:
            self._told(self.memory.approve(id, f"{self.name}:1").ending.value, id)

    def rejects(self) -> None:
        if (id := self._some(Status.STAGED)) is not None:
            self._told(self.memory.reject(id, f"{self.name}:1").ending.value, id)

    def edits(self) -> None:
        if (id := self._some(Status.STAGED)) is not None:
            self.memory.edit(id, self._text(), f"{self.name}:1")

    def undoes(self) -> None:
        if (id := self._some(Status.APPLIED)) is not None:
            self.memory.undo(id, f"{self.name}:1")
            self._told("undone", id)

    def writes_by_hand(self) -> None:
        """An editor that saves between two writes of ours; the lock stands for a person's slowness."""
        with textfile.lock(self.home.space_lock("owner"), 5):
            path = self.home.memory_file("owner", Target.MEMORY)
            texts = list(entries.parse(textfile.read(path)).texts)
            if texts and self.chance.random() < 0.5:
                texts[self.chance.randrange(len(texts))] = self._text()
            else:
                texts.insert(self.chance.randint(0, len(texts)), self._text())
            if self.chance.random() < 0.2:
                texts.pop(self.chance.randrange(len(texts)))
            textfile.replace(path, ("\n§\n".join(texts) + "\n").encode() if texts else b"")

    def keeps_house(self) -> None:
        self.memory.notice_all_hand_edits()
        self.memory.finish_interrupted()

    def _operation(self, texts: tuple[str, ...]) -> Operation:
        if not texts or self.chance.random() < 0.5:
            return add(self._text())
        return self.chance.choice(
            (swap(self.chance.choice(texts), self._text()), remove(self.chance.choice(texts)))
        )

    def _text(self) -> str:
        self.made += 1
        return f"{self.name} fact {self.made}" + self.chance.choice(("", "\nin two lines"))

    def _some(self, status: Status) -> int | None:
        with self.db.read() as rd:
            ids = [row["id"] for row in rd.rows("SELECT id FROM writes WHERE status = ?", (status,))]
        return self.chance.choice(ids[-40:]) if ids else None

    def _told(self, ending: str, id: int) -> None:
        with self.journal.open("a", encoding="utf-8") as file:
            file.write(json.dumps([ending, id]) + "\n")


def memory_of(db: Database, home: Home) -> Memory:
    return Memory(db, home, SystemClock(), Settings(memory=MemorySettings(memory_char_limit=ROOM)))


def _worker(path: str, name: str, seconds: str) -> None:
    home = Home(Path(path))
    with Database.open(home, SystemClock()) as db:
        chance = random.Random(f"{name}-{seconds}")
        worker = Worker(name, db, home, chance, home.path.parent / f"{name}.journal")
        worker.work(time.monotonic() + float(seconds))


# -- all of them ---------------------------------------------------------------------------------------------


def trouble(path: Path, seconds: float, processes: int, seed: int) -> tuple[list[str], Counter[str]]:
    """Let them all at it for a while; what is wrong then, and how often what happened."""
    home, chance, ends = Home(path / "home"), random.Random(seed), time.monotonic() + seconds
    with Database.open(home, SystemClock()) as db:
        with db.write() as tx:
            people.ensure_space(tx, "owner", "owner", OWNER, SystemClock().now())
        memory_of(db, home)
    running = [_start(home, f"p{number}s{seed}", ends) for number in range(processes)]
    kills = 0
    while (left := ends - time.monotonic()) > 2:
        victim = chance.randrange(processes)
        with suppress(subprocess.TimeoutExpired):
            running[victim].wait(min(chance.uniform(0.3, 1.0), left))
        if running[victim].poll() is None:
            running[victim].send_signal(signal.SIGKILL)
            kills += 1
        running[victim].wait()
        running[victim] = _start(home, f"p{victim}k{kills}s{seed}", ends)
    codes = [one.wait(timeout=60) for one in running]
    with Database.open(home, SystemClock()) as db:
        memory = memory_of(db, home)
        memory.finish_interrupted()
        memory.notice_all_hand_edits()
        with db.read() as rd:
            rows = writes.log(rd, None, 10_000_000)[::-1]
        texts = entries.parse(textfile.read(home.memory_file("owner", Target.MEMORY))).texts
    told = Counter(row.status.value for row in rows) | Counter(kills=kills)
    problems = [f"a process ended with {code}" for code in codes if code]
    problems += [*_replay(rows, texts), *_told_wrong(rows, path)]
    return problems, told


def _start(home: Home, name: str, ends: float) -> subprocess.Popen[bytes]:
    left = max(ends - time.monotonic(), 0.2)
    return subprocess.Popen(
        [sys.executable, "-m", "tests.crash.ledger", "--worker", str(home.path), name, f"{left:.2f}"],
        cwd=Path(__file__).parents[2],
        env={**os.environ, "PYTHONPATH": ""},
    )


def _replay(rows: list[Write], texts: tuple[str, ...]) -> Iterator[str]:
    """The ledger from empty: each change fits to the one before it, and the last comes to the file."""
    says, sha256 = Counter[str](), EMPTY
    for _, row, back in sorted(_events(rows), key=lambda event: (event[0], event[1].id)):
        before, after = (row.undo_before_hash, row.undo_after_hash) if back else (row.before_hash, row.after_hash)
        if before != sha256:
            yield f"{row.id} {'undone' if back else 'applied'} begins where nothing ended"
        sha256 = after
        if back:
            _take_back(says, row)
        else:
            says.subtract(entries.split_texts(row.before))
            says.update(entries.split_texts(row.after))
        if any(count < 0 for count in says.values()):
            yield f"{row.id} takes away what was not there"
            says = +says
    if +says != Counter(texts):
        missing, extra = sorted(+says - Counter(texts)), sorted(Counter(texts) - says)
        yield f"the file differs: missing {missing}, too much {extra}"
    yield from (f"{row.id} is still {row.status.value}" for row in rows if row.status is Status.APPROVED)
    yield from (
        f"{row.id} was not put back: {row.reason}" for row in rows if row.status is Status.UNDONE and row.reason
    )


def _events(rows: list[Write]) -> Iterator[tuple[datetime, Write, bool]]:
    for row in rows:
        if row.applied_at is not None:
            yield row.applied_at, row, False
        if row.undone_at is not None:
            yield row.undone_at, row, True


def _take_back(says: Counter[str], row: Write) -> None:
    done = undos.effects(row)
    says.subtract(effect.now for effect in done if effect.now)
    for effect in done:
        if effect.was and says[effect.was] <= 0:
            says[effect.was] += 1


def _told_wrong(rows: list[Write], path: Path) -> Iterator[str]:
    by_id = {row.id: row for row in rows}
    undone: Counter[int] = Counter()
    for journal in path.glob("*.journal"):
        for line in journal.read_text("utf-8").splitlines():
            ending, id = json.loads(line)
            undone[id] += ending == "undone"
            if by_id[id].status not in DONE.get(ending, tuple(Status)):
                yield f"{id} is {by_id[id].status.value}, and somebody was told that it is {ending}"
    yield from (f"{id} was taken back {count} times" for id, count in undone.items() if count > 1)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.crash.ledger")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--processes", type=int, default=8)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    asked = parser.parse_args()
    print(f"seed {asked.seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="hikae-ledger-") as folder:
        problems, told = trouble(Path(folder), asked.seconds, asked.processes, asked.seed)
    print(f"{dict(told)}: {problems[:20] or 'all is well'}")
    return 1 if problems else 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--worker"]:
        _worker(*sys.argv[2:])
    else:
        sys.exit(main())
