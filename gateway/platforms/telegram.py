"""The Telegram adapter: what `app` builds when there is a token.

Receiving is `telegram_polling` or `telegram_webhook`, translating `telegram_updates`, formats `telegram_markup`,
the SDK and its errors `telegram_api`, how often we may speak `gates`. `app` imports this module when there is a
token, so that whoever has no Telegram does not wait for its SDK.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Protocol

from gateway.chat import Chat, CommandSpec, OutgoingMessage
from gateway.errors import ConfigError, GatewayError, PlatformBusy
from gateway.platforms import telegram_errors, telegram_markup, telegram_menu
from gateway.platforms.gates import TELEGRAM_RATES, Gates, Pauses, Rates
from gateway.platforms.telegram_api import TelegramApi
from gateway.platforms.telegram_errors import TokenRefused, TooManyCalls
from gateway.platforms.telegram_handing import Handing
from gateway.platforms.telegram_handing import WebhookAddress as WebhookAddress
from gateway.platforms.telegram_health import Health
from gateway.platforms.telegram_markup import Rendered
from gateway.platforms.telegram_pieces import Me
from gateway.platforms.telegram_polling import Polling
from gateway.platforms.telegram_updates import GENERAL_TOPIC
from gateway.ports import Clock, PlatformHealth, Receiver

log = logging.getLogger(__name__)

POLL_SECONDS = 30
WAIT_FOR_TOKEN_SECONDS = 60.0
MOST_FORUMS = 1000
"""So many are remembered; anybody can put a bot into groups."""
NO_CHAT = ""
"""The gate of what is said in no chat."""


class Receiving(Protocol):
    """Polling or Webhook."""

    health: Health

    async def connect(self) -> Me: ...

    async def receive(self, handing: Handing) -> None: ...

    def close(self) -> None: ...


class TelegramPlatform:
    """One bot on Telegram; see ports.Platform for what its methods promise.

    `base_url` is the root of a local Bot API server, "" for Telegram's own. `commands` are the menu.
    `token_setting` is what a refused token is blamed on. Without `webhook` it polls.
    """

    name = "telegram"

    def __init__(
        self,
        token: str,
        base_url: str,
        clock: Clock,
        commands: Sequence[CommandSpec] = (),
        *,
        token_setting: str = "TELEGRAM_BOT_TOKEN",
        webhook: WebhookAddress | None = None,
        rates: Rates = TELEGRAM_RATES,
        poll_seconds: int = POLL_SECONDS,
        pause_seconds: float = 1.0,
    ) -> None:
        self._api = TelegramApi(token, base_url)
        self._clock = clock
        self._commands = tuple(commands)
        self._token_setting = token_setting
        self._username = ""
        self._forums: set[str] = set()
        """Groups with topics: there General has a number for "typing", and for nothing else."""
        self._gates = Gates(rates)
        self._pauses = Pauses()
        self._receiving: Receiving = (
            Polling(self._api, clock, poll_seconds, pause_seconds)
            if webhook is None
            else _webhook(self._api, clock, webhook, pause_seconds)
        )

    def serves(self, chat: Chat) -> bool:
        """See ports.Platform."""
        return chat.platform == self.name

    async def run(self, receiver: Receiver, ready: Callable[[], None]) -> None:
        """See ports.Platform."""
        try:
            me = await self._receiving.connect()
            self._username = me.username
            ready()
            await self._show_commands()
            await self._receive(receiver, me)
        except TokenRefused:
            raise ConfigError([self._token_refused()]) from None

    async def _receive(self, receiver: Receiver, me: Me) -> None:
        # Acknowledging taps is done beside the receiving: a slow call must not hold up the next message.
        async with asyncio.TaskGroup() as tasks:

            def acknowledge(tap: str, toast: str) -> None:
                tasks.create_task(self._acknowledge(tap, toast))

            handing = Handing(self._api, receiver, me, self._clock, acknowledge, self._saw_forum)
            await self._receiving.receive(handing)

    async def _acknowledge(self, tap: str, toast: str) -> None:
        """Stop the button's spinner. The tap counts whether or not this arrives."""
        try:
            async with self._turn(NO_CHAT):
                await self._api.acknowledge(tap, toast)
        except Exception as error:  # noqa: BLE001 - a task of the group: it would end the receiving
            log.warning("telegram.tap_not_acknowledged", extra={"error": type(error).__name__})

    async def send(self, message: OutgoingMessage) -> str:
        """See ports.Platform. A change of a message that is gone is left out: nobody can see it any more."""
        rendered = telegram_markup.render(message.text)
        try:
            return await self._show_without_formats_if_refused(message, rendered)
        except telegram_errors.NotModified:
            return message.edits
        except telegram_errors.MessageGone:
            log.info("telegram.edited_message_gone", extra={"chat": message.chat.key})
            return message.edits
        except TokenRefused:
            # What is to be said waits until the operator has put the token right.
            raise PlatformBusy(self._token_refused(), after=WAIT_FOR_TOKEN_SECONDS, everywhere=True) from None

    async def delete(self, chat: Chat, message_ids: Sequence[str]) -> Sequence[str]:
        """See ports.Platform. One call each: a call for several does not say which of them it left."""
        gone: list[str] = []
        try:
            for id in message_ids:
                async with self._turn(chat.id):
                    if await self._api.delete(chat.id, id):
                        gone.append(id)
        except TokenRefused:
            raise PlatformBusy(self._token_refused(), after=WAIT_FOR_TOKEN_SECONDS, everywhere=True) from None
        return gone

    async def _show_without_formats_if_refused(self, message: OutgoingMessage, rendered: Rendered) -> str:
        try:
            return await self._show(message, rendered)
        except telegram_errors.EntitiesRefused:
            log.warning("telegram.formats_refused", extra={"chat": message.chat.key})
            return await self._show(message, replace(rendered, entities=()))

    async def _show(self, message: OutgoingMessage, rendered: Rendered) -> str:
        async with self._turn(message.chat.id):
            if message.file is not None:
                return await self._api.send_file(message, rendered, message.file)
            if not message.edits:
                return await self._api.send(message, rendered)
            await self._api.edit(message, rendered)
            return message.edits

    async def typing(self, chat: Chat) -> None:
        """See ports.Platform. Left out when it would have to wait: it is worth no message's place."""
        if self._pauses.left(chat.id, _now()).seconds or not self._gates.take_if_free(chat.id):
            return
        try:
            is_general = not chat.thread and chat.id in self._forums
            await self._api.show_typing(chat.id, GENERAL_TOPIC if is_general else chat.thread)
        except TooManyCalls as busy:
            self._pauses.told(chat.id, busy.after, _now())
        except GatewayError as error:
            log.debug("telegram.typing_failed", extra={"error": type(error).__name__})

    def chunks(self, text: str) -> tuple[str, ...]:
        """See ports.Platform."""
        return telegram_markup.chunks(text)

    def health(self) -> PlatformHealth:
        """See ports.Platform."""
        return replace(self._receiving.health.now(), account=self._username)

    async def close(self) -> None:
        """See ports.Platform."""
        self._receiving.close()
        await self._api.close()

    # -- taking turns ------------------------------------------------------------------------------------

    @asynccontextmanager
    async def _turn(self, key: str) -> AsyncIterator[None]:
        """Wait until something may be said in this chat. A call in a pause that Telegram asked for is not made.

        Raises TooManyCalls with how long the pause is, or still is.
        """
        self._check_pause(key)
        await self._gates.wait(key)
        self._check_pause(key)
        try:
            yield
        except TooManyCalls as busy:
            everywhere = self._pauses.told(key, busy.after, _now())
            raise TooManyCalls(str(busy), after=busy.after, everywhere=everywhere) from None

    def _check_pause(self, key: str) -> None:
        pause = self._pauses.left(key, _now())
        if pause.seconds:
            reason = "Telegram asked us to wait"
            raise TooManyCalls(reason, after=pause.seconds, everywhere=pause.everywhere)

    # -- small things ------------------------------------------------------------------------------------

    async def _show_commands(self) -> None:
        """The menu is a nicety: without it the bot still works."""
        try:
            await telegram_menu.show(self._api, self._commands)
        except GatewayError as error:
            log.warning("telegram.menu_not_set", extra={"error": type(error).__name__})

    def _saw_forum(self, group: str) -> None:
        if len(self._forums) >= MOST_FORUMS:
            self._forums.clear()
        self._forums.add(group)

    def _token_refused(self) -> str:
        setting = self._token_setting
        return f"Telegram refused the token (401). Check {setting}."


def _now() -> float:
    """The time that pauses are counted in; it never jumps."""
    return asyncio.get_running_loop().time()


def _webhook(api: TelegramApi, clock: Clock, address: WebhookAddress, pause_seconds: float) -> Receiving:
    # A bot that polls does not wait for the web server's libraries.
    from gateway.platforms.telegram_webhook import Webhook

    return Webhook(api, clock, address, pause_seconds)
