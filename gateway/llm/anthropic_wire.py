"""Anthropic's messages format, without HTTP: a request as a body, and its events as chat completions. Pure.

What an answer may hold is judged by `wire` alone: the events are only reworded for it.

The body is what a cache is keyed by. What a message looks like in it depends on that message and those before it
alone, so that a longer transcript begins with the blocks of a shorter one; only `cache_control` moves.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from gateway.llm.wire import whole_characters
from gateway.ports import ModelRequest, RequestMessage

Json = dict[str, Any]

EMPTY = "(no text)"
"""Stands for a text that is blank, which this API refuses."""
REFUSED = "refusal"
"""Why an answer ended when the model would not give it; its text so far is to be thrown away."""
CACHED: Mapping[str, str] = {"type": "ephemeral"}
"""Kept for five minutes after each use: a review follows its turn at once."""


# -- the request -------------------------------------------------------------------------------------------


def body(request: ModelRequest, model: str) -> Json:
    """The request's body, marked for the cache: at most four marks, as many as the API takes.

    One behind the tools, one behind the prompt, one at the end, and one where the request before this one ended:
    a mark is where the API looks for what it has kept.
    """
    messages = _messages(request.messages)
    tools = _tools(request.tools) or _tools_called(messages)
    document: Json = {"model": model}
    if tools:
        document["tools"] = _marked(tools)
    if request.system.strip():
        document["system"] = _marked([_text(request.system)])
    document["messages"] = _marked_messages(messages)
    return document


def model_name(name: str) -> str:
    """The model as this API calls it: `anthropic/claude-sonnet-4.5` is how OpenRouter spells claude-sonnet-4-5."""
    own = name.removeprefix("anthropic/")
    return own if own == name else own.replace(".", "-")


def _tools(frozen: str) -> list[Json]:
    return [_tool(definition["function"]) for definition in json.loads(frozen)] if frozen else []


def _tool(function: Mapping[str, Any]) -> Json:
    described = {"description": function["description"]} if function.get("description") else {}
    return {"name": function["name"], **described, "input_schema": function.get("parameters") or {"type": "object"}}


def _tools_called(messages: Sequence[Json]) -> list[Json]:
    """Tools for a transcript that called some, in a request that offers none: the API wants them defined."""
    blocks = [block for message in messages for block in message["content"]]
    names = dict.fromkeys(block["name"] for block in blocks if block["type"] == "tool_use")
    return [{"name": name, "input_schema": {"type": "object"}} for name in names]


def _messages(messages: Iterable[RequestMessage]) -> list[Json]:
    """The messages with roles that alternate: what follows in the same role is joined, block by block."""
    ids = _Ids()
    said: list[Json] = []
    for number, message in enumerate(messages):
        role = "assistant" if message.role == "assistant" else "user"
        if not said and role == "assistant":
            said.append({"role": "user", "content": [_text(EMPTY)]})
        if not said or said[-1]["role"] != role:
            said.append({"role": role, "content": []})
        said[-1]["content"].extend(_blocks(message, ids, number))
    return said


def _blocks(message: RequestMessage, ids: "_Ids", number: int) -> list[Json]:
    if message.role == "tool":
        return [
            {
                "type": "tool_result",
                "tool_use_id": ids.of_result(message.tool_call_id),
                "content": whole_characters(message.content),
            }
        ]
    calls: list[Json] = [
        {
            "type": "tool_use",
            "id": ids.of_call(call.id, f"{number}_{place}"),
            "name": call.name,
            "input": _input(call.arguments),
        }
        for place, call in enumerate(message.tool_calls)
    ]
    return calls if calls and not message.content.strip() else [_text(message.content), *calls]


def _text(text: str) -> Json:
    return {"type": "text", "text": whole_characters(text) if text.strip() else EMPTY}


def _input(arguments: str) -> Json:
    """The arguments as an object, whatever another API's model said: NaN and halves of characters included."""
    try:
        said = json.loads(arguments, parse_constant=str)
    except (ValueError, RecursionError):
        said = None
    if not isinstance(said, dict):
        said = {"unreadable_arguments": arguments}
    whole: Json = json.loads(whole_characters(json.dumps(said, ensure_ascii=False)))
    return whole


