"""python-telegram-bot behind a door: calls go in, our errors come out.

Only here is PTB imported, and only when Telegram is on. Three of its habits are kept outside: it logs what it
cannot parse (people's words), its errors quote the server and the token, and one update that it cannot read
costs the whole batch.
"""

import asyncio
import json
import logging
from collections.abc import Awaitable, Coroutine, Sequence
from typing import Any, TypeVar

from telegram import (
    Bot,
    BotCommand,
    InlineKeyboardButton,
    InlineKeyboardMarkup,
    LinkPreviewOptions,
    MessageEntity,
    ReplyParameters,
    Update,
)
from telegram.error import (
    BadRequest,
    ChatMigrated,
    Conflict,
    Forbidden,
    InvalidToken,
    NetworkError,
    TelegramError,
    TimedOut,
)
from telegram.request import HTTPXRequest

from gateway.chat import Button, OutgoingMessage
from gateway.errors import Broken, ChatGone, GatewayError, PlatformBusy
from gateway.platforms.telegram_markup import Entity, Rendered
from gateway.platforms.telegram_updates import Me

RECEIVED = ("message", "callback_query")
"""The kinds of updates that we ask for."""
GENERAL_TOPIC = "1"
"""Telegram refuses this thread id: the General topic is the group without one."""
ANSWER_SECONDS = 15.0
CLOSING_SECONDS = 2.0

Result = TypeVar("Result")


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


class TelegramApi:
    """The calls that we make. Raises PlatformBusy, ChatGone, Broken and the errors above, nothing else."""

    def __init__(self, token: str, base_url: str) -> None:
        _quieten()
        # An own server is reached directly, whatever proxy the machine uses for the internet.
        direct = {"trust_env": False} if base_url else {}
        self._fetching = _Request(
            connection_pool_size=1, read_timeout=ANSWER_SECONDS, connect_timeout=10, httpx_kwargs=direct
        )
        self._calling = _Request(
            connection_pool_size=32,
            read_timeout=ANSWER_SECONDS,
            connect_timeout=10,
            pool_timeout=ANSWER_SECONDS,
            httpx_kwargs=direct,
        )
        root = base_url.rstrip("/") or "https://api.telegram.org"
        self._bot = _Bot(token, base_url=f"{root}/bot", get_updates_request=self._fetching, request=self._calling)
        self._under_way: set[asyncio.Task[Any]] = set()

    async def connect(self) -> Me:
        """Say hello, and switch a webhook off: it would keep updates from us."""
        await asyncio.gather(self._fetching.initialize(), self._calling.initialize())
        me = await _ours(self._bot.get_me())
        await _ours(self._bot.delete_webhook(drop_pending_updates=False))
        return Me(me.id, me.username or "")

    async def close(self) -> None:
        """Both connections; PTB's own shutdown passes over a bot that never asked who it is."""
        if self._under_way:
            await asyncio.wait(tuple(self._under_way), timeout=CLOSING_SECONDS)
        await asyncio.gather(self._fetching.shutdown(), self._calling.shutdown())

    async def fetch(self, offset: int | None, wait_seconds: int) -> list[dict[str, Any]]:
        """One long poll; raw, since each update must be able to fail alone."""
        patience = wait_seconds + ANSWER_SECONDS
        try:
            # The SDK's own time-out starts again with each byte; a server that drips would hold us for ever.
            async with asyncio.timeout(patience + 5):
                return await _ours(self._bot.fetch(offset, wait_seconds, patience))
        except TimeoutError:
            raise PlatformBusy("Telegram keeps a poll open without answering it") from None

    async def reconnect(self) -> None:
        """Throw the connection for polls away: half-open ones can block it without any error."""
        await self._fetching.shutdown()
        await self._fetching.initialize()

    def read(self, raw: dict[str, Any]) -> Update:
        """One update as PTB's object; raises whatever PTB raises on a damaged one."""
        return Update.de_json(raw, self._bot)

    async def send(self, message: OutgoingMessage, rendered: Rendered) -> str:
        sent = await self._call(
            self._bot.send_message(
                chat_id=int(message.chat.id),
                text=rendered.text,
                entities=_entities(rendered.entities),
                message_thread_id=_thread(message.chat.thread),
                reply_parameters=_reply(message.reply_to),
                reply_markup=_keyboard(message.buttons),
                disable_notification=message.silent or None,
                link_preview_options=LinkPreviewOptions(is_disabled=True),
            )
        )
        return str(sent.message_id)

    async def edit(self, message: OutgoingMessage, rendered: Rendered) -> None:
        """Without buttons in `message`, the ones that are there go."""
        await self._call(
            self._bot.edit_message_text(
                chat_id=int(message.chat.id),
                message_id=int(message.edits),
                text=rendered.text,
                entities=_entities(rendered.entities),
                reply_markup=_keyboard(message.buttons),
                link_preview_options=LinkPreviewOptions(is_disabled=True),
            )
        )

    async def acknowledge(self, tap: str, toast: str) -> None:
        await self._call(self._bot.answer_callback_query(tap, text=toast[:200] or None))

    async def show_typing(self, chat: str, thread: str) -> None:
        await self._call(self._bot.send_chat_action(int(chat), action="typing", message_thread_id=_thread(thread)))

    async def commands(self) -> list[tuple[str, str]]:
        return [(one.command, one.description) for one in await self._call(self._bot.get_my_commands())]

    async def set_commands(self, commands: Sequence[tuple[str, str]]) -> None:
        await self._call(self._bot.set_my_commands([BotCommand(name, what) for name, what in commands]))

    async def _call(self, call: Coroutine[Any, Any, Result]) -> Result:
        """The result of a call, which is never cut off: a cancelled one would keep its place in the pool.

        Whoever awaits it may be cancelled; the call then ends by itself, within its time-out.
        """
        task = asyncio.create_task(_ours(call))
        self._under_way.add(task)
        task.add_done_callback(self._ended)
        return await asyncio.shield(task)

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._under_way.discard(task)
        if not task.cancelled():
            task.exception()  # looked at, so that an abandoned call's error is not reported as lost


