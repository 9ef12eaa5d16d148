"""One line for each channel: what came first is handed over first, and nothing is handed over beside it.

Discord does not send a message again, so what could not be kept waits here and is tried again; whatever came after
it in the same channel waits behind it. After a kill the channel's history has it.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Iterable

from gateway.errors import TryLater

log = logging.getLogger(__name__)

TRIES = 3
"""How often a thing is handed over on which the receiver breaks, before it is given up."""

Work = Callable[[], Awaitable[None]]


class Lines:
    """The lines of all channels. An idle channel has none."""

    def __init__(self, tasks: asyncio.TaskGroup) -> None:
        self._tasks = tasks
        self._lines: dict[str, deque[Work]] = {}
        self._held: list[tuple[str, Work]] = []
        self._holds = 0

    def put(self, channel: str, work: Work) -> None:
        """Do it when everything before it in this channel is done."""
        if self._holds:
            self._held.append((channel, work))
        else:
            self._append(channel, work)

    def hold(self) -> None:
        """Keep what comes from now on back, until `release`."""
        self._holds += 1

    def release(self, before: Iterable[tuple[str, Work]]) -> None:
        """Let go what was kept back, behind `before`."""
        for channel, work in before:
            self._append(channel, work)
        self._holds -= 1
        if not self._holds:
            held, self._held = self._held, []
            for channel, work in held:
                self._append(channel, work)

    def _append(self, channel: str, work: Work) -> None:
        line = self._lines.get(channel)
        if line is None:
            self._lines[channel] = deque([work])
            self._tasks.create_task(self._work_off(channel))
        else:
            line.append(work)

    async def _work_off(self, channel: str) -> None:
        line = self._lines[channel]
        while line:
            try:
                await line[0]()
            except Exception as error:  # noqa: BLE001 - one bad message must not make its channel deaf
                log.warning("discord.message_skipped", extra={"channel": channel, "error": type(error).__name__})
            line.popleft()
        del self._lines[channel]


async def until_kept(give: Callable[[], Awaitable[str | None]]) -> str:
    """Hand a thing over until it is kept, or until it is clear that the receiver breaks on it."""
    broke = 0
    while True:
        try:
            return await give() or ""
        except TryLater as error:
            log.info("discord.not_kept", extra={"after": error.after})
            await asyncio.sleep(error.after)
        except Exception as error:
            broke += 1
            if broke == TRIES:
                log.error("discord.given_up", exc_info=error)
                return ""
