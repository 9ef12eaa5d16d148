"""A proposed change of a skill: what it asks, what the rules say of it, how it ended. Pure.

Judged by a review on its draft, and by `editing` on the real files under their lock. Only the second counts.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from gateway import policy, scan
from gateway.chat import Chat
from gateway.policy import Said
from gateway.records import Action, Evidence, Operation, Origin, Space, Status, Write
from gateway.skills import changes
from gateway.skills.changes import Cannot, Changed, Ground, Same

ALIKE = "flag.skill_alike"


@dataclass(frozen=True, slots=True)
class SkillProposal:
    """A change of a skill that somebody wants. Whoever it is, `editing.Skills.propose` is the one way in."""

    space: Space
    name: str
    operation: Operation
    origin: Origin
    dedupe: str
    """See `NewWrite.dedupe`; proposing again under the same key returns the first outcome."""
    quotes: tuple[str, ...] = ()
    own: tuple[Said, ...] = ()
    foreign: tuple[str, ...] = ()
    """Other people's words and what tools fetched, as for memory. Results of the skill tool are not among them:
    a patch says again what the skill says already."""
    heard: tuple[str, ...] = ()
    message: int | None = None
    session: str = ""
    review_turn: int | None = None
    approval_required: bool = False
    by: str = ""
    card_chat: Chat | None = None
    reply_to: str = ""
    base: str = ""
    """The SHA-256 of the file as whoever wants the change saw it; "" where it need not be the same."""
    learnt_at: datetime | None = None
    """When it was learnt, where that was before hikae knew of it (an import)."""
    epoch: int | None = None
    """What `store.forgets.epoch` was when it was thought; None where nobody thought about what was said."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the rules say. `decision` is None where there is nothing to decide: nothing would change."""

    change: changes.Change
    decision: policy.Apply | policy.Stage | policy.Refuse | None
    evidence: Evidence
    wordless: bool = False
    """True when its words must not be kept: they hold a secret."""

    @property
    def changed(self) -> Changed | None:
        return self.change if isinstance(self.change, Changed) else None


def judge(proposal: SkillProposal, ground: Ground) -> Judgement:
    """What becomes of a proposal on this ground."""
    found = _found(proposal)
    change: changes.Change = Cannot(scan.SECRET)
    if proposal.base and proposal.base != ground.sha256:
        change = Cannot("skill.meanwhile")
    elif not scan.has_secret(proposal.name):  # a row would keep it
        change = changes.apply(proposal.name, proposal.operation, ground)
    if not isinstance(change, Changed):
        return Judgement(change, None, _without_secret(found.evidence, drop=False))
    refused, flags = scanned(proposal.operation, change)
    if ground.like and proposal.operation.action is Action.CREATE:
        flags = (*flags, ALIKE)
    decision = policy.decide(
        proposal.origin,
        approval_required=proposal.approval_required,
        rest=found.rest,
        refused=refused,
        flags=flags,
    )
    secret = refused == scan.SECRET
    return Judgement(change, decision, _without_secret(found.evidence, drop=secret), secret)


def scanned(operation: Operation, change: Changed) -> tuple[str, tuple[str, ...]]:
    """What the scan says of the file as it would be: (why it is refused or "", flags).

    The whole file is looked at: an attack may be put together from two harmless patches. A DELETE shows nothing.
    """
    if operation.action is Action.DELETE:
        return "", ()
    if scan.has_secret(operation.old_text):
        return scan.SECRET, ()
    named = scan.check(operation.path)
    verdict = scan.check(change.after.removeprefix("\ufeff"))
    if verdict.secret or named.secret:
        return scan.SECRET, ()
    for each in (verdict, named):
        if each.level is scan.Level.REFUSED:
            return each.reasons[0], ()
    return "", tuple(dict.fromkeys((*verdict.reasons, *named.reasons)))


def without_text(operation: Operation) -> Operation:
    """The operation without its words, for a row about a secret."""
    return Operation(operation.action)


def kept(text: str) -> str:
    """A file's text as the ledger may keep it: a secret that a hand put there is not copied. Without it the write
    cannot be undone."""
    return "" if scan.has_secret(text) else text


def recheck(write: Write, ground: Ground) -> changes.Change:
    """What approving a staged write would do to the files as they are now (design.md 7.6)."""
    operation = write.operations[0]
    if operation.action is Action.CREATE and ground.there and ground.text == changes.tidy(operation.content):
        return Same()
    return changes.apply(write.skill, operation, ground)


def result_of(write: Write) -> str:
    """The file as a write makes it of what it was when its card was drawn; "" for one that goes."""
    operation = write.operations[0]
    if write.after or operation.action is Action.DELETE:
        return write.after
    there = operation.action is not Action.CREATE
    change = changes.apply(write.skill, operation, Ground(there=there, text=write.before or None))
    return change.after if isinstance(change, Changed) else operation.content


def _found(proposal: SkillProposal) -> policy.Found:
    if proposal.origin in (Origin.PERSON, Origin.IMPORT):
        return policy.Found(policy.Rest.OWN, Evidence(proposal.message, proposal.by, ""))
    operation = proposal.operation
    # What is taken away may be somebody else's wish, too.
    content = operation.content or operation.old_text or proposal.name
    found = [
        policy.find_evidence(quote, content, proposal.own, proposal.foreign, proposal.message, proposal.heard)
        for quote in proposal.quotes or (None,)
    ]
    return next((one for one in found if one.rest is not policy.Rest.OWN), found[0])


def _without_secret(evidence: Evidence, *, drop: bool) -> Evidence:
    if drop or scan.has_secret(evidence.quote):
        return Evidence(evidence.message, evidence.by, "")
    return evidence


# -- how it ended ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SkillOutcome:
    """How a proposal ended. `status` is that of its row; None where none was born."""

    proposal: SkillProposal
    status: Status | None
    write: int | None = None
    same: bool = False
    """True where the file says it already."""
    reason: str = ""
    """Why not: a key of the catalog, to be filled with `values`."""
    values: Mapping[str, object] = field(default_factory=dict)
    flags: tuple[str, ...] = ()
    like: str = ""

    @property
    def good(self) -> bool:
        return self.same or self.status in _GOOD

    @property
    def staged(self) -> bool:
        return self.status in (Status.STAGED, Status.REJECTED, Status.EXPIRED)


_GOOD = (
    Status.STAGED, Status.REJECTED, Status.EXPIRED, Status.APPROVED, Status.APPLIED, Status.UNDONE,
)  # fmt: skip


def outcome(proposal: SkillProposal, judgement: Judgement) -> SkillOutcome:
    """The outcome of a judgement that made no row (yet)."""
    match judgement.decision, judgement.change:
        case policy.Refuse(reason), _:
            return SkillOutcome(proposal, Status.REFUSED, reason=reason)
        case policy.Stage(flags), _:
            return SkillOutcome(proposal, Status.STAGED, flags=flags)
        case policy.Apply(), _:
            return SkillOutcome(proposal, Status.APPROVED)
        case _, Cannot(key, values):
            return SkillOutcome(proposal, None, reason=key, values=values)
        case _:
            return SkillOutcome(proposal, None, same=True)


def outcome_of_row(proposal: SkillProposal, row: Write) -> SkillOutcome:
    """The outcome of a proposal that has a row, when it was born and at any later time."""
    return SkillOutcome(proposal, row.status, row.id, reason=row.reason, values=row.reason_values, flags=row.flags)