class _Ids:
    """Ids of calls as this API takes them; a conversation that began with another one may hold any."""

    def __init__(self) -> None:
        self._used: set[str] = set()
        self._sent: dict[str, str] = {}

    def of_call(self, id: str, place: str) -> str:
        """The id itself where it will do, else one that belongs to this place in the transcript."""
        fits = re.fullmatch(r"[A-Za-z0-9_-]{1,128}", id) and id not in self._used
        self._sent[id] = id if fits else f"call_{place}_{re.sub(r'[^A-Za-z0-9_-]', '_', id)[:64]}"
        self._used.add(self._sent[id])
        return self._sent[id]

    def of_result(self, id: str) -> str:
        """What the newest call with this id was sent as."""
        return self._sent.get(id, id)


def _marked_messages(messages: Sequence[Json]) -> list[Json]:
    """The messages with a mark at the end, and one where the person, or a tool, had spoken before that."""
    places = [place for place, message in enumerate(messages) if message["role"] == "user"][-2:]
    marked = {*places, len(messages) - 1} if len(places) < 2 else {places[0], len(messages) - 1}
    return [
        {**message, "content": _marked(message["content"])} if place in marked else message
        for place, message in enumerate(messages)
    ]


def _marked(blocks: Sequence[Json]) -> list[Json]:
    return [*blocks[:-1], {**blocks[-1], "cache_control": dict(CACHED)}]


# -- the answer --------------------------------------------------------------------------------------------


class Translation:
    """Rewords one answer's events, or the one message that all of it is, as chat completions for `wire`."""

    def __init__(self) -> None:
        self.refused = False
        """Whether the model would not answer."""
        self.over = False
        """Whether nothing follows."""
        self._usage: dict[str, int] = {}

    def documents(self, event: object) -> list[Json]:
        """What one event says, as far as it is of interest."""
        if not isinstance(event, Mapping):
            return []
        match event.get("type"):
            case "message_start":
                return [_choice({}), *self._used(_object(event.get("message")).get("usage"))]
            case "content_block_start":
                return self._block(_object(event.get("content_block")), event.get("index"))
            case "content_block_delta":
                return self._delta(_object(event.get("delta")), event.get("index"))
            case "message_delta":
                return [*self._ends(_object(event.get("delta"))), *self._used(event.get("usage"))]
            case "message_stop":
                self.over = True
                return []
            case "message":
                return self._message(event)
            case "error":
                return [{"error": {"code": _status(_object(event.get("error")).get("type"))}}]
        return [{"error": {"code": _status("")}}] if event.get("error") else []

    def _message(self, message: Mapping[str, Any]) -> list[Json]:
        content = message.get("content")
        if not isinstance(content, list):
            return []
        said = [part for place, block in enumerate(content) for part in self._block(_object(block), place)]
        return [_choice({}), *said, *self._ends(message), *self._used(message.get("usage"))]

    def _block(self, block: Mapping[str, Any], index: object) -> list[Json]:
        match block.get("type"):
            case "text":
                return [_choice({"content": block.get("text")})]
            case "tool_use":
                function = {"name": block.get("name"), "arguments": block.get("input") or ""}
                return [_choice({"tool_calls": [{"index": index, "id": block.get("id"), "function": function}]})]
        return []

    def _delta(self, delta: Mapping[str, Any], index: object) -> list[Json]:
        match delta.get("type"):
            case "text_delta":
                return [_choice({"content": delta.get("text")})]
            case "input_json_delta":
                function = {"arguments": delta.get("partial_json")}
                return [_choice({"tool_calls": [{"index": index, "function": function}]})]
        return []

    def _ends(self, said: Mapping[str, Any]) -> list[Json]:
        reason = said.get("stop_reason")
        self.refused = self.refused or reason == REFUSED
        return [_choice({}, "length" if reason in _CUT else reason)] if reason else []

    def _used(self, usage: object) -> list[Json]:
        """What it cost. Each event says what has changed; the parts of the input are counted apart."""
        self._usage |= {name: count for name, count in _object(usage).items() if type(count) is int and count >= 0}
        read, written = (self._usage.get(f"cache_{how}_input_tokens", 0) for how in ("read", "creation"))
        counted = {
            "prompt_tokens": self._usage.get("input_tokens", 0) + written + read,
            "completion_tokens": self._usage.get("output_tokens", 0),
            "prompt_tokens_details": {"cached_tokens": read},
        }
        return [{"usage": counted}] if self._usage else []


_CUT = ("max_tokens", "model_context_window_exceeded")
_STATUSES: Mapping[object, int] = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "timeout_error": 504,
    "overloaded_error": 529,
}


def _status(kind: object) -> int:
    """The HTTP status that an error inside a stream stands for."""
    return _STATUSES.get(kind, 500) if isinstance(kind, str) else 500


def _choice(delta: Json, finish: object = None) -> Json:
    return {"choices": [{"delta": delta, "finish_reason": finish}]}


def _object(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
