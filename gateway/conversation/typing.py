"""Shows "typing" in a chat while an answer is being thought."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

from gateway.chat import Chat

TYPING_AFTER_SECONDS = 0.5
TYPING_EVERY_SECONDS = 4.0


class typing:
    """Shows "typing" while the body runs, unless it is quick; ends with it."""

    def __init__(self, show: Callable[[Chat], Awaitable[None]], chat: Chat) -> None:
        self._show = show
        self._chat = chat

    async def __aenter__(self) -> None:
        self._task = asyncio.create_task(self._keep_showing())

    async def __aexit__(self, *_: object) -> None:
        self._task.cancel()
        with suppress(asyncio.CancelledError):
            await self._task

    async def _keep_showing(self) -> None:
        await asyncio.sleep(TYPING_AFTER_SECONDS)
        while True:
            await self._show(self._chat)
            await asyncio.sleep(TYPING_EVERY_SECONDS)
