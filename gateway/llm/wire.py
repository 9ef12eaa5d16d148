"""The chat-completions format, without HTTP: a request as a body, the server's documents as an answer. Pure.

Servers that call themselves compatible send wrong types, half tool calls, numbers where text belongs and no
end. Nothing here believes what it reads, and nothing that would make a server refuse the next request of the
same conversation is let into it: arguments are a JSON object, names are names, a call's id is its own.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import chain, count
from typing import Any

from gateway.ports import ModelAnswer, ModelRequest, RequestMessage, Tokens
from gateway.records import ToolCall

MOST_CHARS = 200_000
"""An answer, its calls included, is cut here."""
MOST_CALLS = 32
MOST_CALL_CHARS = 100_000
NAME_CHARS = 64
ID_CHARS = 128
UNREADABLE_CHARS = 500


def body(request: ModelRequest, model: str) -> dict[str, Any]:
    """The request's body. The messages come first and each depends on itself alone: see `transcript`."""
    system = {"role": "system", "content": whole_characters(request.system)}
    document: dict[str, Any] = {
        "messages": [system, *(_message(message) for message in request.messages)],
        "model": model,
    }
    if request.tools:
        document["tools"] = json.loads(request.tools)
    return document


def _message(message: RequestMessage) -> dict[str, Any]:
    text = whole_characters(message.content)
    if message.role == "tool":
        return {"role": "tool", "tool_call_id": message.tool_call_id, "content": text}
    if message.tool_calls:
        calls = [_call(call) for call in message.tool_calls]
        return {"role": message.role, "content": text or None, "tool_calls": calls}
    return {"role": message.role, "content": text}


def _call(call: ToolCall) -> dict[str, Any]:
    function = {"name": call.name, "arguments": whole_characters(call.arguments)}
    return {"id": call.id, "type": "function", "function": function}


def whole_characters(text: str) -> str:
    """The text with halves of a character joined where both are there, and replaced where one is missing."""
    if not _HALF.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


_HALF = re.compile("[\ud800-\udfff]")


@dataclass
class Assembly:
    """An answer being read. Takes a stream's events or one whole document; lives as long as one response."""

    first_call_number: int
    """Where the numbering of calls begins that came without an id: unique within the conversation."""
    text: list[str] = field(default_factory=list)
    calls: dict[object, "_HalfCall"] = field(default_factory=dict)
    chars: int = 0
    finish: str = ""
    tokens: Tokens = field(default_factory=Tokens)
    error: Mapping[str, Any] | None = None
    """What a server says under `error` inside a 200."""
    understood: bool = False
    """Whether anything was a chat completion at all."""
    ended: bool = False
    """Whether the server said that the answer is complete."""

    @property
    def full(self) -> bool:
        """Whether it is too much already: stop reading."""
        return self.chars >= MOST_CHARS

    def take(self, document: object) -> None:
        """Take one event of a stream, or a whole completion."""
        if not isinstance(document, Mapping):
            return
        if document.get("error"):
            error = document["error"]
            self.error = error if isinstance(error, Mapping) else {}
        if isinstance(document.get("usage"), Mapping):
            self.tokens = _tokens(document["usage"])
        choices = document.get("choices")
        if not isinstance(choices, list):
            return
        self.understood = True
        if choices and isinstance(choices[0], Mapping):
            self._take_choice(choices[0])

    def _take_choice(self, choice: Mapping[str, Any]) -> None:
        for key in ("delta", "message"):
            part = choice.get(key)
            if isinstance(part, Mapping):
                self._take_part(part)
        if choice.get("finish_reason"):
            self.finish = str(choice["finish_reason"])
            self.ended = True

    def _take_part(self, part: Mapping[str, Any]) -> None:
        text = _text(part.get("content")) or _text(part.get("refusal"))
        self.text.append(text)
        self.chars += len(text)
        calls = part.get("tool_calls")
        for position, call in enumerate(calls if isinstance(calls, list) else ()):
            if isinstance(call, Mapping):
                self._take_call(call, position)

    def _take_call(self, call: Mapping[str, Any], position: int) -> None:
        index = call.get("index")
        place: object = index if isinstance(index, int) else self._place_of(call, position)
        if place not in self.calls and len(self.calls) >= MOST_CALLS:
            return
        half = self.calls.setdefault(place, _HalfCall())
        self.chars += half.take(call)

    def _place_of(self, call: Mapping[str, Any], position: int) -> object:
        """Where a piece without an index belongs: to its id's call, else to the call at its position."""
        identity = call.get("id")
        return identity if isinstance(identity, str) and identity else position

    def answer(self) -> ModelAnswer:
        """What was said. Empty when the server said nothing usable."""
        text = whole_characters("".join(self.text))
        cut = self.full or self.finish in ("length", "max_tokens")
        calls = [half for half in self.calls.values() if half.name and half.chars <= MOST_CALL_CHARS]
        if cut:
            calls = [half for half in calls if half.complete]  # the last one may end in the middle
        return ModelAnswer(text[:MOST_CHARS], self._with_ids(calls), self.tokens, truncated=cut and not calls)

    def _with_ids(self, halves: list["_HalfCall"]) -> tuple[ToolCall, ...]:
        given = [whole_characters(half.id)[:ID_CHARS] for half in halves]
        taken: set[str] = set()
        calls = []
        for number, (half, identity) in enumerate(zip(halves, given, strict=True), self.first_call_number):
            if not identity or identity in taken:
                names = chain([f"call_{number}"], (f"call_{number}_{again}" for again in count(2)))
                identity = next(name for name in names if name not in taken and name not in given)
            taken.add(identity)
            calls.append(ToolCall(identity, half.tool_name, half.json_object))
        return tuple(calls)


