"""Whose session it is where others read along: the group's, or one of each member's (`session.groups`)."""

from gateway.chat import Chat
from gateway.conversation.access import is_group
from gateway.records import Message, Session
from gateway.settings import Settings
from gateway.store import people, sessions
from gateway.store.transaction import Reader


def member_of(rd: Reader, settings: Settings, chat: Chat, person: str) -> str:
    """The key of who speaks, in a group where each member has a session; else ""."""
    each_their_own = settings.session.groups == "per_person" and is_group(people.chat(rd, chat), chat)
    return person if each_their_own else ""


def in_use(rd: Reader, settings: Settings, message: Message) -> Session | None:
    """The session in which whoever said this talks here."""
    member = member_of(rd, settings, message.chat, message.person)
    return sessions.in_use(rd, message.chat, message.session, member)
