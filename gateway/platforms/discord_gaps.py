"""What was said in a channel while we were away, read from its history.

Reading is bounded: a page is the rule, the newest of a long gap matter more than its middle, and where we may not
read we go on without.
"""

import asyncio
import logging

from gateway.chat import Chat
from gateway.errors import GatewayError, PlatformBusy
from gateway.platforms import discord_api, discord_updates
from gateway.platforms.discord_api import DiscordApi
from gateway.platforms.discord_updates import Json

log = logging.getLogger(__name__)

MOST_OF_A_GAP = 1_000
"""How many messages of one channel are read after a gap, beside its first page."""
READERS = 4
"""How many channels' histories are read at a time."""
TRIES_PER_PAGE = 10
LONGEST_PAUSE_SECONDS = 30.0


class Histories:
    """The histories of the bot's channels."""

    def __init__(self, api: DiscordApi) -> None:
        self._api = api
        self._reading = asyncio.Semaphore(READERS)
        self._unreadable: set[str] = set()

    async def since(self, chat: Chat, message: int) -> list[Json]:
        """The messages after that one, oldest first."""
        first = await self._page(chat, after=str(message))
        if len(first) < discord_api.PAGE:
            return first
        return first + await self._newest(chat, int(first[-1]["id"]))

    async def _newest(self, chat: Chat, after: int) -> list[Json]:
        """Read backwards: of a gap that is too long, the present matters more than the middle.

        In a busy channel everything since the bot was called last is "a gap", however short it was away.
        """
        found: list[Json] = []
        while len(found) < MOST_OF_A_GAP:
            bound = {"before": str(found[0]["id"])} if found else {}
            page = await self._page(chat, **bound)
            found = [raw for raw in page if int(raw["id"]) > after] + found
            if len(page) < discord_api.PAGE or int(page[0]["id"]) <= after:
                return found
        log.warning("discord.gap_too_long", extra={"chat": chat.key, "read": len(found)})
        return found

    async def _page(self, chat: Chat, **bound: str) -> list[Json]:
        """Some messages; none where we may not read, or where Discord has long been unable to tell."""
        for attempt in range(TRIES_PER_PAGE):
            try:
                async with self._reading:
                    return await self._api.history(discord_updates.channel_of(chat), **bound)
            except PlatformBusy as busy:
                await asyncio.sleep(min(busy.after * 2.0**attempt, max(busy.after, LONGEST_PAUSE_SECONDS)))
            except GatewayError as error:
                self._note_unreadable(chat, error)
                return []
        log.error("discord.history_not_read", extra={"chat": chat.key})
        return []

    def _note_unreadable(self, chat: Chat, error: GatewayError) -> None:
        if chat.key not in self._unreadable:
            self._unreadable.add(chat.key)
            log.warning("discord.history_closed", extra={"chat": chat.key, "error": type(error).__name__})
