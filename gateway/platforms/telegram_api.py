"""python-telegram-bot behind a door: calls go in, our errors (`telegram_errors`) come out.

Only these two import PTB, and only when Telegram is on. Three of its habits are kept outside: it logs what it
cannot parse (people's words), its errors quote the server and the token, and one update that it cannot read
costs the whole batch.
"""

import asyncio
import json
import logging
from collections.abc import Awaitable, Coroutine, Sequence
from contextlib import suppress
from typing import Any, TypeVar

from telegram import (
    Bot,
    BotCommand,
    ForceReply,
    InlineKeyboardButton,
    InlineKeyboardMarkup,
    LinkPreviewOptions,
    MessageEntity,
    ReplyParameters,
    Update,
)
from telegram.error import NetworkError, TelegramError
from telegram.request import HTTPXRequest

from gateway.chat import Attachment, Button, OutgoingMessage
from gateway.errors import PlatformBusy
from gateway.platforms import telegram_errors
from gateway.platforms.telegram_markup import Entity, Rendered
from gateway.platforms.telegram_pieces import Me
from gateway.platforms.telegram_updates import GENERAL_TOPIC

RECEIVED = ("message", "edited_message", "callback_query")
"""The kinds of updates that we ask for."""
ANSWER_SECONDS = 15.0
GRACE_SECONDS = 5.0
"""How much longer than its own time-out a poll may take, all its bytes together."""
CLOSING_SECONDS = 2.0

log = logging.getLogger(__name__)

Result = TypeVar("Result")


class TelegramApi:
    """The calls that we make. Raises PlatformBusy, ChatGone, ChatMoved, Broken and those of `telegram_errors`."""

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
        """Open the connections and ask who we are."""
        await asyncio.gather(self._fetching.initialize(), self._calling.initialize())
        me = await _ours(self._bot.get_me())
        return Me(me.id, me.username or "")

    async def switch_webhook_off(self) -> None:
        """It would keep updates from our polls. What waits at Telegram stays there."""
        await self._call(self._bot.delete_webhook(drop_pending_updates=False))

    async def set_webhook(self, url: str, secret: str) -> None:
        """One call at a time: side by side, the second word of a chat could come before the first."""
        await self._call(
            self._bot.set_webhook(
                url,
                secret_token=secret,
                allowed_updates=RECEIVED,
                max_connections=1,
                drop_pending_updates=False,
            )
        )

    async def webhook_url(self) -> str:
        """Where Telegram calls now; "" when nowhere."""
        return (await self._call(self._bot.get_webhook_info())).url

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
            async with asyncio.timeout(patience + GRACE_SECONDS):
                return await _ours(self._bot.fetch(offset, wait_seconds, patience))
        except TimeoutError:
            raise PlatformBusy("Telegram keeps a poll open without answering it") from None

    async def reconnect(self) -> None:
        """Throw the connection for polls away: half-open ones can block it without any error."""
        with suppress(TimeoutError):
            async with asyncio.timeout(CLOSING_SECONDS):
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
                reply_markup=ForceReply() if message.asks else _keyboard(message.buttons),
                disable_notification=message.silent or None,
                link_preview_options=LinkPreviewOptions(is_disabled=True),
            )
        )
        if message.chat.thread not in ("", GENERAL_TOPIC) and str(sent.message_thread_id) != message.chat.thread:
            # In private chats Telegram passes over a topic that is gone, without an error.
            log.warning("telegram.topic_passed_over", extra={"chat": message.chat.key})
        return str(sent.message_id)

    async def send_file(self, message: OutgoingMessage, rendered: Rendered, file: Attachment) -> str:
        sent = await self._call(
            self._bot.send_document(
                chat_id=int(message.chat.id),
                document=file.content,
                filename=file.name,
                caption=rendered.text,
                caption_entities=_entities(rendered.entities),
                message_thread_id=_thread(message.chat.thread),
                disable_notification=message.silent or None,
                disable_content_type_detection=True,
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

    async def delete(self, chat: str, message: str) -> bool:
        """Whether the message is not there any more; False where Telegram leaves it (after 48 hours, others')."""
        try:
            await self._call(self._bot.delete_message(int(chat), int(message)))
        except telegram_errors.MessageGone:
            return True
        except telegram_errors.NotDeletable:
            return False
        return True

    async def acknowledge(self, tap: str, toast: str) -> None:
        await self._call(self._bot.answer_callback_query(tap, text=toast[:200] or None))

    async def show_typing(self, chat: str, thread: str) -> None:
        topic = int(thread) if thread else None  # General's number, which is refused everywhere else, is asked for
        await self._call(self._bot.send_chat_action(int(chat), action="typing", message_thread_id=topic))

    async def commands(self, language: str) -> list[tuple[str, str]]:
        """The menu for people of this language; "" for everybody else's."""
        shown = await self._call(self._bot.get_my_commands(language_code=language or None))
        return [(one.command, one.description) for one in shown]

    async def set_commands(self, commands: Sequence[tuple[str, str]], language: str) -> None:
        menu = [BotCommand(name, what) for name, what in commands]
        await self._call(self._bot.set_my_commands(menu, language_code=language or None))

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
            raise telegram_errors.Flood(telegram_errors.retry_after(payload))
        return status, payload

    @staticmethod
    def parse_json_payload(payload: bytes) -> Any:
        """As PTB does it, but without logging the payload. Any: it is what JSON gives."""
        try:
            answer = json.loads(payload.decode("utf-8", "replace"))
        except ValueError:
            raise telegram_errors.Garbled("not JSON") from None
        if not isinstance(answer, dict) or ("result" not in answer and answer.get("ok") is not False):
            raise telegram_errors.Garbled("not an answer of the Bot API")
        return answer


def _quieten() -> None:
    """The URLs in their lower levels hold the token."""
    for library in ("httpx", "httpcore", "telegram"):
        logging.getLogger(library).setLevel(logging.WARNING)


async def _ours(call: Awaitable[Result]) -> Result:
    """The result of the call, or our error: without PTB's text, and without the chain that would hold it."""
    try:
        return await call
    except TelegramError as error:
        raise telegram_errors.translated(error) from None


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
