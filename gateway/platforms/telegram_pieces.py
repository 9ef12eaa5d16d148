"""What a Telegram message says, as pieces with their authors. Pure: it reads PTB's objects, imports none.

Whatever was quoted or forwarded becomes a piece of its own with its author, because only a person's own words
may become memory (design.md 7.2). What cannot be read leaves a piece that says of what kind it was.
"""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gateway.chat import How, Person, Piece
from gateway.platforms import text

if TYPE_CHECKING:
    import telegram

PLATFORM = "telegram"

COMMAND = re.compile(r"/(?P<name>\w+)(?:@(?P<bot>\w+))?")
_KINDS = {
    "photo": "photo",
    "live_photo": "photo",
    "animation": "video",  # before "document", which Telegram sets beside it
    "video": "video",
    "video_note": "video",
    "voice": "voice",
    "audio": "audio",
    "document": "document",
    "sticker": "sticker",
    "venue": "location",
    "location": "location",
    "contact": "contact",
    "poll": "poll",
    "dice": "other",
    "game": "other",
    "invoice": "other",
    "story": "other",
    "paid_media": "other",
    "checklist": "other",
    "giveaway": "other",
    "rich_message": "other",
}
"""What we cannot read, by the field of the Bot API that holds it. All other fields are no content of people's."""


@dataclass(frozen=True, slots=True)
class Me:
    """The bot's own account."""

    id: int
    username: str

    def is_called(self, username: str | None) -> bool:
        """Whether that is our username; Telegram minds no capitals."""
        return bool(username) and str(username).casefold() == self.username.casefold()


def read(message: "telegram.Message", me: Me) -> tuple[Piece, ...]:
    """Everything that was said with a message; () for a service message such as "Ada joined the group"."""
    words, kind = message.text or message.caption or "", _attached_kind(message)
    if not words and not kind:
        return ()
    how, author = _by_whom(message)
    said = text.clean(words)
    if how is How.OWN:
        said = _without_our_name(said, me)
    own = (Piece(how, author, said),) if words else ()
    attached = (Piece(How.ATTACHED, author, kind),) if kind else ()
    return (*_quoted(message), *own, *attached)


def person(account: int) -> Person:
    """The person, or the chat that speaks, with this number."""
    return Person(PLATFORM, str(account))


def _attached_kind(message: "telegram.Message") -> str:
    """The kind of what came with a message and cannot be read; "" when there is nothing."""
    for name, kind in _KINDS.items():
        if getattr(message, name, None) or message.api_kwargs.get(name):
            return kind
    return ""


def _by_whom(message: "telegram.Message") -> tuple[How, str]:
    """Whose words they are: the writer's own, unless they were forwarded or made by another bot."""
    if message.forward_origin is not None:
        return How.FORWARDED, _author(message.forward_origin)
    if message.via_bot is not None:
        return How.FORWARDED, person(message.via_bot.id).key
    return How.OWN, person(message.from_user.id).key if message.from_user else ""


def _without_our_name(words: str, me: Me) -> str:
    """`/memory@hikae_bot pending` as `/memory pending`."""
    command = COMMAND.match(words)
    if command is None or not me.is_called(command["bot"]):
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
        return person(message.sender_chat.id).key
    return person(message.from_user.id).key if message.from_user is not None else ""


def _author(origin: "telegram.MessageOrigin") -> str:
    """The key of an account or chat; "" when the author hides."""
    for name in ("sender_user", "sender_chat", "chat"):
        source = getattr(origin, name, None)
        if source is not None:
            return person(source.id).key
    return ""
