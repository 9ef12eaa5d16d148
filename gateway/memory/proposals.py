"""A proposed write: what it asks, what the rules say of it on a given file, how it ended. Pure.

`judge` is used twice: by a review on its own draft of the files, to answer the model, and by `writing` on the
real files under their lock. Only the second counts.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum

from gateway import policy, scan
from gateway.chat import Chat
from gateway.memory import beside, entries, snapshot
from gateway.memory.conflicts import Conflict
from gateway.memory.entries import Document
from gateway.policy import Said
from gateway.records import Action, Evidence, Operation, Origin, Space, Status, Target, Write

OVER_BUDGET = "reason.over_budget"
MOST_MATCHES = 20
"""Of entries that could be meant, so many are named."""
MOST_SCANNED = 20_000
"""Characters of a text. A longer one that the file cannot take anyway is not looked at, and so not kept either."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A write that somebody wants. Whoever it is, `writing.Memory.propose` is the one way in."""

    space: Space
    target: Target
    operations: tuple[Operation, ...]
    origin: Origin
    dedupe: str
    """See `NewWrite.dedupe`; proposing again under the same key returns the first outcome."""
    batch: bool = False
    """True when the caller gave a list of operations, be it of one."""
    quotes: tuple[str, ...] = ()
    """The words it says it rests on, verbatim; each must be found."""
    own: tuple[Said, ...] = ()
    """The person's own words in what the model saw, oldest first, the current message last."""
    foreign: tuple[str, ...] = ()
    """Forwarded, quoted, fetched, recalled and other people's words of the turn (of a review: its turns).
    Results of the memory tool are not among them."""
    heard: tuple[str, ...] = ()
    """The same from before that turn: what comes from these words is not the person's."""
    message: int | None = None
    """The user message whose turn it is, or the command."""
    session: str = ""
    review_turn: int | None = None
    approval_required: bool = False
    by: str = ""
    """Key of the person, where it is a person's own command."""
    card_chat: Chat | None = None
    """Where it was made, which says where its card goes (`cards`); None: no card, it waits in `/memory pending`."""
    reply_to: str = ""
    whole: bool = False
    """True where `old_text` is a whole entry: one that says something else by now is not meant."""
    learnt_at: datetime | None = None
    """When it was learnt, where that was before hikae knew of it (an import)."""
    waits_for_room: bool = False
    """True where it is staged, and not refused, when the file is full: nobody is there to say it shorter."""
    epoch: int | None = None
    """What `store.forgets.epoch` was when it was thought; None where nobody thought about what was said."""


class Ending(StrEnum):
    """How a proposal ended. The first three are successes."""

    APPLIED = "applied"
    STAGED = "staged"
    ALREADY_THERE = "already_there"
    NO_MATCH = "no_match"
    AMBIGUOUS = "ambiguous"
    OVER_BUDGET = "over_budget"
    INVALID = "invalid"
    REFUSED = "refused"
    FAILED = "failed"

    @property
    def good(self) -> bool:
        return self in (Ending.APPLIED, Ending.STAGED, Ending.ALREADY_THERE)


@dataclass(frozen=True, slots=True)
class Outcome:
    """How it ended, and the file as it now is."""

    ending: Ending
    target: Target
    origin: Origin
    action: Action
    chars: int
    limit: int
    entry_count: int
    shown: tuple[str, ...] = field(repr=False)
    """The entries as a model may see them."""
    write: int | None = None
    """Its row of the ledger; None where none was born."""
    reason: str = ""
    """Why not: a key of the catalog under `reason.`, to be filled with `values`."""
    values: Mapping[str, object] = field(default_factory=dict)
    flags: tuple[str, ...] = ()
    old_text: str = field(default="", repr=False)
    matches: tuple[str, ...] = field(default=(), repr=False)
    """The entries that `old_text` could mean, as a model may see them."""
    beside: Conflict | None = field(default=None, repr=False)
    """The entry that an applied write nearly repeats or contradicts, where a model may see it."""
    beside_in: Target | None = None
    """The file in which that stands."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the rules say. `change` is None when the text was refused before it was tried on the file."""

    change: entries.Change | None
    decision: policy.Apply | policy.Stage | policy.Refuse | None
    """None when there is nothing to decide: `change` is not Applied."""
    evidence: Evidence
    wordless: bool = False
    """True when its words must not be kept: they hold a secret, or nobody has looked at so many."""
    beside: Conflict | None = field(default=None, repr=False)
    """The entry beside which it makes no sense, or no difference."""

    @property
    def applied(self) -> entries.Applied | None:
        return self.change if isinstance(self.change, entries.Applied) else None


