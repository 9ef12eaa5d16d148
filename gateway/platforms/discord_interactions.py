"""Slash commands, presses, dialogs and suggestions: acknowledged at once, then handed over.

Discord allows 3 seconds for the first answer and does not send an interaction twice. Translating is
`discord_commands` and `discord_views`.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from typing import Any

from gateway.chat import CommandSpec, Dialog, IncomingMessage, Tap
from gateway.errors import GatewayError, PlatformBusy, TryLater
from gateway.platforms import discord_api, discord_commands, discord_updates, discord_views
from gateway.platforms.discord_api import DiscordApi
from gateway.platforms.discord_commands import MOST_SUGGESTIONS
from gateway.platforms.discord_lines import Lines, until_kept
from gateway.platforms.discord_markup import clip
from gateway.platforms.discord_updates import Json
from gateway.ports import Receiver

log = logging.getLogger(__name__)

ACKNOWLEDGE_TRIES = 2
ANSWER_SECONDS = 2.0
"""How long a dialog or a suggestion may take, of the three seconds that Discord waits."""

_COMMAND, _COMPONENT, _TYPING, _DIALOG = 2, 3, 4, 5
_LONGEST_CHOICE = 100


class Interactions:
    """What people do other than write."""

    def __init__(
        self,
        receiver: Receiver,
        api: DiscordApi,
        commands: Sequence[CommandSpec],
        lines: Lines,
        tasks: asyncio.TaskGroup,
    ) -> None:
        self._receiver = receiver
        self._api = api
        self._commands = commands
        self._lines = lines
        self._tasks = tasks

    def take(self, raw: Json) -> None:
        """One interaction, not waited for. Groups without a server are no place for the bot."""
        if discord_updates.place(raw.get("channel") or {}).is_group_dm:
            return
        kind = raw["type"]
        if kind == _COMMAND:
            self._command(raw)
        elif kind == _TYPING:
            self._start(self._suggest(raw))
        elif kind in (_COMPONENT, _DIALOG):
            self._start(self._press(raw))

    def _command(self, raw: Json) -> None:
        """Acknowledged at once, handed over behind what was said before it."""
        private = bool(discord_commands.server(raw)) and discord_commands.is_private(self._commands, raw)
        message = discord_commands.message(self._commands, raw, discord_api.way(raw, private=private))
        heard = self._tasks.create_task(self._acknowledge(partial(self._api.defer, raw, private=private)))

        async def give() -> None:
            # Where Discord did not hear us in time the command counts all the same; only what may be said to
            # everybody there can then be answered in the chat.
            open_again = not await heard and not private
            told = discord_commands.message(self._commands, raw, "") if open_again else message
            if not await self._is_answered(told) and await heard:
                await self._withdraw(raw)

        self._lines.put(str(raw["channel_id"]), give)

    async def _is_answered(self, command: IncomingMessage) -> bool:
        answered = False

        async def give() -> None:
            nonlocal answered
            answered = await self._receiver.message(command)

        await until_kept(give)
        return answered

    async def _withdraw(self, raw: Json) -> None:
        """Nothing is said to it: "… is thinking" would stand there for a quarter of an hour."""
        try:
            await self._api.withdraw(raw)
        except GatewayError as error:
            log.info("discord.not_withdrawn", extra={"error": type(error).__name__})

    async def _press(self, raw: Json) -> None:
        tap = discord_views.tap(raw)
        if tap is not None and discord_views.asks(raw):
            await self._ask(raw, tap)
            return
        heard = self._tasks.create_task(self._acknowledge(partial(self._api.defer_update, raw)))
        toast = await until_kept(lambda: self._receiver.tap(tap)) if tap is not None else ""
        if await heard and toast:
            await self._api.toast(raw, toast)

    async def _ask(self, raw: Json, tap: Tap) -> None:
        """A dialog must be the first answer, so here the receiver is asked before Discord is answered."""
        question: Dialog | str = ""
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                question = await self._receiver.dialog(tap)
        except (TryLater, TimeoutError) as error:
            log.warning("discord.dialog_not_opened", extra={"error": type(error).__name__})
        if isinstance(question, Dialog):
            await self._acknowledge(partial(self._api.open_dialog, raw, discord_views.dialog(question, tap.data)))
        elif question:
            await self._acknowledge(partial(self._api.answer_privately, raw, question))
        else:
            await self._acknowledge(partial(self._api.defer_update, raw))

    async def _suggest(self, raw: Json) -> None:
        typing = discord_commands.typing(self._commands, raw)
        server = discord_commands.server(raw)
        where = discord_updates.place(raw.get("channel") or {}, server)
        chat = discord_updates.chat(str(raw["channel_id"]), where)
        person = discord_updates.person(discord_commands.who(raw)["id"])
        choices: list[Json] = []
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                found = await self._receiver.suggest(person, chat, server, typing.command, typing.typed)
            choices = [{"name": clip(one.label, _LONGEST_CHOICE), "value": one.value} for one in found if one.value]
        except (TryLater, TimeoutError) as error:
            log.info("discord.nothing_suggested", extra={"error": type(error).__name__})
        await self._acknowledge(partial(self._api.suggest, raw, choices[:MOST_SUGGESTIONS]))

    async def _acknowledge(self, call: Callable[[], Coroutine[Any, Any, None]]) -> bool:
        """Whether Discord heard us. A call that got lost is made once more; there is no time for a third."""
        for _ in range(ACKNOWLEDGE_TRIES):
            try:
                await call()
            except PlatformBusy as busy:
                log.info("discord.acknowledged_again", extra={"after": busy.after})
            except GatewayError as error:
                log.info("discord.not_acknowledged", extra={"error": type(error).__name__})
                return False
            else:
                return True
        return False

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        self._tasks.create_task(self._guarded(work))

    async def _guarded(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except GatewayError as error:
            log.info("discord.interaction_not_answered", extra={"error": type(error).__name__})
        except Exception as error:  # noqa: BLE001 - a task of the run's group: it would take the run down
            log.warning("discord.event_skipped", extra={"error": type(error).__name__})
