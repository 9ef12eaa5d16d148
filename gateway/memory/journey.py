"""The journey: everything that was learnt, on a time line. Pure; `journeys` reads and changes it.

A node is one entry or one skill as it is now. When it was learnt, from what and in which sessions is what the
ledger says of it. An id names what it names as it is: an entry that says something else has another one.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import pairwise

from gateway.memory import entries, tracing
from gateway.memory.entries import Document, Entry
from gateway.records import Action, Origin, Target, Write
from gateway.skills.catalog import Skill

MEMORY = "memory"
SKILL = "skill"
_ENTRY_ID = re.compile(r"(?:memory:)?(?:(?P<target>memory|user):)?(?P<fingerprint>[0-9a-f]{8})", re.IGNORECASE)
_LONG_AGO = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Node:
    """One thing that was learnt."""

    id: str = field(repr=False)
    """`memory:user:3fa2c1d0`, `skill:printer`"""
    kind: str
    """memory | skill"""
    label: str = field(repr=False)
    """The entry in one line, or the skill's name."""
    at: datetime | None
    """When what it says now was learnt; of a skill: when it came to be. None: nobody knows."""
    origin: Origin
    write: int | None
    """The newest row of the ledger that made it so."""
    sessions: tuple[str, ...] = ()
    """In which it was learnt and changed, oldest first."""
    about: str = field(default="", repr=False)
    """What a skill is for."""

    @property
    def target(self) -> str:
        """The file of an entry; "" for a skill."""
        return self.id.split(":")[1] if self.kind == MEMORY else ""


@dataclass(frozen=True, slots=True)
class Journey:
    """All nodes, the oldest first, and which of them came one after the other in a session."""

    nodes: tuple[Node, ...]
    edges: tuple[tuple[str, str], ...]

    def count(self, kind: str) -> int:
        return sum(node.kind == kind for node in self.nodes)


def along(nodes: Iterable[Node]) -> Journey:
    """The time line of these nodes. What has no time stands before all others."""
    line = sorted(nodes, key=lambda node: node.at or _LONG_AGO)
    return Journey(tuple(line), tuple(dict.fromkeys(_edges(line))))


def _edges(line: Sequence[Node]) -> Iterator[tuple[str, str]]:
    met: dict[str, list[str]] = {}
    for node in line:
        for session in node.sessions:
            met.setdefault(session, []).append(node.id)
    for ids in met.values():
        yield from pairwise(ids)


# -- entries ---------------------------------------------------------------------------------------------------


def lineages(doc: Document, sources: Sequence[Write]) -> dict[Entry, tuple[Write, ...]]:
    """Each different entry, with the writes that made it what it is, the newest first.

    `sources` are the applied writes of the file. One walk over all of them: to ask for each entry anew would read
    the ledger as often as there are entries.
    """
    put_in: dict[str, list[Write]] = {}
    known: dict[int, Mapping[str, str]] = {}

    def before(row: Write) -> Mapping[str, str]:
        if row.id not in known:  # a hand edit may have put in hundreds
            known[row.id] = tracing.said_before(row)
        return known[row.id]

    for row in sorted(sources, key=lambda one: (tracing.time(one), one.id), reverse=True):
        for text in entries.split_texts(row.after):
            put_in.setdefault(text, []).append(row)
    return {entry: tracing.lineage(entry.text, lambda text: put_in.get(text, ()), before) for entry in doc.entries}


def entry_node(target: Target, entry: Entry, lineage: Sequence[Write], sessions: Sequence[str]) -> Node:
    """An entry that no write brought was put there by hand."""
    newest = lineage[0] if lineage else None
    return Node(
        id=tracing.entry_id(target, entry),
        kind=MEMORY,
        label=entries.preview(entry.text),
        at=learnt_at(newest) if newest else None,
        origin=newest.origin if newest else Origin.HAND_EDIT,
        write=newest.id if newest else None,
        sessions=tuple(sessions),
    )


def learnt_at(write: Write) -> datetime:
    """An import brings what was learnt before; all else is learnt when it is decided."""
    return write.created_at if write.origin is Origin.IMPORT else write.decided_at or write.created_at


# -- skills ----------------------------------------------------------------------------------------------------


def since_created(sources: Sequence[Write]) -> tuple[Write, ...]:
    """Of a skill's applied writes (newest first) those since it came to be: a deleted one was another skill."""
    found = []
    for row in sources:
        if row.action is Action.DELETE:
            break
        found.append(row)
        if row.action is Action.CREATE:
            break
    return tuple(found)


def skill_node(skill: Skill, made: Sequence[Write], file_at: datetime | None, sessions: Sequence[str]) -> Node:
    """`made`: `since_created`; `file_at` counts for a skill that was put there by hand."""
    first = made[-1] if made and made[-1].action is Action.CREATE else None
    return Node(
        id=f"{SKILL}:{skill.name}",
        kind=SKILL,
        label=entries.preview(skill.name),
        at=learnt_at(first) if first else file_at,
        origin=first.origin if first else Origin.HAND_EDIT,
        write=made[0].id if made else None,
        sessions=tuple(sessions),
        about=entries.preview(skill.description),
    )


# -- ids -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class EntryId:
    """An entry as an id names it. `target` is None where a person typed the eight digits alone."""

    target: Target | None
    fingerprint: str

    def names(self, target: Target, text: str) -> bool:
        return self.target in (None, target) and entries.fingerprint(text) == self.fingerprint


@dataclass(frozen=True, slots=True)
class SkillId:
    """A skill as an id names it."""

    name: str = field(repr=False)


def parse(id: str) -> EntryId | SkillId | None:
    """What an id names; None for what is none."""
    id = id.strip()
    if id.startswith(f"{SKILL}:"):
        return SkillId(id.removeprefix(f"{SKILL}:"))
    found = _ENTRY_ID.fullmatch(id)
    if found is None:
        return None
    target = Target(found["target"].lower()) if found["target"] else None
    return EntryId(target, found["fingerprint"].lower())


def named(wanted: EntryId, docs: Mapping[Target, Document]) -> tuple[tuple[Target, Entry], ...]:
    """The different entries with this fingerprint: one, unless somebody made two that share it."""
    found = ((target, entry) for target, doc in docs.items() for entry in doc.entries)
    return tuple(dict.fromkeys(one for one in found if wanted.names(one[0], one[1].text)))
