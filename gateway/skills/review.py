"""A review's side of skills: the draft on which its calls of the skill tool are tried. Reads, changes nothing.

Nothing is committed before the review ends: a `Draft` answers from the files plus the review's own proposals, and
hands the proposals over at the end (`editing.Skills.bear_all` judges them anew). A review can read the skills that
it patches.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from gateway import policy
from gateway.chat import Chat
from gateway.policy import Said
from gateway.records import Action, Origin, Space, ToolCall
from gateway.skills import proposals, tool
from gateway.skills.changes import ABSENT, Changed, Ground
from gateway.skills.proposals import SkillProposal
from gateway.skills.shelf import Shelf

INSTRUCTION = (
    "Skills are procedures. When these messages show how something is done, found out with effort or corrected by "
    "the person, and it will be done again, keep it as a skill: view the list first, patch the one that is nearly "
    "it, create one only where there is none. Quote in `evidence` the person's own words that it rests on. Most "
    "reviews change no skill."
)


@dataclass(frozen=True, slots=True)
class SkillGround:
    """What every proposal of one review has in common; see `memory.review.Ground`."""

    space: Space
    session: str
    turn: int
    own: tuple[Said, ...]
    foreign: tuple[str, ...] = ()
    heard: tuple[str, ...] = ()
    approval_required: bool = False
    card_chat: Chat | None = None
    reply_to: str = ""
    origin: Origin = Origin.REVIEW


class Draft:
    """Answers the skill calls of one review and collects what it proposes. Lives as long as the review."""

    def __init__(self, ground: SkillGround, shelf: Shelf) -> None:
        self._ground = ground
        self._shelf = shelf
        self._proposals: list[SkillProposal] = []
        self._ahead: dict[tuple[str, str], Changed] = {}

    @property
    def proposals(self) -> tuple[SkillProposal, ...]:
        return tuple(self._proposals)

    def answer(self, call: ToolCall) -> str:
        """The result of one call, as JSON text. Whatever the model sends, this returns."""
        asked = tool.parse(call.arguments)
        if isinstance(asked, tool.BadCall):
            return tool.bad_call(asked)
        if isinstance(asked, tool.View):
            return self._shelf.view(self._ground.space, asked, {at: one.after for at, one in self._ahead.items()})
        return self._propose(self._proposal(asked))

    def _proposal(self, call: tool.Call) -> SkillProposal:
        ground = self._ground
        return SkillProposal(
            space=ground.space,
            name=call.name,
            operation=call.operation,
            origin=ground.origin,
            dedupe=f"review-{ground.session}-{ground.turn}-skill-{len(self._proposals) + 1}",
            quotes=call.quotes,
            own=ground.own,
            foreign=ground.foreign,
            heard=ground.heard,
            session=ground.session,
            review_turn=ground.turn,
            approval_required=ground.approval_required,
            card_chat=ground.card_chat,
            reply_to=ground.reply_to,
        )

    def _propose(self, proposal: SkillProposal) -> str:
        if _mixes_with_delete(proposal, self._ahead):
            return tool.bad_call(tool.BadCall("In one review a skill is either deleted or changed, not both."))
        ground = self._shelf.ground(proposal.space, proposal.name, proposal.operation)
        ground = on_top(ground, proposal, self._ahead)
        judgement = proposals.judge(proposal, ground)
        if judgement.changed and not self._has(proposal):
            self._proposals.append(proposal)
        if judgement.changed and isinstance(judgement.decision, policy.Apply):
            self._ahead[proposal.name, proposal.operation.path] = judgement.changed
        return tool.result(replace(proposals.outcome(proposal, judgement), like=ground.like))

    def _has(self, proposal: SkillProposal) -> bool:
        return any((one.name, one.operation) == (proposal.name, proposal.operation) for one in self._proposals)


def on_top(ground: Ground, proposal: SkillProposal, ahead: Mapping[tuple[str, str], Changed]) -> Ground:
    """The ground as it will be when the earlier proposals of the same review are carried out."""
    there = ground.there or any(name == proposal.name for name, _ in ahead)
    change = ahead.get((proposal.name, proposal.operation.path))
    if change is None:
        return replace(ground, there=there)
    if change.after_hash == ABSENT:
        return Ground(there=False)
    return replace(ground, there=there, text=change.after, sha256=change.after_hash, lossy=False)


def _mixes_with_delete(proposal: SkillProposal, ahead: Mapping[tuple[str, str], Changed]) -> bool:
    before = [change for (name, _), change in ahead.items() if name == proposal.name]
    deletes = proposal.operation.action is Action.DELETE
    return bool(before) and (deletes or any(change.after_hash == ABSENT for change in before))
