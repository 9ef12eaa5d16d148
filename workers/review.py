"""A review: look back at finished turns and propose what is worth remembering.

Reads, thinks, commits. It changes nothing before the end, and then everything at once, only if the claim is
still ours. Its request is the reviewed turn's last request, byte for byte, then the answer, then what a review
is asked: the model's prompt cache has served all but the end of it before. Where reviews have a model of their
own, it is a `digest`. What the calls mean is `memory.review`, what becomes of the proposals `memory.writing`.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from gateway import failpoints, policy, transcript
from gateway.chat import Chat
from gateway.errors import ModelFull
from gateway.memory import asking, cards
from gateway.memory import review as memory_review
from gateway.memory import tool as memory_tool
from gateway.memory.proposals import Proposal
from gateway.memory.review import Ground
from gateway.memory.writing import Memory, ReviewClaim
from gateway.ports import Clock, Model, ModelAnswer, ModelRequest
from gateway.records import Message, Review, Role, Space, Summary, Target, ToolCall, Usage
from gateway.settings import Settings
from gateway.skills import asking as skills_asking
from gateway.skills import review as skills_review
from gateway.skills import tool as skill_tool
from gateway.skills.proposals import SkillProposal
from gateway.store import messages, people, prompts, reviews, sessions, summaries
from gateway.store.db import Database, Reader
from workers import digest


class Ending(StrEnum):
    """How a claimed review ended."""

    COMMITTED = "committed"
    PUT_BACK = "put_back"
    FAILED = "failed"
    VOID = "void"
    """The claim was no longer ours: somebody else does it, or it was forgotten. Nothing was changed."""


@dataclass(frozen=True, slots=True)
class Past:
    """What is reviewed, as it was read. `new` are the rows of the reviewed turns, the last of `rows`."""

    space: Space
    said_in: Chat
    chat: Chat | None
    """Where people hear of it."""
    prompt: str
    tools: str
    prompt_gone: bool
    """Whether a forget erased the prompt of the reviewed turns: they are told in a digest."""
    rows: Sequence[Message]
    new: Sequence[Message]
    asks_first: bool
    skills_ask_first: bool
    summary: Summary | None
    """What the reviewed turns were sent with in place of earlier ones."""
    whose: Sequence[str] | None
    """The accounts of the space's person where others speak, too (`policy.own_words`)."""

    @property
    def turns(self) -> int:
        """How many messages of the person there are to review: none, when they were taken back."""
        return sum(row.role is Role.USER for row in self.new)

    @property
    def compressed(self) -> bool:
        """Whether some of what is to be reviewed is told by the summary alone: `/refine` may look that far back."""
        cut = self.summary
        return cut is not None and any(cut.head < row.turn < cut.tail for row in self.new)

    @property
    def seen(self) -> Sequence[Message]:
        """The rows that the model sees as they were."""
        cut = None if self.compressed else self.summary
        return self.rows if cut is None else [row for row in self.rows if not cut.head < row.turn < cut.tail]

    def heard(self, ours: str = "") -> tuple[str, ...]:
        """Words of others from before the reviewed turns, and ours in a summary; `ours` is a tool whose results are
        none."""
        before = [row for row in self.seen if row not in self.new and (not ours or row.tool_name != ours)]
        told = () if self.summary is None or self.compressed else (self.summary.text,)
        return (*told, *policy.foreign_words(before, self.whose))


@dataclass(frozen=True, slots=True)
class Thought:
    """What a review proposes."""

    memory: Sequence[Proposal] = ()
    skills: Sequence[SkillProposal] = ()


