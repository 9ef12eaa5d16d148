"""The summary of a session's middle, asked of a model: in parts where it has no room for the whole.

What is asked, and whether an answer will do, is `shortening`. Where the summary goes is `compressing`.
"""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass

from gateway import failpoints
from gateway.conversation import shortening
from gateway.conversation.longpast import Past
from gateway.conversation.shortening import Cut, Unfit
from gateway.errors import ModelFull, ModelRefused, TryLater
from gateway.ports import Clock, Model
from gateway.records import Message

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Summariser:
    """Asks for summaries. `model` may be the chat's own; `window` is how many tokens that takes."""

    model: Model
    window: int
    clock: Clock

    async def summary(self, past: Past, found: Cut, most: int) -> str | Unfit:
        """The text for the middle, of at most so many tokens, or why there is none."""
        text = past.summary.text if past.summary else ""
        replaced = found.tokens + shortening.tokens(text)
        try:
            for part in shortening.parts(gone(past, found), self.window // 2):
                taken = await self._told(past, text, part, most)
                if isinstance(taken, Unfit):
                    return taken
                text = taken
        except (TryLater, ModelRefused) as trouble:
            log.warning("compression.no_summary", extra={"error": type(trouble).__name__})
            return Unfit.FAILED
        failpoints.reach("compression.summarised")
        return text if shortening.tokens(text) <= replaced * shortening.MOST_OF_REPLACED else Unfit.BIGGER

    async def _told(
        self, past: Past, earlier: str, rows: Sequence[Message], most: int, *, bare: bool = False
    ) -> str | Unfit:
        """What these rows come to, with what came before; in parts where the model has no room for them."""
        try:
            request = shortening.summary_request(earlier, rows, most, bare=bare)
            answer = await self.model.think(request)
        except ModelFull:
            half = shortening.halves(rows)
            if half is None and bare:
                raise
            if half is None:
                return await self._told(past, earlier, rows, most, bare=True)
            first = await self._told(past, earlier, half[0], most, bare=bare)
            return first if isinstance(first, Unfit) else await self._told(past, first, half[1], most, bare=bare)
        past.pay("compression", self.model, answer, self.clock.now())
        return await asyncio.to_thread(shortening.taken, answer)


def in_short(past: Past, found: Cut, most: int) -> str:
    """A summary without a model: the person's own words stand for the middle, shortened."""
    earlier = past.summary.text if past.summary else ""
    return shortening.in_short(gone(past, found), earlier, past.whose, most)


def gone(past: Past, found: Cut) -> list[Message]:
    """The rows that a cut takes out, oldest first."""
    return [row for row in past.rows if found.head < row.turn < found.tail]
