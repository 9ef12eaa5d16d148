"""Messages in which tools were called, in words for people: what was asked of a tool is a sentence, not JSON.

The index holds them as they were said, and a search finds a hit by its place there; here it is shown.
"""

import json
from collections.abc import Iterator
from dataclasses import replace

from gateway import words
from gateway.conversation import phrases
from gateway.memory import tool
from gateway.memory.forgetplan import Plan
from gateway.memory.layers.layer import Item, LayerPlan
from gateway.records import Action, Message, Operation, Role, Target, ToolCall
from gateway.store import messages, search_rank
from gateway.store.search_index import strings_in, words_of_message
from gateway.store.transaction import Reader

_TOLD = ("message", "error", "content")
"""What a result says to be read, where it says that; the rest of it is for the model."""


def plan(rd: Reader, of: Plan, language: str) -> Plan:
    """A plan of what to forget, with what was asked of tools in words. Its JSON has the texts alone."""
    layers = tuple(_layer(rd, one, language) if one.layer == "messages" else one for one in of.layers)
    return replace(of, layers=layers)


def _layer(rd: Reader, layer: LayerPlan, language: str) -> LayerPlan:
    return replace(layer, items=tuple(_item(rd, item, language) for item in layer.items))


def _item(rd: Reader, item: Item, language: str) -> Item:
    found = messages.find(rd, int(item.ref.partition(":")[2])) if item.excerpt else None
    if found is None or found.text or not found.tool_calls:
        return item
    said = sentence(found, language)
    at = said.find(item.excerpt.strip("…"))
    if at < 0:  # in something else that it was asked: the excerpt says what
        return replace(item, excerpt=words.text("search.used", language, name=_names(found), text=item.excerpt))
    end = at + len(item.excerpt) + 1
    return replace(item, excerpt=said[:end] + ("…" if end < len(said) else ""))


def _names(message: Message) -> str:
    return ", ".join(dict.fromkeys(call.name for call in message.tool_calls))


def speaker(message: Message, language: str) -> str:
    """Who said it, as hits name them."""
    role = Role.TOOL if message.tool_calls else message.role
    return words.text(f"search.{role.value}", language)


def snippet(message: Message, place: tuple[int, int], language: str) -> str:
    """What stands at a place of a message as the index has it, with a little around it, on one line."""
    indexed = words_of_message(message)
    if not message.tool_calls and message.role is not Role.TOOL:
        return search_rank.snippet(indexed, place)
    said = sentence(message, language)
    hit = indexed[slice(*place)]
    at = said.lower().find(hit.lower()) if hit else -1
    return search_rank.snippet(said, (at, at + len(hit)) if at >= 0 else (0, 0))


def sentence(message: Message, language: str) -> str:
    """The whole message in words."""
    if message.role is Role.TOOL:
        return _answered(message.text)
    return " ".join(part for part in (message.text, *_called(message, language)) if part)


def _called(message: Message, language: str) -> Iterator[str]:
    for call in message.tool_calls:
        parsed = tool.parse(call.arguments, tuple(Target)) if call.name == "memory" else None
        if isinstance(parsed, tool.Call):
            yield from (_proposed(op, parsed.target, language) for op in parsed.operations)
        else:
            yield _used(call, language)


def _proposed(op: Operation, target: Target, language: str) -> str:
    """`proposed: add to USER "Dog is called Rufus"`"""
    what = words.text(f"what.{op.action.value}", language, target=target.value.upper())
    texts = (op.old_text, op.content) if op.action is Action.REPLACE else (op.content or op.old_text,)
    gist = " → ".join(words.text("gist.one", language, text=text) for text in texts)
    return words.text("search.proposed", language, what=what, gist=gist)


def _used(call: ToolCall, language: str) -> str:
    return words.text("search.used", language, name=call.name, text=" ".join(_values(call.arguments)))


def _answered(text: str) -> str:
    """What a tool said."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return text
    told = [found[name] for name in _TOLD if name in found] if isinstance(found, dict) else []
    return " ".join(one for one in told if isinstance(one, str)) or " ".join(_values(text))


def _values(arguments: str) -> Iterator[str]:
    """The texts and numbers in an object of JSON, without the names of its fields."""
    try:
        found = json.loads(arguments)
    except (ValueError, RecursionError):
        yield arguments
        return
    for value in found.values() if isinstance(found, dict) else (found,):
        yield from strings_in(json.dumps(value))


def hit_line(message: Message, place: tuple[int, int], when: str, language: str) -> str:
    """`• 2026-11-30 10:02 you: My dog is called Rufus`, as Markdown."""
    said = phrases.escape(snippet(message, place, language))
    return f"• {phrases.escape(when)} {speaker(message, language)}: {said}"
