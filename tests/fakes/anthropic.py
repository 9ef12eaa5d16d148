"""Anthropic's messages API as `tests.fakes.model` serves it: what it refuses, what it sends, what its cache serves.

A Script is the same as for chat completions; only its shape on the wire is another.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Json = dict[str, Any]

PATH = "/v1/messages"
VERSION = r"20\d\d-\d\d-\d\d"
LOOKS_BACK = 20
"""How many blocks before a mark the cache looks for what it has kept."""


# -- what is refused ---------------------------------------------------------------------------------------


def complaint(asked: Json, headers: Mapping[str, str]) -> str:
    """What the real API refuses in a request; "" for a good one."""
    version = {name.lower(): value for name, value in headers.items()}.get("anthropic-version", "")
    if not re.fullmatch(VERSION, version):
        return "anthropic-version: header is required"
    for name in ("model", "max_tokens", "messages"):
        if not asked.get(name):
            return f"{name}: Field required"
    if unknown := asked.keys() - {"model", "max_tokens", "messages", "system", "tools", "stream", "thinking"}:
        return f"{sorted(unknown)[0]}: Extra inputs are not permitted"
    marks = sum("cache_control" in block for block in blocks(asked))
    if marks > 4:
        return f"A maximum of 4 blocks with cache_control may be provided. Found {marks}."
    return _tool_complaint(asked) or _message_complaint(asked["messages"])


def _tool_complaint(asked: Json) -> str:
    tools = asked.get("tools") or []
    if any(tool["input_schema"].get("type") != "object" for tool in tools):
        return "tools.0.custom.input_schema.type: Field required"
    used = any(block["type"] in ("tool_use", "tool_result") for block in _said(asked["messages"]))
    return (
        "Requests which include `tool_use` or `tool_result` blocks must define tools" if used and not tools else ""
    )


def _message_complaint(messages: Sequence[Json]) -> str:
    role = "assistant"
    calls: list[str] = []
    seen: set[str] = set()
    for number, message in enumerate(messages):
        if message["role"] == role or message["role"] not in ("user", "assistant"):
            return f"messages.{number}: roles must alternate between user and assistant, user first"
        role, content = message["role"], message["content"]
        results = [block["tool_use_id"] for block in content if block["type"] == "tool_result"]
        if sorted(results) != sorted(calls):
            return f"messages.{number}: each tool_use must have one tool_result in the next message"
        if [block["type"] for block in content][: len(results)] != ["tool_result"] * len(results):
            return f"messages.{number}: tool_result blocks come first"
        calls = [block["id"] for block in content if block["type"] == "tool_use"]
        if seen & set(calls) or len(set(calls)) < len(calls):
            return f"messages.{number}: `tool_use` ids must be unique"
        seen |= set(calls)
        if not content or any(said := _block_complaint(block, role) for block in content):
            return f"messages.{number}.content: {said if content else 'may not be empty'}"
    return "messages: a tool_use must have its tool_result" if calls else ""


def _block_complaint(block: Json, role: str) -> str:
    match block["type"], role:
        case "text", _:
            return "" if block["text"].strip() else "text content blocks must contain non-whitespace text"
        case "tool_use", "assistant":
            good = re.fullmatch("[a-zA-Z0-9_-]+", block["id"]) and re.fullmatch(
                "[a-zA-Z0-9_-]{1,128}", block["name"]
            )
            return "" if good and isinstance(block["input"], dict) else "bad tool_use"
        case "tool_result", "user":
            return "" if isinstance(block["content"], str) else "bad tool_result"
    return f"{block['type']} does not belong into a message of role {role}"


def _said(messages: Sequence[Json]) -> Iterator[Json]:
    for message in messages:
        yield from message["content"]


# -- the cache ---------------------------------------------------------------------------------------------


def blocks(asked: Json) -> list[Json]:
    """All that a mark can stand on, in the order in which the API reads it; each names whose it is."""
    tools = [{"of": "tools", **tool} for tool in asked.get("tools") or []]
    system = [{"of": "system", **block} for block in asked.get("system") or []]
    said = [{"of": message["role"], **block} for message in asked["messages"] for block in message["content"]]
    return tools + system + said


def unmarked(asked: Json) -> list[str]:
    """The blocks as text, without their marks: what the cache compares."""
    return [
        json.dumps({key: value for key, value in block.items() if key != "cache_control"}, ensure_ascii=False)
        for block in blocks(asked)
    ]


class Cache:
    """What the API keeps: the request up to each mark. Lives as long as the server."""

    def __init__(self) -> None:
        self._kept: set[tuple[str, ...]] = set()

    def served(self, asked: Json) -> tuple[int, int]:
        """How many blocks of this request are served, and how many are written for the next one."""
        texts = unmarked(asked)
        marks = [place for place, block in enumerate(blocks(asked), 1) if "cache_control" in block]
        looked_at = {place - back for place in marks for back in range(LOOKS_BACK) if place > back}
        read = max((place for place in looked_at if tuple(texts[:place]) in self._kept), default=0)
        self._kept |= {tuple(texts[:place]) for place in marks}
        return read, max([read, *marks]) - read

    def usage(self, asked: Json) -> Json:
        """The same in tokens, four bytes each."""
        texts = unmarked(asked)
        read, written = self.served(asked)
        sizes = [len(text) // 4 for text in texts]
        return {
            "input_tokens": sum(sizes[read + written :]),
            "cache_read_input_tokens": sum(sizes[:read]),
            "cache_creation_input_tokens": sum(sizes[read : read + written]),
        }


# -- what is sent ------------------------------------------------------------------------------------------


def refusal(kind: str, message: str) -> Json:
    """The body of an error."""
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_fake"}


def message(text: str, calls: Sequence[Json], finish: str | None, usage: Json, model: str) -> Json:
    """A whole message, as a request without streaming gets it. `calls` are those of chat completions."""
    content: list[Json] = [{"type": "text", "text": text}] if text else []
    content += [
        {"type": "tool_use", "id": call["id"], "name": name, "input": json.loads(arguments)}
        for call, name, arguments in _parts(calls)
    ]
    return {**_message(model, usage), "content": content, "stop_reason": finish or _reason(calls)}


def events(text: str, calls: Sequence[Json], finish: str | None, usage: Json, model: str) -> Iterator[Json]:
    """The same as the events of a stream: text in two pieces, each call's input in two pieces."""
    start = {**usage, "output_tokens": 1}
    yield {"type": "message_start", "message": _message(model, start)}
    yield {"type": "ping"}
    if text:
        yield from _block(0, {"type": "text", "text": ""}, "text_delta", "text", text)
    for index, (call, name, arguments) in enumerate(_parts(calls), 1 if text else 0):
        empty = {"type": "tool_use", "id": call["id"], "name": name, "input": {}}
        yield from _block(index, empty, "input_json_delta", "partial_json", arguments)
    ends = {"stop_reason": finish or _reason(calls), "stop_sequence": None}
    yield {"type": "message_delta", "delta": ends, "usage": {"output_tokens": usage["output_tokens"]}}
    yield {"type": "message_stop"}


def _block(index: int, start: Json, delta: str, key: str, text: str) -> Iterator[Json]:
    yield {"type": "content_block_start", "index": index, "content_block": start}
    middle = (len(text) + 1) // 2
    for piece in filter(None, ("" if key == "text" else " ", text[:middle], text[middle:])):
        yield {"type": "content_block_delta", "index": index, "delta": {"type": delta, key: piece}}
    yield {"type": "content_block_stop", "index": index}


def _parts(calls: Sequence[Json]) -> Iterator[tuple[Json, str, str]]:
    for call in calls:
        yield call, call["function"]["name"], call["function"]["arguments"]


def _message(model: str, usage: Json) -> Json:
    return {
        "id": "msg_fake",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": usage,
    }


def _reason(calls: Sequence[Json]) -> str:
    return "tool_use" if calls else "end_turn"
