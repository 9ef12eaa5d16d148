"""How the offline model looks back at a conversation: the plain facts in it that are not noted yet. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gateway.llm import hearing, noting, reading, recalling
from gateway.llm.reading import MEMORY, Turn
from gateway.llm.recalling import Note
from gateway.ports import ModelAnswer, RequestMessage

MOST_PROPOSALS = 8
_SHOWS_MEMORY = "Memory as it is now"
"""Where a review's instruction shows the files as they are (see memory/review.py)."""


def answer(turn: Turn) -> ModelAnswer:
    """Propose the plain facts of the messages under review that are not noted, proposed or saved yet."""
    if turn.results:
        return turn.say("review_done")
    if not turn.targets:
        return turn.say("review_none")
    said = [hearing.own_words(message.content) for message in turn.earlier if message.role == "user"]
    proposals = list(_proposals(turn, said[-hearing.newest(turn.asked) :]))
    return turn.call(MEMORY, *proposals[:MOST_PROPOSALS]) if proposals else turn.say("review_none")


def _proposals(turn: Turn, said: Sequence[str]) -> Iterator[Mapping[str, Any]]:
    notes = recalling.blocks(turn.asked) if _SHOWS_MEMORY in turn.asked else turn.known
    taken = {note.text.casefold() for note in notes}
    taken.update(text.casefold() for text in _proposed(turn.earlier))
    for fact in (fact for text in said for fact in noting.facts(text)):
        if fact.entry.casefold() in taken or fact.entry.casefold() in turn.asked.casefold():
            continue
        taken.add(fact.entry.casefold())
        old = _older(fact, notes)
        if old is not None and old.target in turn.targets:
            yield turn.write_arguments(
                "replace", old.target, content=fact.entry, old_text=old.text, quote=fact.quote
            )
        else:
            target = turn.target(about_person=fact.about_person)
            yield turn.write_arguments("add", target, content=fact.entry, quote=fact.quote)


def _older(fact: noting.Fact, notes: Sequence[Note]) -> Note | None:
    """The note that a fact outdates, where a person has one such thing only."""
    if not fact.single:
        return None
    outdated = [note for note in notes if noting.single(note.text) == fact.single]
    return outdated[0] if len(outdated) == 1 else None


def _proposed(messages: Sequence[RequestMessage]) -> Iterator[str]:
    """Every text that was ever handed to the memory tool: what was refused once is not proposed again."""
    for message in messages:
        for call in message.tool_calls:
            content = reading.json_object(call.arguments).get("content")
            if isinstance(content, str):
                yield content
