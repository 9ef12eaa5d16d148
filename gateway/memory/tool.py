"""The `memory` tool: what the model is told of it, and what it asks (design.md 6.6). Pure.

What the model sees is English whatever language people speak. Whether and how a call is carried out is
`writing` (in a turn) and `review`; what is answered is `tool_results`.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gateway.memory import entries
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
