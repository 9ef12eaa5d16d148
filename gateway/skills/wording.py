"""What people are told of writes to skills: which sentence, filled with which words. Pure.

The words are as they are in the ledger, neither cut nor escaped: `conversation.notices` does that and says the
sentence. What a write changes is shown as a unified diff of exactly what is, or was, written.
"""

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field

from gateway.records import Action, Operation, Write
from gateway.skills import catalog, changes, names, proposals

CONTEXT_LINES = 3


@dataclass(frozen=True, slots=True)
class Sentence:
    """A key of the catalog and what fills it; values may be people's words."""

    key: str
    values: Mapping[str, str] = field(repr=False)


def done(write: Write) -> Sentence:
    """`Skill 'foo' patched`, a part of the notice line after `💾 `."""
    return Sentence(f"notice.skill_{write.action.value}", {"name": write.skill})


def done_in_full(write: Write) -> Sentence:
    """`Skill 'foo' patched: "old" → "new"`, for `verbose`."""
    operation = write.operations[0]
    values = {"name": write.skill, "old": operation.old_text, "new": _new(operation), "path": operation.path}
    return Sentence(f"notice.skill_{write.action.value}_verbose", values)


def gist(write: Write) -> Sentence:
    """`patch of skill foo: "old" → "new"`, one line of `/skills pending` and of a decision."""
    operation = write.operations[0]
    values = {"name": write.skill, "old": operation.old_text, "new": _new(operation), "path": operation.path}
    return Sentence(f"gist.skill_{write.action.value}", values)


def diff(write: Write) -> str:
    """What a write changes, line by line; for a staged one, on the file as it was when its card was drawn."""
    operation, after = write.operations[0], proposals.result_of(write)
    if operation.action is Action.PATCH and not write.before:
        return _lines(operation.old_text, operation.content, _file(write), _file(write))
    old = "/dev/null" if operation.action is Action.CREATE else _file(write)
    new = "/dev/null" if operation.action is Action.DELETE else _file(write)
    return _lines(write.before, after, old, new)


def _file(write: Write) -> str:
    return f"{write.skill}/{write.operations[0].path or names.MAIN}"


def _lines(before: str, after: str, old: str, new: str) -> str:
    lines = difflib.unified_diff(_split(before), _split(after), old, new, n=CONTEXT_LINES, lineterm="")
    return "\n".join(lines)


def _split(text: str) -> list[str]:
    """Only a line feed ends a line: another sign that could is shown where it stands."""
    return changes.plain(text).removesuffix("\n").split("\n") if text else []


def _new(operation: Operation) -> str:
    """Of a whole SKILL.md what it says of itself, of another file how it begins."""
    if operation.action in (Action.CREATE, Action.EDIT):
        return catalog.front(changes.plain(operation.content)).description or operation.content
    return operation.content
