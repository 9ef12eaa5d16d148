"""The tools a turn offers to the model, and what happens when it calls one.

The memory tool's arguments and texts are `memory.tool`, its results `memory.tool_results`; this is where a call
meets the person whose turn it is.
"""

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from gateway import policy
from gateway.conversation import claims, prompt, searching
from gateway.errors import Refused
from gateway.memory import asking, entries, snapshot, tool_results
from gateway.memory import tool as memory_tool
from gateway.memory.folding import MARK
from gateway.memory.proposals import Proposal
from gateway.memory.writing import Memory
from gateway.records import Message, Origin, Role, Session, Space, Summary, Target, ToolCall
from gateway.settings import Settings
from gateway.skills import asking as skills_asking
from gateway.skills import tool as skill_tool
from gateway.skills.proposals import SkillProposal
from gateway.store import search
from gateway.store.db import Database

SKILLS = "skills"
"""The toolset that holds the skill tool."""
INCOGNITO = "This conversation is incognito: nothing of it is remembered. Go on without."


def definitions(targets: Sequence[Target], disabled_toolsets: Sequence[str]) -> str:
    """The tool definitions as the JSON text that is frozen into a session; "" when no tool is on."""
    offered: list[object] = []
    if targets and "memory" not in disabled_toolsets:
        offered.append(memory_tool.definition(tuple(targets)))
    if "session_search" not in disabled_toolsets:
        offered.append(searching.DEFINITION)
    if SKILLS not in disabled_toolsets:
        offered.append(skill_tool.definition())
    return json.dumps(offered, ensure_ascii=False, separators=(",", ":")) if offered else ""


