"""The one door to skills: every change of one, whoever wants it, goes through `Skills`.

A proposal is judged and committed under the space's lock, on the files as they are at that moment; the change
itself is carried out by `files`, which also finishes it after a kill. Decisions of people are `deciding`.
Locks are taken in the order space, database.
"""

import logging
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from gateway import policy
from gateway.decisions import Decision
from gateway.errors import NotFound, Refused
from gateway.home import Home
from gateway.ports import Clock
from gateway.records import HELD, SKILL, Action, Evidence, NewWrite, Operation, Origin, Space, Status, Write
from gateway.settings import Settings
from gateway.skills import changes, names, proposals, review, tool
from gateway.skills.catalog import Skill
from gateway.skills.changes import Changed, Ground
from gateway.skills.deciding import SkillDecisions
from gateway.skills.files import UNWRITABLE, Cards, Found, HeldBack, SkillFiles, without_path
from gateway.skills.proposals import Judgement, SkillOutcome, SkillProposal
from gateway.skills.shelf import Shelf, Whole
from gateway.store import filewrites, forgets, people, skillfolders, textfile, undoing, writes
from gateway.store.db import Database
from gateway.store.transaction import Reader, Transaction

log = logging.getLogger(__name__)


class Skills:
    """The skills of all spaces of one home. `cards` is the module `gateway.memory.cards`."""

    def __init__(
        self,
        db: Database,
        home: Home,
        clock: Clock,
        settings: Settings,
        cards: Cards,
        held_back: HeldBack | None = None,
    ) -> None:
        self._db = db
        self._clock = clock
        self._settings = settings
        self._cards = cards
        self._shelf = Shelf(db, home)
        self._files = SkillFiles(self._shelf, clock, settings, cards, held_back)
        self._decisions = SkillDecisions(self._files)

    # -- looking -----------------------------------------------------------------------------------------

    def index(self, space: Space) -> str:
        """The block of the prompt that names the skills, scanned now; "" where there is none."""
        return self._shelf.index(space)

    def all(self, space: Space) -> tuple[Skill, ...]:
        """Every skill of a space with what is wrong with it, by name."""
        return self._shelf.skills(space)

    def whole(self, space: Space, name: str) -> Whole:
        """One skill, for a person. Raises NotFound."""
        found = self._shelf.whole(space, name)
        if found is None:
            raise NotFound("skill.unknown")
        return found

    def view(self, space: Space, asked: tool.View) -> str:
        """The result of a tool call that reads, as JSON text."""
        return self._shelf.view(space, asked)

    def ground(self, space: Space, proposal: SkillProposal) -> Ground:
        """What a proposal meets now."""
        return self._shelf.ground(space, proposal.name, proposal.operation)

    def draft(self, ground: review.SkillGround) -> review.Draft:
        """The draft on which a review's calls of the skill tool are tried."""
        return review.Draft(ground, self._shelf)

    # -- proposing ---------------------------------------------------------------------------------------

    def propose(self, proposal: SkillProposal) -> SkillOutcome:
        """Have a change judged, recorded and, where the policy says so, carried out.

        Proposing again under the same dedupe key returns the first outcome and changes nothing. Raises
        StoreBusy when a lock is not free or the disk is full: nothing is lost, propose again.
        """
        try:
            with self._files.locked(proposal.space):
                return self._propose(proposal)
        except textfile.Unwritable as closed:  # no lock can be taken: the home is read-only
            log.warning("skill.closed", extra={"space": proposal.space.id, "reason": closed.key})
            return SkillOutcome(proposal, None, reason=UNWRITABLE, values=without_path(closed.values))

    def _propose(self, proposal: SkillProposal) -> SkillOutcome:
        with self._db.write() as tx:
            row = writes.by_dedupe(tx, proposal.dedupe)
            judgement, ground = None, None
            if row is None:
                if proposal.epoch is not None:
                    forgets.refuse_overtaken(tx, proposal.space.id, proposal.epoch)
                ground = self._shelf.ground(proposal.space, proposal.name, proposal.operation)
                judgement, row = self._bear(tx, proposal, ground)
                staged = [row] if row is not None and row.status is Status.STAGED else []
                self._cards.ask(
                    tx, self._settings, staged, proposal.card_chat, self._clock.now(), proposal.reply_to
                )
        if row is not None and row.status is Status.APPROVED:
            self._files.finish(proposal.space)
        if row is None:
            assert judgement is not None
            return proposals.outcome(proposal, judgement)
        with self._db.read() as rd:
            outcome = proposals.outcome_of_row(proposal, writes.get(rd, row.id))
        return replace(outcome, like=ground.like) if ground is not None else outcome

    def bear_all(self, tx: Transaction, wanted: Sequence[SkillProposal]) -> list[Write]:
        """Judge and record what a review proposed, in its commit and under the lock of its space.

        The caller holds that lock and, when the commit is done, calls `finish`. Later proposals are judged on
        what the earlier ones will have made of a file.
        """
        rows: list[Write] = []
        ahead: dict[tuple[str, str], Changed] = {}
        for one in wanted:
            ground = self._shelf.ground(one.space, one.name, one.operation)
            judgement, row = self._bear(tx, one, review.on_top(ground, one, ahead))
            rows += [row] if row is not None else []
            if isinstance(judgement.decision, policy.Apply) and judgement.changed:
                ahead[one.name, one.operation.path] = judgement.changed
        if wanted:
            staged = [row for row in rows if row.status is Status.STAGED]
            first = wanted[0]  # what all proposals of a review have in common
            self._cards.ask(tx, self._settings, staged, first.card_chat, self._clock.now(), first.reply_to)
        return rows

    def notice_hand_edits(self, space: Space) -> bool:
        """Record now what was edited by hand in the skills of a space, without waiting long. False: not now."""
        return self._files.notice_hand_edits(space)

    def finish(self, space: Space) -> int:
        """Carry out what was approved in a space whose lock the caller holds. Returns how many writes ended."""
        return self._files.finish(space)

    def _bear(self, tx: Transaction, proposal: SkillProposal, ground: Ground) -> tuple[Judgement, Write | None]:
        judgement = proposals.judge(proposal, ground)
        found = self._forgotten(tx, proposal, judgement)
        if found is not None:
            judgement = _held(judgement)
        new = self._row(proposal, judgement)
        if new is None:
            return judgement, None
        if self._files.held_back is not None:
            new = self._files.held_back.marked(new, found)
        if new.status is Status.STAGED and (twin := filewrites.waiting_twin(tx, new)):
            return judgement, twin
        if new.status is Status.APPROVED:
            new = self._if_writable(proposal, new)
            self._files.notice_hand_edit(tx, proposal.space, proposal.name, proposal.operation)
        write, _ = writes.born(tx, new)
        return judgement, write

    def _forgotten(self, rd: Reader, proposal: SkillProposal, judgement: Judgement) -> Found | None:
        """What was forgotten before and would come back with this change."""
        change = judgement.changed
        if change is None or self._files.held_back is None:
            return None
        return self._files.held_back.held(rd, proposal.space.id, (proposal.operation,), (change.before,))

    def _if_writable(self, proposal: SkillProposal, new: NewWrite) -> NewWrite:
        """The row, failed already where the disk would refuse it: that is said, and stops nothing else."""
        try:
            self._files.refuse_unwritable(proposal.space, proposal.name, proposal.operation)
        except textfile.Unwritable as closed:
            return replace(new, status=Status.FAILED, reason=closed.key, reason_values=closed.values)
        return new

    def _row(self, proposal: SkillProposal, judgement: Judgement) -> NewWrite | None:
        """The row for a judgement; None for what is only answered (nothing would change, or it cannot be)."""
        now = self._clock.now()
        change = judgement.changed
        if change is None:
            return None
        new = _unborn(proposal, judgement, change, now)
        match judgement.decision:
            case policy.Apply():
                return replace(
                    new,
                    status=Status.APPROVED,
                    before_hash=change.before_hash,
                    after_hash=change.after_hash,
                    after=change.after,
                    decided_by=proposal.by,
                    decided_in=proposal.message if proposal.by else None,
                )
            case policy.Stage(flags):
                return replace(new, flags=flags, expires_at=self._expiry(now))
            case policy.Refuse(reason):
                return replace(new, status=Status.REFUSED, reason=reason, before="")
            case _:
                return None

    def _expiry(self, now: datetime) -> datetime | None:
        days = self._settings.memory.pending_ttl_days
        return now + timedelta(days=days) if days else None

    # -- deciding ----------------------------------------------------------------------------------------

    def approve(self, id: int, by: str, through: int | None = None, *, seen: int | None = None) -> Decision:
        """A person's yes; see `deciding.SkillDecisions.approve`."""
        return self._decisions.approve(id, by, through, seen=seen)

    def reject(self, id: int, by: str, through: int | None = None) -> Decision:
        """A person's no."""
        return self._decisions.reject(id, by, through)

    def edit(self, id: int, text: str, by: str) -> Decision:
        """Another text for a staged write, which stays staged. Raises Refused for a text that may not be."""
        return self._decisions.edit(id, text, by)

    def undo(self, id: int, by: str, through: int | None = None) -> Write:
        """Take an applied write back. Raises Refused where it cannot be: the text says what conflicts."""
        return self._decisions.undo(id, by, through)

    def restore(self, space: Space, name: str, by: str) -> str:
        """Bring a skill back from the archive, as a person asked: the name, or one that `.archive` shows.

        Returns the skill's name. Where hikae deleted it, that write is undone; else a new row says who brought
        it back. Raises NotFound, and Refused where the name is taken.
        """
        with self._files.locked(space):
            root = self._shelf.root(space)
            kept = skillfolders.archived(root, name)
            if not kept:
                raise NotFound("skill.not_archived")
            skill = skillfolders.skill_of(kept[0].name)
            if not names.is_name(skill) or skillfolders.is_there(root, skill):
                raise Refused("skill.exists")
            fingerprint = skillfolders.fingerprint(kept[0].parent, kept[0].name)
            with self._db.write() as tx:
                deleted = _deletion(tx, space, skill, fingerprint)
                if deleted is not None:
                    undoing.begin(tx, deleted.id, by=by, at=self._clock.now())
            if deleted is not None:
                self._files.finish(space)
                if reason := self._reason(deleted.id):
                    raise Refused(reason)
                return skill
            skillfolders.put_back(kept[0], root, skill)
            self._say_brought_back(space, skill, by)
            return skill

    def _reason(self, id: int) -> str:
        with self._db.read() as rd:
            return writes.get(rd, id).reason

    def _say_brought_back(self, space: Space, skill: str, by: str) -> None:
        now, operation = self._clock.now(), Operation(Action.CREATE)
        ground = self._shelf.ground(space, skill, operation)
        text = ground.text or ""
        with self._db.write() as tx:
            new = NewWrite(
                space=space.id,
                target=f"{SKILL}{skill}",
                kind="skill",
                operations=(operation,),
                origin=Origin.PERSON,
                evidence=Evidence(None, by, ""),
                status=Status.APPLIED,
                dedupe=f"restore-{space.id}-{ground.sha256[:16]}-{now.isoformat()}",
                created_at=now,
                before_hash=changes.ABSENT,
                after_hash=ground.sha256,
                after=proposals.kept(text),
                decided_by=by,
            )
            writes.born(tx, new)

    # -- after a crash -----------------------------------------------------------------------------------

    def finish_interrupted(self) -> int:
        """Carry out what was approved or undone when a process died. Returns how many writes ended."""
        with self._db.read() as rd:
            open_ = [*writes.unfinished(rd), *undoing.due(rd, "skill")]
            spaces = [people.space(rd, id) for id in sorted({one.space for one in open_ if one.kind == "skill"})]
        return sum(self._finish(space) for space in spaces)

    def _finish(self, space: Space) -> int:
        with self._files.locked(space) as finished:
            return finished


