"""What a request shows the offline model: what is asked, what was tried, what is noted, which tools. Pure."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gateway.llm import hearing, recalling
from gateway.llm.hearing import Wish
from gateway.llm.recalling import Note
from gateway.llm.sayings import say
from gateway.ports import ModelAnswer, ModelRequest, RequestMessage
from gateway.records import ToolCall

MEMORY = "memory"
SEARCH = "session_search"


@dataclass(frozen=True, slots=True)
class Turn:
    """One request, read. Also makes the answers to it."""

    asked: str
    earlier: tuple[RequestMessage, ...]
    tried: tuple[Mapping[str, Any], ...]
    """The arguments of this turn's calls, in order."""
    results: tuple[Mapping[str, Any], ...]
    notes: tuple[Note, ...]
    """The frozen memory blocks."""
    written: tuple[Note, ...]
    """What tools have saved since, in this conversation."""
    targets: tuple[str, ...]
    """The stores that the memory tool offers."""
    quotes: bool
    """Whether it takes `evidence`."""
    searches: bool
    number: int
    """The number of messages: makes the ids of calls unique."""

    @staticmethod
    def of(request: ModelRequest) -> "Turn":
        messages = request.messages
        at = max((at for at, message in enumerate(messages) if message.role == "user"), default=-1)
        pairs = list(_calls(messages[at + 1 :]))
        tools = _tools(request.tools)
        properties = tools.get(MEMORY, {})
        notes = recalling.blocks(request.system)
        return Turn(
            asked=messages[at].content if at >= 0 else "",
            earlier=messages[: max(at, 0)],
            tried=tuple(arguments for _, arguments, _ in pairs),
            results=tuple(result for _, _, result in pairs),
            notes=notes,
            written=_written(messages),
            targets=_targets(properties) if MEMORY in tools else (),
            quotes="evidence" in properties,
            searches=SEARCH in tools,
            number=len(messages),
        )

    @property
    def words(self) -> str:
        return hearing.own_words(self.asked)

    @property
    def language(self) -> str:
        return hearing.language(self.words)

    @property
    def wish(self) -> Wish:
        return hearing.wish(self.words)

    @property
    def known(self) -> tuple[Note, ...]:
        """All it can know of: the frozen blocks and what was written since."""
        return (*self.written, *(note for note in self.notes if note not in self.written))

    def target(self, *, about_person: bool) -> str:
        wanted = "user" if about_person else "memory"
        return wanted if wanted in self.targets else self.targets[0]

    def say(self, key: str, **values: str) -> ModelAnswer:
        return ModelAnswer(say(key, self.language, **values))

    def call(self, tool: str, *calls: Mapping[str, Any]) -> ModelAnswer:
        return ModelAnswer(
            "",
            tuple(
                ToolCall(f"call_{self.number}_{at}", tool, json.dumps(arguments, ensure_ascii=False))
                for at, arguments in enumerate(calls)
            ),
        )

    def write(self, action: str, target: str, *, quote: str = "", **texts: str) -> ModelAnswer:
        return self.call(MEMORY, self.write_arguments(action, target, quote=quote, **texts))

    def write_arguments(self, action: str, target: str, *, quote: str = "", **texts: str) -> dict[str, Any]:
        evidence = {"evidence": quote} if quote and self.quotes else {}
        return {"action": action, "target": target, **texts, **evidence}


def _calls(
    messages: Sequence[RequestMessage],
) -> Iterator[tuple[str, Mapping[str, Any], Mapping[str, Any]]]:
    """The tool calls that have a result: (tool, arguments, result)."""
    results = {message.tool_call_id: message.content for message in messages if message.role == "tool"}
    for message in messages:
        for call in message.tool_calls:
            if call.id in results:
                yield call.name, json_object(call.arguments), json_object(results[call.id])


def _written(messages: Sequence[RequestMessage]) -> tuple[Note, ...]:
    """What the memory tool has really saved in this conversation and not removed again."""
    notes: list[Note] = []
    for tool, arguments, result in _calls(messages):
        if tool != MEMORY or result.get("success") is not True or result.get("staged"):
            continue
        target = str(result.get("target") or arguments.get("target") or "memory")
        old = arguments.get("old_text")
        if isinstance(old, str) and old:
            notes = [note for note in notes if note.target != target or old not in note.text]
        if isinstance(arguments.get("content"), str) and arguments.get("action") != "remove":
            notes.append(Note(target, arguments["content"]))
    return tuple(notes)


def _tools(definitions: str) -> dict[str, Mapping[str, Any]]:
    """The properties of each tool on offer, by its name."""
    found: dict[str, Mapping[str, Any]] = {}
    listed = json.loads(definitions) if definitions else []
    for definition in listed if isinstance(listed, list) else ():
        function = definition.get("function", {})
        found[function.get("name", "")] = function.get("parameters", {}).get("properties", {})
    return found


def _targets(properties: Mapping[str, Any]) -> tuple[str, ...]:
    offered = properties.get("target", {}).get("enum")
    return tuple(map(str, offered)) if offered else (MEMORY,)


def json_object(text: str) -> Mapping[str, Any]:
    """The object in a JSON text; an empty one where it holds none."""
    try:
        parsed = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return {}
    return parsed if isinstance(parsed, dict) else {}
