"""Says what lies in the outbox: in order per chat, chunk by chunk, until it is delivered.

A chunk whose fate is unknown (a kill or a time-out before its mark) is sent again; no other is repeated or
skipped (design.md, promise 7). The words of each kind are `rendering` and `notices`.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta

from gateway import failpoints, logs
from gateway.chat import Chat, OutgoingMessage
from gateway.conversation.committing import surely
from gateway.conversation.notices import Rendered
from gateway.errors import ChatGone, ChatMoved, PlatformBusy, TryLater, WayClosed
from gateway.ports import Clock, Platform
from gateway.records import Chunk, NewOutgoing, Outgoing
from gateway.store import forgets, outbox, pauses, people, saidwhere
from gateway.store.db import Database, Transaction
from gateway.store.pauses import Pause

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
    epoch: int = 0
    """See `store.forgets`: what was rendered before a forget is rendered again."""


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
        self._pauses = Pauses(db, clock)
        self._woken = asyncio.Event()
        self._sending: dict[Chat, asyncio.Task[None]] = {}
        self._passed_over: set[Chat] = set()
        """Chats that were busy when something waited for them."""
        self._broke: Counter[int] = Counter()
        """How often each row broke since this process started."""

    def wake(self) -> None:
        """Something new may lie in the outbox."""
        self._woken.set()

    async def run(self) -> None:
        """Deliver until cancelled."""
        await surely(self._pauses.load)
        async with asyncio.TaskGroup() as group:
            while True:
                self._woken.clear()
                busy = frozenset(self._sending)
                for row, parcel in await surely(self._take, busy):
                    if row.chat in self._sending:
                        self._passed_over.add(row.chat)
                    elif row.chat in busy:
                        # It was read while it was being sent, perhaps before what came of that was marked.
                        self._woken.set()
                    else:
                        self._sending[row.chat] = group.create_task(self._one(row, parcel))
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

    # -- what to say -----------------------------------------------------------------------------------

    def _due(self) -> list[Outgoing]:
        """The oldest waiting row of each chat that this process shows and that nobody asked us to leave alone."""
        with self._db.read() as rd:
            rows = outbox.waiting(rd, tuple(self._platforms), self._clock.now())
        return [row for row in rows if self._platforms[row.chat.platform].serves(row.chat) and self._may_speak(row)]

    def _may_speak(self, row: Outgoing) -> bool:
        return not self._pauses.hold(row.chat)

    def _take(self, busy: frozenset[Chat]) -> list[tuple[Outgoing, Parcel | None]]:
        """What is due, packed where it can be sent at once: the way to another thread costs more than packing."""
        return [(row, None if row.chat in busy else self._packed(row)) for row in self._due()]

    def _packed(self, row: Outgoing) -> Parcel | None:
        """None where packing fails: it is tried again where the row's trouble is dealt with."""
        try:
            return self._pack(row)
        except Exception:  # noqa: BLE001 - one row must not keep the others from being said
            return None

    def _pack(self, row: Outgoing) -> Parcel:
        """Render a row. One that has become pointless is dropped; a long one keeps its chunks first."""
        epoch = self._epoch(row)
        rendered = self._render(row)
        with self._db.read() as rd:
            kept = tuple(outbox.chunks(rd, row.id))
            edits = _shown_as(outbox.chunks(rd, row.edits)) if row.edits is not None else ""
        if rendered is None or (row.edits is not None and not edits):
            self._drop(row)
            return Parcel(row, Rendered(""), (), (), "")
        if rendered.deletes:
            return Parcel(row, rendered, (), (), "")
        texts = tuple(chunk.text for chunk in kept) or self._platforms[row.chat.platform].chunks(rendered.text)
        if len(texts) > 1 and not kept:
            with self._db.write() as tx:
                forgets.refuse_overtaken(tx, row.space, epoch)
                outbox.keep_chunks(tx, row.id, texts)
        return Parcel(row, rendered, texts, kept, edits, epoch)

    def _epoch(self, row: Outgoing) -> int:
        with self._db.read() as rd:
            return forgets.epoch(rd, row.space)

    def _refuse_overtaken(self, parcel: Parcel) -> None:
        with self._db.read() as rd:
            forgets.refuse_overtaken(rd, parcel.row.space, parcel.epoch)

    # -- saying it -------------------------------------------------------------------------------------

    async def _one(self, row: Outgoing, parcel: Parcel | None) -> None:
        """Deliver one row; whatever goes wrong with it, the other chats go on."""
        more = True
        with logs.bind(chat=row.chat.key):
            try:
                if parcel is None:
                    parcel = await asyncio.to_thread(self._pack, row)
                more = await self._deliver(parcel)
            except ChatGone:
                log.info("delivery.chat_gone", extra={"outbox": row.id})
                await surely(self._gone, row)
            except ChatMoved as moved:
                log.info("delivery.chat_moved", extra={"outbox": row.id})
                await surely(self._move, row.chat, moved.to)
            except WayClosed:
                log.info("delivery.way_closed", extra={"outbox": row.id})
                await surely(self._drop, row)
            except TryLater as busy:
                log.warning("delivery.busy", extra={"outbox": row.id, "after": busy.after})
                await surely(self._postpone, row, busy)
            except Exception:  # a row that cannot be rendered must not stop the others
                log.exception("delivery.failed", extra={"outbox": row.id})
                await surely(self._try_again_or_give_up, row)
            finally:
                del self._sending[row.chat]
                if more or row.chat in self._passed_over:
                    self._passed_over.discard(row.chat)
                    self._woken.set()

    async def _deliver(self, parcel: Parcel) -> bool:
        """Send what has not arrived. False when nothing else is to be said in this chat."""
        platform = self._platforms[parcel.row.chat.platform]
        if parcel.rendered.deletes:
            gone = await platform.delete(parcel.row.chat, parcel.rendered.deletes)
            failpoints.reach("delivery.deleted")
            return await surely(self._mark_deleted, parcel.row, len(gone))
        delivered = {chunk.position for chunk in parcel.kept if chunk.delivered}
        more = True
        for position in range(len(parcel.texts)):
            if position in delivered:
                continue
            if position:
                await asyncio.to_thread(self._refuse_overtaken, parcel)
            try:
                platform_id = await platform.send(_message(parcel, position))
            except PlatformBusy as busy:
                if busy.unsure:
                    await surely(self._mark_unsure, parcel, position)
                raise
            failpoints.reach("delivery.sent")
            more = await surely(self._mark, parcel, position, platform_id)
            failpoints.reach("delivery.marked")
        return more

    def _mark(self, parcel: Parcel, position: int, platform_id: str) -> bool:
        """A chunk has arrived. False when nothing else is to be said in this chat."""
        now = self._clock.now()
        row = parcel.row
        with self._db.write() as tx:
            if len(parcel.texts) == 1 and not parcel.kept:
                outbox.keep_chunks(tx, row.id, ("",))
            outbox.chunk_delivered(tx, row.id, position, platform_id, now)
            if position == len(parcel.texts) - 1:
                outbox.delivered(tx, row.id, now)
            return outbox.something_waits(tx, row.chat)

    def _mark_deleted(self, row: Outgoing, count: int) -> bool:
        """So many of the messages that were to be deleted are gone. Deleting them again is no error."""
        with self._db.write() as tx:
            saidwhere.deleted(tx, row.id, count)
            outbox.delivered(tx, row.id, self._clock.now())
            return outbox.something_waits(tx, row.chat)

    def _mark_unsure(self, parcel: Parcel, position: int) -> None:
        with self._db.write() as tx:
            if forgets.epoch(tx, parcel.row.space) != parcel.epoch:
                return  # its words are forgotten: it is rendered again, and may be seen twice
            outbox.keep_chunks(tx, parcel.row.id, parcel.texts)
            outbox.chunk_unsure(tx, parcel.row.id, position)

    # -- not saying it ---------------------------------------------------------------------------------

    def _drop(self, row: Outgoing) -> None:
        with self._db.write() as tx:
            outbox.drop(tx, row.id, self._clock.now())

    def _move(self, chat: Chat, to: str) -> None:
        """A send was told the chat's new id before the platform's own notice of it came in."""
        with self._db.write() as tx:
            people.move_chat(tx, chat.platform, chat.id, to, self._clock.now())

    def _gone(self, row: Outgoing) -> None:
        with self._db.write() as tx:
            outbox.gone(tx, row.id, self._clock.now())

    def _try_again_or_give_up(self, row: Outgoing) -> None:
        """One row must not hold up its chat for ever; the chat is told that something is missing."""
        self._broke[row.id] += 1
        if self._broke[row.id] < TRIES_PER_ROW:
            self._postpone(row, TryLater("it broke", after=ERROR_WAIT_SECONDS))
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

    def _postpone(self, row: Outgoing, busy: TryLater) -> None:
        """Try this row again later, and where a platform asked for peace, leave it in peace until then."""
        now = self._clock.now()
        until = now + min(timedelta(seconds=busy.after), outbox.LONGEST_POSTPONEMENT)
        with self._db.write() as tx:
            outbox.postpone(tx, row.id, now, until)
            if isinstance(busy, PlatformBusy):
                scope = row.chat.platform if busy.everywhere else _place(row.chat)
                self._pauses.put(tx, scope, Pause(now, until))