def guidance(targets: Sequence[Target], disabled_toolsets: Sequence[str]) -> tuple[str, ...]:
    """What the prompt says about the tools that are on."""
    said: list[str] = []
    if targets and "memory" not in disabled_toolsets:
        said.append(memory_tool.guidance(tuple(targets)))
    if "session_search" not in disabled_toolsets:
        said.append(prompt.SEARCH_RULES)
    if SKILLS not in disabled_toolsets:
        said.append(skill_tool.GUIDANCE)
    return tuple(said)


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What one tool said in this turn."""

    tool: str
    text: str


@dataclass
class Toolbox:
    """The tools of a turn, for one round of it: the memory tool's failures are counted over all its rounds."""

    db: Database
    settings: Settings
    memory: Memory
    space: Space
    session: Session
    summary: Summary | None
    """What the model has of the turns that were compressed away: no words of the person's (design.md 7.2)."""
    message: Message
    epoch: int
    """See `store.forgets`: nothing is written that was thought before something was forgotten."""
    seen: Sequence[Message]
    """The user messages that the model sees, for evidence (design.md 7.2)."""
    whose: Collection[str] | None
    """The accounts of the space's person where others speak, too; None: all that is said is theirs."""
    targets: Sequence[Target]
    disabled: Sequence[str]
    results: list[ToolResult]
    """What the tools of this turn have said so far, with what is already committed."""

    def __post_init__(self) -> None:
        self._breaker = tool_results.Breaker(said.text for said in self.results if said.tool == "memory")

    def run(self, call: ToolCall, round_number: int, position: int) -> str:
        """Do one call and return its result for the model; bad calls get an error, never an exception."""
        result = self._result(call, f"turn-{self.message.id}-{round_number}-{position}")
        self.results.append(ToolResult(call.name, result))
        return result

    def _result(self, call: ToolCall, dedupe: str) -> str:
        if MARK in call.arguments:  # forgotten between the call and its result; what is left makes no sense
            return tool_results.refusal("Something in this call has been forgotten since. It was not carried out.")
        if call.name == "memory" and "memory" not in self.disabled:
            return self._remember(call, dedupe)
        if call.name == "session_search" and "session_search" not in self.disabled:
            return self._search(call)
        if call.name == skill_tool.NAME and SKILLS not in self.disabled:
            return self._skill(call, dedupe)
        return tool_results.refusal(f"There is no tool named '{call.name[:40]}'.")

    def _remember(self, call: ToolCall, dedupe: str) -> str:
        if self.session.incognito:
            return tool_results.refusal(INCOGNITO)
        if not self.targets:
            return tool_results.refusal("Memory is switched off.")
        if self._breaker.open:
            return self._breaker.done()
        asked = memory_tool.parse(call.arguments, self.targets)
        if isinstance(asked, memory_tool.BadCall):
            return self._breaker.answer(self._bad_call(asked))
        with self.db.read() as rd:
            approval_required = asking.asks_first(rd, self.settings, self.space.id)
        outcome = self.memory.propose(
            Proposal(
                space=self.space,
                target=asked.target,
                operations=asked.operations,
                origin=Origin.FOREGROUND,
                dedupe=dedupe,
                batch=asked.batch,
                quotes=asked.quotes,
                own=policy.own_words(self.seen, self.whose),
                foreign=self._foreign(),
                heard=self._heard(),
                message=self.message.id,
                session=self.session.id,
                epoch=self.epoch,
                approval_required=approval_required,
            )
        )
        return self._breaker.answer(tool_results.result(outcome))

    def _skill(self, call: ToolCall, dedupe: str) -> str:
        asked = skill_tool.parse(call.arguments)
        if isinstance(asked, skill_tool.BadCall):
            return skill_tool.bad_call(asked)
        if isinstance(asked, skill_tool.View):
            return self.memory.skills.view(self.space, asked)
        if self.session.incognito:
            return tool_results.refusal(INCOGNITO)
        with self.db.read() as rd:
            approval_required = skills_asking.asks_first(rd, self.settings, self.space.id)
        outcome = self.memory.skills.propose(
            SkillProposal(
                space=self.space,
                name=asked.name,
                operation=asked.operation,
                origin=Origin.FOREGROUND,
                dedupe=dedupe,
                quotes=asked.quotes,
                own=policy.own_words(self.seen, self.whose),
                foreign=self._foreign(("memory", skill_tool.NAME)),
                heard=self._heard(),
                message=self.message.id,
                session=self.session.id,
                epoch=self.epoch,
                approval_required=approval_required,
            )
        )
        return skill_tool.result(outcome)

    def _bad_call(self, bad: memory_tool.BadCall) -> str:
        limit = self.settings.budget(bad.target)
        try:
            doc = self.memory.read(self.space, bad.target)
        except Refused as unreadable:
            return tool_results.refusal(str(unreadable))
        shown = snapshot.shown(doc, limit, self.memory.vouched(self.space, bad.target))
        return tool_results.bad_call(bad, shown, entries.chars(doc), limit)

    def _foreign(self, ours: Collection[str] = ("memory",)) -> tuple[str, ...]:
        """Words of this turn that are not the person's own: quoted, forwarded, and what tools fetched.

        `ours` are the tools whose results are not foreign: a patch of a skill says again what the skill says.
        """
        fetched = (said.text for said in self.results if said.tool not in ours)
        return (*policy.foreign_words([self.message], self.whose), *fetched)

    def _heard(self) -> tuple[str, ...]:
        """Words of others from before this turn: they are before the model's eyes, too."""
        told = (self.summary.text,) if self.summary else ()
        return (*told, *policy.foreign_words([row for row in self.seen if row.id != self.message.id], self.whose))

    def _search(self, call: ToolCall) -> str:
        asker = searching.Asker(self.space.id, self.settings.zone(), self._context())
        with self.db.read() as rd:
            return searching.result(rd, asker, _arguments(call.arguments))

    def _context(self) -> search.Context:
        """What the model has before it: what was compressed away is found."""
        if self.summary is None:
            return search.Context(self.session.id)
        return search.Context(self.session.id, self.summary.last + 1, self.summary.first)


def ended_unsaved(rounds: Sequence[Message]) -> bool:
    """Whether the last memory call of a turn failed: then its person is told, whatever the model says."""
    results = [row.text for row in rounds if row.role is Role.TOOL and row.tool_name == "memory"]
    return bool(results) and _arguments(results[-1]).get("success") is False


def seems_unheeded(message: Message, rounds: Sequence[Message], answer: str) -> bool:
    """Whether a turn without a memory call was asked for one, or says that it made one."""
    if any(row.role is Role.TOOL and row.tool_name == "memory" for row in rounds):
        return False
    own = "\n".join(said.text for said in policy.own_words([message]))
    return claims.asks(own) or (claims.claims(answer) and not claims.is_question(own))


def _arguments(text: str) -> dict[str, object]:
    try:
        given = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return {}
    return given if isinstance(given, dict) else {}
