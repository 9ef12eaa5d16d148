"""How often we may speak: one gate per chat, and one for the bot.

`Schedule` and `Pauses` are arithmetic: they are told the time and say who may go, or how long nobody can.
`Gates` lets callers wait for that. Every bound is a sliding window, "so many in any so many seconds", because
that is how a platform counts: a bucket that refills lets twice as many through in its worst minute. While more wait
than the bot's bound lets through, a `Pace` spreads its places over the window.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

FIRST_SWEEP = 64
"""How many chats are remembered before the idle ones are looked for."""
CROWDED_SECONDS = 10.0
"""How long it counts as crowded after somebody had to wait for the bot's bound."""
IN_A_BUNCH = 6
"""So many places may be taken late and then together: the loop that gives them out has other things to do."""


@dataclass(frozen=True, slots=True)
class Limit:
    """At most so many in any so many seconds."""

    most: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Rates:
    """How often a platform lets us speak: in one chat, in one group, and altogether."""

    chat: tuple[Limit, ...] = ()
    group: tuple[Limit, ...] = ()
    bot: tuple[Limit, ...] = ()

    @property
    def longest_seconds(self) -> float:
        return max((limit.seconds for limit in (*self.chat, *self.group, *self.bot)), default=0.0)


TELEGRAM_RATES = Rates(
    # One a second, as Telegram asks; the short burst that it tolerates lets an answer of three parts go at once.
    chat=(Limit(3, 3.0),),
    # A second more than a minute: what we send evenly may arrive unevenly.
    group=(Limit(3, 3.0), Limit(20, 61.0)),
    bot=(Limit(30, 1.0),),
)
OPEN = Rates()
"""No bounds: for benchmarks and tests."""


class Meter:
    """How often something happened lately, and when it may happen again. Pure."""

    def __init__(self, limits: tuple[Limit, ...]) -> None:
        self._limits = limits
        self._times: deque[float] = deque(maxlen=max((limit.most for limit in limits), default=1))

    def wait(self, now: float) -> float:
        """Seconds until the next one is within every limit; 0 when it is now."""
        full = (limit for limit in self._limits if len(self._times) >= limit.most)
        return max((self._times[-limit.most] + limit.seconds - now for limit in full), default=0.0)

    def count(self, now: float) -> None:
        self._times.append(now)

    @property
    def last(self) -> float | None:
        """When it happened last."""
        return self._times[-1] if self._times else None


class Pace:
    """Spreads the places of a bound over its window while it is crowded. Pure.

    The window alone gives all its places away where it begins, in a flood window after window: a quiet chat that
    comes a moment later would wait for the whole of it.
    """

    def __init__(self, limits: tuple[Limit, ...]) -> None:
        self._between = max((limit.seconds / limit.most for limit in limits), default=0.0)
        self._due = 0.0
        self._crowded_until = 0.0

    def crowd(self, now: float) -> None:
        """Somebody has to wait for a place."""
        self._crowded_until = now + CROWDED_SECONDS

    def wait(self, now: float) -> float:
        """Seconds until the next place; 0 or less when it is now."""
        return self._due - IN_A_BUNCH * self._between - now if now < self._crowded_until else 0.0

    def count(self, now: float) -> None:
        self._due = max(self._due, now) + self._between


@dataclass(eq=False)
class Place:
    """A place in the queue of one chat."""

    key: str
    since: float
    go: Callable[[], None]
    """Called once, when it is its turn."""


