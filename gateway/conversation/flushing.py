"""The flush: before a session is compressed, memory is asked what to keep of it.

One more request with the same prefix, prompt and tools, of which only `memory` is accepted; what it proposes goes
through policy and ledger like a review's, all in one commit. Once for each state of a session, also after a kill.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from gateway import policy, transcript
from gateway.conversation import longpast, shortening
from gateway.conversation.committing import surely
from gateway.conversation.longpast import Changed, Past
from gateway.errors import ModelFull, Refused
from gateway.memory import asking, review
from gateway.memory.writing import Flush, Memory
from gateway.ports import Clock, Model
from gateway.records import Message, Origin, Role
from gateway.settings import Settings
from gateway.store import summaries
from gateway.store.db import Database

log = logging.getLogger(__name__)

MOST_PARTS = 40
"""So often it is tried to find parts that fit: a model that finds everything too long is not asked for ever."""


@dataclass(frozen=True)
class Flusher:
    """Asks the chat's own model what to keep."""

    db: Database
    settings: Settings
    memory: Memory
    model: Model
    clock: Clock
    said: Callable[[], None]
    """Called when something new lies in the outbox."""

    async def flush(self, past: Past) -> None:
        """Let memory keep what is worth it. Raises ModelBusy, ModelRefused, and Changed.

        A memory file that cannot be read or written keeps nobody from going on: the reviews come back to it.
        """
        off = past.session.incognito or "memory" in self.settings.agent.disabled_toolsets
        if off or not self.memory.targets(past.space):
            return
        try:
            draft = await asyncio.to_thread(self._draft, past)
            if draft is None:
                return
            asked = await asyncio.to_thread(self._instruction, past)
            await self._ask(past, asked, draft)
            as_read = await surely(self._commit, past, draft)
        except Refused as closed:
            log.warning("flush.refused", extra={"reason": closed.key})
            return
        if not as_read:
            raise Changed
        past.paid.clear()
        self.said()

    def _draft(self, past: Past) -> review.Overlay | None:
        """The draft on which its calls are tried; None: it was flushed before."""
        with self.db.read() as rd:
            if not past.said or summaries.flushed(rd, past.session.id) >= past.last:
                return None
            asks_first = asking.asks_first(rd, self.settings, past.space.id)
        return self.memory.overlay(
            review.Ground(
                space=past.space,
                session=past.session.id,
                turn=-past.last,
                own=policy.own_words(past.said, past.whose),
                foreign=policy.foreign_words(past.said, past.whose),
                heard=(past.summary.text,) if past.summary else (),
                approval_required=asks_first,
                card_chat=past.session.chat,
                origin=Origin.FLUSH,
            )
        )

    def _instruction(self, past: Past) -> str:
        return review.flush_instruction(
            self.memory.targets(past.space),
            turns=sum(row.role is Role.USER for row in past.said),
            blocks=self.memory.blocks(past.space),
            pending=self.memory.pending_texts(past.space),
        )

    async def _ask(self, past: Past, asked: str, draft: review.Overlay) -> None:
        """All at once; where not even this fits into the model's window, one half after the other."""
        waiting: list[Sequence[Message]] = [past.said]
        for _ in range(MOST_PARTS):
            if not waiting:
                return
            rows = waiting.pop(0)
            try:
                await self._rounds(past, rows, asked, draft)
            except ModelFull:
                log.warning("flush.in_parts")
                waiting[:0] = shortening.halves(rows) or ()
        log.warning("flush.cut_short", extra={"parts": len(waiting)})

    async def _rounds(self, past: Past, rows: Sequence[Message], asked: str, draft: review.Overlay) -> None:
        whole = rows == past.said
        request = transcript.beside(past.request(rows, past.summary if whole else None), asked)
        for _ in range(self.settings.agent.max_tool_rounds):
            answer = await self.model.think(request)
            past.pay("memory_flush", self.model, answer, self.clock.now())
            if not answer.tool_calls:
                return
            results = [await asyncio.to_thread(draft.answer, call) for call in answer.tool_calls]
            request = transcript.next_round(request, answer, results)

    def _commit(self, past: Past, draft: review.Overlay) -> bool:
        still = partial(longpast.is_as_read, past=past)
        flush = Flush(past.space, past.session.id, past.last, still)
        return self.memory.commit_flush(flush, draft.proposals, used=past.paid, chat=past.chat)
