"""The Discord adapter: what `app` builds when there is a token.

The websocket is `discord_gateway`, what becomes of its events `discord_inbox`, calls and errors `discord_api`;
translating is `discord_updates`, `discord_commands` and `discord_views`. `app` imports this module when there is a
token, so that whoever has no Discord does not wait for its SDK.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import replace

from gateway.chat import Chat, CommandSpec, OutgoingMessage
from gateway.errors import ConfigError, GatewayError, PlatformBusy
from gateway.platforms import discord_commands, discord_gateway, discord_markup, discord_updates
from gateway.platforms.discord_api import DiscordApi
from gateway.platforms.discord_gateway import Gateway
from gateway.platforms.discord_http import MessageGone, TokenRefused
from gateway.platforms.discord_inbox import Inbox
from gateway.platforms.discord_updates import Me
from gateway.ports import Clock, PlatformHealth, Receiver

log = logging.getLogger(__name__)

WAIT_FOR_TOKEN_SECONDS = 60.0
LONGEST_PAUSE_SECONDS = 30.0
TRIES_FOR_THE_MENU = 5


class DiscordPlatform:
    """One bot on Discord; see ports.Platform for what its methods promise.

    `base_url` and `gateway_url` are for another server than Discord's own, "" for Discord's. `commands` become the
    slash commands. `token_setting` is what a refused token is blamed on.
    """

    name = discord_updates.PLATFORM

    def __init__(
        self,
        token: str,
        base_url: str,
        gateway_url: str,
        clock: Clock,
        commands: Sequence[CommandSpec] = (),
        *,
        token_setting: str = "DISCORD_BOT_TOKEN",
        pause_seconds: float = 1.0,
        heartbeat_timeout: float = discord_gateway.HEARTBEAT_TIMEOUT_SECONDS,
    ) -> None:
        self._api = DiscordApi(token, base_url)
        self._gateway = Gateway(gateway_url, clock, pause_seconds, heartbeat_timeout)
        self._commands = tuple(commands)
        self._token_setting = token_setting
        self._pause_seconds = pause_seconds
        self._username = ""
        self._inbox: Inbox | None = None

    def serves(self, chat: Chat) -> bool:
        """See ports.Platform."""
        return chat.platform == self.name

    async def run(self, receiver: Receiver, ready: Callable[[], None]) -> None:
        """See ports.Platform. Also a ConfigError when Discord does not give us what people say."""
        try:
            me = await self._connect()
            async with asyncio.TaskGroup() as tasks:
                inbox = self._inbox = Inbox(receiver, self._api, me, self._commands, tasks, ready)
                tasks.create_task(self._show_commands())
                await self._gateway.receive(self._api.http, inbox.take)
        except TokenRefused:
            raise self._token_refused() from None
        except ExceptionGroup as group:
            # Tasks of the group raise nothing, so it holds what the websocket ended with.
            raise self._token_refused() if group.subgroup(TokenRefused) else group.exceptions[0] from None

    async def send(self, message: OutgoingMessage) -> str:
        """See ports.Platform. A change of a message that is gone is left out: nobody can see it any more."""
        try:
            if not message.edits:
                return await self._api.send(message)
            await self._api.edit(message)
        except MessageGone:
            log.info("discord.edited_message_gone", extra={"chat": message.chat.key})
        except TokenRefused:
            # What is to be said waits until the operator has put the token right.
            raise PlatformBusy(str(self._token_refused()), after=WAIT_FOR_TOKEN_SECONDS) from None
        return message.edits

    async def delete(self, chat: Chat, message_ids: Sequence[str]) -> Sequence[str]:
        """See ports.Platform."""
        channel = discord_updates.channel_of(chat)
        gone: list[str] = []
        try:
            for id in message_ids:
                if await self._api.delete(channel, id):
                    gone.append(id)
        except TokenRefused:
            raise PlatformBusy(str(self._token_refused()), after=WAIT_FOR_TOKEN_SECONDS) from None
        return gone

    async def typing(self, chat: Chat) -> None:
        """See ports.Platform."""
        try:
            await self._api.show_typing(discord_updates.channel_of(chat))
        except GatewayError as error:
            log.debug("discord.typing_failed", extra={"error": type(error).__name__})

    def chunks(self, text: str) -> tuple[str, ...]:
        """See ports.Platform."""
        return discord_markup.chunks(text)

    def health(self) -> PlatformHealth:
        """See ports.Platform."""
        now = self._gateway.health.now()
        caught_up = now.state == "ok" and self._inbox is not None and self._inbox.has_caught_up
        return replace(now, account=self._username, caught_up=caught_up)

    async def close(self) -> None:
        """See ports.Platform."""
        await self._api.close()

    async def _connect(self) -> Me:
        """Until Discord answers. Raises TokenRefused when it does not take our token."""
        pause = self._pause_seconds
        while True:
            try:
                me = await self._api.connect()
            except TokenRefused:
                raise
            except GatewayError as error:
                self._gateway.health.trouble("discord.unreachable", type(error).__name__)
                await asyncio.sleep(max(pause, error.after if isinstance(error, PlatformBusy) else 0.0))
                pause = min(pause * 2, LONGEST_PAUSE_SECONDS)
            else:
                self._username = me.username
                return me

    async def _show_commands(self) -> None:
        """Once per start, and only if Discord shows others: it counts how often we change them."""
        for _ in range(TRIES_FOR_THE_MENU):
            try:
                menu = discord_commands.menu(self._commands)
                if not discord_commands.same(menu, await self._api.commands()):
                    await self._api.set_commands(menu)
                    log.info("discord.commands_set", extra={"count": len(menu)})
            except PlatformBusy as busy:
                await asyncio.sleep(busy.after)
            except (GatewayError, KeyError, TypeError) as error:
                log.warning("discord.commands_not_set", extra={"error": type(error).__name__})
                return
            else:
                return
        log.warning("discord.commands_not_set", extra={"error": "PlatformBusy"})

    def _token_refused(self) -> ConfigError:
        self._gateway.health.state = "refused"
        return ConfigError([f"Discord refused the token. Check {self._token_setting}."])