def judge(
    proposal: Proposal,
    doc: Document,
    limit: int,
    glued: Mapping[str, str] | None = None,
    elsewhere: Sequence[str] = (),
) -> Judgement:
    """What becomes of a proposal on this file; `elsewhere` are the entries of the space's other file."""
    if too_big := _far_too_big(proposal, doc, limit, glued or {}):
        return Judgement(too_big, None, Evidence(proposal.message, proposal.by, ""), wordless=True)
    refused, flags = scanned(proposal.operations)
    secret = refused == scan.SECRET
    found = _found(proposal)
    evidence = _without_secret(found.evidence, drop=secret)
    change = None
    if gone := _gone(proposal, doc):
        return Judgement(gone, None, evidence)
    if not refused:
        change = entries.apply(proposal.operations, doc, limit, batch=proposal.batch, glued=glued or {})
        if not isinstance(change, entries.Applied):
            return Judgement(change, None, evidence)
    there = change.doc.texts if isinstance(change, entries.Applied) else ()
    near = beside.of_proposal(proposal.origin, proposal.operations, (*there, *elsewhere))
    decision = policy.decide(
        proposal.origin,
        approval_required=proposal.approval_required,
        rest=found.rest,
        refused=refused,
        flags=(*flags, *beside.doubts(proposal.origin, near)),
    )
    return Judgement(change, decision, evidence, secret, near)


def _gone(proposal: Proposal, doc: Document) -> entries.NoMatch | None:
    """The whole entry that is meant and does not stand there any more."""
    named = (entries.clean(operation.old_text) for operation in proposal.operations if proposal.whole)
    return next((entries.NoMatch(text) for text in named if text and text not in doc.texts), None)


def _far_too_big(proposal: Proposal, doc: Document, limit: int, glued: Mapping[str, str]) -> entries.TooBig | None:
    if max((len(operation.content) for operation in proposal.operations), default=0) <= MOST_SCANNED:
        return None
    change = entries.apply(proposal.operations, doc, limit, batch=proposal.batch, glued=glued)
    return change if isinstance(change, entries.TooBig) else None


def scanned(operations: Sequence[Operation]) -> tuple[str, tuple[str, ...]]:
    """What the scan says of the new texts: (why they are refused or "", flags). A secret comes first."""
    verdicts = [scan.check(entries.clean(operation.content)) for operation in operations]
    verdicts.append(scan.check("\n".join(entries.clean(operation.content) for operation in operations)))
    if any(verdict.secret for verdict in verdicts):
        return scan.SECRET, ()
    refused = [verdict.reasons[0] for verdict in verdicts if verdict.level is scan.Level.REFUSED]
    flags = dict.fromkeys(reason for verdict in verdicts for reason in verdict.reasons)
    return (refused[0], ()) if refused else ("", tuple(flags))


def without_text(operations: Sequence[Operation]) -> tuple[Operation, ...]:
    """The operations without their words, for a row about a secret."""
    return tuple(Operation(operation.action) for operation in operations)


def outcome(
    proposal: Proposal, judgement: Judgement, doc: Document, limit: int, vouched: Collection[str] = ()
) -> Outcome:
    """The outcome of a judgement that made no row; `doc` is the file as it is after it."""
    ending, reason, values = _ending(judgement)
    told = _state(proposal, ending, doc, limit, vouched)
    change = judgement.change
    if isinstance(change, entries.Matches):
        fit = tuple(text for text in change.texts[:MOST_MATCHES] if snapshot.is_fit(text, vouched))
        return replace(told, reason=reason, old_text=change.old_text, matches=fit)
    old_text = change.old_text if isinstance(change, entries.NoMatch) else ""
    told = replace(told, reason=reason, values=values, old_text=old_text)
    return _beside(told, judgement.beside, doc, vouched)


def outcome_of_row(
    proposal: Proposal,
    row: Write,
    doc: Document,
    limit: int,
    vouched: Collection[str] = (),
    near: Conflict | None = None,
) -> Outcome:
    """The outcome of a proposal that has a row, when it was born and at any later time."""
    ending = _ENDING_OF[row.status]
    if ending is Ending.REFUSED and row.reason == OVER_BUDGET:
        ending = Ending.OVER_BUDGET
    told = _state(proposal, ending, doc, limit, vouched)
    told = replace(told, write=row.id, reason=row.reason, values=row.reason_values, flags=row.flags)
    return _beside(told, near, doc, vouched)


def _beside(told: Outcome, near: Conflict | None, doc: Document, vouched: Collection[str]) -> Outcome:
    """With the entry beside it, where the write is in force and a model may see that entry."""
    if near is None or told.ending is not Ending.APPLIED or not snapshot.is_fit(near.entry, vouched):
        return told
    other = Target.USER if told.target is Target.MEMORY else Target.MEMORY
    return replace(told, beside=near, beside_in=told.target if near.entry in doc.texts else other)


def failure(proposal: Proposal, ending: Ending, reason: str, values: Mapping[str, object], limit: int) -> Outcome:
    """The outcome where the file itself could not be looked at."""
    return replace(_state(proposal, ending, entries.EMPTY, limit, ()), reason=reason, values=values)


