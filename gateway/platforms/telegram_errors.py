"""Telegram's errors as ours: without PTB's text, which quotes the server, people's words and the token."""

import json

import httpx
from telegram.error import (
    BadRequest,
    ChatMigrated,
    Conflict,
    Forbidden,
    InvalidToken,
    TelegramError,
    TimedOut,
)

from gateway.errors import Broken, ChatGone, ChatMoved, GatewayError, PlatformBusy


class TokenRefused(GatewayError):
    """Telegram does not take our token."""


class SecondPoller(GatewayError):
    """Somebody else fetches updates with our token (409)."""


class TooManyCalls(PlatformBusy):
    """Telegram itself says how long to wait; calling earlier makes it longer."""


class EntitiesRefused(GatewayError):
    """The text would do, its formats do not."""


class NotModified(GatewayError):
    """The message already looks like that."""


class MessageGone(GatewayError):
    """The message to change was deleted, or may not be changed any more."""


class NotDeletable(GatewayError):
    """The message stays: it is too old, or somebody else's."""


class Flood(TelegramError):
    """Too many calls; Telegram says how long to wait."""

    def __init__(self, after: float) -> None:
        super().__init__("flood")
        self.after = after


class Garbled(TelegramError):
    """The answer is not from the Bot API: a proxy's page, half a JSON."""


def retry_after(payload: bytes) -> float:
    """How long the answer to a call too many asks us to wait."""
    try:
        return max(float(json.loads(payload)["parameters"]["retry_after"]), 0.0)
    except (ValueError, KeyError, TypeError):
        return 5.0


_SAYS_NOT_MODIFIED = ("message is not modified",)
_SAYS_NOT_DELETABLE = ("message can't be deleted", "message_delete_forbidden")
_SAYS_MESSAGE_GONE = (
    "message to delete not found",
    "message to edit not found",
    "message can't be edited",
    "message_id_invalid",
)
_SAYS_BAD_ENTITIES = ("entit", "can't parse")
_SAYS_CHAT_GONE = (
    "chat not found",
    "chat_id is empty",
    "peer_id_invalid",
    "user_is_blocked",
    "user is deactivated",
    "bot was kicked",
    "bot is not a member",
    "not enough rights",
    "have no rights",
    "chat_write_forbidden",
    "chat_restricted",
    "chat_admin_required",
    "group chat was upgraded",
    "group is deactivated",
    "message thread not found",
    "topic_closed",
    "topic_deleted",
)
_NEVER_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.ProxyError)
"""What goes wrong before the first byte of a call has left."""


def translated(error: TelegramError) -> GatewayError:
    """What its catcher can do about it."""
    match error:
        case Flood():
            return TooManyCalls(f"Telegram asks us to wait {error.after:g} s", after=error.after)
        case _ if isinstance(error.__cause__, Garbled) or isinstance(error, Garbled):
            return PlatformBusy("Telegram's answer is not one of the Bot API; a proxy in between?", unsure=True)
        case InvalidToken():
            return TokenRefused("Telegram refused the token")
        case Conflict():
            return SecondPoller("somebody else fetches updates with this token")
        case ChatMigrated():
            return ChatMoved(str(error.new_chat_id))
        case Forbidden():
            return ChatGone("Telegram does not let us write to this chat")
        case BadRequest():
            return _translated_bad_request(error.message.lower())
        case TimedOut():
            return PlatformBusy("Telegram did not answer in time", unsure=_may_have_arrived(error))
        case _:
            reason = "Telegram could not be reached or has trouble of its own"
            return PlatformBusy(reason, unsure=_may_have_arrived(error))


def _may_have_arrived(error: TelegramError) -> bool:
    """Whether Telegram may have done what it was asked, although we do not know.

    Of a 500 nobody says whether it came before or after: it counts as unknown too.
    """
    return not isinstance(error.__cause__, _NEVER_SENT)


def _translated_bad_request(problem: str) -> GatewayError:
    if _any_in(_SAYS_NOT_MODIFIED, problem):
        return NotModified("the message already looks like that")
    if _any_in(_SAYS_NOT_DELETABLE, problem):
        return NotDeletable("the message is too old to be deleted, or somebody else's")
    if _any_in(_SAYS_MESSAGE_GONE, problem):
        return MessageGone("the message is gone or may not be changed")
    if _any_in(_SAYS_CHAT_GONE, problem):
        return ChatGone("Telegram does not know this chat or does not let us write there")
    if _any_in(_SAYS_BAD_ENTITIES, problem):
        return EntitiesRefused("Telegram refused the formats of a message")
    return Broken("Telegram refused a call as malformed (400)")


def _any_in(signs: tuple[str, ...], problem: str) -> bool:
    return any(sign in problem for sign in signs)
