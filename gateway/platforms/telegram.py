"""The Telegram adapter: what `app` builds when there is a token.

Receiving is `telegram_polling`, translating `telegram_updates`, formats `telegram_markup`, the SDK and its
errors `telegram_api`. `app` imports this module when there is a token, so that whoever has no Telegram does not
wait for its SDK.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace

from gateway.chat import Chat, OutgoingMessage
from gateway.errors import ConfigError, GatewayError, PlatformBusy
from gateway.platforms import telegram_api, telegram_markup
from gateway.platforms.telegram_api import TelegramApi, TokenRefused
from gateway.platforms.telegram_markup import Rendered
from gateway.platforms.telegram_polling import Polling
from gateway.ports import Clock, PlatformHealth, Receiver

log = logging.getLogger(__name__)

POLL_SECONDS = 30
WAIT_FOR_TOKEN_SECONDS = 60.0


class TelegramPlatform:
    """One bot on Telegram; see ports.Platform for what its methods promise.

    `base_url` is the root of a local Bot API server, "" for Telegram's own. `commands` are the menu: name
    without slash, description. `token_setting` is what a refused token is blamed on.
    """

    name = "telegram"

    def __init__(
        self,
        token: str,
        base_url: str,
        clock: Clock,
        commands: Sequence[tuple[str, str]] = (),
        *,
        token_setting: str = "TELEGRAM_BOT_TOKEN",
        poll_seconds: int = POLL_SECONDS,
        pause_seconds: float = 1.0,
    ) -> None:
        self._api = TelegramApi(token, base_url)
        self._polling = Polling(self._api, clock, poll_seconds, pause_seconds)
        self._commands = tuple(commands)
        self._token_setting = token_setting
        self._username = ""

    def serves(self, chat: Chat) -> bool:
        """See ports.Platform."""
        return chat.platform == self.name

    async def run(self, receiver: Receiver, ready: Callable[[], None]) -> None:
        """See ports.Platform."""
        try:
            me = await self._polling.connect()
            self._username = me.username
            ready()
            await self._show_commands()
            await self._polling.receive(receiver, me)
        except TokenRefused:
            raise ConfigError([self._token_refused()]) from None

    async def send(self, message: OutgoingMessage) -> str:
        """See ports.Platform. A change of a message that is gone is left out: nobody can see it any more."""
        rendered = telegram_markup.render(message.text)
        try:
            return await self._show_without_formats_if_refused(message, rendered)
        except telegram_api.NotModified:
            return message.edits
        except telegram_api.MessageGone:
            log.info("telegram.edited_message_gone", extra={"chat": message.chat.key})
            return message.edits
        except TokenRefused:
            # What is to be said waits until the operator has put the token right.
            raise PlatformBusy(self._token_refused(), after=WAIT_FOR_TOKEN_SECONDS) from None

    async def _show_without_formats_if_refused(self, message: OutgoingMessage, rendered: Rendered) -> str:
        try:
            return await self._show(message, rendered)
        except telegram_api.EntitiesRefused:
            log.warning("telegram.formats_refused", extra={"chat": message.chat.key})
            return await self._show(message, replace(rendered, entities=()))

    async def _show(self, message: OutgoingMessage, rendered: Rendered) -> str:
        if not message.edits:
            return await self._api.send(message, rendered)
        await self._api.edit(message, rendered)
        return message.edits

    async def typing(self, chat: Chat) -> None:
        """See ports.Platform."""
        try:
            await self._api.show_typing(chat.id, chat.thread)
        except GatewayError as error:
            log.debug("telegram.typing_failed", extra={"error": type(error).__name__})

    def chunks(self, text: str) -> tuple[str, ...]:
        """See ports.Platform."""
        return telegram_markup.chunks(text)

    def health(self) -> PlatformHealth:
        """See ports.Platform."""
        return replace(self._polling.health.now(), account=self._username)

    async def close(self) -> None:
        """See ports.Platform."""
        await self._api.close()

    async def _show_commands(self) -> None:
        """The menu is a nicety: without it the bot still works."""
        try:
            if self._commands and await self._api.commands() != list(self._commands):
                await self._api.set_commands(self._commands)
        except GatewayError as error:
            log.warning("telegram.menu_not_set", extra={"error": type(error).__name__})

    def _token_refused(self) -> str:
        setting = self._token_setting
        return f"Telegram refused the token (401). Check {setting}."