class Schedule:
    """Who goes next. Pure: it is told the time.

    Whose chat was served longest ago goes first, so a flood in one chat waits behind every quiet one; within a
    chat, whoever came first.
    """

    def __init__(self, rates: Rates) -> None:
        self._rates = rates
        self._bot = Meter(rates.bot)
        self._pace = Pace(rates.bot)
        self._chats: dict[str, Meter] = {}
        self._waiting: dict[str, deque[Place]] = {}
        self._sweep_at = FIRST_SWEEP

    def enter(self, place: Place) -> None:
        self._waiting.setdefault(place.key, deque()).append(place)

    def leave(self, place: Place) -> None:
        """Give a place up. One that has gone already is no longer there."""
        queue = self._waiting.get(place.key)
        if queue is not None and place in queue:
            queue.remove(place)
            self._drop_if_empty(place.key)

    def next(self, now: float) -> Place | float | None:
        """Who may go now (and has gone, with this), how long nobody can, or None: nobody waits."""
        if not self._waiting:
            return None
        if self._bot.wait(now) > 0:
            self._pace.crowd(now)
        if (wait := self._bot_wait(now)) > 0:
            return wait
        waits = {key: self._chat_wait(key, now) for key in self._waiting}
        ready = [key for key, wait in waits.items() if wait <= 0]
        if not ready:
            return min(waits.values())
        key = min(ready, key=lambda key: self._served(key))
        place = self._waiting[key].popleft()
        self._drop_if_empty(key)
        self._count(key, now)
        return place

    def goes_at_once(self, key: str, now: float) -> bool:
        """Whether somebody who came now would not wait, nor make anybody wait.

        Others may be waiting for their own chats: those whom the bot's bound lets go have gone already.
        """
        return key not in self._waiting and self._bot_wait(now) <= 0 and self._chat_wait(key, now) <= 0

    def count_beside(self, now: float) -> None:
        """Something went that counts for the bot, in no chat."""
        self._bot.count(now)
        self._pace.count(now)

    def __len__(self) -> int:
        """How many chats are remembered."""
        return len(self._chats)

    def _bot_wait(self, now: float) -> float:
        return max(self._bot.wait(now), self._pace.wait(now))

    def _chat_wait(self, key: str, now: float) -> float:
        meter = self._chats.get(key)
        return meter.wait(now) if meter is not None else 0.0

    def _served(self, key: str) -> tuple[float, float]:
        """When a chat was served last, and since when it waits.

        A chat that was never served counts as served a while before it came: a stream of new ones must not
        keep the others waiting for ever.
        """
        since = self._waiting[key][0].since
        meter = self._chats.get(key)
        last = meter.last if meter is not None else None
        return (since - self._rates.longest_seconds if last is None else last, since)

    def _count(self, key: str, now: float) -> None:
        self.count_beside(now)
        limits = self._limits(key)
        if limits:
            self._chats.setdefault(key, Meter(limits)).count(now)
        if len(self._chats) > self._sweep_at:
            self._forget_idle(now)

    def _limits(self, key: str) -> tuple[Limit, ...]:
        """A group's number is negative; "" is no chat, only the bot."""
        if not key:
            return ()
        return self._rates.group if key.startswith("-") else self._rates.chat

    def _forget_idle(self, now: float) -> None:
        longest = self._rates.longest_seconds
        self._chats = {
            key: meter
            for key, meter in self._chats.items()
            if meter.last is not None and now - meter.last < longest
        }
        self._sweep_at = max(FIRST_SWEEP, 2 * len(self._chats))

    def _drop_if_empty(self, key: str) -> None:
        if not self._waiting[key]:
            del self._waiting[key]


class Timer(Protocol):
    """The time, and being called later; every event loop is one."""

    def time(self) -> float: ...

    def call_later(self, delay: float, callback: Callable[[], None], /) -> "Alarm": ...


class Alarm(Protocol):
    """What can be called off."""

    def cancel(self) -> None: ...


class Gates:
    """Lets callers wait for their turn. Belongs to one event loop."""

    def __init__(self, rates: Rates, timer: Timer | None = None) -> None:
        self._schedule = Schedule(rates)
        self._is_open = rates == OPEN
        self._timer = timer
        self._alarm: Alarm | None = None

    async def wait(self, key: str) -> None:
        """Return when something may be said in this chat ("" for what is in no chat). Cancel to give up."""
        if self._is_open:
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def go() -> None:
            if not turn.done():
                turn.set_result(None)

        place = Place(key, self._clock.time(), go)
        self._schedule.enter(place)
        self._let_through()
        try:
            await turn
        finally:
            self._schedule.leave(place)

    def take_if_free(self, key: str) -> bool:
        """Whether something that can as well be left out may go now; it takes nothing from the chat's messages."""
        if self._is_open:
            return True
        now = self._clock.time()
        free = self._schedule.goes_at_once(key, now)
        if free:
            self._schedule.count_beside(now)
        return free

    @property
    def _clock(self) -> Timer:
        return self._timer or asyncio.get_running_loop()

    def _let_through(self) -> None:
        """Whoever may go goes; the next look is when the next one may."""
        while isinstance(chosen := self._schedule.next(self._clock.time()), Place):
            chosen.go()
        if self._alarm is not None:
            self._alarm.cancel()
        self._alarm = self._clock.call_later(chosen, self._let_through) if chosen is not None else None


@dataclass
class Pauses:
    """What the platform itself told us to wait. Pure.

    A platform that does not say what a pause is for is taken to mean the chat; when several chats are told so
    within a short time, it means the bot.
    """

    chats_for_everywhere: int = 3
    within_seconds: float = 10.0
    _until: dict[str, float] = field(default_factory=dict)
    _told: deque[tuple[float, str]] = field(default_factory=deque)
    _everywhere_until: float = 0.0

    def told(self, key: str, seconds: float, now: float) -> bool:
        """We were told to wait in this chat; returns whether that is taken to mean everywhere."""
        self._until = {chat: until for chat, until in self._until.items() if until > now}
        self._until[key] = max(now + seconds, self._until.get(key, 0.0))
        self._told.append((now, key))
        while self._told[0][0] < now - self.within_seconds:
            self._told.popleft()
        everywhere = len({chat for _, chat in self._told}) >= self.chats_for_everywhere
        if everywhere:
            self._everywhere_until = max(self._everywhere_until, now + seconds)
        return everywhere

    def left(self, key: str, now: float) -> "Pause":
        """How much longer to be silent in this chat."""
        here, everywhere = self._until.get(key, 0.0) - now, self._everywhere_until - now
        return Pause(max(here, everywhere, 0.0), everywhere=everywhere > 0)


@dataclass(frozen=True, slots=True)
class Pause:
    """How long to be silent, 0 for not at all, and whether in every chat."""

    seconds: float
    everywhere: bool