@dataclass(frozen=True, slots=True)
class Reviewer:
    """Does one review. `used` is what it has cost so far, however it ends."""

    db: Database
    memory: Memory
    settings: Settings
    clock: Clock
    job: str
    used: list[Usage] = field(default_factory=list)

    async def review(self, model: Model, claimed: Review) -> Ending:
        """From the claim to the commit. Raises what keeps the model, the store or a file from it."""
        past = self._read(claimed)
        targets = self.memory.targets(past.space)
        thought = Thought()
        if past.turns and (targets or self._with_skills()):
            thought = await self._think(model, claimed, past, targets)
        failpoints.reach("review.thought")
        committed = self.memory.commit_review(
            ReviewClaim(past.space, claimed.session, claimed.turn, claimed.claim),
            thought.memory,
            skills=thought.skills,
            used=self.used,
            chat=past.chat,
        )
        return Ending.COMMITTED if committed else Ending.VOID

    def _read(self, claimed: Review) -> Past:
        with self.db.read() as rd:
            rows = messages.of_session(rd, claimed.session, up_to_turn=claimed.turn)
            generation = max((row.generation for row in rows if row.role is Role.USER), default=0)
            space = people.space(rd, claimed.space)
            prompt_gone = bool(generation) and not prompts.is_kept(rd, claimed.session, generation)
            if prompt_gone:
                prompt, tools = self._instead(rd, claimed.session, space)
            else:
                prompt, tools = prompts.of(rd, claimed.session, generation) if generation else ("", "")
            said_in = sessions.get(rd, claimed.session).chat
            owners = people.owner_keys(rd, self.settings.access.owners)
            return Past(
                space=space,
                said_in=said_in,
                chat=cards.audience(rd, self.settings, said_in),
                whose=owners if space.kind == "group" else None,
                prompt=prompt,
                tools=tools,
                prompt_gone=prompt_gone,
                rows=rows,
                new=[row for row in rows if row.turn >= claimed.first_turn],
                summary=summaries.of(rd, claimed.session, generation) if generation else None,
                asks_first=asking.asks_first(rd, self.settings, claimed.space),
                skills_ask_first=skills_asking.asks_first(rd, self.settings, claimed.space),
            )

    def _instead(self, rd: Reader, session: str, space: Space) -> tuple[str, str]:
        """The prompt and the tools that the session has by now; without one the tools alone."""
        now = sessions.get(rd, session)
        if now.system_prompt:
            return now.system_prompt, now.tools
        targets = self.memory.targets(space)
        offered = [memory_tool.definition(tuple(targets))] if targets else []
        offered += [skill_tool.definition()] if self._with_skills() else []
        return "", json.dumps(offered, ensure_ascii=False, separators=(",", ":"))

    async def _think(self, model: Model, claimed: Review, past: Past, targets: Sequence[Target]) -> Thought:
        """Let the model propose, round by round, on a draft of the files."""
        draft = self.memory.overlay(_ground(claimed, past))
        skills = self.memory.skills.draft(_skill_ground(claimed, past))
        asked = memory_review.instruction(
            targets,
            turns=past.turns,
            blocks=self.memory.blocks(past.space),
            pending=self.memory.pending_texts(past.space),
        )
        if self._with_skills():
            asked = f"{asked}\n\n{skills_review.INSTRUCTION}"
        # Another model's cache holds nothing of the conversation.
        digested = self.settings.review_model() is not None
        try:
            await self._rounds(model, claimed, past, request_for(past, asked, digested=digested), draft, skills)
        except ModelFull:
            # The turn's own request filled the window, and the instruction came on top; or the window is small.
            await self._shorter(model, claimed, past, asked, draft, skills, range(digested, digest.TIGHTEST + 1))
        return Thought(draft.proposals, skills.proposals)

    async def _shorter(
        self,
        model: Model,
        claimed: Review,
        past: Past,
        asked: str,
        draft: memory_review.Overlay,
        skills: skills_review.Draft,
        tight: Sequence[int],
    ) -> None:
        """Ask with a digest, and with a shorter one, until it fits. Raises ModelFull where none does."""
        for each in tight:
            request = request_for(past, asked, digested=True, tight=each)
            try:
                await self._rounds(model, claimed, past, request, draft, skills)
                break
            except ModelFull:
                if each == tight[-1]:
                    raise

    async def _rounds(
        self,
        model: Model,
        claimed: Review,
        past: Past,
        request: ModelRequest,
        draft: memory_review.Overlay,
        skills: skills_review.Draft,
    ) -> None:
        """Ask and answer until it calls no tool, or has called enough, or is not ours any more."""
        for _ in range(self.settings.agent.max_tool_rounds):
            if not self._still_ours(claimed):
                return
            answer = await model.think(request)
            self._count(model, past, claimed, answer)
            if not answer.tool_calls:
                return
            results = [self._answer(draft, skills, call) for call in answer.tool_calls]
            request = transcript.next_round(request, answer, results)

    def _answer(self, draft: memory_review.Overlay, skills: skills_review.Draft, call: ToolCall) -> str:
        of_skills = call.name == skill_tool.NAME and self._with_skills()
        return skills.answer(call) if of_skills else draft.answer(call)

    def _with_skills(self) -> bool:
        return "skills" not in self.settings.agent.disabled_toolsets

    def _still_ours(self, claimed: Review) -> bool:
        """Asked before each call: nobody pays for a review of what is being forgotten."""
        with self.db.read() as rd:
            return any(
                (now.session, now.turn, now.claim) == (claimed.session, claimed.turn, claimed.claim)
                for now in reviews.running(rd)
            )

    def _count(self, model: Model, past: Past, claimed: Review, answer: ModelAnswer) -> None:
        self.used.append(
            answer.tokens.paid(
                "background_review",
                model.name,
                self.clock.now(),
                space=past.space.id,
                session=claimed.session,
                job=self.job,
            )
        )


def request_for(past: Past, instruction: str, *, digested: bool = False, tight: int = 0) -> ModelRequest:
    """The last request of the reviewed turn (or a digest of it), its answer, and what a review is asked."""
    last = past.rows[-1]
    answered = last.answers is not None
    before = past.rows[:-1] if answered else past.rows
    if digested or past.compressed or past.prompt_gone:
        cut = digest.digest(before, min(row.turn for row in past.new), past.whose, tight)
        chat_request = digest.request(past.prompt, past.tools, cut)
    else:
        chat_request = transcript.request(past.prompt, past.tools, before, past.summary)
    answer = digest.answer(last.text, tight) if answered else transcript.UNANSWERED
    return transcript.review_request(chat_request, answer, instruction)


def _ground(claimed: Review, past: Past) -> Ground:
    return Ground(
        space=past.space,
        session=claimed.session,
        turn=claimed.turn,
        own=policy.own_words(past.seen, past.whose),
        foreign=policy.foreign_words(past.new, past.whose),
        heard=past.heard(),
        approval_required=past.asks_first,
        card_chat=past.said_in,
    )


def _skill_ground(claimed: Review, past: Past) -> skills_review.SkillGround:
    """The results of the skill tool are not foreign to a skill."""
    new = [row for row in past.new if row.tool_name != skill_tool.NAME]
    return skills_review.SkillGround(
        space=past.space,
        session=claimed.session,
        turn=claimed.turn,
        own=policy.own_words(past.seen, past.whose),
        foreign=policy.foreign_words(new, past.whose),
        heard=past.heard(skill_tool.NAME),
        approval_required=past.skills_ask_first,
        card_chat=past.said_in,
    )
