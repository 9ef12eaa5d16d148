"""Telegram's updates as our messages and taps. Pure: it reads PTB's objects and imports nothing of it.

Whatever was quoted or forwarded becomes a piece of its own with its author, because only a person's own words
may become memory (design.md 7.2). Who may talk, and whether the bot answers, is decided elsewhere.
"""

import re
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from gateway.chat import Chat, How, IncomingMessage, Person, Piece, Tap
from gateway.platforms import text

if TYPE_CHECKING:
    import telegram

PLATFORM = "telegram"

_COMMAND = re.compile(r"/(?P<name>\w+)(?:@(?P<bot>\w+))?")
_NEWER_CONTENT = frozenset({"checklist", "live_photo", "rich_message"})
"""Kinds of content that PTB hands on unread."""


@dataclass(frozen=True, slots=True)
class Me:
    """The bot's own account."""

    id: int
    username: str


def translate(update: "telegram.Update", me: Me, now: datetime) -> IncomingMessage | Tap | None:
    """None for what we do not listen to: edits, channels, other bots, "Ada joined the group"."""
    if update.callback_query is not None:
        return _tap(update.callback_query, now)
    if update.message is not None:
        return _message(update.message, me)
    return None


def _tap(query: "telegram.CallbackQuery", now: datetime) -> Tap | None:
    shown = query.message
    if shown is None or query.data is None:
        return None
    thread = _thread(shown) if hasattr(shown, "is_topic_message") else ""
    return Tap(
        chat=Chat(PLATFORM, str(shown.chat.id), thread),
        person=_person(query.from_user.id),
        id=query.id,
        data=text.clean(query.data),
        at=now,
        message_id=str(shown.message_id),
    )


def _message(message: "telegram.Message", me: Me) -> IncomingMessage | None:
    writer = message.from_user
    if writer is None or writer.is_bot or message.sender_chat is not None or message.chat.type == "channel":
        return None
    own = _words(message)
    if own is None:
        return None
    private = message.chat.type == "private"
    return IncomingMessage(
        chat=Chat(PLATFORM, str(message.chat.id), _thread(message)),
        person=_person(writer.id),
        id=str(message.message_id),
        pieces=(*_quoted(message), _said(message, own, me)),
        at=message.date,
        private=private,
        addressed=private or _is_addressed(message, me),
        language=writer.language_code or "",
    )


def _words(message: "telegram.Message") -> str | None:
    """What was written; "" for a photo without a caption, None for a service message."""
    written = message.text or message.caption
    if written is not None:
        return text.clean(written)
    is_content = message.effective_attachment is not None or _NEWER_CONTENT & message.api_kwargs.keys()
    return "" if is_content or message.checklist is not None else None


def _said(message: "telegram.Message", words: str, me: Me) -> Piece:
    """The message's words: the writer's own, unless they were forwarded or made by another bot."""
    if message.forward_origin is not None:
        return Piece(How.FORWARDED, _author(message.forward_origin), words)
    if message.via_bot is not None:
        return Piece(How.FORWARDED, _person(message.via_bot.id).key, words)
    writer = message.from_user
    return Piece(How.OWN, _person(writer.id).key if writer else "", _without_our_name(words, me))


def _without_our_name(words: str, me: Me) -> str:
    """`/memory@hikae_bot pending` as `/memory pending`."""
    command = _COMMAND.match(words)
    if command is None or not _is_me(command["bot"], me):
        return words
    return f"/{command['name']}{words[command.end() :]}"


def _quoted(message: "telegram.Message") -> tuple[Piece, ...]:
    """What the message answers, with its author: the marked part where there is one, else the whole."""
    marked = message.quote.text if message.quote is not None else ""
    answered = message.reply_to_message
    if answered is not None:
        words = marked or answered.text or answered.caption or ""
        author = _writer(answered)
    elif message.external_reply is not None:
        words, author = marked, _author(message.external_reply.origin)
    else:
        return ()
    return (Piece(How.QUOTED, author, text.clean(words)),) if words else ()


def _writer(message: "telegram.Message") -> str:
    """Who said a message, as far as Telegram tells."""
    if message.forward_origin is not None:
        return _author(message.forward_origin)
    if message.sender_chat is not None:
        return _person(message.sender_chat.id).key
    return _person(message.from_user.id).key if message.from_user is not None else ""


def _author(origin: "telegram.MessageOrigin") -> str:
    """The key of an account or chat; "" when the author hides."""
    for name in ("sender_user", "sender_chat", "chat"):
        source = getattr(origin, name, None)
        if source is not None:
            return _person(source.id).key
    return ""


def _is_addressed(message: "telegram.Message", me: Me) -> bool:
    """In a group: does it call the bot by name, answer it, or give it a command?"""
    words = message.text or message.caption or ""
    if message.forward_origin is None and (command := _COMMAND.match(words)):
        return command["bot"] is None or _is_me(command["bot"], me)
    return _answers_me(message, me) or _names_me(message, me)


def _answers_me(message: "telegram.Message", me: Me) -> bool:
    answered = message.reply_to_message
    if answered is None or answered.from_user is None or answered.forum_topic_created is not None:
        return False  # every message of a topic that we opened "answers" the note that it was opened
    return answered.from_user.id == me.id


def _names_me(message: "telegram.Message", me: Me) -> bool:
    found = message.parse_entities() if message.text else message.parse_caption_entities()
    return any(
        (entity.type == "mention" and _is_me(name.removeprefix("@"), me))
        or (entity.type == "text_mention" and entity.user is not None and entity.user.id == me.id)
        for entity, name in found.items()
    )


def _is_me(username: str | None, me: Me) -> bool:
    return bool(username) and str(username).casefold() == me.username.casefold()


def _thread(message: "telegram.Message | telegram.MaybeInaccessibleMessage") -> str:
    """The topic. Plain groups number their reply threads too; those are no places to talk."""
    thread = getattr(message, "message_thread_id", None)
    return str(thread) if thread and getattr(message, "is_topic_message", False) else ""


def _person(account: int) -> Person:
    return Person(PLATFORM, str(account))
