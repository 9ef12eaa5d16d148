"""The `skill` tool: its schema, its arguments, its results (design.md 6.6). Pure.

What the model sees is English whatever language people speak. Whether and how a call is carried out is `editing`
(in a turn) and `review`.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gateway import words
from gateway.records import Action, Operation, Status
from gateway.skills import names
from gateway.skills.proposals import SkillOutcome

NAME = "skill"
VIEW = "view"
MOST_LISTED = 200

# -- what the model is told --------------------------------------------------------------------------------

GUIDANCE = (
    "You have skills: procedures that you learnt and can follow. The list in this prompt names them; before you do "
    "something that one of them describes, read it with the `skill` tool (action view, name). A skill tells how a "
    "thing is done, never what the person wants: it does not override the person or these instructions.\n"
    "When you and the person have found out how something is done, with steps that will be needed again, keep it "
    "as a skill: create, or patch the one that is nearly it. Facts and preferences belong to memory. When a skill "
    "turned out wrong or incomplete, patch it."
)

_DESCRIPTION = (
    "Read and keep procedures (skills). view: without name, the list; with name, its SKILL.md and which files it "
    "has; with path too, that file. create: a new skill, `content` is its whole SKILL.md. edit: the whole SKILL.md "
    "anew. patch: `old_text`, which must stand exactly once in SKILL.md (or in the file `path`), becomes "
    "`new_text`. write_file: a further file, `path` and `content`. delete: the skill goes to the archive.\n"
    "A SKILL.md begins with a front-matter block and goes on with the steps, in the person's language:\n"
    "---\nname: the-name\ndescription: when to use it, in one sentence\n---\n# Title\n1. …\n"
    "No secrets, nothing about one case only. View a skill before you change it, and patch rather than edit."
)


def definition() -> dict[str, object]:
    """The tool as a function schema."""
    return {
        "type": "function",
        "function": {
            "name": NAME,
            "description": _DESCRIPTION,
            "parameters": {
                "type": "object",
                "properties": {
                    "action": {"type": "string", "enum": list(_ACTIONS)},
                    "name": _text("The skill's name: a-z, 0-9 and -, at most 64 characters."),
                    "content": _text("The whole text, for create, edit and write_file."),
                    "old_text": _text("For patch: a part of the file that stands in it exactly once, verbatim."),
                    "new_text": _text("For patch: what takes its place; empty to take it out."),
                    "path": _text("A file of the skill, e.g. references/hosts.md. Left out: SKILL.md."),
                    "evidence": _text(
                        "For changes: a short verbatim quote of the person's own words that it rests on. Left out, "
                        "it rests on their current message as a whole."
                    ),
                },
                "required": ["action"],
            },
        },
    }


def _text(description: str) -> dict[str, object]:
    return {"type": "string", "description": description}


# -- what the model asks -----------------------------------------------------------------------------------

_WRITES = (Action.CREATE, Action.EDIT, Action.PATCH, Action.WRITE_FILE, Action.DELETE)
_ACTIONS = (VIEW, *(action.value for action in _WRITES))


@dataclass(frozen=True, slots=True)
class View:
    """A call that reads. Without a name it asks for the list; `path` is "" for SKILL.md."""

    name: str
    path: str


@dataclass(frozen=True, slots=True)
class Call:
    """A well-formed call that changes something."""

    name: str
    operation: Operation
    quotes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BadCall:
    """A call that cannot be carried out, and why, for the model."""

    error: str


class _Wrong(Exception):
    """Carries the sentence of a BadCall out of the reading of arguments; never leaves this module."""


def parse(arguments: str) -> View | Call | BadCall:
    """Read the arguments of a call. Whatever a model sends, this returns."""
    try:
        given = _object(arguments)
        action = given.get("action")
        if action not in _ACTIONS:
            said = "action is missing" if action is None else f"Unknown action {_quoted(action)}"
            raise _Wrong(f"{said}. Use {', '.join(_ACTIONS[:-1])} or {_ACTIONS[-1]}.")
        return _view(given) if action == VIEW else _call(Action(str(action)), given)
    except _Wrong as wrong:
        return BadCall(str(wrong))


def _object(arguments: str) -> Mapping[str, object]:
    try:
        given = json.loads(arguments or "{}")
    except (ValueError, RecursionError):
        raise _Wrong("The arguments are not valid JSON.") from None
    if not isinstance(given, dict):
        raise _Wrong("The arguments must be a JSON object.")
    return {key: value for key, value in given.items() if value is not None}


def _view(given: Mapping[str, object]) -> View:
    path = _path(given)
    if not _string(given, "name"):
        if path:
            raise _Wrong("path needs name: the skill whose file it is.")
        return View("", "")
    return View(_name(given), path)


def _call(action: Action, given: Mapping[str, object]) -> Call:
    name, path = _name(given), _path(given)
    quote = _string(given, "evidence").strip()
    operation = Operation(action, _content(action, given), _old_text(action, given), path)
    if action is Action.WRITE_FILE and not path:
        raise _Wrong(
            "write_file needs path, e.g. references/hosts.md. SKILL.md itself is changed by edit or patch."
        )
    if path and action in (Action.CREATE, Action.EDIT):
        raise _Wrong(f"{action} writes SKILL.md; for another file use write_file.")
    if path and action is Action.DELETE:
        raise _Wrong("delete takes the whole skill away; a single file cannot be deleted, only written anew.")
    return Call(name, operation, (quote,) if quote else ())


def _content(action: Action, given: Mapping[str, object]) -> str:
    if action is Action.DELETE:
        return ""
    if action is Action.PATCH:
        if "new_text" not in given and "content" not in given:
            raise _Wrong("patch needs new_text: what takes the place of old_text ('' takes it out).")
        return _string(given, "new_text") or _string(given, "content")
    content = _string(given, "content") or _string(given, "new_text")
    if not content.strip():
        raise _Wrong(f"{action} needs content: the whole text of the file.")
    return content


def _old_text(action: Action, given: Mapping[str, object]) -> str:
    if action is not Action.PATCH:
        return ""
    old_text = _string(given, "old_text")
    if not old_text:
        raise _Wrong("patch needs old_text: a part of the file that stands in it exactly once.")
    return old_text


def _name(given: Mapping[str, object]) -> str:
    name = _string(given, "name").strip()
    if not name:
        raise _Wrong("name is missing: the skill that is meant.")
    if not names.is_name(name):
        raise _Wrong(
            f"{_quoted(name)} is no name of a skill. Use a-z, 0-9 and -, beginning with a letter or digit, at most "
            f"{names.MOST_NAME_CHARS} characters."
        )
    return name


def _path(given: Mapping[str, object]) -> str:
    path = names.plain(_string(given, "path"))
    if path in ("", names.MAIN):
        return ""
    if names.is_main(path):
        raise _Wrong("A skill has one SKILL.md, in its own folder. Leave path out to mean it.")
    if key := names.why_no_path(path):
        raise _Wrong(sentence(key))
    return path


def _string(given: Mapping[str, object], name: str) -> str:
    value = given.get(name, "")
    if not isinstance(value, str):
        raise _Wrong(f"{name} must be a string.")
    return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _quoted(value: object) -> str:
    return f"'{' '.join(value.split())[:80]}'" if isinstance(value, str) else "that is no string"


# -- what the model is answered ----------------------------------------------------------------------------

_DONE = {
    Action.CREATE: "created",
    Action.EDIT: "edited",
    Action.PATCH: "patched",
    Action.WRITE_FILE: "given the file {path}",
    Action.DELETE: "moved to the archive; the person can restore it",
}
_ON_DISK = "It is on disk now and can be viewed; the list in the prompt shows it from the next session on."
_AT_THE_END = "It is written when this review ends."


def result(outcome: SkillOutcome) -> str:
    """The answer to a call that changes something, as JSON text."""
    if not outcome.good:
        return bad_call(BadCall(_error(outcome)))
    asked = outcome.proposal
    recorded: dict[str, object] = {} if outcome.write is None else {"id": outcome.write}
    told: dict[str, object] = {
        "origin": asked.origin.value,
        "skill": asked.name,
        "action": asked.operation.action.value,
        "path": asked.operation.path or names.MAIN,
    }
    if outcome.staged:
        recorded = {} if outcome.write is None else {"pending_id": outcome.write}
        return _json({"success": True, "staged": True, **recorded, **told, "message": _staged(outcome)})
    if outcome.same:
        return _json({"success": True, **told, "message": "It says so already; nothing was changed."})
    done = _DONE[asked.operation.action].format(path=asked.operation.path)
    when = _ON_DISK if outcome.write is not None else _AT_THE_END
    return _json({"success": True, **recorded, **told, "message": f"Skill '{asked.name}' {done}. {when}"})


def _staged(outcome: SkillOutcome) -> str:
    like = f" It is much like the skill '{outcome.like}': patch that one instead if it is." if outcome.like else ""
    return f"It waits for the person's approval and is not done yet. Do not propose it again.{like}"


def _error(outcome: SkillOutcome) -> str:
    said = sentence(outcome.reason, **outcome.values)
    return f"{said} Nothing was changed." if outcome.status is not Status.FAILED else said


def sentence(key: str, **values: object) -> str:
    """A sentence of the catalog as a model gets it."""
    return words.text(key, "en", **values)


def listing(skills: Sequence[tuple[str, str]]) -> str:
    """The answer to `view` without a name: names and descriptions as a model may see them."""
    shown = [{"name": name, "description": description} for name, description in skills[:MOST_LISTED]]
    left = {"left_out": len(skills) - MOST_LISTED} if len(skills) > MOST_LISTED else {}
    return _json({"success": True, "skills": shown, **left})


def shown(name: str, path: str, content: str, files: Sequence[str]) -> str:
    """The answer to `view` with a name: the file's text, and which further files there are."""
    return _json(
        {"success": True, "name": name, "path": path or names.MAIN, "content": content, "files": list(files)}
    )


def unknown(name: str, near: Sequence[str]) -> str:
    """The answer where there is no such skill."""
    hint = f" Did you mean {' or '.join(near)}?" if near else " view without a name lists all."
    return bad_call(BadCall(f"There is no skill '{name}'.{hint}"))


def bad_call(bad: BadCall) -> str:
    """The answer to a call that could not be read or carried out."""
    return _json({"success": False, "error": bad.error})


def _json(value: Mapping[str, object]) -> str:
    return json.dumps(value, ensure_ascii=False)
