"""The receiving side of Telegram: a polling loop that confirms only what was kept.

PTB's own loop confirms an update as soon as it is in memory. Here the offset moves past an update only after
the receiver returned, so what was not kept comes again. The offset is in memory only: update ids may start
anywhere after a quiet week, and the receiver knows what it has by its rows.
"""

import asyncio
import logging
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from gateway.chat import IncomingMessage, Tap
from gateway.errors import GatewayError, PlatformBusy, TryLater
from gateway.platforms import telegram_updates
from gateway.platforms.telegram_api import SecondPoller, TelegramApi, TokenRefused, TooManyCalls
from gateway.platforms.telegram_updates import Me
from gateway.ports import Clock, PlatformHealth, Receiver

if TYPE_CHECKING:
    import telegram

log = logging.getLogger(__name__)

LONGEST_PAUSE_SECONDS = 30.0
CALM = timedelta(seconds=60)
"""Trouble that comes back within this time belongs to the same streak, which is reported once."""
FORGET_OFFSET_AFTER = timedelta(days=1)
TRIES_PER_UPDATE = 3
"""How often an update is handed over on which the receiver breaks, before it is given up."""


class Polling:
    """The one getUpdates loop of a bot, and how it is doing."""

    def __init__(self, api: TelegramApi, clock: Clock, poll_seconds: int, pause_seconds: float) -> None:
        self._api = api
        self._clock = clock
        self._poll_seconds = poll_seconds
        self._pauses = _Pauses(pause_seconds)
        self._offset: int | None = None
        self._last_update_at = clock.now()
        self._album: str | None = None
        self._broke_on: tuple[int, int] = (0, 0)
        """The update on which the receiver broke last, and how often it did."""
        self.health = Health(clock, patience=timedelta(seconds=poll_seconds + 60))

    async def connect(self) -> Me:
        """Until Telegram answers. Raises TokenRefused when it does not take our token."""
        while True:
            try:
                me = await self._api.connect()
            except TokenRefused:
                self.health.state = "refused"
                raise
            except GatewayError as error:
                await self._pause("telegram.unreachable", error)
            else:
                self._pauses.reset()
                self.health.connected()
                return me

    async def receive(self, receiver: Receiver, me: Me) -> None:
        """Until cancelled."""
        # Acknowledging taps is done beside the loop: a slow call must not hold up the next message.
        async with asyncio.TaskGroup() as tasks:
            inbox = _Inbox(receiver, me, tasks)
            while True:
                await self._outlive(inbox)

    async def _outlive(self, inbox: "_Inbox") -> None:
        """One round; whatever goes wrong in it is followed by a pause and another round."""
        try:
            await self._round(inbox)
        except SecondPoller as error:
            await self._pause("telegram.conflict", error)
        except PlatformBusy as error:
            # A half-open connection can block the pool for polls without any error; a new one cannot.
            await self._api.reconnect()
            await self._pause("telegram.poll_failed", error)
        except TryLater as error:
            await self._pause("telegram.not_kept", error)
        except TokenRefused as error:
            await self._pause("telegram.token_refused", error, state="refused")
        except Exception as error:  # noqa: BLE001 - the loop must outlive what nobody thought of
            await self._pause("telegram.round_broke", error)

    async def _round(self, inbox: "_Inbox") -> None:
        """Fetch, hand over one by one, move the offset past each. The first poll after trouble is short."""
        wait = self._poll_seconds if self.health.last_poll_at and not self._pauses.in_a_row else 0
        updates = await self._api.fetch(self._offset, wait)
        self.health.polled()
        self._forget_old_offset(bool(updates))
        for raw in updates:
            number = _number(raw)
            await self._hand_over(number, raw, inbox)
            self._offset = number + 1
        self._pauses.reset()

    async def _hand_over(self, number: int, raw: dict[str, Any], inbox: "_Inbox") -> None:
        try:
            update = self._api.read(raw)
            thing = telegram_updates.translate(update, inbox.me, self._clock.now())
        except Exception as error:  # noqa: BLE001 - any error: the update is not what the Bot API describes
            log.warning("telegram.update_skipped", extra={"update": number, "error": type(error).__name__})
            return
        if thing is None or self._continues_album(update):
            return
        try:
            await self._give(thing, inbox)
        except TryLater:
            raise
        except Exception as error:  # noqa: BLE001 - as in `_outlive`: one bug must not end the receiving
            self._count_break(number, error)
        self._album = update.message.media_group_id if update.message else self._album

    async def _give(self, thing: IncomingMessage | Tap, inbox: "_Inbox") -> None:
        if isinstance(thing, IncomingMessage):
            await inbox.receiver.message(thing)
            return
        toast = await inbox.receiver.tap(thing)
        inbox.tasks.create_task(self._acknowledge(thing, toast))

    async def _acknowledge(self, tap: Tap, toast: str) -> None:
        """Stop the button's spinner. The tap counts whether or not this arrives."""
        try:
            await self._api.acknowledge(tap.id, toast)
        except Exception as error:  # noqa: BLE001 - a task of the loop's group: it would take the loop down
            log.warning("telegram.tap_not_acknowledged", extra={"error": type(error).__name__})

    def _count_break(self, number: int, error: Exception) -> None:
        """Raises TryLater until the update has had its tries; then it is given up, loudly."""
        last, times = self._broke_on
        self._broke_on = (number, times + 1 if last == number else 1)
        if self._broke_on[1] < TRIES_PER_UPDATE:
            raise TryLater(f"the receiver broke ({type(error).__name__})", after=0.0) from None
        log.error("telegram.update_given_up", extra={"update": number}, exc_info=error)

    def _continues_album(self, update: "telegram.Update") -> bool:
        """Further pictures of an album say nothing that its first message did not, unless they have words."""
        message = update.message
        return (
            message is not None
            and message.media_group_id is not None
            and message.media_group_id == self._album
            and not message.caption
        )

    def _forget_old_offset(self, found_some: bool) -> None:
        """After a quiet week Telegram numbers updates anew, perhaps below an offset that we still hold.

        A poll that was answered has confirmed everything below its offset, so it is not needed any more.
        """
        now = self._clock.now()
        if found_some:
            self._last_update_at = now
        elif now - self._last_update_at > FORGET_OFFSET_AFTER:
            self._offset = None

    async def _pause(self, event: str, error: Exception, state: str = "degraded") -> None:
        seconds = self._pauses.next(_asked_for(error))
        self.health.trouble(event, error, state)
        await asyncio.sleep(seconds)


