"""`/memory why`, `log`, `undo` and `edit`: the ledger as people use it. `hikae memory` calls the same functions.

What is undone and how is `memory.undoing`, where an entry comes from `memory.tracing`, the words are `ledgertext`.
"""

import re
from collections.abc import Mapping
from datetime import datetime, timedelta

from gateway import words
from gateway.chat import Chat, Person
from gateway.conversation import cardtext, deciders, ledgertext, phrases
from gateway.conversation.access import is_group
from gateway.conversation.commands import deciding
from gateway.conversation.commands.call import Call, Said, Services, View
from gateway.decisions import DecisionEnding
from gateway.errors import NotAllowed, NotFound, Refused
from gateway.memory.tracing import Traced, candidates
from gateway.records import Action, Outgoing, Role, Space, Status, Write
from gateway.store import choices, messages, people, undoing, writes
from gateway.store.transaction import Reader

PAGE = 15
"""Lines of the log in one answer: two screens of a phone."""
QUESTION_LASTS = timedelta(hours=1)
_EDIT = re.compile(r"\w+\s+(?P<id>\S+)(?:\s+(?P<text>.+))?", re.DOTALL)
_WHY = re.compile(r"\w+\s+(?P<text>.+)", re.DOTALL)


# -- why ---------------------------------------------------------------------------------------------------


def why(services: Services, call: Call) -> Said:
    """`/memory why TEXT`: where an entry of this space comes from."""
    found = _WHY.fullmatch(call.rest)
    if found is None:
        raise Refused("why.usage")
    ids = named(services, call.space, found["text"])
    return Said("why", {"id": ids[0]}) if len(ids) == 1 else Said("why.which", {"ids": list(ids)})


def named(services: Services, space: Space, text: str) -> tuple[str, ...]:
    """The ids of the entries that a text means. Raises NotFound for none."""
    found = candidates(services.memory.find(space, text))
    if not found:
        raise NotFound("why.none")
    return found


def why_text(services: Services, row: Outgoing, language: str) -> str:
    """The entry as it is now, and what made it so."""
    with services.db.read() as rd:
        space = people.space(rd, row.space)
    return traced_text(services, services.memory.trace(space, str(row.values["id"])), row.chat, language)


def traced_text(services: Services, traced: Traced, chat: Chat, language: str) -> str:
    """The same for any entry and reader."""
    with services.db.read() as rd:
        rests = [_rests(rd, write) for write in traced.writes]
        return ledgertext.why(traced, rests, _names(services, rd, chat), language)


def which_text(services: Services, row: Outgoing, language: str) -> str:
    """The entries that could be meant."""
    with services.db.read() as rd:
        space = people.space(rd, row.space)
    ids = row.values.get("ids", ())
    assert isinstance(ids, list)
    traced = [services.memory.trace(space, str(id)) for id in ids]
    return ledgertext.which([(one.id, one.entry.text) for one in traced], language)


def _rests(rd: Reader, write: Write) -> ledgertext.Rests | None:
    """The message that a write rests on, never one of another space."""
    if write.evidence.message is None:
        return None
    try:
        message = messages.get(rd, write.evidence.message)
    except NotFound:
        return None
    if message.space != write.space:
        return None
    return ledgertext.Rests(message.at, message.person, message.text if message.role is Role.USER else "")


# -- log ---------------------------------------------------------------------------------------------------


def log(services: Services, call: Call) -> Said:
    """`/memory log [ID]`: the ledger, newest first; with an id, what is older than that."""
    below = deciding.ids(call.words[1:], which="log.usage") if len(call.words) > 1 else [None]
    if len(below) != 1:
        raise Refused("log.usage")
    services.memory.notice_hand_edits(call.space)
    services.memory.skills.notice_hand_edits(call.space)
    return Said("log", {"all": call.covers_all, "below": below[0]})


def log_text(services: Services, row: Outgoing, language: str) -> str:
    """One page of it."""
    below = row.values.get("below")
    with services.db.read() as rd:
        space = None if row.values.get("all") else row.space
        return page(services, rd, space, row.chat, language, below=below if isinstance(below, int) else None)


def page(
    services: Services,
    rd: Reader,
    space: int | None,
    chat: Chat,
    language: str,
    *,
    below: int | None = None,
    most: int = PAGE,
) -> str:
    """A part of the ledger, of one space or (None) of all, and of the choices made meanwhile."""
    rows = writes.log(rd, space, most + 1, below)
    shown, more = rows[:most], len(rows) > most
    since = shown[-1].created_at if more else None
    until = _created(rd, below)
    return ledgertext.log(
        shown,
        choices.changes(rd, space, since, until),
        _names(services, rd, chat),
        language,
        spaces={each.id: each.name for each in people.spaces(rd)} if space is None else {},
        open_only=is_group(people.chat(rd, chat), chat),
        more=more,
    )


