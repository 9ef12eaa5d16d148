"""Compression: a session that has grown long goes on with a summary of its middle.

After an answer was committed, when the model says that a request is too long, or because somebody asked. First the
flush (`flushing`), then the summary is thought, and one commit puts it in the place of the middle, freezes the
prompt anew and makes the turns that no review has seen due. Who compresses holds the session's lock. A kill before
that commit leaves the session as it was, after it nothing is left to do. Where it is cut and what is taken is
`shortening`, the summary `summarising`.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from gateway import failpoints
from gateway.conversation import longpast, shortening, summarising
from gateway.conversation.commands.call import Said
from gateway.conversation.committing import surely, to_its_end
from gateway.conversation.flushing import Flusher
from gateway.conversation.freezing import Freezer
from gateway.conversation.longpast import Changed, Past
from gateway.conversation.shortening import Cut, Effort, Unfit
from gateway.conversation.summarising import Summariser
from gateway.errors import ModelRefused, Refused, StoreBusy, TryLater
from gateway.home import Home
from gateway.jobs import ReviewJob
from gateway.ports import Clock, ModelAnswer, ModelRequest
from gateway.records import NewOutgoing, Summary
from gateway.settings import Settings
from gateway.store import messages, outbox, reviews, sessions, summaries, textfile, usage
from gateway.store.db import Database
from gateway.store.transaction import Transaction

log = logging.getLogger(__name__)

WORTH = 0.2
"""How much of a session must go, that it is compressed unasked: else each of its next turns would do it again."""
TURNS_OF_PEACE = 8
"""After a compression that failed, or did not help, so many turns are answered before the next one."""
NEARLY_FULL = 0.9
CHANGED_AFTER_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class Ready:
    """A compression that was thought and waits for its commit. Sizes are in tokens, as far as they are known."""

    past: Past
    summary: Summary
    before: int
    after: int


@dataclass(frozen=True)
class Compressor:
    """Compresses sessions."""

    db: Database
    home: Home
    settings: Settings
    flusher: Flusher
    freezer: Freezer
    summariser: Summariser
    clock: Clock
    said: Callable[[], None]
    """Called when something new lies in the outbox."""
    ring: Callable[[ReviewJob], Awaitable[None]]

    # -- when ------------------------------------------------------------------------------------------

    async def after_turn(self, session: str, answer: ModelAnswer, asked: Callable[[], ModelRequest]) -> None:
        """Compress a session whose turn has just been answered, if it has come to the threshold.

        `asked` is what was sent, for models that do not say what it cost.
        """
        if not self.settings.compression.enabled:
            return
        size = answer.tokens.input + answer.tokens.output
        size = size or shortening.size(asked()) + shortening.tokens(answer.text)
        if size < self._window * self.settings.compression.threshold:
            return
        with ExitStack() as held:
            if await to_its_end(self._take_lock, session, held):  # else another process answers in it
                past = await asyncio.to_thread(self._read_if_due, session)
                if past is not None:
                    await self._by_itself(past, size)
        self.said()

    async def _by_itself(self, past: Past, size: int) -> None:
        found = self._cut(past)
        if found is None or found.tokens < past.size * WORTH:
            if size >= self._window * NEARLY_FULL:
                await surely(self._say, past, "too_long", f"too-long-{past.session.id}")
            return
        try:
            text = await self._think(past, found)
            if not isinstance(text, Unfit):
                await self._finish(self._ready(past, found, text, size))
                return
            log.warning("compression.unfit", extra={"reason": text.value})
        except Changed:
            return
        except (TryLater, ModelRefused) as trouble:
            log.warning("compression.put_off", extra={"error": type(trouble).__name__})
        await surely(self._put_off, past)

    async def in_turn(self, session: str, turn: int, effort: Effort) -> bool:
        """Compress a session whose turn does not fit into the model's window; its lock is held by the turn.

        False: there is nothing to take out. Raises ModelBusy and ModelRefused from the flush, StoreBusy when the
        session was changed meanwhile.
        """
        if not self.settings.compression.enabled:
            return False
        past = await asyncio.to_thread(self._read, session, turn)
        found = self._cut_to_fit(past, effort) if past is not None else None
        if past is None or found is None:
            return False
        try:
            text = await self._think(past, found)
            if isinstance(text, Unfit):
                log.warning("compression.unfit", extra={"reason": text.value})
                # A turn must be answered, and nothing is lost.
                text = await asyncio.to_thread(summarising.in_short, past, found, self._most(past, found))
            await self._finish(self._ready(past, found, text, past.size))
        except Changed:
            raise StoreBusy(
                "the session was changed while it was compressed", after=CHANGED_AFTER_SECONDS
            ) from None
        return True

    async def asked(self, session: str, held: ExitStack) -> Said:
        """`/compress`: what to answer, and the commit that comes with the answer, with the lock in `held`."""
        if not await to_its_end(self._take_lock, session, held):
            return Said("compress.busy")
        past = await asyncio.to_thread(self._read, session)
        found = self._cut(past) if past is not None else None
        if past is None or found is None:
            return Said("compress.nothing")
        try:
            text = await self._think(past, found)
        except Changed:
            return Said("compress.changed")
        except (TryLater, ModelRefused) as trouble:
            log.warning("compression.put_off", extra={"error": type(trouble).__name__})
            text = Unfit.FAILED
        if isinstance(text, Unfit):
            return Said(f"compress.{text.value}")
        ready = self._ready(past, found, text, await asyncio.to_thread(self._known_size, past))
        return Said(
            "compress.done",
            {"before": f"{ready.before:,}", "after": f"{ready.after:,}"},
            commit=partial(self._commit_asked, ready=ready),
            ring=ReviewJob(session, past.finished, 0),
        )

    async def _finish(self, ready: Ready) -> None:
        """Commit a compression and tell of it."""
        due = await surely(self._commit_and_tell, ready)
        failpoints.reach("compression.committed")
        self.said()
        if due is not None:
            await self.ring(due)

    @property
    def _window(self) -> int:
        return self.settings.model.context_window

    def _take_lock(self, session: str, held: ExitStack) -> bool:
        lock = textfile.try_lock(self.home.session_lock(session))
        if lock is not None:
            held.callback(lock.discard)
        return lock is not None

    # -- reading ---------------------------------------------------------------------------------------

    def _read_if_due(self, session: str) -> Past | None:
        with self.db.read() as rd:
            if summaries.waits(rd, session, sessions.last_finished_turn(rd, session)):
                return None
            return longpast.read(rd, self.settings, session)

    def _read(self, session: str, turn: int | None = None) -> Past | None:
        with self.db.read() as rd:
            return longpast.read(rd, self.settings, session, turn)

    def _cut(self, past: Past, effort: Effort = Effort.USUAL) -> Cut | None:
        return shortening.cut(past.rows, past.summary, self._room(past), effort)

    def _cut_to_fit(self, past: Past, effort: Effort) -> Cut | None:
        """The same for what did not fit: the model's window is smaller than it, whatever the settings say."""
        room = self._room(past, min(self._window, past.size))
        usual = shortening.cut(past.rows, past.summary, room) if effort is Effort.USUAL else None
        return usual or shortening.cut(past.rows, past.summary, room, Effort.UTMOST)

    def _room(self, past: Past, window: int = 0) -> int:
        fixed = shortening.tokens(past.session.system_prompt) + shortening.tokens(past.session.tools)
        return shortening.room(window or self._window, self.settings.compression.threshold, fixed)

    def _known_size(self, past: Past) -> int:
        """What the model counted at its last call under this prompt, else about as much as it is."""
        with self.db.read() as rd:
            return usage.newest_size(rd, past.session.id, past.session.frozen_at) or past.size

    # -- thinking --------------------------------------------------------------------------------------

    async def _think(self, past: Past, found: Cut) -> str | Unfit:
        """Flush, and think the summary. Whatever comes of it, what was paid counts."""
        try:
            await self.flusher.flush(past)
            text = await self.summariser.summary(past, found, self._most(past, found))
        except (Changed, TryLater, ModelRefused):
            await surely(self._note_paid, past)
            raise
        await surely(self._note_paid, past)
        return text

    def _note_paid(self, past: Past) -> None:
        with self.db.write() as tx:
            for one in past.paid:
                usage.add(tx, one)
        past.paid.clear()

    def _most(self, past: Past, found: Cut) -> int:
        return shortening.most_of_summary(found.tokens, self._room(past))

    def _ready(self, past: Past, found: Cut, text: str, size: int) -> Ready:
        gone = summarising.gone(past, found)
        ids = [row.id for row in gone] + ([past.summary.first, past.summary.last] if past.summary else [])
        summary = Summary(found.head, found.tail, min(ids), max(ids), text)
        kept = [row for row in past.rows if row not in gone]
        after = shortening.size(past.request(kept, summary))
        return Ready(past, summary, size, min(size, after * size // max(1, past.size)))

    # -- committing ------------------------------------------------------------------------------------

    def _commit_and_tell(self, ready: Ready) -> ReviewJob | None:
        past, now = ready.past, self.clock.now()
        still_long = ready.after >= self._window * self.settings.compression.threshold
        with self.db.write() as tx:
            due = self._commit(tx, ready, now)
            if still_long:
                summaries.wait(tx, past.session.id, past.finished + TURNS_OF_PEACE)
            dedupe = f"compressed-{past.session.id}-{past.session.generation}"
            self._put(tx, past, "compressed_still_long" if still_long else "compressed", dedupe, now)
        return due

    def _commit_asked(self, tx: Transaction, ready: Ready) -> None:
        try:
            self._commit(tx, ready, self.clock.now())
        except Changed:
            raise Refused("compress.changed") from None

    def _commit(self, tx: Transaction, ready: Ready, now: datetime) -> ReviewJob | None:
        """Put the summary in its place. Raises Changed when the session is not as it was read any more."""
        past, id = ready.past, ready.past.session.id
        if not longpast.is_as_read(tx, past):
            raise Changed
        self.freezer.refreeze(tx, past.session, now)
        generation = past.session.generation + 1
        summaries.keep(tx, id, generation, ready.summary, now)
        # Of a turn that is not answered yet nothing was sent under the former prompt that it could go on from.
        messages.send_under(tx, id, past.finished + 1, generation)
        due = self._review_due(tx, past, now)
        summaries.drop_former(tx, id)
        log.info("session.compressed", extra={"before": ready.before, "after": ready.after})
        return due

    def _review_due(self, tx: Transaction, past: Past, now: datetime) -> ReviewJob | None:
        span = sessions.unreviewed(tx, past.session.id)
        if span is None or not self.settings.reviews_are_automatic:
            return None
        first, last = span
        due = reviews.make_due(tx, past.session.id, past.space.id, last, first, "compression", now)
        return ReviewJob(past.session.id, last, 0) if due else None

    def _put_off(self, past: Past) -> None:
        """Leave a session as it is for some turns, and say so once."""
        now, session = self.clock.now(), past.session
        with self.db.write() as tx:
            if not longpast.is_as_read(tx, past):
                return
            summaries.wait(tx, session.id, past.finished + TURNS_OF_PEACE)
            self._put(tx, past, "not_compressed", f"not-compressed-{session.id}-{session.generation}", now)

    def _say(self, past: Past, kind: str, dedupe: str) -> None:
        with self.db.write() as tx:
            self._put(tx, past, kind, dedupe, self.clock.now())

    def _put(self, tx: Transaction, past: Past, kind: str, dedupe: str, now: datetime) -> None:
        if past.chat is None:
            return
        outbox.put(tx, NewOutgoing(dedupe=dedupe, kind=kind, chat=past.chat, space=past.space.id, created_at=now))
