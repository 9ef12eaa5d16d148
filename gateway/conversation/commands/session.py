"""Commands about the conversation itself: /new /reset /incognito /stop /refine /compress."""

from collections.abc import Mapping
from datetime import datetime

from gateway import words
from gateway.conversation import ending, members
from gateway.conversation.commands.call import Call, Said, Services, View
from gateway.errors import Refused
from gateway.jobs import ReviewJob
from gateway.records import Outgoing
from gateway.store import holding, reviews, sessions, turns
from gateway.store.db import Transaction


def new(services: Services, call: Call) -> Said:
    """End the chat's session; the next message opens one with a fresh snapshot."""
    now = services.clock.now()
    chat, named = call.message.chat, call.message.session

    def end(tx: Transaction) -> None:
        _end(tx, services, call, now)
        if named:
            # From here on the chat has a session of its own, which goes before the one it was to go on with.
            services.freezer.open(tx, chat, call.space, now)

    return Said("answer.new", commit=end)


def incognito(services: Services, call: Call) -> Said:
    """End the chat's session, and open one that reads memory and leaves nothing."""
    now = services.clock.now()

    def begin(tx: Transaction) -> None:
        member = _end(tx, services, call, now)
        services.freezer.open(tx, call.message.chat, call.space, now, member, incognito=True)

    return Said("incognito.begun", commit=begin)


def _end(tx: Transaction, services: Services, call: Call, now: datetime) -> str:
    """End what is talked in; the member whose session it is, where groups have one for each."""
    message = call.message
    member = members.member_of(tx, services.settings, message.chat, message.person)
    session = sessions.current(tx, message.chat, member)
    if session is not None:
        ending.end(tx, services.settings, session, "asked", now)
    elif message.session:
        ending.review_rest(tx, services.settings, sessions.get(tx, message.session), now)
    return member


def stop(services: Services, call: Call) -> Said:
    """The running turn ends with the commit of this command (see the table); say whether there was one."""
    return Said("stopped")


def stopped_text(services: Services, row: Outgoing, language: str) -> str:
    """Whether something was stopped."""
    return words.text("answer.stopped" if row.values.get("stopped") else "answer.nothing_to_stop", language)


def refine(services: Services, call: Call) -> Said:
    """Review the turns of this session that no review has seen yet, now; also those that wait for another day."""
    now = services.clock.now()
    with services.db.read() as rd:
        session = members.in_use(rd, services.settings, call.message)
        if session is not None and session.incognito:
            raise Refused("incognito.remember")
        span = reviews.never_reviewed(rd, session.id) if session is not None else None
        held = holding.turns_of(rd, session.id) if session is not None else []
        spans = [*held, *([span] if span is not None else [])]
        said = sum(turns.count(rd, session.id, *each) for each in spans) if session is not None else 0
    if session is None or not said:
        raise Refused("refine.nothing")
    session_id, space = session.id, session.space

    def make_due(tx: Transaction) -> None:
        holding.ask(tx, session_id)
        if span is not None:
            reviews.make_due(tx, session_id, space, span[1], span[0], "asked", now)

    return Said("answer.refine", {"turns": said}, commit=make_due, ring=ReviewJob(session_id, spans[-1][1], 0))


def compress(services: Services, call: Call) -> Said:
    """Compress this session now, also where that is off by itself."""
    with services.db.read() as rd:
        session = members.in_use(rd, services.settings, call.message)
    if session is None:
        raise Refused("compress.nothing")
    return Said("compress.done", compresses=session.id)


VIEWS: Mapping[str, View] = {"stopped": stopped_text}
