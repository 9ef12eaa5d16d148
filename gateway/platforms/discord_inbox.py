"""Events in, messages out: who waits for whom, and how a gap is closed.

At every start and after each lost session the history of every known chat is read from its last kept message on
(`discord_gaps`). What comes meanwhile waits behind it in the same line (`discord_lines`). Commands and presses are
`discord_interactions`.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from functools import partial

from gateway.chat import Chat, CommandSpec, IncomingMessage
from gateway.errors import ChatGone
from gateway.platforms import discord_updates
from gateway.platforms.discord_api import DiscordApi
from gateway.platforms.discord_gaps import Histories
from gateway.platforms.discord_interactions import Interactions
from gateway.platforms.discord_lines import Lines, Work, until_kept
from gateway.platforms.discord_places import Places
from gateway.platforms.discord_updates import Json, Me, Place
from gateway.ports import Receiver

log = logging.getLogger(__name__)


class Inbox:
    """What the websocket hands events to, for one run of the bot. `ready` is called at its first session."""

    def __init__(
        self,
        receiver: Receiver,
        api: DiscordApi,
        me: Me,
        commands: Sequence[CommandSpec],
        tasks: asyncio.TaskGroup,
        ready: Callable[[], None],
    ) -> None:
        self._receiver = receiver
        self._me = me
        self._tasks = tasks
        self._ready: Callable[[], None] | None = ready
        self._lines = Lines(tasks)
        self._interactions = Interactions(receiver, api, commands, self._lines, tasks)
        self._places = Places(api)
        self._histories = Histories(api)
        self._handed_over: dict[str, int] = {}
        """In each channel, the newest message that went to the receiver in this run."""
        self._warned_of_empty = False
        self._unread_gaps = 0

    @property
    def has_caught_up(self) -> bool:
        """Whether every gap has been read that is known of."""
        return not self._unread_gaps

    def take(self, event: str, data: Json) -> None:
        """One event. Never raises: a damaged one is left out."""
        try:
            self._take(event, data)
        except Exception as error:  # noqa: BLE001 - any error: the event is not what Discord describes
            log.warning("discord.event_skipped", extra={"kind": event, "error": type(error).__name__})

    def _take(self, event: str, data: Json) -> None:
        match event:
            case "READY":
                self._begin_session()
            case "MESSAGE_CREATE":
                if discord_updates.is_for_us(data):
                    self._lines.put(str(data["channel_id"]), partial(self._live, data, self._receiver.message))
            case "MESSAGE_UPDATE":
                if discord_updates.is_edit(data) and discord_updates.is_for_us(data):
                    self._lines.put(str(data["channel_id"]), partial(self._live, data, self._receiver.edit))
            case "INTERACTION_CREATE":
                self._interactions.take(data)
            case _:
                self._places.learn(event, data)

    def _begin_session(self) -> None:
        """What comes from here on waits until it is known which chats have a gap before it."""
        if self._ready is not None:
            self._ready()
            self._ready = None
        self._unread_gaps += 1  # all of them together, until it is known which
        self._lines.hold()
        self._tasks.create_task(self._close_gaps())

    async def _close_gaps(self) -> None:
        """Put the reading of each known channel's history before everything that has come meanwhile."""
        first: list[tuple[str, Work]] = []

        async def ask() -> None:
            kept = await self._receiver.last_kept(discord_updates.PLATFORM)
            for chat, message in kept.items():
                after = message.rpartition(":")[2]  # an interaction's id is a moment, too
                if after.isdecimal():
                    first.append((discord_updates.channel_of(chat), partial(self._read_gap, chat, int(after))))

        await until_kept(ask)
        self._unread_gaps += len(first) - 1
        self._lines.release(first)

    async def _read_gap(self, chat: Chat, kept: int) -> None:
        """What was said after the last message that was kept, or handed over since."""
        after = max(kept, self._handed_over.get(discord_updates.channel_of(chat), 0))
        try:
            for raw in await self._histories.since(chat, after):
                if discord_updates.is_for_us(raw):
                    await self._hand_over(raw, self._places.of, self._receiver.message)
        finally:
            self._unread_gaps -= 1

    async def _live(self, raw: Json, give: Callable[[IncomingMessage], Awaitable[object]]) -> None:
        await self._hand_over(raw, self._places.of_live, give)

    async def _hand_over(
        self,
        raw: Json,
        find: Callable[[Json], Awaitable[Place]],
        give: Callable[[IncomingMessage], Awaitable[object]],
    ) -> None:
        async def find_and_give() -> None:
            try:
                where = await find(raw)
            except ChatGone:
                log.info("discord.channel_gone", extra={"channel": raw["channel_id"]})
                return
            message = discord_updates.message(raw, where, self._me)
            if message is not None:
                await give(message)
            elif not where.is_group_dm:
                self._warn_of_empty()

        await until_kept(find_and_give)
        channel, number = str(raw["channel_id"]), int(raw["id"])
        self._handed_over[channel] = max(number, self._handed_over.get(channel, 0))

    def _warn_of_empty(self) -> None:
        """Without the switch for it, Discord leaves out what people say: the bot would look deaf."""
        if not self._warned_of_empty:
            self._warned_of_empty = True
            log.warning("discord.message_without_content", extra={"check": "MESSAGE CONTENT INTENT"})
