"""A memory to test with: real files, a real database, and proposals by name."""

from dataclasses import dataclass, field

from gateway.chat import Chat
from gateway.home import Home
from gateway.memory.proposals import Proposal
from gateway.memory.writing import Memory
from gateway.policy import Said
from gateway.records import Action, Operation, Origin, Outgoing, Space, Status, Target, Write
from gateway.sections import MemorySettings
from gateway.settings import Settings
from gateway.store import outbox, people, writes
from gateway.store.db import Database
from tests.store.given import CHAT, NINE, StillClock

OWNER = "telegram:123"
SAID = (Said(412, OWNER, "I moved to Bergen and I like short answers, please remember that"),)


def settings(**memory: object) -> Settings:
    return Settings(memory=MemorySettings(**memory))  # type: ignore[arg-type]  # test data by name


@dataclass
class Remembering:
    """One home, its memory, and what a test asks of them."""

    db: Database
    home: Home
    clock: StillClock
    settings: Settings = field(default_factory=settings)

    def __post_init__(self) -> None:
        self.memory = Memory(self.db, self.home, self.clock, self.settings)
        with self.db.write() as tx:
            self.space = people.ensure_space(tx, "owner", "owner", OWNER, NINE)
            self.group = people.ensure_space(tx, "telegram-group-100200", "group", "", NINE)

    def file(self, target: Target = Target.MEMORY, space: Space | None = None) -> str:
        path = self.home.memory_file((space or self.space).name, target)
        return path.read_bytes().decode() if path.exists() else ""

    def writes_by_hand(self, text: str | bytes, target: Target = Target.MEMORY) -> None:
        path = self.home.memory_file("owner", target)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())

    def proposal(self, *operations: Operation, **fields: object) -> Proposal:
        values: dict[str, object] = {
            "space": self.space,
            "target": Target.MEMORY,
            "operations": operations,
            "origin": Origin.FOREGROUND,
            "dedupe": f"turn-412-{operations!r}",
            "own": SAID,
            "message": 412,
        }
        return Proposal(**{**values, **fields})  # type: ignore[arg-type]  # test data by name

    def add(self, content: str, **fields: object) -> int:
        """Apply or stage an add; the id of its row."""
        return self._id(add(content), **fields)

    def stage(self, *operations: Operation, chat: Chat = CHAT, **fields: object) -> int:
        """Stage a write with a card; the id of its row."""
        return self._id(*operations, approval_required=True, card_chat=chat, **fields)

    def _id(self, *operations: Operation, **fields: object) -> int:
        outcome = self.memory.propose(self.proposal(*operations, **fields))
        assert outcome.write is not None, outcome
        return outcome.write

    def row(self, id: int) -> Write:
        with self.db.read() as rd:
            return writes.get(rd, id)

    def status(self, id: int) -> Status:
        return self.row(id).status

    def log(self) -> list[Write]:
        """All rows, oldest first."""
        with self.db.read() as rd:
            return writes.log(rd, None, 1000)[::-1]

    def said(self) -> list[Outgoing]:
        """All rows of the outbox, oldest first."""
        with self.db.read() as rd:
            ids = [row["id"] for row in rd.rows("SELECT id FROM outbox ORDER BY id")]
            return [outbox.get(rd, id) for id in ids]

    def said_keys(self) -> list[str]:
        return [row.dedupe for row in self.said()]


def add(content: str) -> Operation:
    return Operation(Action.ADD, content)


def remove(old_text: str) -> Operation:
    return Operation(Action.REMOVE, old_text=old_text)


def swap(old_text: str, content: str) -> Operation:
    return Operation(Action.REPLACE, content, old_text)
