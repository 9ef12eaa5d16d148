"""Skills to test with: real files, a real database, real cards, and proposals by name."""

import json
from dataclasses import dataclass, field
from pathlib import Path

from gateway.chat import Chat
from gateway.home import Home
from gateway.memory import cards
from gateway.policy import Said
from gateway.records import Action, Operation, Origin, Space, Status, Write
from gateway.sections import SkillsSettings
from gateway.settings import Settings
from gateway.skills import tool
from gateway.skills.editing import Skills
from gateway.skills.proposals import SkillOutcome, SkillProposal
from gateway.store import people, writes
from gateway.store.db import Database
from tests.store.given import CHAT, NINE, StillClock

OWNER = "telegram:123"
SAID = (Said(412, OWNER, "Please keep how we restart the printer as a skill"),)
PRINTER = (
    "---\nname: printer\ndescription: How to restart the printer.\n---\n# Printer\n1. Switch it off.\n2. Wait.\n"
)


def main_file(name: str, description: str = "How to do it.", body: str = "1. Do it.") -> str:
    return f"---\nname: {name}\ndescription: {description}\n---\n{body}\n"


@dataclass
class Skilful:
    """One home, its skills, and what a test asks of them."""

    db: Database
    home: Home
    clock: StillClock
    settings: Settings = field(default_factory=Settings)

    def __post_init__(self) -> None:
        self.skills = Skills(self.db, self.home, self.clock, self.settings, cards)
        with self.db.write() as tx:
            self.space = people.ensure_space(tx, "owner", "owner", OWNER, NINE)
            self.other = people.ensure_space(tx, "telegram-7", "person", "telegram:7", NINE)

    def path(self, name: str, path: str = "SKILL.md", space: Space | None = None) -> Path:
        return self.home.skills_dir((space or self.space).name) / name / path

    def file(self, name: str, path: str = "SKILL.md", space: Space | None = None) -> str | None:
        file = self.path(name, path, space)
        return file.read_bytes().decode() if file.exists() else None

    def by_hand(self, name: str, text: str | bytes, path: str = "SKILL.md") -> Path:
        file = self.path(name, path)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        return file

    def proposal(self, name: str, operation: Operation, **fields: object) -> SkillProposal:
        values: dict[str, object] = {
            "space": self.space,
            "name": name,
            "operation": operation,
            "origin": Origin.FOREGROUND,
            "dedupe": f"turn-412-{name}-{operation!r}",
            "own": SAID,
            "message": 412,
        }
        return SkillProposal(**{**values, **fields})  # type: ignore[arg-type]  # test data by name

    def propose(self, name: str, operation: Operation, **fields: object) -> SkillOutcome:
        return self.skills.propose(self.proposal(name, operation, **fields))

    def done(self, name: str, operation: Operation, **fields: object) -> int:
        """Apply a change; the id of its row."""
        outcome = self.propose(name, operation, **fields)
        assert outcome.status is Status.APPLIED and outcome.write is not None, outcome
        return outcome.write

    def stage(self, name: str, operation: Operation, chat: Chat | None = CHAT, **fields: object) -> int:
        """Stage a change with a card; the id of its row."""
        outcome = self.propose(name, operation, approval_required=True, card_chat=chat, **fields)
        assert outcome.status is Status.STAGED and outcome.write is not None, outcome
        return outcome.write

    def row(self, id: int) -> Write:
        with self.db.read() as rd:
            return writes.get(rd, id)

    def status(self, id: int) -> Status:
        return self.row(id).status

    def log(self) -> list[Write]:
        with self.db.read() as rd:
            return writes.log(rd, None, 1000)[::-1]

    def said_keys(self) -> list[str]:
        with self.db.read() as rd:
            return [str(row["dedupe"]) for row in rd.rows("SELECT dedupe FROM outbox ORDER BY id")]

    def view(self, name: str = "", path: str = "") -> dict[str, object]:
        answer: dict[str, object] = json.loads(self.skills.view(self.space, tool.View(name, path)))
        return answer


def asking() -> Settings:
    return Settings(skills=SkillsSettings(write_approval=True))


def create(content: str = PRINTER) -> Operation:
    return Operation(Action.CREATE, content)


def edit(content: str) -> Operation:
    return Operation(Action.EDIT, content)


def patch(old_text: str, new_text: str, path: str = "") -> Operation:
    return Operation(Action.PATCH, new_text, old_text, path)


def write_file(path: str, content: str) -> Operation:
    return Operation(Action.WRITE_FILE, content, path=path)


DELETE = Operation(Action.DELETE)
