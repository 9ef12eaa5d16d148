"""The `memory` tool: its schema, its arguments, its results (design.md 6.6). Pure.

What the model sees is English whatever language people speak. Whether and how a call is carried out is
`writing` (in a turn) and `review`.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from gateway import words
from gateway.memory import entries, snapshot
from gateway.memory.proposals import Ending, Outcome
from gateway.records import Action, Operation, Target

NAME = "memory"

# -- what the model is told --------------------------------------------------------------------------------

_STORES = {
    Target.USER: "`user` (USER PROFILE: who the person is, what they like, how they want you to behave)",
    Target.MEMORY: "`memory` (MEMORY: everything else: the environment, conventions, lessons learnt)",
}

_WORTH_KEEPING = (
    "Keep without being asked: preferences and corrections first, then facts about the environment and "
    "conventions, then lessons. Keep what the person asks you to remember, always. Finished work only when "
    'its result stays true ("moved from MySQL to PostgreSQL on 2026-01-15").\n'
    "Leave out: the obvious, what can be looked up again, raw data and long code, progress, logs and to-dos "
    "(session_search finds them), procedures (they are skills), what AGENTS.md or SOUL.md say, and anything "
    "that matters in this session only.\n"
    "Write short, dense, declarative entries in the person's language."
)


def worth_keeping(enabled: Sequence[Target]) -> str:
    """What to keep, what to leave out, and where it goes, naming only the stores that are on."""
    return f"{_WORTH_KEEPING}\n{_where(enabled)}"


def guidance(enabled: Sequence[Target]) -> str:
    """How to use the tool, for the system prompt; "" when both stores are off."""
    if not enabled:
        return ""
    return (
        "You have a memory that lasts beyond this session: the `memory` tool changes it. What it holds is shown "
        "below as it was when this session began; a change is on disk at once and in the prompt from the next "
        "session on.\n"
        f"{worth_keeping(enabled)}\n"
        "Say that you have remembered something only after the tool said so. When the tool says that a change "
        "waits for approval, say that it waits."
    )


def definition(enabled: Sequence[Target]) -> dict[str, object]:
    """The tool as a function schema. With no store enabled there is no tool: do not ask."""
    single = _operation_properties() | {"target": _target_property(enabled)}
    single["evidence"] = _text(
        "A short verbatim quote of the person's own words that this rests on. Left out, it rests on their "
        "current message as a whole."
    )
    single["operations"] = {
        "type": "array",
        "description": (
            "Several changes to one target, done all or not at all and measured against the budget at the end, "
            "so that removes and replaces can make room for an add. Instead of action, content and old_text."
        ),
        "items": {"type": "object", "properties": _operation_properties(), "required": ["action"]},
    }
    return {
        "type": "function",
        "function": {
            "name": NAME,
            "description": _description(enabled),
            "parameters": {"type": "object", "properties": single},
        },
    }


def _description(enabled: Sequence[Target]) -> str:
    return (
        "Change what you remember beyond this session. add: a new entry. replace: `content` takes the place of "
        "the whole entry that `old_text` names. remove: that entry goes. There is no read: the entries are in "
        f"your prompt.\n{worth_keeping(enabled)}"
    )


def _where(enabled: Sequence[Target]) -> str:
    stores = [_STORES[target] for target in (Target.USER, Target.MEMORY) if target in enabled]
    return f"Targets: {'; '.join(stores)}."


def _target_property(enabled: Sequence[Target]) -> dict[str, object]:
    return {
        "type": "string",
        "enum": [target.value for target in Target if target in enabled],
        "description": f"Which store. Default: {default_target(enabled).value}.",
    }


def _operation_properties() -> dict[str, object]:
    return {
        "action": {"type": "string", "enum": [action.value for action in _SINGLE]},
        "content": _text("The entry's new text, for add and replace."),
        "old_text": _text("A part of the entry that no other entry has, for replace and remove."),
    }


def _text(description: str) -> dict[str, object]:
    return {"type": "string", "description": description}


# -- what the model asks -----------------------------------------------------------------------------------

_SINGLE = (Action.ADD, Action.REPLACE, Action.REMOVE)
_ALONE = ("action", "content", "new_text", "old_text")


@dataclass(frozen=True, slots=True)
class Call:
    """A well-formed call."""

    target: Target
    operations: tuple[Operation, ...]
    quotes: tuple[str, ...]
    """What it says it rests on; in a list of operations each may quote words of its own."""
    batch: bool


@dataclass(frozen=True, slots=True)
class BadCall:
    """A call that cannot be carried out, and why, for the model. `target` is the store it was about."""

    error: str
    target: Target


class _Wrong(Exception):
    """Carries the sentence of a BadCall out of the reading of arguments; never leaves this module."""


def default_target(enabled: Sequence[Target]) -> Target:
    return Target.MEMORY if Target.MEMORY in enabled or not enabled else enabled[0]


def parse(arguments: str, enabled: Sequence[Target]) -> Call | BadCall:
    """Read the arguments of a call. Whatever a model sends, this returns."""
    target = default_target(enabled)
    try:
        given = _object(arguments)
        target = _target(given, enabled)
        return _call(given, target)
    except _Wrong as wrong:
        return BadCall(str(wrong), target)


def _object(arguments: str) -> Mapping[str, object]:
    try:
        given = json.loads(arguments or "{}")
    except (ValueError, RecursionError):
        raise _Wrong("The arguments are not valid JSON.") from None
    if not isinstance(given, dict):
        raise _Wrong("The arguments must be a JSON object.")
    return {key: value for key, value in given.items() if value is not None}


def _target(given: Mapping[str, object], enabled: Sequence[Target]) -> Target:
    if not enabled:
        raise _Wrong("Memory is switched off.")
    name = given.get("target", default_target(enabled).value)
    if name not in [target.value for target in Target]:
        raise _Wrong(f"Unknown target {_quoted(name)}. Use {_or([target.value for target in enabled])}.")
    if Target(str(name)) not in enabled:
        raise _Wrong(f"The target '{name}' is switched off here. Use {_or([t.value for t in enabled])}.")
    return Target(str(name))


def _call(given: Mapping[str, object], target: Target) -> Call:
    if "operations" not in given:
        return Call(target, (_operation(given),), _quotes([given]), batch=False)
    mixed = [name for name in _ALONE if name in given]
    if mixed:
        raise _Wrong(f"Give either operations or {_or(mixed)}, not both.")
    items = _items(given["operations"], target)
    return Call(target, tuple(map(_operation, items)), _quotes([given, *items]), batch=True)


def _items(given: object, target: Target) -> list[Mapping[str, object]]:
    if not isinstance(given, list) or not given:
        raise _Wrong("operations must be a list of at least one {action, content, old_text}.")
    for item in given:
        if not isinstance(item, dict):
            raise _Wrong("Each of operations must be an object {action, content, old_text}.")
        if item.get("target") not in (None, target.value):
            raise _Wrong(
                f"All operations change the call's target '{target}'; one names {_quoted(item['target'])}. "
                "Nothing was changed."
            )
    return [{key: value for key, value in item.items() if value is not None} for item in given]


def _quotes(items: Sequence[Mapping[str, object]]) -> tuple[str, ...]:
    quotes = (_string(item, "evidence").strip() for item in items)
    return tuple(dict.fromkeys(quote for quote in quotes if quote))


def _operation(given: Mapping[str, object]) -> Operation:
    name = given.get("action")
    if name not in [action.value for action in _SINGLE]:
        said = "action is missing" if name is None else f"Unknown action {_quoted(name)}"
        raise _Wrong(f"{said}. Use add, replace or remove.")
    action = Action(str(name))
    content = _string(given, "content") or _string(given, "new_text")
    old_text = _string(given, "old_text")
    if action is not Action.REMOVE and not entries.clean(content):
        raise _Wrong(f"{action} needs content: the entry's new text.")
    if action is not Action.ADD and not entries.clean(old_text):
        raise _Wrong(f"{action} needs old_text: a part of the entry that no other entry has.")
    return Operation(
        action,
        "" if action is Action.REMOVE else entries.clean(content),
        "" if action is Action.ADD else entries.clean(old_text),
    )


def _string(given: Mapping[str, object], name: str) -> str:
    value = given.get(name, "")
    if not isinstance(value, str):
        raise _Wrong(f"{name} must be a string.")
    return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _quoted(value: object) -> str:
    return f"'{entries.preview(entries.clean(value))}'" if isinstance(value, str) else "that is no string"


def _or(names: Sequence[str]) -> str:
    return " or ".join(names)


# -- what the model is answered ----------------------------------------------------------------------------

_CONSOLIDATE = (
    "Consolidate now: use 'replace' to merge overlapping entries into shorter ones or 'remove' stale or less "
    "important entries (see current_entries below), then retry this add — all in this turn."
)
_ON_DISK = "It is on disk now; the prompt shows it from the next session on."
_AT_THE_END = "It is written when this review ends."
_DONE = {
    Action.ADD: "Entry added.",
    Action.REPLACE: "Entry replaced as a whole.",
    Action.REMOVE: "Entry removed.",
    Action.BATCH: "All operations done.",
}
DONE_TEXT = (
    "Memory consolidation failed 4 times this turn. Stop retrying memory calls — leave memory unchanged for now "
    "and continue with your reply to the user. The fact can be saved in a later turn."
)


def result(outcome: Outcome) -> str:
    """The answer to a call, as JSON text."""
    if outcome.ending is Ending.STAGED:
        return _json(_staged(outcome))
    return _json(_success(outcome) if outcome.ending.good else _error(outcome))


def bad_call(bad: BadCall, shown: Sequence[str], chars: int, limit: int) -> str:
    """The answer to a call that could not be read."""
    return _json({"success": False, "error": bad.error} | _state(shown, chars, limit))


def refusal(error: str) -> str:
    """The answer to a call that is about no store at all."""
    return _json({"success": False, "error": error})


def _success(outcome: Outcome) -> dict[str, object]:
    written = outcome.ending is Ending.APPLIED
    recorded = {"id": outcome.write} if outcome.write is not None else {}
    when = _ON_DISK if recorded else _AT_THE_END
    message = f"{_DONE[outcome.action]} {when}" if written else "Entry already exists (no duplicate added)."
    return {
        "success": True,
        **recorded,
        "origin": outcome.origin.value,
        "target": outcome.target.value,
        "usage": snapshot.usage(outcome.chars, outcome.limit),
        "entry_count": outcome.entry_count,
        "message": message + _beside(outcome) + _hint(outcome),
    }


def _beside(outcome: Outcome) -> str:
    """A neighbour that the model may not have meant; it decides, nothing is merged by itself."""
    if outcome.beside is None or outcome.beside_in is None:
        return ""
    how = "may contradict" if outcome.beside.kind == "contradiction" else "nearly repeats"
    named = f"this entry of `{outcome.beside_in}`: '{entries.preview(outcome.beside.entry)}'"
    return f" It {how} {named}. Replace or remove what is wrong or said twice; if both are true, leave both."


def _hint(outcome: Outcome) -> str:
    percent = snapshot.percent(outcome.chars, outcome.limit)
    if percent < snapshot.NEARLY_FULL_PERCENT:
        return ""
    return f" Memory is {percent}% full: merge overlapping entries or remove stale ones soon."


def _staged(outcome: Outcome) -> dict[str, object]:
    recorded = {"pending_id": outcome.write} if outcome.write is not None else {}
    return {
        "success": True,
        "staged": True,
        **recorded,
        "origin": outcome.origin.value,
        "message": "It waits for the person's approval and is not in memory yet. Do not propose it again.",
    }


def _error(outcome: Outcome) -> dict[str, object]:
    matches = [entries.preview(text) for text in outcome.matches]
    return {
        "success": False,
        "error": _error_text(outcome),
        **({"matches": matches} if outcome.ending is Ending.AMBIGUOUS else {}),
        **_state(outcome.shown, outcome.chars, outcome.limit),
    }


def _error_text(outcome: Outcome) -> str:
    match outcome.ending:
        case Ending.NO_MATCH:
            return f"No entry matched '{outcome.old_text}'. See current_entries for what is there."
        case Ending.AMBIGUOUS:
            return f"Multiple entries matched '{outcome.old_text}'. Be more specific."
        case Ending.OVER_BUDGET:
            return _over_budget(outcome)
        case _:
            return words.text(outcome.reason, "en", **outcome.values)


def _over_budget(outcome: Outcome) -> str:
    usage = _usage(outcome.chars, outcome.limit)
    would_be = _usage(_number(outcome, "after"), outcome.limit)
    match outcome.action:
        case Action.ADD:
            adding = f"{_number(outcome, 'adding'):,}"
            said = f"Memory at {usage} chars. Adding this entry ({adding} chars) would exceed the limit."
        case Action.REPLACE:
            said = f"Replacement would put memory at {would_be} chars."
        case _:
            said = f"These operations would put memory at {would_be} chars; nothing was changed."
    return f"{said} {_CONSOLIDATE}"


def _number(outcome: Outcome, name: str) -> int:
    return int(str(outcome.values[name]))


def _state(shown: Sequence[str], chars: int, limit: int) -> dict[str, object]:
    return {"current_entries": list(shown), "usage": _usage(chars, limit)}


def _usage(chars: int, limit: int) -> str:
    return f"{chars:,}/{limit:,}"


def _json(value: Mapping[str, object]) -> str:
    return json.dumps(value, ensure_ascii=False)


# -- three failures in a turn ------------------------------------------------------------------------------


class Breaker:
    """Counts the failed memory calls of one turn; the fourth failure and every call after it get DONE_TEXT.

    A turn that goes on after a restart makes it again from the results it has committed.
    """

    def __init__(self, results: Iterable[str] = ()) -> None:
        self._failures = sum(map(_failed, results))

    @property
    def open(self) -> bool:
        """True when calls are no longer carried out: answer them with `done()`."""
        return self._failures > _FAILURES

    def answer(self, result: str) -> str:
        """What to send for a call that ended so."""
        self._failures += _failed(result)
        return self.done() if _failed(result) and self.open else result

    @staticmethod
    def done() -> str:
        return _json({"success": False, "done": True, "error": DONE_TEXT})


_FAILURES = 3


def _failed(result: str) -> bool:
    try:
        answer = json.loads(result)
    except ValueError:
        return False
    return isinstance(answer, dict) and answer.get("success") is False
