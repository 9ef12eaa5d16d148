"""/journey (also /learning, /memory_graph): what was learnt, on a time line; another text for it, or away with it.

What is read and changed is `memory.journeys`, how it reads `journeytext`. It is always the space of the chat.
"""

import re
from collections.abc import Mapping

from gateway import words
from gateway.chat import Person
from gateway.conversation import journeytext, phrases
from gateway.conversation.commands.call import Act, Call, Said, Services, View
from gateway.conversation.commands.ledger import question
from gateway.errors import NotAllowed, NotFound, Refused
from gateway.memory import entries, journey
from gateway.memory.journeys import Deed, Order
from gateway.records import Message, Outgoing, Space, Write
from gateway.store import people, writes
from gateway.store.transaction import Reader

_EDIT = re.compile(r"\w+\s+(?P<id>\S+)(?:\s+(?P<text>.+))?", re.DOTALL)
_DELETE = re.compile(r"\w+\s+(?P<id>\S.*)", re.DOTALL)


def journey_(services: Services, call: Call) -> Said:
    """`/journey` and everything behind it."""
    act = _SUBCOMMANDS.get(call.words[0].lower() if call.words else "show")
    if act is None:
        raise Refused("journey.usage")
    return act(services, call)


def show(services: Services, call: Call) -> Said:
    """The time line."""
    return Said("journey", {"ids": False})


def list_(services: Services, call: Call) -> Said:
    """The same with the ids."""
    return Said("journey", {"ids": True})


def edit(services: Services, call: Call) -> Said:
    """`/journey edit ID [TEXT]`: let it say something else; without a text, it is asked for."""
    found = _EDIT.fullmatch(call.rest)
    if found is None:
        raise Refused("journey.usage")
    if not call.private:
        raise NotAllowed("command.private_only", name="journey edit")
    order = _order(call)
    if deed := services.memory.journeys.done(order):
        return _said(deed, "journey.edited")
    thing = services.memory.journeys.thing(call.space, found["id"])
    if text := (found["text"] or "").strip():
        return _said(services.memory.journeys.edit(call.space, thing, text, order), "journey.edited")
    if thing.entry is None:
        raise Refused("journey.edit_skill")
    if call.message.chat.platform == "terminal":
        raise Refused("journey.edit_usage")
    return Said(
        "journey.question", {**question(call.person, services.clock.now()), "entry": thing.id}, kind="ask_edit"
    )


def delete(services: Services, call: Call) -> Said:
    """`/journey delete ID`: away with it. An entry can be brought back, a skill goes to the archive."""
    found = _DELETE.fullmatch(call.rest)
    if found is None:
        raise Refused("journey.usage")
    order = _order(call)
    deed = services.memory.journeys.done(order)
    if deed is None:
        thing = services.memory.journeys.thing(call.space, found["id"])
        deed = services.memory.journeys.delete(call.space, thing, order)
    return _said(deed, "journey.deleted")


_SUBCOMMANDS: Mapping[str, Act] = {"show": show, "list": list_, "edit": edit, "delete": delete}


def _order(call: Call) -> Order:
    return Order(call.person.key, f"command-{call.message.id}", call.message.id, call.message.chat)


def _said(deed: Deed, done: str) -> Said:
    """What is said of a change. One that made no row found everything as it was to be."""
    if deed.write is None:
        return Said("journey.nothing")
    return Said("journey.waits" if deed.waits else done, {"write": deed.write}, write=deed.write)


# -- the answer to a question ------------------------------------------------------------------------------


def asks_still(rd: Reader, row: Outgoing) -> bool:
    """Whether a question for the text of an entry waits for its answer."""
    return "entry" in row.values and writes.by_dedupe(rd, _answer_to(row)) is None


def text_of(rd: Reader, row: Outgoing) -> str:
    """The entry that a question is about, as hikae last knew the file. Raises NotFound."""
    wanted = journey.parse(str(row.values.get("entry", "")))
    if not isinstance(wanted, journey.EntryId) or wanted.target is None:
        raise NotFound("tap.unknown")
    known = writes.known_file(rd, row.space, wanted.target)
    texts = entries.parse(known.text).texts if known is not None else ()
    found = next((text for text in texts if wanted.names(wanted.target, text)), None)
    if found is None:
        raise NotFound("journey.changed", id=wanted.fingerprint)
    return found


def answer(services: Services, row: Outgoing, person: Person, message: Message, text: str) -> Said:
    """Do what the answer to a question says. Raises Refused."""
    journeys, order = services.memory.journeys, Order(person.key, _answer_to(row), message.id, row.chat)
    if deed := journeys.done(order):
        return _said(deed, "journey.edited")
    space = _space(services, row)
    thing = journeys.thing(space, str(row.values["entry"]))
    return _said(journeys.edit(space, thing, text, order), "journey.edited")


def _answer_to(row: Outgoing) -> str:
    return f"journey-{row.id}"


# -- views -------------------------------------------------------------------------------------------------


def journey_text(services: Services, row: Outgoing, language: str) -> str:
    """Everything learnt in the space of the chat, as it is now."""
    found = services.memory.journeys.of(_space(services, row))
    return journeytext.journey(found, services.freezer.zone, language, with_ids=bool(row.values.get("ids")))


def done_text(services: Services, row: Outgoing, language: str) -> str:
    """`✏️ 17: "Lives in Bergen" → "Lives in Oslo"`, and how it is taken back."""
    id = row.values["write"]
    assert isinstance(id, int)
    with services.db.read() as rd:
        write = writes.get(rd, id)
    return said_of(write, str(row.values["say"]), language)


def said_of(write: Write, key: str, language: str) -> str:
    """What was done, for a chat and for a shell. `key`: journey.edited, journey.deleted or journey.waits."""
    where = write.skill if write.kind == "skill" else phrases.file(write)
    if write.kind == "skill" and key == "journey.deleted":
        key = "journey.archived"
    return words.text(key, language, id=write.id, gist=phrases.gist(write, language), file=phrases.escape(where))


def question_text(services: Services, row: Outgoing, language: str, *, answers: bool) -> str:
    """What asks for another text. Raises NotFound where the entry says something else by now."""
    thing = services.memory.journeys.thing(_space(services, row), str(row.values["entry"]))
    return journeytext.question(thing.text, answers=answers, language=language)


def _space(services: Services, row: Outgoing) -> Space:
    with services.db.read() as rd:
        return people.space(rd, row.space)


VIEWS: Mapping[str, View] = {
    "journey": journey_text,
    "journey.edited": done_text,
    "journey.deleted": done_text,
    "journey.waits": done_text,
}