@dataclass(frozen=True)
class _Inbox:
    """Where received things go."""

    receiver: Receiver
    me: Me
    tasks: asyncio.TaskGroup


class _Pauses:
    """Pauses that double from one failure to the next."""

    def __init__(self, first_seconds: float) -> None:
        self._first = first_seconds
        self.in_a_row = 0

    def next(self, at_least: float) -> float:
        pause = min(self._first * 2.0**self.in_a_row, LONGEST_PAUSE_SECONDS)
        self.in_a_row = min(self.in_a_row + 1, 16)
        return max(pause, at_least)

    def reset(self) -> None:
        self.in_a_row = 0


@dataclass
class Health:
    """How Telegram is, judged by answered polls, not by what they brought: a quiet bot is a healthy one."""

    clock: Clock
    patience: timedelta
    state: str = "starting"
    last_poll_at: datetime | None = None
    _last_trouble: dict[str, datetime] = field(default_factory=dict)
    _relapses: int = 0
    """How often trouble came back within the calm time."""
    _was_reported: bool = False

    def now(self) -> PlatformHealth:
        """For `status`."""
        stale = self.last_poll_at is not None and self.clock.now() - self.last_poll_at > self.patience
        degraded = self.state == "ok" and (stale or (self._relapses >= 3 and not self._is_calm()))
        return PlatformHealth("degraded" if degraded else self.state, self.last_poll_at)

    def connected(self) -> None:
        self.state = "ok"

    def polled(self) -> None:
        """A poll was answered."""
        self.last_poll_at = self.clock.now()
        self.state = "ok"
        if self._is_calm():
            self._relapses = 0
        if self._was_reported:
            log.info("telegram.recovered")
            self._was_reported = False

    def trouble(self, event: str, error: Exception, state: str) -> None:
        """Something went wrong; the first of a streak is logged."""
        now = self.clock.now()
        before = self._last_trouble.get(event)
        self._last_trouble[event] = now
        self._relapses += self.state == "ok"
        self.state = state
        if before is None or now - before > CALM:
            self._was_reported = True
            level = logging.ERROR if event in _FOR_THE_OPERATOR else logging.WARNING
            reason = str(error) if isinstance(error, GatewayError) else ""
            log.log(level, event, extra={"error": type(error).__name__, "reason": reason})

    def _is_calm(self) -> bool:
        now = self.clock.now()
        return all(now - at > CALM for at in self._last_trouble.values())


_FOR_THE_OPERATOR = ("telegram.conflict", "telegram.token_refused", "telegram.round_broke")
"""Trouble that does not end by itself."""


def _asked_for(error: Exception) -> float:
    """How long Telegram or the receiver asks us to wait; other trouble waits as long as our own pauses."""
    if isinstance(error, TryLater) and (isinstance(error, TooManyCalls) or not isinstance(error, PlatformBusy)):
        return error.after
    return 0.0


def _number(raw: Any) -> int:
    """The update's id. Raises PlatformBusy: without one there is nothing to confirm, so it is asked again."""
    number = raw.get("update_id") if isinstance(raw, dict) else None
    if not isinstance(number, int):
        raise PlatformBusy("Telegram's answer is not a list of updates")
    return number