def _created(rd: Reader, id: int | None) -> datetime | None:
    if id is None:
        return None
    try:
        return writes.get(rd, id).created_at
    except NotFound:
        return None


# -- undo --------------------------------------------------------------------------------------------------


def undo(services: Services, call: Call) -> Said:
    """`/memory undo [ID]`: take a write back; without an id, the newest of this space."""
    ids = deciding.ids(call.words[1:], which="undo.usage") if len(call.words) > 1 else []
    if len(ids) > 1:
        raise Refused("undo.usage")
    space = None if call.covers_all else call.space.id
    write = meant_by_undo(services, call.space, ids[0] if ids else None, call.message.id)
    if not _may(services, call.person, write, space):
        raise NotFound("write.unknown", id=write.id)
    services.door(write).undo(write.id, call.person.key, call.message.id)
    return Said("undone", {"write": write.id})


def meant_by_undo(services: Services, space: Space, id: int | None, through: int | None = None) -> Write:
    """The write with this id; without one, the newest in force (the same when a command is done again)."""
    if id is None:
        services.memory.notice_hand_edits(space)
    with services.db.read() as rd:
        if id is not None:
            return writes.get(rd, id)
        before = undoing.undone_in(rd, through) if through is not None else None
        newest = before or undoing.newest_applied(rd, space.id, "memory")
    if newest is None:
        raise NotFound("undo.none")
    return newest


def undone_text(services: Services, row: Outgoing, language: str) -> str:
    """What was taken back. Where others read along, they read what was there."""
    id = row.values["write"]
    assert isinstance(id, int)
    return taken_back_text(services, id, language)


def taken_back_text(services: Services, id: int, language: str) -> str:
    """`↩ 17 taken back: "Lives in Bergen"`"""
    with services.db.read() as rd:
        write = writes.get(rd, id)
    return words.text("undo.done", language, id=id, gist=phrases.gist(write, language))


def _may(services: Services, person: Person, write: Write, space: int | None) -> bool:
    with services.db.read() as rd:
        return space in (None, write.space) and services.access.may_decide(rd, person, write.space)


# -- edit --------------------------------------------------------------------------------------------------


def edit(services: Services, call: Call) -> Said:
    """`/memory edit ID [TEXT]`: another text for what waits; without one, it is asked for."""
    found = _EDIT.fullmatch(call.rest)
    ids = deciding.ids([found["id"]], which="edit.usage") if found is not None else []
    if found is None or len(ids) != 1:
        raise Refused("edit.usage")
    if not call.private:
        raise NotAllowed("command.private_only", name="memory edit")
    space = None if call.covers_all else call.space.id
    with services.db.read() as rd:
        write = writes.get(rd, ids[0])
    if not _may(services, call.person, write, space):
        raise NotFound("write.unknown", id=write.id)
    if text := (found["text"] or "").strip():
        decision = services.door(refuse_uneditable(write)).edit(write.id, text, call.person.key)
        if decision.ending is not DecisionEnding.EDITED:  # somebody decided at the same moment
            raise Refused("edit.decided", id=write.id)
        return Said("edited", {"write": write.id})
    refuse_uneditable(write)
    if call.message.chat.platform == "terminal":
        raise Refused("edit.say", id=write.id)
    return Said("edit.question", question(call.person, services.clock.now()), write=write.id, kind="ask_edit")


def question(person: Person, now: datetime) -> Mapping[str, object]:
    """What an outbox row keeps that asks this person for a text."""
    return {"person": person.key, "until": (now + QUESTION_LASTS).isoformat()}


def refuse_uneditable(write: Write) -> Write:
    """The write, where it waits and has one text that can be another. Raises Refused."""
    if write.status is Status.APPLIED and write.kind == "memory":
        raise Refused("edit.applied", id=write.id)
    if write.status is not Status.STAGED:
        raise Refused("edit.decided", id=write.id)
    if len(write.operations) != 1 or write.operations[0].action in (Action.REMOVE, Action.DELETE):
        raise Refused("write.cannot_edit", id=write.id)
    return write


def edited_text(services: Services, row: Outgoing, language: str) -> str:
    """What it says now."""
    id = row.values["write"]
    assert isinstance(id, int)
    return said_now_text(services, id, language)


def said_now_text(services: Services, id: int, language: str) -> str:
    """`17 still waits for your yes and says now: "Lives in Bergen"`"""
    with services.db.read() as rd:
        write = writes.get(rd, id)
    return words.text("edit.done", language, id=id, gist=phrases.gist(write, language))


def _names(services: Services, rd: Reader, chat: Chat) -> ledgertext.Naming:
    def named(key: str, at: datetime | None) -> cardtext.Decider:
        return deciders.named(rd, services.access, services.freezer.zone, key, at, chat)

    return named


VIEWS: Mapping[str, View] = {
    "why": why_text,
    "why.which": which_text,
    "log": log_text,
    "undone": undone_text,
    "edited": edited_text,
}