def _state(proposal: Proposal, ending: Ending, doc: Document, limit: int, vouched: Collection[str]) -> Outcome:
    return Outcome(
        ending=ending,
        target=proposal.target,
        origin=proposal.origin,
        action=action_of(proposal),
        chars=entries.chars(doc),
        limit=limit,
        entry_count=len(doc.entries),
        shown=snapshot.shown(doc, limit, vouched),
    )


_ENDING_OF = {
    Status.STAGED: Ending.STAGED,
    Status.REJECTED: Ending.STAGED,
    Status.EXPIRED: Ending.STAGED,
    Status.APPROVED: Ending.APPLIED,
    Status.APPLIED: Ending.APPLIED,
    Status.UNDONE: Ending.APPLIED,
    Status.REFUSED: Ending.REFUSED,
    Status.FAILED: Ending.FAILED,
}


def action_of(proposal: Proposal) -> Action:
    single = len(proposal.operations) == 1 and not proposal.batch
    return proposal.operations[0].action if single else Action.BATCH


def over_budget_values(change: entries.TooBig) -> Mapping[str, object]:
    return {
        "chars": change.chars,
        "after": change.after,
        "limit": change.limit,
        "adding": change.adding,
        "over": change.after - change.limit,
    }


def unkept(writes: Sequence[Write]) -> tuple[Write, ...]:
    """Of a turn's or review's rows (oldest first) those that a person must be told did not happen (7.7).

    A file that was full is forgiven when a later write of the same target went in: the model made room.
    """
    bad = (Status.REFUSED, Status.FAILED)
    return tuple(
        write
        for place, write in enumerate(writes)
        if write.status in bad and not (write.reason == OVER_BUDGET and _went_in(write, writes[place + 1 :]))
    )


def _went_in(full: Write, later: Sequence[Write]) -> bool:
    puts_in = [write for write in later if any(operation.content for operation in write.operations)]
    good = (Status.STAGED, Status.APPROVED, Status.APPLIED)
    return any(write.about == full.about and write.status in good for write in puts_in)


# -- a staged write at the moment of its approval -----------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Moved:
    """What the write replaces or removes reads otherwise than its card showed; `change` is it now."""

    change: entries.Applied


def recheck(
    write: Write, doc: Document, limit: int, glued: Mapping[str, str] | None = None
) -> entries.Change | Moved:
    """What approving a staged write would do to the file as it is now (design.md 7.6)."""
    before = entries.split_texts(write.before)
    pinned = entries.pinned(write.operations, before)
    change = entries.apply(pinned, doc, None, glued=glued or {})
    if isinstance(change, entries.NoMatch | entries.Matches):
        change = entries.apply(write.operations, doc, None, glued=glued or {})
    if isinstance(change, entries.Applied) and change.before != before:
        return Moved(change)
    if isinstance(change, entries.NoMatch) and _says_all(doc, write.operations):
        return entries.AlreadyThere()
    if not isinstance(change, entries.Applied):
        return change
    return entries.apply(pinned, doc, limit, glued=glued or {})


def _says_all(doc: Document, operations: Sequence[Operation]) -> bool:
    contents = [entries.clean(operation.content) for operation in operations]
    return all(content and content in doc.texts for content in contents)


def _found(proposal: Proposal) -> policy.Found:
    if proposal.origin in (Origin.PERSON, Origin.IMPORT):
        return policy.Found(policy.Rest.OWN, Evidence(proposal.message, proposal.by, ""))
    # What is taken away may be somebody else's wish, too.
    content = "\n".join(operation.content or operation.old_text for operation in proposal.operations)
    found = [
        policy.find_evidence(quote, content, proposal.own, proposal.foreign, proposal.message, proposal.heard)
        for quote in proposal.quotes or (None,)
    ]
    return next((one for one in found if one.rest is not policy.Rest.OWN), found[0])


def _without_secret(evidence: Evidence, *, drop: bool) -> Evidence:
    if drop or scan.has_secret(evidence.quote):
        return Evidence(evidence.message, evidence.by, "")
    return evidence


def _ending(judgement: Judgement) -> tuple[Ending, str, Mapping[str, object]]:
    match judgement.decision:
        case policy.Apply():
            return Ending.APPLIED, "", {}
        case policy.Stage():
            return Ending.STAGED, "", {}
        case policy.Refuse(reason):
            return Ending.REFUSED, reason, {}
    match judgement.change:
        case entries.NoMatch():
            return Ending.NO_MATCH, "reason.gone", {}
        case entries.Matches():
            return Ending.AMBIGUOUS, "reason.ambiguous", {}
        case entries.TooBig() as change:
            return Ending.OVER_BUDGET, OVER_BUDGET, over_budget_values(change)
        case entries.Invalid(why):
            return Ending.INVALID, why, {}
        case _:
            return Ending.ALREADY_THERE, "", {}
