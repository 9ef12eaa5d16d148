"""Discord's messages and interactions as ours. Pure: it reads the API's own objects and nothing of an SDK.

Whatever was quoted or forwarded becomes a piece of its own, because only a person's own words may become memory
(design.md 7.2). Who may talk, and whether the bot answers, is decided elsewhere. Slash commands are read in
`discord_commands`, buttons and dialogs in `discord_views`.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from gateway.chat import Chat, How, IncomingMessage, Person, Piece
from gateway.platforms import text

PLATFORM = "discord"

Json = Mapping[str, Any]
"""Any: an object as Discord sent it, of which we know what its documentation says."""

_DEFAULT, _REPLY = 0, 19
_FORWARD = 1
_GROUP_DM = 3
_THREADS = (10, 11, 12)
_VOICE_MESSAGE = 1 << 13
_DISCORD_EPOCH_MS = 1_420_070_400_000
_MENTION = re.compile(r"<@!?(?P<id>\d+)>")
_UNIQUE_NAME = re.compile(r"[a-z0-9_.]{2,32}")


@dataclass(frozen=True, slots=True)
class Me:
    """The bot's own account, and its application."""

    id: str
    application: str
    username: str


@dataclass(frozen=True, slots=True)
class Place:
    """Where a channel is: its server ("" for a direct message), and its parent where it is a thread."""

    server: str = ""
    parent: str = ""
    is_group_dm: bool = False


def place(channel: Json, server: str = "") -> Place:
    """The place of a channel as Discord describes it. `server` where the description leaves it out."""
    is_thread = channel.get("type") in _THREADS
    return Place(
        server=str(channel.get("guild_id") or server),
        parent=str(channel.get("parent_id") or "") if is_thread else "",
        is_group_dm=channel.get("type") == _GROUP_DM,
    )


def chat(channel: str, where: Place) -> Chat:
    """A thread is told by its parent channel and its own id."""
    return Chat(PLATFORM, where.parent, channel) if where.parent else Chat(PLATFORM, channel)


def channel_of(where: Chat) -> str:
    """The channel that a chat's messages are in: the thread, where there is one."""
    return where.thread or where.id


def said_at(snowflake: str) -> datetime:
    """When a thing with this id came to be."""
    return datetime.fromtimestamp(((int(snowflake) >> 22) + _DISCORD_EPOCH_MS) / 1000, UTC)


def person(account: Any) -> Person:
    """Any: an id, which Discord writes as a string and some servers as a number."""
    return Person(PLATFORM, str(account))


def is_for_us(message: Json) -> bool:
    """A person's message: not a bot's, a webhook's, or a note that somebody joined."""
    author = message["author"]
    if author.get("bot") or author.get("system") or message.get("webhook_id"):
        return False
    return message.get("type", _DEFAULT) in (_DEFAULT, _REPLY) and message.get("channel_type") != _GROUP_DM


def is_edit(message: Json) -> bool:
    """A person changed the message; Discord also reports previews that it added by itself."""
    return "author" in message and "content" in message and message.get("edited_timestamp") is not None


def message(message: Json, where: Place, me: Me) -> IncomingMessage | None:
    """None for one in which there is nothing at all: without the switch for content, Discord leaves it out."""
    pieces = _pieces(message, me)
    if not pieces or where.is_group_dm:
        return None
    author = message["author"]
    return IncomingMessage(
        chat=chat(str(message["channel_id"]), where),
        person=person(author["id"]),
        id=str(message["id"]),
        pieces=pieces,
        at=datetime.fromisoformat(message["timestamp"]),
        private=not where.server,
        addressed=not where.server or _is_addressed(message, me),
        speaker=speaker(author, message.get("member")),
        server=where.server,
    )


def speaker(user: Json, member: Json | None) -> str:
    """The name that others see."""
    return text.clean(str((member or {}).get("nick") or user.get("global_name") or user.get("username") or ""))


def _pieces(message: Json, me: Me) -> tuple[Piece, ...]:
    by = person(message["author"]["id"]).key
    attached = [Piece(How.ATTACHED, by, kind) for kind in _attached(message)]
    own = _own_words(message, me)
    if not own and message.get("content") and not attached:
        own = f"@{me.username}"  # nothing but our name: a call all the same, perhaps to what it answers
    said = [Piece(How.OWN, by, own)] if own else []
    return (*_quoted(message), *_forwarded(message), *said, *attached)


def _own_words(message: Json, me: Me) -> str:
    """Without our name in front, and with the names of others instead of their numbers.

    The unique ones, which cannot be sentences: what others chose to be called would be words that nobody here said.
    """
    words = text.clean(str(message.get("content") or ""))
    call = re.match(rf"\s*<@!?{me.id}>[\s,:]*", words)
    words = words[call.end() :] if call else words
    names = {str(one["id"]): str(one.get("username") or "") for one in message.get("mentions", ())}
    names = {number: name for number, name in names.items() if _UNIQUE_NAME.fullmatch(name)} | {me.id: me.username}
    return _MENTION.sub(lambda found: f"@{names[found['id']]}" if found["id"] in names else found[0], words)


def _quoted(message: Json) -> list[Piece]:
    """What the message answers, with its author; nothing where that was deleted."""
    answered = message.get("referenced_message")
    if not answered or message.get("type") != _REPLY:
        return []
    words = text.clean(str(answered.get("content") or ""))
    return [Piece(How.QUOTED, person(answered["author"]["id"]).key, words)] if words else []


def _forwarded(message: Json) -> list[Piece]:
    """Discord does not say who wrote what was forwarded."""
    if (message.get("message_reference") or {}).get("type") != _FORWARD:
        return []
    copies = [one["message"] for one in message.get("message_snapshots", ())]
    words = [Piece(How.FORWARDED, "", text.clean(one["content"])) for one in copies if one.get("content")]
    return words + [Piece(How.ATTACHED, "", kind) for one in copies for kind in _attached(one)]


def _attached(message: Json) -> list[str]:
    kinds = [_kind(one, message) for one in message.get("attachments", ())]
    kinds += ["sticker" for _ in message.get("sticker_items", ())]
    return kinds + (["poll"] if message.get("poll") else [])


def _kind(attachment: Json, message: Json) -> str:
    if message.get("flags", 0) & _VOICE_MESSAGE:
        return "voice"
    family = str(attachment.get("content_type") or "").partition("/")[0]
    return {"image": "photo", "video": "video", "audio": "audio"}.get(family, "document")


def _is_addressed(message: Json, me: Me) -> bool:
    """In a server: does it name the bot or answer it? A role that the bot has is not its name."""
    if any(str(one["id"]) == me.id for one in message.get("mentions", ())):
        return True
    answered = message.get("referenced_message")
    if not answered or message.get("type") != _REPLY:
        return False
    return str(answered["author"]["id"]) == me.id
