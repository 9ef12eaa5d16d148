"""Commands about the conversation itself: /new /reset /stop /refine."""

from collections.abc import Mapping

from gateway import words
from gateway.conversation import ending
from gateway.conversation.commands.call import Call, Said, Services, View
from gateway.errors import Refused
from gateway.jobs import ReviewJob
from gateway.records import Outgoing
from gateway.store import reviews, sessions
from gateway.store.db import Transaction


def new(services: Services, call: Call) -> Said:
    """End the chat's session; the next message opens one with a fresh snapshot."""
    now = services.clock.now()
    chat, named = call.message.chat, call.message.session

    def end(tx: Transaction) -> None:
        session = sessions.current(tx, chat)
        if session is not None:
            ending.end(tx, services.settings, session, "asked", now)
        elif named:
            ending.review_rest(tx, services.settings, sessions.get(tx, named), now)
        if named:
            # From here on the chat has a session of its own, which goes before the one it was to go on with.
            services.freezer.open(tx, chat, call.space, now)

    return Said("answer.new", commit=end)


def stop(services: Services, call: Call) -> Said:
    """The running turn ends with the commit of this command (see the table); say whether there was one."""
    return Said("stopped")


def stopped_text(services: Services, row: Outgoing, language: str) -> str:
    """Whether something was stopped."""
    return words.text("answer.stopped" if row.values.get("stopped") else "answer.nothing_to_stop", language)


def refine(services: Services, call: Call) -> Said:
    """Review the turns of this session that no review has seen yet, now."""
    now = services.clock.now()
    with services.db.read() as rd:
        session = sessions.in_use(rd, call.message.chat, call.message.session)
        span = reviews.never_reviewed(rd, session.id) if session is not None else None
    if session is None or span is None:
        raise Refused("refine.nothing")
    first, last = span
    session_id, space = session.id, session.space

    def make_due(tx: Transaction) -> None:
        reviews.make_due(tx, session_id, space, last, first, "asked", now)

    turns = last - first + 1
    return Said("answer.refine", {"turns": turns}, commit=make_due, ring=ReviewJob(session_id, last, 0))


VIEWS: Mapping[str, View] = {"stopped": stopped_text}
