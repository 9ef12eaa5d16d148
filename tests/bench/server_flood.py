"""A flood for benchmarks: many chats that write faster than they may be answered, and one that writes now and then.

The model has to repeat what it is asked (`/model echoes`), so that the answers show what was lost or overtaken.
"""

import asyncio
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise

from aiohttp import web

from tests.bench.load import LOAD, Load

SOME = 100
PATIENCE_SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class Asked:
    """Who writes how much and how fast."""

    chats: int
    each: int
    first: int
    pace: float
    """Seconds between the messages of one chat."""
    quiet: int
    quiet_pace: float

    @property
    def everybody(self) -> range:
        return range(self.first, self.first + self.chats)


@dataclass(frozen=True, slots=True)
class Flooded:
    """How it went."""

    seconds: float
    """From the first message to the last reply."""
    replies: int
    """To the flood and to the quiet chat."""
    lost: int
    overtaken: int
    """Replies that came before the one to an earlier message of their chat, or twice."""
    quiet_waits: list[float]


class Flood:
    """The one that is on. `POST /flood` answers when a hundred replies have come, `POST /flooded` at the end."""

    def __init__(self) -> None:
        self._some = asyncio.Event()
        self._task: asyncio.Task[Flooded] | None = None

    async def flood(self, request: web.Request) -> web.Response:
        """{"chats": 50, "each": 20, "first": 4000, "pace": 1.0, "quiet": 1000, "quiet_pace": 3.0}, in seconds."""
        asked = await request.json()
        self._some.clear()
        self._task = asyncio.create_task(self._run(request.app[LOAD], Asked(**asked)))
        async with asyncio.timeout(PATIENCE_SECONDS):
            await self._some.wait()
        return web.json_response({})

    async def flooded(self, _: web.Request) -> web.Response:
        assert self._task is not None
        return web.json_response(asdict(await self._task))

    async def _run(self, load: Load, asked: Asked) -> Flooded:
        for chat in (asked.quiet, *asked.everybody):
            load.forget_sent(chat)
        began = time.perf_counter()
        waits: list[float] = []
        asking = asyncio.create_task(_write(load, asked))
        quiet = asyncio.create_task(_ask_now_and_then(load, asked, waits))
        replies: dict[int, list[tuple[float, str]]] = {chat: [] for chat in asked.everybody}
        await asyncio.gather(*(self._collect(load, chat, asked.each, replies) for chat in asked.everybody))
        asking.cancel()
        quiet.cancel()
        heard = [[text for _, text in found] for found in replies.values()]
        return Flooded(
            seconds=max(at for found in replies.values() for at, _ in found) - began,
            replies=sum(map(len, heard)) + len(waits),
            lost=sum(len(set(map(str, range(asked.each))).difference(texts)) for texts in heard),
            overtaken=sum(map(_overtaken, heard)),
            quiet_waits=waits,
        )

    async def _collect(self, load: Load, chat: int, each: int, replies: dict[int, list[tuple[float, str]]]) -> None:
        """What one chat is told, until it has as many replies as it wrote messages, or nothing comes any more."""
        found = replies[chat]
        try:
            while len(found) < each:
                found.append(await load.next_sent(chat, PATIENCE_SECONDS))
                if sum(map(len, replies.values())) >= SOME:
                    self._some.set()
        except TimeoutError:
            return


async def _write(load: Load, asked: Asked) -> None:
    for number in range(asked.each):
        for chat in asked.everybody:
            load.says(chat, str(number))
        await asyncio.sleep(asked.pace)


async def _ask_now_and_then(load: Load, asked: Asked, waits: list[float]) -> None:
    """Whether or not the last question has been answered: whoever waits asks again, and both have waited."""
    said: deque[float] = deque()

    async def listen() -> None:
        while True:
            at, _ = await load.next_sent(asked.quiet, PATIENCE_SECONDS)
            waits.append(at - said.popleft())

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(listen())
        while True:
            said.append(time.perf_counter())
            load.says(asked.quiet, "hello")
            await asyncio.sleep(asked.quiet_pace)


def _overtaken(texts: Sequence[str]) -> int:
    numbers = [int(text) if text.isdecimal() else -1 for text in texts]
    return sum(later <= earlier for earlier, later in pairwise(numbers))
