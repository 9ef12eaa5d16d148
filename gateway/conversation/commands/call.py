"""What a command gets and what it gives back.

A command acts at once and commits; what is said about it is an outbox row with a key and numbers, rendered from
the records when it is delivered. So a command that is run again after a kill says the same.
"""

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from gateway.chat import Person
from gateway.conversation.access import Access, Standing
from gateway.conversation.freezing import Freezer
from gateway.errors import Refused
from gateway.home import Home
from gateway.jobs import Job
from gateway.memory import asking
from gateway.memory.exporting import Exporting
from gateway.memory.forgetting import Forgetting
from gateway.memory.writing import Memory
from gateway.ports import Clock
from gateway.records import Message, Outgoing, Space, Write
from gateway.settings import Loaded, Settings
from gateway.skills.editing import Skills
from gateway.store.db import Database, Transaction


@dataclass(frozen=True)
class Services:
    """What commands work with."""

    db: Database
    home: Home
    loaded: Loaded
    memory: Memory
    freezer: Freezer
    access: Access
    clock: Clock
    model_name: str

    @property
    def settings(self) -> Settings:
        return self.loaded.settings

    @property
    def skills(self) -> Skills:
        """The door to skills."""
        return self.memory.skills

    @property
    def forgetting(self) -> Forgetting:
        """Plans what is to be forgotten, and commits the yes. Who erases knows Redis, too (`core.forgetting`)."""
        return Forgetting(self.db, self.home, self.clock, self.settings, self.memory)

    @property
    def exporting(self) -> Exporting:
        """Reads everything that is kept of a space."""
        return Exporting(self.db, self.home, self.clock, self.memory)

    def door(self, write: Write) -> Memory | Skills:
        """The one door to what this write changes."""
        return self.skills if write.kind == "skill" else self.memory

    def asks_first(self, space: int) -> bool:
        """Whether this space's writes wait for a yes, as of now."""
        with self.db.read() as rd:
            return asking.asks_first(rd, self.settings, space)


@dataclass(frozen=True, slots=True)
class Call:
    """One command as typed: `/memory approve 17` has name "memory" and words ("approve", "17")."""

    message: Message
    person: Person
    standing: Standing
    space: Space
    name: str
    words: tuple[str, ...]
    rest: str
    """Everything behind the name, as typed."""
    private: bool = True
    """False where others read along."""

    @property
    def is_owner(self) -> bool:
        return self.standing is Standing.OWNER

    @property
    def covers_all(self) -> bool:
        """Whether it is about what waits and was decided in every space: for the owner alone, in private."""
        return self.is_owner and self.private


@dataclass(frozen=True, slots=True)
class Said:
    """What to answer: a catalog key or the name of a view, and numbers for it. Never anybody's words."""

    key: str
    values: Mapping[str, object] = field(default_factory=dict)
    write: int | None = None
    """The write it is about: the answer waits until that write is settled."""
    commit: Callable[[Transaction], object] | None = None
    """A change to commit together with the mark that the command is done. True where it ended the running turn."""
    after: Callable[[Transaction], None] | None = None
    """The same, for what is to be said behind the answer."""
    kind: str = "answer"
    """The kind of the answer's outbox row: one that asks for a text is `ask_edit`."""
    once: str = ""
    """A dedupe key of something that is said only once, where this answer is that."""
    compresses: str = ""
    """The session to compress before it is answered: what came of that is said in its place."""
    ring: Job | None = None
    """A job to ring for once that is committed."""


class Act(Protocol):
    """Does what a command asks. Raises Refused for what cannot be."""

    def __call__(self, services: Services, call: Call) -> Said: ...


class View(Protocol):
    """Writes the answer of a command from the records, as Markdown."""

    def __call__(self, services: Services, row: Outgoing, language: str) -> str: ...


def part_of(call: Call, parts: Mapping[str, Act], *, bare: str, usage: str) -> Act:
    """What the word behind a command asks for; `bare` without one. Raises Refused, naming the nearest."""
    word = call.words[0].lower() if call.words else bare
    if word not in parts:
        near = difflib.get_close_matches(word, parts, n=1)
        raise Refused("answer.unknown_part", name=call.name, nearest=near[0]) if near else Refused(usage)
    return parts[word]
