"""The one door to memory: every change of MEMORY.md and USER.md, whoever wants it, goes through `Memory`.

A proposal is judged and committed under the space's lock, on the file as it is at that moment; the change itself
is carried out by `files`, which also finishes it after a kill. Decisions of people are `deciding`.
Locks are taken in the order space, database.
"""

import contextlib
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from gateway import failpoints, policy
from gateway.chat import Chat
from gateway.decisions import Decision
from gateway.errors import Refused
from gateway.home import Home
from gateway.memory import beside, cards, entries, heldback, proposals, reading, replaced, review, tracing
from gateway.memory.deciding import Decisions
from gateway.memory.entries import Document
from gateway.memory.files import File, Files, glued_in
from gateway.memory.journeys import Journeys
from gateway.memory.proposals import Ending as Ending
from gateway.memory.proposals import Judgement
from gateway.memory.proposals import Outcome as Outcome
from gateway.memory.proposals import Proposal as Proposal
from gateway.memory.reading import FileWarning as FileWarning
from gateway.memory.tidiness import Tidies
from gateway.memory.undoing import Undoings
from gateway.ports import Clock
from gateway.records import (
    Action,
    Evidence,
    NewOutgoing,
    NewWrite,
    Operation,
    Origin,
    Space,
    Status,
    Target,
    Usage,
    Write,
)
from gateway.settings import Settings
from gateway.skills.editing import Skills
from gateway.skills.proposals import SkillProposal
from gateway.store import forgets, outbox, people, reviews, summaries, textfile, undoing, usage, writes
from gateway.store.db import Database
from gateway.store.transaction import Transaction

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ReviewClaim:
    """A claimed review: its effect is committed only while the claim is still ours."""

    space: Space
    session: str
    turn: int
    claim: str


@dataclass(frozen=True, slots=True)
class Flush:
    """A look at a session before it is compressed; `holds`: whether the session still is as it saw it."""

    space: Space
    session: str
    message: int
    """The last one that it saw."""
    holds: Callable[[Transaction], bool]


