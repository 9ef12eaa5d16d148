"""Which earlier conversation is meant, and taking it up again in another one's place.

A conversation is taken up in its own space alone, and one of a member of a group by that member alone. It keeps its
frozen prompt, byte for byte; wherever else it is open, it ends there.
"""

import re
from collections.abc import Sequence
from datetime import datetime

from gateway.chat import Chat
from gateway.conversation import ending
from gateway.errors import Ambiguous, NotFound, Refused
from gateway.records import Message, SessionSummary
from gateway.settings import Settings
from gateway.store import lists, outbox, sessions, turns
from gateway.store.search_fold import fold
from gateway.store.transaction import Reader, Transaction

LISTED = 10
"""Conversations in one answer to /sessions."""
_ID = re.compile(r"\d{8}_\d{6}_[0-9a-f]{6}")
_NUMBER = re.compile(r"\d{1,3}")


def listed(rd: Reader, space: int, member: str) -> list[SessionSummary]:
    """The conversations that were used last in a space, and that may be taken up here."""
    return lists.recent(rd, space, member, LISTED)


def meant(rd: Reader, chat: Chat, space: int, member: str, text: str) -> str:
    """The id of the conversation that an id, a number of the last list here, or a title means.

    Raises NotFound and Ambiguous, neither with a word of what was typed.
    """
    if _NUMBER.fullmatch(text):
        return _numbered(rd, chat, space, member, int(text))
    if _ID.fullmatch(text):
        return _one(lists.with_ids(rd, space, member, [text]))
    return _titled(rd, space, member, text)


def _numbered(rd: Reader, chat: Chat, space: int, member: str, number: int) -> str:
    """A number counts in the list that the chat was shown last, whatever happened since."""
    shown = outbox.newest_list(rd, chat)
    ids = [str(id) for id in _ids(shown.values.get("sessions"))] if shown is not None else []
    if shown is None:
        ids = [each.id for each in listed(rd, space, member)]
    if not 1 <= number <= len(ids):
        raise NotFound("resume.none")
    return _one(lists.with_ids(rd, space, member, [ids[number - 1]]))


def _ids(value: object) -> Sequence[object]:
    return value if isinstance(value, list) else ()


def _one(found: Sequence[SessionSummary]) -> str:
    if not found:
        raise NotFound("resume.none")
    return found[0].id


def _titled(rd: Reader, space: int, member: str, text: str) -> str:
    wanted = fold(" ".join(text.split()))
    titled = [(each.id, fold(each.title)) for each in lists.titled(rd, space, member)]
    found = [id for id, title in titled if title == wanted] or [id for id, title in titled if wanted in title]
    if not found or not wanted:
        raise NotFound("resume.none")
    if len(found) > 1:
        raise Ambiguous("resume.ambiguous", ids=", ".join(found[:LISTED]))
    return found[0]


def take_up(tx: Transaction, settings: Settings, id: str, by: Message, member: str, now: datetime) -> None:
    """Go on with a conversation where `by` was said, instead of the one there. Raises Refused while it is busy."""
    session, here = sessions.get(tx, id), sessions.current(tx, by.chat, member)
    if here is not None and here.id == id:
        return
    if turns.is_talking(tx, id):
        raise Refused("resume.busy")
    if here is not None:
        ending.end(tx, settings, here, "resumed", now)
    elif by.session and by.session != id and (named := sessions.find(tx, by.session)) is not None:
        ending.review_rest(tx, settings, named, now)
    if session.ended_at is None:
        sessions.end(tx, id, "resumed", now)
    sessions.reopen(tx, id, by.chat, member)
