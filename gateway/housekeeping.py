"""Finishes what a crash left and what time makes due: at start, and once a minute.

What was committed and not acted on is acted on again; nothing here decides anything new.
"""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from gateway.home import Home
from gateway.memory import ageing, caches, cards, clearing, dailytokens, incognito
from gateway.memory.forgetting import Forgetting
from gateway.memory.writing import Memory
from gateway.ports import Clock, JobQueue
from gateway.resets import Policy
from gateway.settings import Settings
from gateway.store import duejobs, outbox, reviews, search_upkeep, sessions
from gateway.store.db import Database, Unusable

log = logging.getLogger(__name__)

EVERY_SECONDS = 60.0


@dataclass(frozen=True)
class Housekeeping:
    """Keeps the house. One runs in each gateway."""

    db: Database
    memory: Memory
    settings: Settings
    queue: JobQueue
    clock: Clock
    said: Callable[[], None]
    """Called when something new may lie in the outbox."""
    home: Home
    forgetting: Forgetting | None = None
    """None where nothing is to be erased by this process."""

    def recover(self) -> None:
        """At start: end approved writes as applied or failed (promise 2)."""
        finished = self.memory.finish_interrupted()
        if finished:
            log.info("housekeeping.finished_writes", extra={"count": finished})

    async def run(self) -> None:
        """Keep house until cancelled."""
        while True:
            try:
                await asyncio.to_thread(self.tidy)
            except Unusable:  # nothing can be kept any more: end, so that somebody hears of it
                log.critical("housekeeping.database_unusable")
                raise
            except Exception:  # the next minute tries again; one bad minute must not end the gateway
                log.exception("housekeeping.failed")
            self.said()
            await asyncio.sleep(EVERY_SECONDS)

    def tidy(self) -> None:
        """Once a minute: finish and expire writes, remind of waiting ones, ring lost jobs, checkpoint.

        Quiet chats' reviews and tidies of full files become due.
        """
        self.recover()
        self.memory.notice_all_hand_edits()
        self.memory.overwrite_all_replaced()
        self.memory.expire()
        self._remind()
        self._review_quiet_chats()
        self._review_overdue_chats()
        self._tidy_full_files()
        dailytokens.release(self.db, self.settings, self.clock.now())
        self._ring_due()
        if self.forgetting is None:
            clearing.delete_old(self.db, self.home, self.settings, self.clock.now())
        else:
            ageing.erase_old(self.forgetting)
        incognito.end_abandoned(self.db, self.home, self.clock.now())
        search_upkeep.keep(self.db, self.clock.now())
        self.db.checkpoint()
        self._forget()

    def _forget(self) -> None:
        """Go on with what is being forgotten; and of what other processes have forgotten nothing stays here."""
        if self.forgetting is not None:
            self.forgetting.expire()
            self.forgetting.resume()
        caches.clear()

    def _remind(self) -> None:
        with self.db.read() as rd:
            due = cards.reminders(rd, self.clock.now(), self.settings.zone())
        for reminder in due:
            with self.db.write() as tx:
                outbox.put(tx, reminder)

    def _review_quiet_chats(self) -> None:
        minutes = self.settings.memory.idle_review_minutes
        if not minutes or not self.settings.reviews_are_automatic:
            return
        now = self.clock.now()
        with self.db.read() as rd:
            quiet = sessions.quiet(rd, now - timedelta(minutes=minutes))
        for session in quiet:
            with self.db.write() as tx:
                reviews.make_rest_due(tx, session.id, session.space, "quiet", now)

    def _review_overdue_chats(self) -> None:
        """Where the next message begins a new conversation, the last one is complete: look at what is left of it.

        It ends with that message, which hears of it.
        """
        if self.settings.session.reset == "none" or not self.settings.reviews_are_automatic:
            return
        now, resets = self.clock.now(), Policy.of(self.settings.session, self.settings.zone())
        with self.db.read() as rd:
            unreviewed = [each for each in sessions.quiet(rd, now) if each.ended_at is None]
        for session in unreviewed:
            if session.said_at is not None and resets.why(session.said_at, now):
                with self.db.write() as tx:
                    reviews.make_rest_due(tx, session.id, session.space, "end", now)

    def _tidy_full_files(self) -> None:
        """Where reviews are off, memory is looked at when somebody asks, and not otherwise."""
        if self.settings.reviews_are_automatic:
            self.memory.tidies.make_full_due()

    def _ring_due(self) -> None:
        now = self.clock.now()
        with self.db.read() as rd:
            jobs = duejobs.due(rd, now)
        for job in jobs:
            if not self.queue.put(job):
                return
