"""Updates as what a receiver takes: messages, edits, taps, moves. Pure; what was said is `telegram_pieces`.

Who may talk, and whether the bot answers, is decided elsewhere.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from gateway.chat import Chat, IncomingMessage, Tap
from gateway.platforms import telegram_pieces, text
from gateway.platforms.telegram_pieces import COMMAND, PLATFORM, Me, person

if TYPE_CHECKING:
    import telegram

GENERAL_TOPIC = "1"
"""The number of the topic that every forum begins with: for us, the group without one."""


@dataclass(frozen=True, slots=True)
class Edited:
    """A message as it reads after a change."""

    message: IncomingMessage


@dataclass(frozen=True, slots=True)
class Moved:
    """A group became a supergroup, which has another id."""

    from_id: str
    to_id: str


Received = IncomingMessage | Edited | Moved | Tap


def translate(update: "telegram.Update", me: Me, now: datetime) -> Received | None:
    """None for what we do not listen to: channels, other bots, "Ada joined the group"."""
    if update.callback_query is not None:
        return _tap(update.callback_query, now)
    if update.message is not None:
        return _moved(update.message) or _message(update.message, me)
    if update.edited_message is not None:
        return _edited(update.edited_message, me)
    return None


def forum(update: "telegram.Update") -> str:
    """The id of the chat where it happened, if that has topics, else ""."""
    chat = update.effective_chat
    return str(chat.id) if chat is not None and chat.is_forum else ""


def _tap(query: "telegram.CallbackQuery", now: datetime) -> Tap | None:
    shown = query.message
    if shown is None or query.data is None:
        return None
    return Tap(
        chat=Chat(PLATFORM, str(shown.chat.id), _thread(shown)),
        person=person(query.from_user.id),
        id=query.id,
        data=text.clean(query.data),
        at=now,
        message_id=str(shown.message_id),
    )


def _moved(message: "telegram.Message") -> Moved | None:
    """Telegram says it twice: in the old group and in the new one."""
    here = str(message.chat.id)
    if message.migrate_to_chat_id is not None:
        return Moved(here, str(message.migrate_to_chat_id))
    if message.migrate_from_chat_id is not None:
        return Moved(str(message.migrate_from_chat_id), here)
    return None


def _edited(message: "telegram.Message", me: Me) -> Edited | None:
    """A place that is shared live is "edited" with every step; nobody said anything by it."""
    changed = None if message.location is not None else _message(message, me)
    return Edited(changed) if changed is not None else None


def _message(message: "telegram.Message", me: Me) -> IncomingMessage | None:
    writer = message.from_user
    if writer is None or writer.is_bot or message.sender_chat is not None or message.chat.type == "channel":
        return None
    pieces = telegram_pieces.read(message, me)
    if not pieces:
        return None
    private = message.chat.type == "private"
    return IncomingMessage(
        chat=Chat(PLATFORM, str(message.chat.id), _thread(message)),
        person=person(writer.id),
        id=str(message.message_id),
        pieces=pieces,
        at=message.date,
        private=private,
        addressed=private or _is_addressed(message, me),
        language=writer.language_code or "",
        speaker=_name(writer),
        answers=str(message.reply_to_message.message_id) if message.reply_to_message is not None else "",
        album=message.media_group_id or "",
    )


def _name(writer: "telegram.User") -> str:
    """What others see, in one line: the full name, or else the username."""
    return " ".join(text.clean(writer.full_name or "").split()) or writer.username or ""


def _is_addressed(message: "telegram.Message", me: Me) -> bool:
    """In a group: does it call the bot by name, answer it, or give it a command?"""
    words = message.text or message.caption or ""
    if message.forward_origin is None and (command := COMMAND.match(words)):
        return command["bot"] is None or me.is_called(command["bot"])
    return _answers_me(message, me) or _names_me(message, me)


def _answers_me(message: "telegram.Message", me: Me) -> bool:
    answered = message.reply_to_message
    if answered is None or answered.from_user is None or answered.forum_topic_created is not None:
        return False  # every message of a topic that we opened "answers" the note that it was opened
    return answered.from_user.id == me.id


def _names_me(message: "telegram.Message", me: Me) -> bool:
    found = message.parse_entities() if message.text else message.parse_caption_entities()
    return any(
        (entity.type == "mention" and me.is_called(name.removeprefix("@")))
        or (entity.type == "text_mention" and entity.user is not None and entity.user.id == me.id)
        for entity, name in found.items()
    )


def _thread(message: "telegram.Message | telegram.MaybeInaccessibleMessage") -> str:
    """The topic. Plain groups number their reply threads too; those are no places to talk."""
    number = str(getattr(message, "message_thread_id", None) or "")
    is_topic = getattr(message, "is_topic_message", False) and number != GENERAL_TOPIC
    return number if is_topic else ""
