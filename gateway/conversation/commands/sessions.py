"""Commands about conversations as wholes: /sessions /resume /title, and about the last turn: /undo /retry."""

from collections.abc import Mapping
from datetime import datetime, timedelta

from gateway import words
from gateway.conversation import members, phrases, resuming, takeback, titling
from gateway.conversation.commands.call import Call, Said, Services, View
from gateway.errors import NotFound, Refused
from gateway.records import Outgoing, Session, SessionSummary
from gateway.store import lists, messages, sessions, titles, turns
from gateway.store.transaction import Reader, Transaction

LIST = "session_list"
TAKEN_BACK = "taken_back"


# -- conversations -----------------------------------------------------------------------------------------


def sessions_(services: Services, call: Call) -> Said:
    """`/sessions`: the conversations used last, numbered. The row keeps their ids: `/resume 2` counts in it."""
    with services.db.read() as rd:
        found = resuming.listed(rd, call.space.id, _member(rd, services, call))
    return Said("sessions", {"sessions": [each.id for each in found]}, kind=LIST)


def resume(services: Services, call: Call) -> Said:
    """`/resume ID|number|title`: go on with an earlier conversation, here."""
    text = call.rest.strip()
    if not text:
        raise Refused("resume.usage")
    with services.db.read() as rd:
        member = _member(rd, services, call)
        id = resuming.meant(rd, call.message.chat, call.space.id, member, text)
        here = members.in_use(rd, services.settings, call.message)
        busy = turns.is_talking(rd, id)
    if here is not None and here.id == id:
        raise Refused("resume.already")
    if busy:
        raise Refused("resume.busy")

    def take_up(tx: Transaction) -> bool:
        stopped = _stop(tx, call, here, services)
        resuming.take_up(tx, services.settings, id, call.message, member, services.clock.now())
        return stopped

    return Said("resumed", {"session": id}, commit=take_up)


def _stop(tx: Transaction, call: Call, here: Session | None, services: Services) -> bool:
    """The running turn of the conversation that is left ends unsaid, as with /new."""
    last = takeback.last_said(tx, call.message.chat, here, call.message.id, _member(tx, services, call))
    if last is None or last.waits or last.question.chat != call.message.chat:
        return False
    return takeback.stop(tx, services.settings, last, services.clock.now())


def title(services: Services, call: Call) -> Said:
    """`/title TEXT`: what this conversation is called; without a text, say it."""
    with services.db.read() as rd:
        session = members.in_use(rd, services.settings, call.message)
    if session is None:
        raise Refused("title.no_session")
    named = titling.by_hand(call.rest)

    def rename(tx: Transaction) -> None:
        if named:
            sessions.rename(tx, session.id, named)

    return Said("title", {"session": session.id, "given": bool(named)}, commit=rename)


# -- the last turn -----------------------------------------------------------------------------------------


def undo(services: Services, call: Call) -> Said:
    """`/undo`: the last turn leaves transcript, search and review; what rests on it is offered to be taken back."""
    return _take_back(services, call, again=False)


def retry(services: Services, call: Call) -> Said:
    """`/retry`: the same, and then the same question once more."""
    return _take_back(services, call, again=True)


def _take_back(services: Services, call: Call, *, again: bool) -> Said:
    now = services.clock.now()
    with services.db.read() as rd:
        session = members.in_use(rd, services.settings, call.message)
        member = _member(rd, services, call)
        last = takeback.last_said(rd, call.message.chat, session, call.message.id, member)
        if last is None:
            raise Refused("takeback.nothing_again" if again else "takeback.nothing")
        if again and last.waits:
            raise Refused("takeback.waits_yet")
        if again:
            _refuse_out_of_turns(rd, services, call, now)
        rests = [write.id for write in takeback.rests(rd, last.question)]

    def take_back(tx: Transaction) -> bool:
        if messages.get(tx, last.question.id).erased:
            return False  # somebody else did, at the same moment
        stopped = takeback.take_back(tx, services.settings, last, now)
        if again:
            takeback.ask_again(tx, call.message, last, now)
        return stopped

    values = {"question": last.question.id, "writes": rests, "again": again}
    return Said(TAKEN_BACK, values, kind=TAKEN_BACK, commit=take_back)


def _refuse_out_of_turns(rd: Reader, services: Services, call: Call, now: datetime) -> None:
    """What is asked again is answered again: it counts as one more turn of the day."""
    bound = services.settings.access.daily_turns
    if call.is_owner or not bound:
        return
    accounts = services.access.accounts(rd, call.person)
    if messages.user_turns_since(rd, accounts, now - timedelta(days=1)) >= bound:
        raise Refused("say.daily_limit", turns=bound)


def _member(rd: Reader, services: Services, call: Call) -> str:
    return members.member_of(rd, services.settings, call.message.chat, call.message.person)


# -- what is said ------------------------------------------------------------------------------------------


def list_text(services: Services, row: Outgoing, language: str) -> str:
    """One line for each conversation, by its title or what was said first in it."""
    ids = row.values["sessions"]
    assert isinstance(ids, list)
    with services.db.read() as rd:
        found = {each.id: each for each in sessions.listed(rd, ids)}
        lines = [
            _line(services, rd, number, found[id], row, language) for number, id in enumerate(ids, 1) if id in found
        ]
    if not lines:
        return words.text("sessions.none", language)
    return "\n".join((*lines, words.text("sessions.commands", language)))


def _line(services: Services, rd: Reader, number: int, each: SessionSummary, row: Outgoing, language: str) -> str:
    at = each.last_at.astimezone(services.settings.zone())
    here = each.ended_at is None and each.chat == row.chat
    return words.text(
        "sessions.here" if here else "sessions.line",
        language,
        number=number,
        name=named(rd, each.id, language),
        when=phrases.escape(f"{at:%Y-%m-%d %H:%M}"),
        id=phrases.escape(each.id),
        messages=each.messages,
    )


def named(rd: Reader, id: str, language: str) -> str:
    """Its title, else what was said first in it, as Markdown."""
    title, _ = titles.of(rd, id)
    if title:
        return f"*{phrases.excerpt(title)}*"
    first = phrases.excerpt(lists.first_words(rd, id))
    return words.text("sessions.first_words" if first else "sessions.nothing_said", language, text=first)


def resumed_text(services: Services, row: Outgoing, language: str) -> str:
    """Which conversation goes on, and how old its memory is."""
    id = str(row.values["session"])
    with services.db.read() as rd:
        session = sessions.find(rd, id)
        if session is None:
            raise NotFound("resume.none")
        name = named(rd, id, language)
    frozen = session.frozen_at.astimezone(services.settings.zone())
    when = phrases.escape(f"{frozen:%Y-%m-%d %H:%M}")
    return words.text("resume.done", language, name=name, id=phrases.escape(id), when=when)


def title_text(services: Services, row: Outgoing, language: str) -> str:
    """What the conversation is called."""
    with services.db.read() as rd:
        title, _ = titles.of(rd, str(row.values["session"]))
    if not title:
        return words.text("title.none", language)
    key = "title.given" if row.values.get("given") else "title.is"
    return words.text(key, language, title=phrases.excerpt(title))


VIEWS: Mapping[str, View] = {"sessions": list_text, "resumed": resumed_text, "title": title_text}
