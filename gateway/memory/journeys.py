"""What was learnt, read and changed by its ids: the journey of a space, and a person's edits and deletions of it.

Every change goes through the one door (`writing`, `skills.editing`) as that person's own write, on the text that
the id named: where it says something else by then, nothing is done.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from gateway.chat import Chat
from gateway.errors import AlreadyDecided, Ambiguous, NotFound, OverBudget, Refused
from gateway.memory import entries, journey
from gateway.memory.entries import Entry
from gateway.memory.files import Files
from gateway.memory.journey import EntryId, Journey, Node, SkillId
from gateway.memory.proposals import OVER_BUDGET, Ending, Outcome, Proposal
from gateway.records import SKILL, Action, Operation, Origin, Space, Status, Target, Write
from gateway.skills.editing import Skills
from gateway.skills.proposals import SkillProposal
from gateway.store import filewrites, messages, sessions, skillfolders, textfile, writes
from gateway.store.transaction import Reader


@dataclass(frozen=True, slots=True)
class Thing:
    """One thing that an id names, as it is now, whole."""

    id: str = field(repr=False)
    text: str = field(repr=False)
    entry: tuple[Target, Entry] | None = field(default=None, repr=False)
    skill: str = field(default="", repr=False)
    sha256: str = ""
    """Of a skill's SKILL.md: what an edit of it rests on."""


@dataclass(frozen=True, slots=True)
class Order:
    """Whose change it is and how it is told from every other: what both doors are given."""

    by: str
    dedupe: str
    message: int | None = None
    chat: Chat | None = None


@dataclass(frozen=True, slots=True)
class Deed:
    """What came of a change that was not refused."""

    write: int | None
    waits: bool = False
    """True where the scan wants a person to look at it once more."""


@dataclass(frozen=True, slots=True)
class Journeys:
    """The journeys of all spaces of a home."""

    files: Files
    skills: Skills
    propose: Callable[[Proposal], Outcome]
    """`writing.Memory.propose`."""

    # -- looking -----------------------------------------------------------------------------------------

    def of(self, space: Space) -> Journey:
        """Everything learnt in a space. What was edited by hand is noticed first, so that it has a time."""
        self.files.notice_hand_edits(space, wait_seconds=1.0)
        skills = self.skills.all(space)
        docs = {target: self.files.read(space, target).doc for target in self._readable(space)}
        with self.files.db.read() as rd:
            met = _Sessions(rd, space.id)
            nodes = [node for target, doc in docs.items() for node in _entries(rd, met, space, target, doc)]
            for skill in skills:
                made = journey.since_created(filewrites.sources(rd, space.id, f"{SKILL}{skill.name}"))
                at = skillfolders.changed_at(self.files.home.skills_dir(space.name), skill.name)
                nodes.append(journey.skill_node(skill, made, at, met.of(made)))
        return journey.along(nodes)

    def thing(self, space: Space, id: str) -> Thing:
        """What an id names. Raises NotFound, which says so where it is known to have changed, and Ambiguous."""
        match journey.parse(id):
            case EntryId() as wanted:
                return self._entry(space, wanted)
            case SkillId(name):
                whole = self.skills.whole(space, name)
                return Thing(f"skill:{name}", whole.text, skill=name, sha256=whole.skill.sha256)
            case _:
                raise NotFound("journey.unknown")

    # -- changing ----------------------------------------------------------------------------------------

    def edit(self, space: Space, thing: Thing, text: str, order: Order) -> Deed:
        """Let it say something else. Raises Refused for a text that may not be, and where it changed meanwhile."""
        if thing.entry is None:
            operation = Operation(Action.EDIT, content=text)
            return self._change_skill(space, thing, operation, order, base=thing.sha256)
        target, entry = thing.entry
        return self._change_entry(space, target, Operation(Action.REPLACE, text, entry.text), order)

    def delete(self, space: Space, thing: Thing, order: Order) -> Deed:
        """Take it out of memory; a skill goes to the archive. Both can be taken back."""
        if thing.entry is None:
            return self._change_skill(space, thing, Operation(Action.DELETE), order)
        target, entry = thing.entry
        return self._change_entry(space, target, Operation(Action.REMOVE, old_text=entry.text), order)

    def done(self, order: Order) -> Deed | None:
        """What came of this order when it was carried out before: a command is done again after a kill."""
        with self.files.db.read() as rd:
            row = writes.by_dedupe(rd, order.dedupe)
        if row is None:
            return None
        if row.message != order.message:
            raise AlreadyDecided("journey.answered")
        if row.status in (Status.REFUSED, Status.FAILED):
            raise Refused(row.reason, **row.reason_values)
        return Deed(row.id, waits=row.status is Status.STAGED)

    def _change_entry(self, space: Space, target: Target, operation: Operation, order: Order) -> Deed:
        outcome = self.propose(
            Proposal(
                space=space,
                target=target,
                operations=(operation,),
                origin=Origin.PERSON,
                dedupe=order.dedupe,
                message=order.message,
                by=order.by,
                card_chat=order.chat,
                whole=True,
            )
        )
        return _deed(outcome)

    def _change_skill(self, space: Space, thing: Thing, operation: Operation, order: Order, base: str = "") -> Deed:
        outcome = self.skills.propose(
            SkillProposal(
                space=space,
                name=thing.skill,
                operation=operation,
                origin=Origin.PERSON,
                dedupe=order.dedupe,
                message=order.message,
                by=order.by,
                card_chat=order.chat,
                base=base,
            )
        )
        if not outcome.good:
            raise Refused(outcome.reason, **outcome.values)
        return Deed(outcome.write, waits=outcome.staged)

    # -- finding -----------------------------------------------------------------------------------------

    def _entry(self, space: Space, wanted: EntryId) -> Thing:
        docs = {target: self.files.read(space, target).doc for target in self._readable(space)}
        found = journey.named(wanted, docs)
        if len(found) > 1:
            raise Ambiguous("journey.ambiguous", id=wanted.fingerprint)
        if not found:
            if self._was_there(space, wanted):
                raise NotFound("journey.changed", id=wanted.fingerprint)
            raise NotFound("journey.unknown")
        target, entry = found[0]
        return Thing(f"memory:{target}:{entry.fingerprint}", entry.text, entry=(target, entry))

    def _was_there(self, space: Space, wanted: EntryId) -> bool:
        """Whether the ledger knows an entry that had this id."""
        targets = (target for target in Target if wanted.target in (None, target))
        with self.files.db.read() as rd:
            texts = (after for target in targets for _, _, after in filewrites.put_in(rd, space.id, target))
            return any(
                entries.fingerprint(text) == wanted.fingerprint
                for after in texts
                for text in entries.split_texts(after)
            )

    def _readable(self, space: Space) -> Iterator[Target]:
        """A file that is closed to us hides nothing else."""
        for target in self.files.targets(space):
            try:
                self.files.read(space, target)
            except textfile.Unreadable:
                continue
            yield target


