"""How values are written into text columns: times, JSON lists, and text that SQLite can hold.

JSON keeps other scripts as they are (no `\\u` escapes), so that a search for somebody's words in a column
finds them (design.md, promise 5).
"""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from gateway.chat import How, Piece
from gateway.records import Action, Operation, ToolCall

_EMPTY = "[]"
"""What most rows have of lists: it needs no reading."""


def time_text(at: datetime) -> str:
    """UTC with microseconds, always of one length: text order is time order."""
    if at.tzinfo is None:
        raise ValueError("a time without a zone cannot be kept")
    return at.astimezone(UTC).isoformat(timespec="microseconds")


def optional_time_text(at: datetime | None) -> str | None:
    return None if at is None else time_text(at)


def time_of(text: str) -> datetime:
    return datetime.fromisoformat(text)


def optional_time_of(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)


def clean(text: str) -> str:
    """The text with halves of surrogate pairs joined or replaced: SQLite's UTF-8 cannot hold them."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def pieces_text(pieces: Sequence[Piece]) -> str:
    return _json([{"how": piece.how, "by": piece.by, "text": clean(piece.text)} for piece in pieces])


def pieces_of(text: str) -> tuple[Piece, ...]:
    if text == _EMPTY:
        return ()
    return tuple(Piece(How(item["how"]), item["by"], item["text"]) for item in json.loads(text))


def tool_calls_text(calls: Sequence[ToolCall]) -> str:
    return _json([{"id": call.id, "name": call.name, "arguments": clean(call.arguments)} for call in calls])


def tool_calls_of(text: str) -> tuple[ToolCall, ...]:
    if text == _EMPTY:
        return ()
    return tuple(ToolCall(item["id"], item["name"], item["arguments"]) for item in json.loads(text))


def operations_text(operations: Sequence[Operation]) -> str:
    return _json([_operation(step) for step in operations])


def _operation(step: Operation) -> dict[str, str]:
    """A row of memory has no `path`."""
    fields = {"action": step.action.value, "content": clean(step.content), "old_text": clean(step.old_text)}
    return {**fields, "path": clean(step.path)} if step.path else fields


def operations_of(text: str) -> tuple[Operation, ...]:
    """Raises ValueError, TypeError, KeyError or AttributeError for what `operations_text` never wrote."""
    return tuple(
        Operation(Action(item["action"]), *(_text(item.get(name, "")) for name in ("content", "old_text", "path")))
        for item in json.loads(text)
    )


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(type(value).__name__)
    return value


def numbers_text(numbers: Sequence[int]) -> str:
    """A list of whole numbers as JSON."""
    return _json(list(numbers))


def numbers_of(text: str) -> tuple[int, ...]:
    return () if text == _EMPTY else tuple(map(int, json.loads(text)))


def strings_text(strings: Sequence[str]) -> str:
    """A list of strings as JSON; also how a list goes into `IN (SELECT value FROM json_each(…))`."""
    return _json(list(strings))


def strings_of(text: str) -> tuple[str, ...]:
    return () if text == _EMPTY else tuple(map(_text, json.loads(text)))


def values_text(values: Mapping[str, object] | None) -> str:
    return _json(dict(values or {}))


def values_of(text: str) -> Mapping[str, object]:
    if text == "{}":
        return {}
    values: dict[str, object] = json.loads(text)
    if not isinstance(values, dict):
        raise TypeError(type(values).__name__)
    return values


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
