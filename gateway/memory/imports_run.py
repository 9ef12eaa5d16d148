"""Bringing what an import found: entries and skills through the one door, as the person's own act; conversations.

The dry run judges by the same rules on the files as they are. Each thing is a commit of its own under a key that
says what it is: killed in the middle, the same import again brings the rest and nothing twice.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from gateway import failpoints, policy
from gateway.home import Home
from gateway.memory import entries, imports_settings, imports_talks, proposals
from gateway.memory.imports import FoundEntry, FoundFile, FoundSkill, Item, Kind, Report, Source, Verdict
from gateway.memory.imports_talks import Frozen
from gateway.memory.proposals import OVER_BUDGET, Judgement, Proposal
from gateway.memory.writing import Memory
from gateway.ports import Clock
from gateway.records import SKILL, Action, Operation, Origin, Space, Status, Target, Write
from gateway.settings import Settings
from gateway.skills import catalog, changes
from gateway.skills import proposals as skill_proposals
from gateway.skills.catalog import Skill
from gateway.skills.changes import Ground
from gateway.skills.proposals import SkillProposal
from gateway.store import hermesdb, textfile, writes
from gateway.store.db import Database
from gateway.store.hermesdb import NotReadable

LOCK_SECONDS = 1.0
WAITS_FOR_SKILL = "import.waits_for_skill"


@dataclass(frozen=True)
class Import:
    """One import into a space. `frozen` makes the prompt that a conversation taken up again will have."""

    db: Database
    home: Home
    clock: Clock
    settings: Settings
    memory: Memory
    space: Space
    by: str
    frozen: Callable[[], Frozen]
    _drafts: dict[Target, entries.Document] = field(default_factory=dict)
    """The files as the dry run would leave them."""
    _drafted: list[Skill] = field(default_factory=list)
    """The skills that it would make."""

    def run(self, source: Source, state_db: Path, *, dry: bool) -> Report:
        """Bring everything that can be brought, or (dry) say what would become of it."""
        with textfile.lock(self.home.import_lock, LOCK_SECONDS):
            items = [*self._entries(source, dry), *self._skills(source, dry), *self._talks(state_db, dry)]
        mapped = imports_settings.read(source.config) if source.config is not None else imports_settings.Mapped()
        return Report((*items, *source.items, *mapped.items), mapped.lines)

    # -- entries -----------------------------------------------------------------------------------------

    def _entries(self, source: Source, dry: bool) -> Iterator[Item]:
        for found in source.entries:
            proposal = self._entry(found)
            known = self._known(proposal.dedupe)
            if known is not None:
                yield _brought(Kind(found.target.value), entries.preview(found.text), known)
            elif found.target not in self.memory.targets(self.space):
                yield self._item(found, Verdict.REFUSED, "memory.disabled", {"target": found.target.value})
            else:
                yield self._judged(found, proposal) if dry else self._written(found, proposal)

    def _entry(self, found: FoundEntry) -> Proposal:
        return Proposal(
            space=self.space,
            target=found.target,
            operations=(Operation(Action.ADD, found.text),),
            origin=Origin.IMPORT,
            dedupe=f"import-{self.space.id}-{found.target}-{textfile.sha256(found.text.encode())[:32]}",
            by=self.by,
            learnt_at=found.at,
            waits_for_room=True,
        )

    def _judged(self, found: FoundEntry, proposal: Proposal) -> Item:
        """What the rules say, on the file with the earlier ones in it."""
        target = found.target
        doc = self._drafts.get(target) or self.memory.read(self.space, target)
        judgement = proposals.judge(proposal, doc, self.settings.budget(target))
        if judgement.applied is not None and isinstance(judgement.decision, policy.Apply):
            self._drafts[target] = judgement.applied.doc
        return self._item(found, *_verdict(judgement))

    def _written(self, found: FoundEntry, proposal: Proposal) -> Item:
        outcome = self.memory.propose(proposal)
        failpoints.reach("import.entry")
        verdict = {
            proposals.Ending.APPLIED: Verdict.NEW,
            proposals.Ending.STAGED: Verdict.WAITS,
            proposals.Ending.ALREADY_THERE: Verdict.ALREADY,
        }.get(outcome.ending, Verdict.REFUSED)
        reason = outcome.reason or (outcome.flags[0] if outcome.flags else "")
        return self._item(found, verdict, reason, outcome.values, outcome.write)

    def _item(
        self,
        found: FoundEntry,
        verdict: Verdict,
        reason: str = "",
        values: Mapping[str, object] | None = None,
        write: int | None = None,
    ) -> Item:
        return Item(
            Kind(found.target.value), entries.preview(found.text), verdict, reason, dict(values or {}), write
        )

    # -- skills ------------------------------------------------------------------------------------------

    def _skills(self, source: Source, dry: bool) -> Iterator[Item]:
        for skill in source.skills:
            if skill.reason:
                yield Item(Kind.SKILL, entries.preview(skill.name), Verdict.LEFT, skill.reason)
                continue
            main = self._skill(skill, Operation(Action.CREATE, skill.text), dry)
            if main.verdict is Verdict.NEW and skill.changed:
                main = replace(main, reason=skill.changed, values={"name": entries.preview(skill.was)})
            yield main
            yield from self._files(skill, main, dry)

    def _files(self, skill: FoundSkill, main: Item, dry: bool) -> Iterator[Item]:
        """Its further files follow a skill that is there, and that is this one."""
        ours = main.verdict in (Verdict.NEW, Verdict.ALREADY) or self._is_there(skill)
        for file in skill.files:
            name = entries.preview(f"{skill.name}/{file.path}")
            if file.reason:
                yield Item(Kind.SKILL, name, Verdict.LEFT, file.reason)
            elif not ours:
                reason = WAITS_FOR_SKILL if main.verdict is Verdict.WAITS else main.reason
                yield Item(Kind.SKILL, name, Verdict.LEFT, reason or WAITS_FOR_SKILL, main.values)
            elif dry and main.verdict is Verdict.NEW:
                yield self._file_of_a_new_one(name, skill, file)
            else:
                yield self._skill(skill, Operation(Action.WRITE_FILE, file.text, path=file.path), dry)

    def _is_there(self, skill: FoundSkill) -> bool:
        """Whether the skill that an earlier import brought is there still."""
        known = self._known(self._change(skill, Operation(Action.CREATE, skill.text)).dedupe)
        there = any(each.name == skill.name for each in self.memory.skills.all(self.space))
        return known is not None and known.status is Status.APPLIED and there

    def _skill(self, skill: FoundSkill, operation: Operation, dry: bool) -> Item:
        change = self._change(skill, operation)
        name = entries.preview(f"{skill.name}/{operation.path}" if operation.path else skill.name)
        if (known := self._known(change.dedupe)) is not None:
            return _brought(Kind.SKILL, name, known)
        ground = self.memory.skills.ground(self.space, change)
        if operation.action is Action.CREATE and ground.there:
            same = changes.plain(ground.text or "") == operation.content
            return Item(Kind.SKILL, name, Verdict.ALREADY if same else Verdict.LEFT, "" if same else "skill.exists")
        if operation.path and ground.text is not None and ground.text != changes.tidy(operation.content):
            return Item(Kind.SKILL, name, Verdict.LEFT, "skill.exists")
        if dry:
            return self._skill_judged(name, change, ground)
        item = _of_skill(name, self.memory.skills.propose(change))
        failpoints.reach("import.skill")
        return item

    def _skill_judged(self, name: str, change: SkillProposal, ground: Ground) -> Item:
        """What the rules say, among the skills that are there by then."""
        creates = change.operation.action is Action.CREATE
        if creates:
            description = catalog.front(change.operation.content).description
            like = ground.like or catalog.like(change.name, description, self._drafted)
            ground = replace(ground, skills=ground.skills + len(self._drafted), like=like)
        item = _of_skill(name, skill_proposals.outcome(change, skill_proposals.judge(change, ground)))
        if creates and item.verdict is Verdict.NEW:
            self._drafted.append(Skill(change.name, description, readable=True))
        return item

    def _file_of_a_new_one(self, name: str, skill: FoundSkill, file: FoundFile) -> Item:
        """What would become of a file of a skill that the dry run has not made."""
        operation = Operation(Action.WRITE_FILE, file.text, path=file.path)
        judgement = skill_proposals.judge(self._change(skill, operation), Ground(there=True))
        return _of_skill(name, skill_proposals.outcome(self._change(skill, operation), judgement))

    def _change(self, skill: FoundSkill, operation: Operation) -> SkillProposal:
        mark = textfile.sha256(f"{skill.name}\0{operation.path}\0{operation.content}".encode())[:32]
        return SkillProposal(
            space=self.space,
            name=skill.name,
            operation=operation,
            origin=Origin.IMPORT,
            dedupe=f"import-{self.space.id}-{SKILL}{mark}",
            by=self.by,
            learnt_at=skill.at,
        )

    # -- conversations -----------------------------------------------------------------------------------

    def _talks(self, state_db: Path, dry: bool) -> Iterator[Item]:
        if not hermesdb.there(state_db):
            return
        try:
            with hermesdb.opened(state_db, self.home.import_scratch, self.clock.now()) as store:
                yield from imports_talks.bring(
                    self.db, store, self.space, self.by, self.frozen(), self.clock, dry=dry
                )
        except NotReadable as trouble:
            yield Item(Kind.SESSION, state_db.name, Verdict.LEFT, trouble.key, dict(trouble.values))
        except textfile.Unreadable as closed:
            yield Item(Kind.SESSION, state_db.name, Verdict.LEFT, closed.key, _texts(closed.values))

    def _known(self, dedupe: str) -> Write | None:
        with self.db.read() as rd:
            return writes.by_dedupe(rd, dedupe)


def _verdict(judgement: Judgement) -> tuple[Verdict, str, Mapping[str, object]]:
    match judgement.decision, judgement.change:
        case policy.Apply(), _:
            return Verdict.NEW, "", {}
        case policy.Stage(flags), _:
            return Verdict.WAITS, flags[0] if flags else "", {}
        case policy.Refuse(reason), _:
            return Verdict.REFUSED, reason, {}
        case _, entries.TooBig() as full:
            values = proposals.over_budget_values(full)
            return (Verdict.REFUSED if judgement.wordless else Verdict.WAITS), OVER_BUDGET, values
        case _, entries.AlreadyThere():
            return Verdict.ALREADY, "", {}
        case _, entries.Invalid(why):
            return Verdict.REFUSED, why, {}
        case _:
            return Verdict.REFUSED, "reason.gone", {}


def _brought(kind: Kind, name: str, write: Write) -> Item:
    """What an earlier import brought. One that waits, waits."""
    if write.status is Status.STAGED:
        reason = write.reason or (write.flags[0] if write.flags else "")
        return Item(kind, name, Verdict.WAITS, reason, dict(write.reason_values), write.id)
    if write.status in (Status.REFUSED, Status.FAILED):
        return Item(kind, name, Verdict.REFUSED, write.reason, dict(write.reason_values), write.id)
    return Item(kind, name, Verdict.BEFORE, f"import.was_{write.status.value}", {}, write.id)


def _of_skill(name: str, outcome: skill_proposals.SkillOutcome) -> Item:
    if outcome.same:
        return Item(Kind.SKILL, name, Verdict.ALREADY)
    verdict = Verdict.WAITS if outcome.staged else Verdict.NEW if outcome.good else Verdict.REFUSED
    reason = outcome.reason or (outcome.flags[0] if outcome.flags else "")
    return Item(Kind.SKILL, name, verdict, reason, dict(outcome.values), outcome.write)


def _texts(values: Mapping[str, object]) -> dict[str, object]:
    return {name: str(value) for name, value in values.items()}