class Pauses:
    """Where platforms asked us to wait: kept in the database, looked at in memory."""

    def __init__(self, db: Database, clock: Clock) -> None:
        self._db = db
        self._clock = clock
        self._every: Mapping[str, Pause] = {}

    def load(self) -> None:
        """Go on with the pauses of before our start."""
        with self._db.read() as rd:
            self._every = pauses.every(rd)

    def put(self, tx: Transaction, scope: str, pause: Pause) -> None:
        """Say nothing in this scope for so long."""
        pauses.put(tx, scope, pause)
        self._every = pauses.every(tx)

    def hold(self, chat: Chat) -> bool:
        """Whether we are to say nothing in this chat now."""
        now = self._clock.now()
        asked = (self._every.get(scope) for scope in (chat.platform, _place(chat)))
        return any(pause is not None and pause.holds(now) for pause in asked)


def _place(chat: Chat) -> str:
    """A chat with all its threads: platforms bound what is said in all of them together."""
    return replace(chat, thread="").key


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
        asks=parcel.rendered.asks and last,
        file=parcel.rendered.file if last else None,
        via=parcel.row.via,
        goes_on=position > 0,
        nonce=f"{parcel.row.id}-{position}",
    )


def _shown_as(chunks: Sequence[Chunk]) -> str:
    return chunks[-1].platform_id if chunks and chunks[-1].delivered else ""