def _entries(rd: Reader, met: "_Sessions", space: Space, target: Target, doc: entries.Document) -> Iterator[Node]:
    lines = journey.lineages(doc, filewrites.sources(rd, space.id, target))
    for entry, lineage in lines.items():
        yield journey.entry_node(target, entry, lineage, met.of(lineage))


def _deed(outcome: Outcome) -> Deed:
    if outcome.ending.good:
        return Deed(outcome.write, waits=outcome.ending is Ending.STAGED)
    if outcome.ending is Ending.NO_MATCH:
        raise NotFound("journey.meanwhile")
    if outcome.reason == OVER_BUDGET:
        raise OverBudget(outcome.reason, **outcome.values)
    raise Refused(outcome.reason, **outcome.values)


class _Sessions:
    """Which sessions writes were made in, as far as these are still kept. Lives as long as one reading."""

    def __init__(self, rd: Reader, space: int) -> None:
        self._rd = rd
        self._space = space
        self._of_message: dict[int, str] = {}
        self._there: dict[str, bool] = {}

    def of(self, lineage: Sequence[Write]) -> tuple[str, ...]:
        """Oldest first, each once."""
        found = [name for write in reversed(lineage) for name in self._named(write)]
        return tuple(name for name in dict.fromkeys(found) if name and self._is_there(name))

    def _named(self, write: Write) -> Iterator[str]:
        yield write.session
        for message in (write.evidence.message, write.message):
            if message is not None:
                yield self._session_of(message)

    def _session_of(self, message: int) -> str:
        if message not in self._of_message:
            try:
                row = messages.get(self._rd, message)
                self._of_message[message] = row.session if row.space == self._space else ""
            except NotFound:
                self._of_message[message] = ""
        return self._of_message[message]

    def _is_there(self, session: str) -> bool:
        if session not in self._there:
            try:
                self._there[session] = sessions.get(self._rd, session).space == self._space
            except NotFound:
                self._there[session] = False
        return self._there[session]
