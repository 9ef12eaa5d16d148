"""Commands about the conversation itself: /new /reset /stop /refine."""

from collections.abc import Mapping

from gateway import policy
from gateway.conversation.commands.call import Call, Said, Services, View
from gateway.errors import Refused
from gateway.jobs import ReviewJob
from gateway.store import reviews, sessions
from gateway.store.db import Transaction


def new(services: Services, call: Call) -> Said:
    """End the chat's session; the next message opens one with a fresh snapshot."""
    now = services.clock.now()

    def end(tx: Transaction) -> None:
        session = sessions.current(tx, call.message.chat)
        if session is None:
            return
        sessions.end(tx, session.id, "asked", now)
        if policy.reviews_are_automatic(
            services.settings.memory.nudge_interval, services.settings.auxiliary.background_review.enabled
        ):
            reviews.make_rest_due(tx, session.id, session.space, "end", now)

    return Said("answer.new", commit=end)


def stop(services: Services, call: Call) -> Said:
    """The running turn has been ended already (see the table); say so."""
    return Said("answer.stopped")


def refine(services: Services, call: Call) -> Said:
    """Review the turns of this session that no review has seen yet, now."""
    now = services.clock.now()
    with services.db.read() as rd:
        session = sessions.current(rd, call.message.chat)
        span = sessions.unreviewed(rd, session.id) if session is not None else None
    if session is None or span is None:
        raise Refused("refine.nothing")
    first, last = span
    session_id, space = session.id, session.space

    def make_due(tx: Transaction) -> None:
        reviews.make_due(tx, session_id, space, last, first, "asked", now)

    turns = last - first + 1
    return Said("answer.refine", {"turns": turns}, commit=make_due, ring=ReviewJob(session_id, last, 0))


VIEWS: Mapping[str, View] = {}
