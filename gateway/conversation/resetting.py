"""Ends the session of a chat when the reset policy says so: at the next message of a person, and said in the chat.

Whether it is time is `gateway.resets`. A running turn is never cut off, an interrupted one is answered with the
message that interrupted it, a session that the person named (`--resume`) is gone on with, and so is one in which
`/retry` asks again: without it the question would have no sense. What no review has seen of the old session is
reviewed as when it ends by `/new`.
"""

from datetime import datetime

from gateway.conversation import ending, takeback
from gateway.conversation.access import is_group
from gateway.records import Message, NewOutgoing, Session
from gateway.resets import Policy
from gateway.settings import Settings
from gateway.store import messages, outbox, people, sessions
from gateway.store.transaction import Reader, Transaction


def why(rd: Reader, settings: Settings, session: Session, message: Message) -> str:
    """Why this message does not go on with its chat's session any more: `idle`, `daily`; "" where it does."""
    if settings.session.reset == "none" or not session.turns or session.said_at is None:
        return ""
    if takeback.is_asked_again(message):
        return ""
    reason = Policy.of(settings.session, settings.zone()).why(session.said_at, message.at)
    if not reason or session.chat != message.chat or sessions.last_finished_turn(rd, session.id) < session.turns:
        return ""
    if settings.session.busy == "interrupt" and messages.goes_on_with(rd, message, session.id, session.turns):
        return ""
    return reason


def reset(tx: Transaction, settings: Settings, session: Session, message: Message, why: str, now: datetime) -> None:
    """End the session before this message, and tell its chat why, and how to go on with it."""
    ending.end(tx, settings, session, why, now)
    if not session.incognito:  # there is nothing to go on with
        _announce(tx, settings, session, message, why, now)


def end_of_other_kind(tx: Transaction, settings: Settings, message: Message, member: str, now: datetime) -> None:
    """`session.groups` was changed: the group's one session ends for those of its members, or these for the one."""
    strays = [each for each in sessions.open_in(tx, message.chat) if bool(each.member) != bool(member)]
    for session in strays:
        ending.end(tx, settings, session, "groups", now)
    if strays:
        _announce(tx, settings, strays[-1], message, "per_person" if member else "shared", now)


def _announce(
    tx: Transaction, settings: Settings, session: Session, message: Message, why: str, now: datetime
) -> None:
    """Before the answer, since that is put into the outbox later."""
    others_read = is_group(people.chat(tx, message.chat), message.chat)
    outbox.put(
        tx,
        NewOutgoing(
            dedupe=f"reset-{session.id}-{message.id}",
            kind="reset",
            chat=message.chat,
            space=message.space,
            created_at=now,
            values={
                "why": why,
                "former": session.id,
                "minutes": settings.session.idle_minutes,
                "at": settings.session.daily_at,
                "group": others_read,
            },
            # Where each member has a session, it is said to the one whose it is.
            reply_to=message.platform_id if session.member and others_read else "",
        ),
    )