def _held(judgement: Judgement) -> Judgement:
    """It waits for a person who says whether to keep it now."""
    match judgement.decision:
        case policy.Apply():
            return replace(judgement, decision=policy.Stage((HELD,)))
        case policy.Stage(flags):
            return replace(judgement, decision=policy.Stage((*flags, HELD)))
        case _:
            return judgement


def _unborn(proposal: SkillProposal, judgement: Judgement, change: Changed, now: datetime) -> NewWrite:
    """A row that is staged unless somebody says otherwise; without any words where these must not be kept."""
    operation = proposals.without_text(proposal.operation) if judgement.wordless else proposal.operation
    return NewWrite(
        space=proposal.space.id,
        target=f"{SKILL}{proposal.name}",
        kind="skill",
        operations=(operation,),
        origin=proposal.origin,
        evidence=judgement.evidence,
        status=Status.STAGED,
        dedupe=proposal.dedupe,
        created_at=proposal.learnt_at or now,
        decided_at=now,
        message=proposal.message,
        session=proposal.session,
        review_turn=proposal.review_turn,
        base_hash=change.before_hash,
        before=proposals.kept(change.before),
    )


def _deletion(rd: Reader, space: Space, skill: str, fingerprint: str) -> Write | None:
    """The applied write that moved this state of a skill to the archive."""
    rows = filewrites.sources(rd, space.id, f"{SKILL}{skill}")
    return next((one for one in rows if one.action is Action.DELETE and one.before_hash == fingerprint), None)
