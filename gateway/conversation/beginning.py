"""Turns begin a few at a time, the chat that has been quiet longest first.

Beginning one reads its transcript, which costs what we have least of in a flood. How many think at once has no
bound: that costs us nothing. Begun all at once, the turns of a flood would hold up each other and what is still
being received, and somebody who asks one thing would wait for all of them.
"""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import count

from gateway.chat import Chat

AT_ONCE = 4
REMEMBERED = 1000
"""So many chats are remembered with when they began last. Whoever is not has been quiet longer than all of them: so
nobody waits for ever, whatever else comes."""


@dataclass(eq=False)
class Beginnings:
    """Who begins next. Belongs to one event loop."""

    _beginning: int = 0
    _waiting: dict["asyncio.Future[None]", Chat] = field(default_factory=dict)
    """Who waits, in the order in which they came."""
    _begun: OrderedDict[Chat, int] = field(default_factory=OrderedDict)
    """The number of each chat's last beginning, the oldest first."""
    _numbers: "count[int]" = field(default_factory=partial(count, 1))

    @asynccontextmanager
    async def one(self, chat: Chat) -> AsyncIterator[None]:
        """Wait until this chat's turn may begin; the body begins it."""
        await self._let_in(chat)
        try:
            yield
        finally:
            self._beginning -= 1
            self._let_more_in()

    async def _let_in(self, chat: Chat) -> None:
        let_in: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting[let_in] = chat
        self._let_more_in()
        try:
            await let_in
        except asyncio.CancelledError:
            if self._waiting.pop(let_in, None) is None:  # its place was its own already
                self._beginning -= 1
                self._let_more_in()
            raise

    def _let_more_in(self) -> None:
        while self._waiting and self._beginning < AT_ONCE:
            first = min(self._waiting, key=lambda waiting: self._begun.get(self._waiting[waiting], 0))
            self._note(self._waiting.pop(first))
            self._beginning += 1
            first.set_result(None)

    def _note(self, chat: Chat) -> None:
        self._begun[chat] = next(self._numbers)
        self._begun.move_to_end(chat)
        if len(self._begun) > REMEMBERED:
            self._begun.popitem(last=False)
