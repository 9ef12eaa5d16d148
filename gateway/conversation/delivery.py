"""Says what lies in the outbox: in order per chat, chunk by chunk, until it is delivered.

A chunk whose fate is unknown (a kill or a time-out before its mark) is sent again; no other is repeated or
skipped (design.md, promise 7). The words of each kind are `rendering` and `notices`.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta

from gateway import failpoints, logs
from gateway.chat import Chat, OutgoingMessage
from gateway.conversation.committing import surely
from gateway.conversation.notices import Rendered
from gateway.errors import ChatGone, TryLater
from gateway.ports import Clock, Platform
from gateway.records import Chunk, NewOutgoing, Outgoing
from gateway.store import outbox
from gateway.store.db import Database

log = logging.getLogger(__name__)

LOOK_EVERY_SECONDS = 1.0
"""How often we look without being told, e.g. when a worker's byte was lost."""

ERROR_WAIT_SECONDS = 30.0
TRIES_PER_ROW = 5
"""How often a row is tried that breaks us or that the platform calls malformed, before it is given up."""


@dataclass(frozen=True, slots=True)
class Parcel:
    """One outbox row with everything needed to send it."""

    row: Outgoing
    rendered: Rendered
    texts: tuple[str, ...]
    kept: tuple[Chunk, ...]
    edits: str
    """The platform message to change; "" to send new ones."""


class Delivery:
    """Delivers the rows of the platforms it was given. `run` owns its tasks."""

    def __init__(
        self,
        db: Database,
        platforms: Mapping[str, Platform],
        render: Callable[[Outgoing], Rendered | None],
        clock: Clock,
    ) -> None:
        self._db = db
        self._platforms = platforms
        self._render = render
        self._clock = clock
        self._woken = asyncio.Event()
        self._sending: dict[Chat, asyncio.Task[None]] = {}
        self._broke: Counter[int] = Counter()
        """How often each row broke since this process started."""

    def wake(self) -> None:
        """Something new may lie in the outbox."""
        self._woken.set()

    async def run(self) -> None:
        """Deliver until cancelled."""
        async with asyncio.TaskGroup() as group:
            while True:
                self._woken.clear()
                for row in await surely(self._due):
                    if row.chat not in self._sending:
                        self._sending[row.chat] = group.create_task(self._one(row))
                await self._until_something_happens()

    async def until_quiet(self) -> None:
        """Wait until nothing is being sent and nothing waits to be sent now."""
        while True:
            if self._sending:
                await asyncio.wait(tuple(self._sending.values()))
            elif not await surely(self._due):
                return
            self.wake()
            await asyncio.sleep(0)

    async def _until_something_happens(self) -> None:
        # Not `wait_for`: up to Python 3.11 it can swallow the cancel that ends us.
        with suppress(TimeoutError):
            async with asyncio.timeout(LOOK_EVERY_SECONDS):
                await self._woken.wait()

    def _due(self) -> list[Outgoing]:
        """The oldest waiting row of each chat that this process shows."""
        with self._db.read() as rd:
            rows = outbox.waiting(rd, tuple(self._platforms), self._clock.now())
        return [row for row in rows if self._platforms[row.chat.platform].serves(row.chat)]

    async def _one(self, row: Outgoing) -> None:
        """Deliver one row; whatever goes wrong with it, the other chats go on."""
        with logs.bind(chat=row.chat.key):
            try:
                await self._deliver(row)
            except ChatGone:
                log.info("delivery.chat_gone", extra={"outbox": row.id})
                await surely(self._gone, row)
            except TryLater as busy:
                log.warning("delivery.busy", extra={"outbox": row.id, "after": busy.after})
                await surely(self._postpone, row, busy.after)
            except Exception:  # a row that cannot be rendered must not stop the others
                log.exception("delivery.failed", extra={"outbox": row.id})
                await surely(self._try_again_or_give_up, row)
            finally:
                del self._sending[row.chat]
                self._woken.set()

    async def _deliver(self, row: Outgoing) -> None:
        platform = self._platforms[row.chat.platform]
        parcel = await asyncio.to_thread(self._pack, row, platform)
        if parcel is None:
            return
        delivered = {chunk.position for chunk in parcel.kept if chunk.delivered}
        for position in range(len(parcel.texts)):
            if position not in delivered:
                platform_id = await platform.send(_message(parcel, position))
                failpoints.reach("delivery.sent")
                await surely(self._mark, parcel, position, platform_id)
                failpoints.reach("delivery.marked")

    def _pack(self, row: Outgoing, platform: Platform) -> Parcel | None:
        """Render a row. One that has become pointless is dropped; a long one keeps its chunks first."""
        rendered = self._render(row)
        with self._db.read() as rd:
            kept = tuple(outbox.chunks(rd, row.id))
            edits = _shown_as(outbox.chunks(rd, row.edits)) if row.edits is not None else ""
        if rendered is None or (row.edits is not None and not edits):
            with self._db.write() as tx:
                outbox.drop(tx, row.id, self._clock.now())
            return None
        texts = tuple(chunk.text for chunk in kept) or platform.chunks(rendered.text)
        if len(texts) > 1 and not kept:
            with self._db.write() as tx:
                outbox.keep_chunks(tx, row.id, texts)
        return Parcel(row, rendered, texts, kept, edits)

    def _mark(self, parcel: Parcel, position: int, platform_id: str) -> None:
        now = self._clock.now()
        row = parcel.row
        with self._db.write() as tx:
            if len(parcel.texts) == 1 and not parcel.kept:
                outbox.keep_chunks(tx, row.id, ("",))
            outbox.chunk_delivered(tx, row.id, position, platform_id, now)
            if position == len(parcel.texts) - 1:
                outbox.delivered(tx, row.id, now)

    def _gone(self, row: Outgoing) -> None:
        with self._db.write() as tx:
            outbox.gone(tx, row.id, self._clock.now())

    def _try_again_or_give_up(self, row: Outgoing) -> None:
        """One row must not hold up its chat for ever; the chat is told that something is missing."""
        self._broke[row.id] += 1
        if self._broke[row.id] < TRIES_PER_ROW:
            self._postpone(row, ERROR_WAIT_SECONDS)
            return
        now = self._clock.now()
        with self._db.write() as tx:
            outbox.drop(tx, row.id, now)
            if row.kind != "apology":
                outbox.put(
                    tx,
                    NewOutgoing(
                        dedupe=f"undelivered-{row.id}",
                        kind="apology",
                        chat=row.chat,
                        space=row.space,
                        created_at=now,
                        values={"reference": row.message or row.id},
                    ),
                )

    def _postpone(self, row: Outgoing, after_seconds: float) -> None:
        with self._db.write() as tx:
            after = min(timedelta(seconds=after_seconds), outbox.LONGEST_POSTPONEMENT)
            outbox.postpone(tx, row.id, self._clock.now() + after)


def _message(parcel: Parcel, position: int) -> OutgoingMessage:
    last = position == len(parcel.texts) - 1
    return OutgoingMessage(
        chat=parcel.row.chat,
        text=parcel.texts[position],
        buttons=parcel.rendered.buttons if last else (),
        reply_to=parcel.row.reply_to if position == 0 else "",
        silent=parcel.rendered.silent,
        edits=parcel.edits,
        aside=parcel.rendered.aside,
        escaped=parcel.rendered.escaped,
        nonce=f"{parcel.row.id}-{position}",
    )


def _shown_as(chunks: Sequence[Chunk]) -> str:
    return chunks[-1].platform_id if chunks and chunks[-1].delivered else ""