class Memory:
    """The memory of all spaces of one home."""

    def __init__(self, db: Database, home: Home, clock: Clock, settings: Settings) -> None:
        self._db = db
        self._clock = clock
        self._settings = settings
        self._files = Files(db, home, clock, settings)
        self._decisions = Decisions(self._files)
        self.skills = Skills(db, home, clock, settings, cards, heldback)
        """The door to skills: a review changes both in one commit."""
        self._undoings = Undoings(self._files)

    @property
    def files(self) -> Files:
        """For what erases in them (`layers`): what that replaces is overwritten as all else, at the end."""
        return self._files

    # -- looking -----------------------------------------------------------------------------------------

    def targets(self, space: Space) -> tuple[Target, ...]:
        """The stores that are on for a space. Groups keep no profile."""
        return self._files.targets(space)

    def read(self, space: Space, target: Target) -> Document:
        """The entries now. Raises NotAllowed for a store that is off, Unreadable for a closed file."""
        return reading.read(self._files, space, target)

    def texts(self, space: Space, target: Target) -> tuple[str, ...]:
        """The entries of a file, then those of the space's other file: beside what something would stand."""
        return (*self.read(space, target).texts, *reading.elsewhere(self._files, space, target))

    def blocks(self, space: Space) -> tuple[str, str]:
        """The MEMORY and the USER block for a prompt, scanned now; "" for a store that is off or empty."""
        memory, user = (reading.block(self._files, space, target) for target in Target)
        return memory, user

    def warnings(self, space: Space) -> tuple[FileWarning, ...]:
        """What the person should be told about their files when a session opens; never the words."""
        return reading.warnings(self._files, space)

    def vouched(self, space: Space, target: Target) -> frozenset[str]:
        """The odd-looking entries that a person approved as they are: these a model may see."""
        return reading.vouched(self._files, space, target, self._files.read(space, target).doc)

    def overlay(self, ground: review.Ground) -> review.Overlay:
        """The draft on which a review's calls are tried. Raises Unreadable."""
        return reading.overlay(self._files, ground)

    def pending_texts(self, space: Space) -> tuple[str, ...]:
        """What waits for a yes and may be shown to a review."""
        return reading.pending_texts(self._files, space)

    def find(self, space: Space, text: str) -> tuple[tuple[Target, entries.Entry], ...]:
        """The entries that a text means; see `tracing.find`."""
        return tracing.find(self._files, space, text)

    def trace(self, space: Space, id: str) -> tracing.Traced:
        """The entry with this id and the writes that made it what it is. Raises NotFound."""
        return tracing.trace(self._files, space, id)

    # -- proposing ---------------------------------------------------------------------------------------

    def propose(self, proposal: Proposal) -> Outcome:
        """Have a write judged, recorded and, where the policy says so, carried out.

        Proposing again under the same dedupe key returns the first outcome and changes nothing. Raises
        StoreBusy when a lock is not free or the disk is full: nothing is lost, propose again.
        """
        if proposal.target not in self.targets(proposal.space):
            values = {"target": proposal.target.value}
            return self._failure(proposal, Ending.REFUSED, "memory.disabled", values)
        try:
            with self._files.locked(proposal.space):
                return self._propose(proposal)
        except (textfile.Unreadable, textfile.Unwritable) as closed:
            return self._closed(proposal, closed)

    def _propose(self, proposal: Proposal) -> Outcome:
        file = self._files.read(proposal.space, proposal.target)
        with self._db.write() as tx:
            row = writes.by_dedupe(tx, proposal.dedupe)
            judgement = None
            if row is None:
                if proposal.epoch is not None:
                    forgets.refuse_overtaken(tx, proposal.space.id, proposal.epoch)
                judgement, row = self._bear(tx, proposal, file, file.doc)
                self._ask(tx, [row] if row is not None else [], proposal)
        if row is not None and row.status is Status.APPROVED:
            return self._carried_out(proposal, judgement, row)
        return self._outcome(proposal, judgement, row)

    def _carried_out(self, proposal: Proposal, judgement: Judgement | None, row: Write) -> Outcome:
        change = judgement.applied if judgement else None
        applied = self._files.finish_born(proposal.space, row, change)
        if applied is None or judgement is None or change is None:
            return self._outcome(proposal, judgement, row)
        limit = self._settings.budget(proposal.target)
        vouched = reading.vouched(self._files, proposal.space, proposal.target, change.doc)
        return proposals.outcome_of_row(proposal, applied, change.doc, limit, vouched, judgement.beside)

    def _bear(
        self, tx: Transaction, proposal: Proposal, file: File, doc: Document
    ) -> tuple[Judgement, Write | None]:
        """Judge a proposal on `doc` (the file, perhaps with earlier proposals in it) and record the result."""
        glued = glued_in(tx, proposal.space, proposal.target, doc)
        elsewhere = reading.elsewhere(self._files, proposal.space, proposal.target)
        judgement = proposals.judge(proposal, doc, self._settings.budget(proposal.target), glued, elsewhere)
        before = judgement.applied.before if judgement.applied else ()
        held = heldback.held(tx, proposal.space.id, proposal.operations, before)
        judgement = heldback.judged(judgement, held)
        new = self._row(proposal, judgement, file, doc)
        if new is None:
            return judgement, None
        new = heldback.marked(new, held)
        if new.status is Status.STAGED and (twin := writes.waiting_twin(tx, new)):
            return judgement, twin
        if new.status is Status.APPROVED:
            textfile.refuse_unwritable(file.path)
        self._files.notice_hand_edit(tx, proposal.space, proposal.target, file)
        write, _ = writes.born(tx, new)
        return judgement, write

    def _ask(self, tx: Transaction, born: Sequence[Write], proposal: Proposal) -> None:
        """Show what waits on cards."""
        staged = [write for write in born if write.status is Status.STAGED]
        cards.ask(tx, self._settings, staged, proposal.card_chat, self._clock.now(), proposal.reply_to)

    def _row(self, proposal: Proposal, judgement: Judgement, file: File, doc: Document) -> NewWrite | None:
        """The row for a judgement; None for what is only answered (no such entry, already there)."""
        now = self._clock.now()
        new = _unborn(proposal, judgement, file, now)
        match judgement.decision, judgement.change:
            case policy.Apply(), entries.Applied() as change:
                return replace(
                    new,
                    status=Status.APPROVED,
                    before_hash=_sha256(doc),
                    after_hash=_sha256(change.doc),
                    after=entries.JOINT.join(change.after),
                    places=change.places,
                    decided_by=proposal.by,
                    decided_in=proposal.message if proposal.by else None,
                    flags=(judgement.beside.why,) if judgement.beside else (),
                )
            case policy.Stage(flags), entries.Applied():
                return replace(new, flags=flags, expires_at=self._expiry(now))
            case policy.Refuse(reason), _:
                return replace(new, status=Status.REFUSED, reason=reason)
            case None, entries.TooBig() as full if proposal.waits_for_room and not judgement.wordless:
                values = proposals.over_budget_values(full)
                flags = proposals.scanned(proposal.operations)[1]
                return replace(new, flags=flags, reason=proposals.OVER_BUDGET, reason_values=values)
            case None, entries.TooBig() as full:
                values = proposals.over_budget_values(full)
                return replace(new, status=Status.REFUSED, reason=proposals.OVER_BUDGET, reason_values=values)
            case _:
                return None

    def _expiry(self, now: datetime) -> datetime | None:
        days = self._settings.memory.pending_ttl_days
        return now + timedelta(days=days) if days else None

    def _outcome(self, proposal: Proposal, judgement: Judgement | None, row: Write | None) -> Outcome:
        """What the proposer hears, with the file as it is after it."""
        doc = self._files.read(proposal.space, proposal.target).doc
        limit = self._settings.budget(proposal.target)
        vouched = reading.vouched(self._files, proposal.space, proposal.target, doc)
        if row is not None:
            with self._db.read() as rd:
                row = writes.get(rd, row.id)
            near = judgement.beside if judgement else None
            if judgement is None and row.flags:  # proposed a second time, as after a crash
                there = (*doc.texts, *reading.elsewhere(self._files, proposal.space, proposal.target))
                near = beside.of_proposal(row.origin, row.operations, there)
            return proposals.outcome_of_row(proposal, row, doc, limit, vouched, near)
        assert judgement is not None
        return proposals.outcome(proposal, judgement, doc, limit, vouched)

    def _closed(self, proposal: Proposal, closed: Refused) -> Outcome:
        log.warning("memory.closed", extra={"space": proposal.space.id, "reason": closed.key})
        values = {name: str(value) for name, value in closed.values.items()}
        return self._failure(proposal, Ending.FAILED, closed.key, values)

    def _failure(self, proposal: Proposal, ending: Ending, reason: str, values: Mapping[str, object]) -> Outcome:
        limit = self._settings.budget(proposal.target)
        return proposals.failure(proposal, ending, reason, values, limit)

    # -- the end of a review -----------------------------------------------------------------------------

    def commit_review(
        self,
        claim: ReviewClaim,
        wanted: Sequence[Proposal],
        *,
        skills: Sequence[SkillProposal] = (),
        used: Sequence[Usage] = (),
        chat: Chat | None = None,
        reply_to: str = "",
    ) -> bool:
        """End a review: its writes, cards, notice and usage in one commit, only while the claim is ours.

        The notice goes to `chat`, and only when something was changed or could not be kept. False: the claim
        is void and nothing was committed. What was committed is carried out even if we die right after it.
        """
        with self._files.locked(claim.space):
            with self._db.write() as tx:
                if not reviews.finish(tx, claim.session, claim.turn, claim.claim, self._clock.now()):
                    return False
                rows = [*self._bear_all(tx, claim.space, wanted), *self.skills.bear_all(tx, skills)]
                for one in used:
                    usage.add(tx, one)
                if chat is not None and any(row.status is not Status.STAGED for row in rows):
                    outbox.put(tx, self._notice(claim, chat, reply_to))
            failpoints.reach("review.committed")
            self._files.finish(claim.space)
            self.skills.finish(claim.space)
        return True

    def commit_flush(
        self, flush: Flush, wanted: Sequence[Proposal], *, used: Sequence[Usage] = (), chat: Chat | None = None
    ) -> bool:
        """End a flush: all that it proposes in one commit, like `commit_review`. False: nothing was committed."""
        now = self._clock.now()
        with self._files.locked(flush.space):
            with self._db.write() as tx:
                if not flush.holds(tx):
                    return False
                rows = self._bear_all(tx, flush.space, wanted)
                summaries.mark_flushed(tx, flush.session, flush.message, now)
                for one in used:
                    usage.add(tx, one)
                if chat is not None and any(row.status is not Status.STAGED for row in rows):
                    notice = self._notice(ReviewClaim(flush.space, flush.session, -flush.message, ""), chat, "")
                    outbox.put(tx, replace(notice, dedupe=f"flush-{flush.session}-{flush.message}"))
            failpoints.reach("flush.committed")
            self._files.finish(flush.space)
        return True

    def _bear_all(self, tx: Transaction, space: Space, wanted: Sequence[Proposal]) -> list[Write]:
        on = [one for one in wanted if one.target in self.targets(space)]
        files = {target: self._files.read(space, target) for target in {one.target for one in on}}
        docs = {target: file.doc for target, file in files.items()}
        rows = []
        for one in on:
            judgement, row = self._bear(tx, one, files[one.target], docs[one.target])
            rows += [row] if row is not None else []
            if isinstance(judgement.decision, policy.Apply) and judgement.applied:
                docs[one.target] = judgement.applied.doc
        if wanted:
            self._ask(tx, rows, wanted[0])  # what all proposals of a review have in common
        return rows

    def _notice(self, claim: ReviewClaim, chat: Chat, reply_to: str) -> NewOutgoing:
        return NewOutgoing(
            dedupe=f"review-{claim.session}-{claim.turn}",
            kind="notice",
            chat=chat,
            space=claim.space.id,
            created_at=self._clock.now(),
            review=(claim.session, claim.turn),
            reply_to=reply_to,
        )

    # -- tidying -----------------------------------------------------------------------------------------

    @property
    def tidies(self) -> Tidies:
        """Making files smaller: when, and what becomes of it."""
        return Tidies(self._files)

    @property
    def journeys(self) -> Journeys:
        """What was learnt, by its ids."""
        return Journeys(self._files, self.skills, self.propose)

    # -- deciding ----------------------------------------------------------------------------------------

    def approve(self, id: int, by: str, through: int | None = None, *, seen: int | None = None) -> Decision:
        """A person's yes; see `deciding.Decisions.approve`."""
        return self._decisions.approve(id, by, through, seen=seen)

    def reject(self, id: int, by: str, through: int | None = None) -> Decision:
        """A person's no."""
        return self._decisions.reject(id, by, through)

    def edit(self, id: int, text: str, by: str) -> Decision:
        """Another text for a staged write, which stays staged. Raises Refused for a text that may not be."""
        return self._decisions.edit(id, text, by)

    def undo(self, id: int, by: str, through: int | None = None) -> Write:
        """Take an applied write back; see `undoing.Undoings.undo`."""
        return self._undoings.undo(id, by, through)

    def expire(self) -> list[int]:
        """End what has waited too long; returns the ids."""
        return self._decisions.expire()

    # -- after a crash, and from scratch -----------------------------------------------------------------

    def finish_interrupted(self) -> int:
        """Carry out what was approved when a process died. Returns how many writes ended."""
        with self._db.read() as rd:
            open_ = [*writes.unfinished(rd), *undoing.due(rd, "memory")]
            ids = sorted({write.space for write in open_ if write.kind == "memory"})
            spaces = [people.space(rd, id) for id in ids]
        return sum(self._finish(space) for space in spaces) + self.skills.finish_interrupted()

    def notice_hand_edits(self, space: Space) -> bool:
        """Record now what was edited by hand in a space, without waiting long. False: not now."""
        return self._files.notice_hand_edits(space)

    def notice_all_hand_edits(self) -> None:
        """The same in every space (once a minute)."""
        with self._db.read() as rd:
            spaces = people.spaces(rd)
        for space in spaces:
            with contextlib.suppress(Refused):  # one home that is read-only is said elsewhere
                self.notice_hand_edits(space)
                self.skills.notice_hand_edits(space)

    def overwrite_replaced(self) -> None:
        """Overwrite what the files held that this process replaced: at its end."""
        self._files.overwrite_replaced()

    def overwrite_all_replaced(self) -> None:
        """The same in every space, whoever replaced it (once a minute)."""
        replaced.overwrite_all(self._files.home, self._db)

    def reset(self, space: Space, targets: Sequence[Target], by: str) -> None:
        """Delete whole files, as a person asked. The ledger keeps what they held."""
        for target in targets:
            self._files.refuse_off(space, target)
        with self._files.locked(space):
            for target in targets:
                self._reset(space, target, by)

    def _finish(self, space: Space) -> int:
        with self._files.locked(space) as finished:
            return finished

    def _reset(self, space: Space, target: Target, by: str) -> None:
        file = self._files.read(space, target)
        if file.data:
            textfile.refuse_unwritable(file.path)
        if file.doc.bad_bytes:
            textfile.set_aside(file.path, self._clock.now())
        with self._db.write() as tx:
            self._files.notice_hand_edit(tx, space, target, file)
            if file.doc.entries:
                writes.born(tx, _reset_row(space, target, file, by, self._clock.now()))
        self._files.finish(space)
        if not self._files.read(space, target).doc.entries:
            textfile.remove(file.path)
        textfile.overwrite_replaced(file.path.parent)