@dataclass
class _HalfCall:
    """One tool call as far as it has come."""

    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)

    def take(self, piece: Mapping[str, Any]) -> int:
        """Take one piece; how many characters it had."""
        if isinstance(piece.get("id"), str):
            self.id = self.id or piece["id"]
        function = piece.get("function")
        if not isinstance(function, Mapping):
            return 0
        if isinstance(function.get("name"), str):
            self.name = self.name or function["name"]
        arguments = function.get("arguments")
        if arguments is not None and not isinstance(arguments, str):
            arguments = json.dumps(arguments, ensure_ascii=False)  # some servers send the object itself
        self.arguments.append(arguments or "")
        return len(self.arguments[-1])

    @property
    def tool_name(self) -> str:
        return re.sub(r"[^A-Za-z0-9_-]", "_", self.name)[:NAME_CHARS]

    @property
    def chars(self) -> int:
        return sum(map(len, self.arguments))

    @property
    def complete(self) -> bool:
        return _is_object("".join(self.arguments))

    @property
    def json_object(self) -> str:
        """The arguments as they came when they are a JSON object, else one that holds them.

        Arguments that are no object would be sent back with every later request, and several servers refuse
        such a request: the conversation could never go on.
        """
        said = whole_characters("".join(self.arguments))
        if not said.strip():
            return "{}"
        if _is_object(said):
            return said
        return json.dumps({"unreadable_arguments": said[:UNREADABLE_CHARS]}, ensure_ascii=False)


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def _text(content: object) -> str:
    """Text, or the texts of a list of parts; whatever else it is counts as nothing said."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    texts = [part.get("text") for part in content if isinstance(part, Mapping)]
    return "".join(text for text in texts if isinstance(text, str))


def _tokens(usage: Mapping[str, Any]) -> Tokens:
    details = usage.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, Mapping) else None
    counted = Tokens(_count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens")), _count(cached))
    return Tokens(counted.input, counted.output, min(counted.cached, counted.input))


def _count(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53 else 0


class Reader:
    """Cuts a response into JSON documents: the events of a stream, or the one document that all of it is.

    The first character tells which: servers that ignore `stream` are careless with the content type too.
    """

    def __init__(self) -> None:
        self.size = 0
        self.done = False
        """Whether the stream said `[DONE]`."""
        self.whole: bool | None = None
        """Whether it is one document; None before the first character."""
        self._buffer = bytearray()
        self._data: list[bytes] = []

    def feed(self, chunk: bytes) -> list[object]:
        """Take some bytes, cut anywhere; the documents that are complete now."""
        self.size += len(chunk)
        self._buffer += chunk
        if self.whole is None and (start := self._buffer.lstrip(_BLANK)):
            self.whole = start.startswith(b"{")
        if self.whole or self.whole is None or b"\n" not in chunk:
            return []
        *lines, rest = bytes(self._buffer).split(b"\n")
        self._buffer = bytearray(rest)
        return self._documents(lines)

    def rest(self) -> list[object]:
        """What is left when the response has ended."""
        left, self._buffer = bytes(self._buffer), bytearray()
        if self.whole:
            return [_document(left)]
        return self._documents([*left.split(b"\n"), b""])

    def _documents(self, lines: list[bytes]) -> list[object]:
        found: list[object] = []
        for line in (line.removesuffix(b"\r") for line in lines):
            if self.done:
                break
            if line.startswith(b"data:"):
                self._data.append(line[5:].removeprefix(b" "))
            elif not line and self._data:
                data, self._data = b"\n".join(self._data), []
                self.done = data.strip() == b"[DONE]"
                found.extend(() if self.done else (_document(data),))
        return found


_BLANK = b"\xef\xbb\xbf \t\r\n"


def _document(data: bytes) -> object:
    """One JSON document of a server; None when it is none."""
    try:
        parsed: object = json.loads(data.decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError):
        return None
    return parsed