class _Bot(Bot):
    """PTB's bot with a getUpdates that returns what the server said."""

    __slots__ = ()

    async def fetch(self, offset: int | None, wait_seconds: int, patience: float) -> list[dict[str, Any]]:
        asked = {"offset": offset, "timeout": wait_seconds, "allowed_updates": list(RECEIVED)}
        answer = await self._post("getUpdates", asked, read_timeout=patience)
        if not isinstance(answer, list):
            raise NetworkError("not a list of updates")
        return answer


class _Request(HTTPXRequest):
    """PTB's HTTP client, silent about what it reads."""

    __slots__ = ()

    async def do_request(self, *args: Any, **kwargs: Any) -> tuple[int, bytes]:
        """Any: the signature is PTB's, and passed on. PTB's own 429 error warns when made; ours does not."""
        status, payload = await super().do_request(*args, **kwargs)
        if status == 429:
            raise _Flood(_retry_after(payload))
        return status, payload

    @staticmethod
    def parse_json_payload(payload: bytes) -> Any:
        """As PTB does it, but without logging the payload. Any: it is what JSON gives."""
        try:
            answer = json.loads(payload.decode("utf-8", "replace"))
        except ValueError:
            raise _Garbled("not JSON") from None
        if not isinstance(answer, dict) or ("result" not in answer and answer.get("ok") is not False):
            raise _Garbled("not an answer of the Bot API")
        return answer


class _Flood(TelegramError):
    """Too many calls; Telegram says how long to wait."""

    def __init__(self, after: float) -> None:
        super().__init__("flood")
        self.after = after


class _Garbled(TelegramError):
    """The answer is not from the Bot API: a proxy's page, half a JSON."""


def _quieten() -> None:
    """The URLs in their lower levels hold the token."""
    for library in ("httpx", "httpcore", "telegram"):
        logging.getLogger(library).setLevel(logging.WARNING)


def _retry_after(payload: bytes) -> float:
    try:
        return max(float(json.loads(payload)["parameters"]["retry_after"]), 0.0)
    except (ValueError, KeyError, TypeError):
        return 5.0


_SAYS_NOT_MODIFIED = ("message is not modified",)
_SAYS_MESSAGE_GONE = ("message to edit not found", "message can't be edited", "message_id_invalid")
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


async def _ours(call: Awaitable[Result]) -> Result:
    """The result of the call, or our error: without PTB's text, and without the chain that would hold it."""
    try:
        return await call
    except TelegramError as error:
        raise _translated(error) from None


def _translated(error: TelegramError) -> GatewayError:
    match error:
        case _Flood():
            return TooManyCalls(f"Telegram asks us to wait {error.after:g} s", after=error.after)
        case _ if isinstance(error.__cause__, _Garbled) or isinstance(error, _Garbled):
            return PlatformBusy("Telegram's answer is not one of the Bot API; a proxy in between?")
        case InvalidToken():
            return TokenRefused("Telegram refused the token")
        case Conflict():
            return SecondPoller("somebody else fetches updates with this token")
        case ChatMigrated():
            return ChatGone("the group became a supergroup with another id")
        case Forbidden():
            return ChatGone("Telegram does not let us write to this chat")
        case BadRequest():
            return _translated_bad_request(error.message.lower())
        case TimedOut():
            return PlatformBusy("Telegram did not answer in time")
        case _:
            return PlatformBusy("Telegram could not be reached or has trouble of its own")


def _translated_bad_request(problem: str) -> GatewayError:
    if _any_in(_SAYS_NOT_MODIFIED, problem):
        return NotModified("the message already looks like that")
    if _any_in(_SAYS_MESSAGE_GONE, problem):
        return MessageGone("the message is gone or may not be changed")
    if _any_in(_SAYS_CHAT_GONE, problem):
        return ChatGone("Telegram does not know this chat or does not let us write there")
    if _any_in(_SAYS_BAD_ENTITIES, problem):
        return EntitiesRefused("Telegram refused the formats of a message")
    return Broken("Telegram refused a call as malformed (400)")


def _any_in(signs: tuple[str, ...], problem: str) -> bool:
    return any(sign in problem for sign in signs)


def _thread(thread: str) -> int | None:
    return int(thread) if thread and thread != GENERAL_TOPIC else None


def _reply(message: str) -> ReplyParameters | None:
    return ReplyParameters(int(message), allow_sending_without_reply=True) if message else None


def _entities(entities: tuple[Entity, ...]) -> list[MessageEntity] | None:
    return [
        MessageEntity(one.type, one.offset, one.length, url=one.url, language=one.language or None)
        for one in entities
    ] or None


def _keyboard(rows: tuple[tuple[Button, ...], ...]) -> InlineKeyboardMarkup | None:
    if not rows:
        return None
    return InlineKeyboardMarkup(
        [[InlineKeyboardButton(one.label, callback_data=one.data) for one in row] for row in rows]
    )