def _unborn(proposal: Proposal, judgement: Judgement, file: File, now: datetime) -> NewWrite:
    """A row that is staged unless somebody says otherwise; without any words where these must not be kept."""
    operations = proposals.without_text(proposal.operations) if judgement.wordless else proposal.operations
    return NewWrite(
        space=proposal.space.id,
        target=proposal.target,
        operations=operations,
        origin=proposal.origin,
        evidence=judgement.evidence,
        status=Status.STAGED,
        dedupe=proposal.dedupe,
        created_at=proposal.learnt_at or now,
        decided_at=now,
        message=proposal.message,
        session=proposal.session,
        review_turn=proposal.review_turn,
        base_hash=file.sha256,
        before=entries.JOINT.join(judgement.applied.before) if judgement.applied else "",
    )


def _reset_row(space: Space, target: Target, file: File, by: str, now: datetime) -> NewWrite:
    return NewWrite(
        space=space.id,
        target=target,
        operations=tuple(Operation(Action.REMOVE, old_text=text) for text in file.doc.texts),
        origin=Origin.PERSON,
        evidence=Evidence(None, by, ""),
        status=Status.APPROVED,
        dedupe=f"reset-{space.id}-{target}-{file.sha256[:8]}-{now.isoformat()}",
        created_at=now,
        base_hash=file.sha256,
        before_hash=file.sha256,
        after_hash=_sha256(entries.EMPTY),
        before=entries.JOINT.join(file.doc.texts),
        places=(0,) * len(file.doc.texts),
        decided_by=by,
    )


def _sha256(doc: Document) -> str:
    return textfile.sha256(entries.render(doc))
