"""How Telegram is doing, and how long to wait after trouble: the same for polls and webhooks."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TypeVar

from gateway.errors import GatewayError, PlatformBusy, TryLater
from gateway.platforms.telegram_errors import TokenRefused, TooManyCalls
from gateway.ports import Clock, PlatformHealth

log = logging.getLogger(__name__)

LONGEST_PAUSE_SECONDS = 30.0
CALM = timedelta(seconds=60)
"""Trouble that comes back within this time belongs to the same streak, which is reported once."""

Result = TypeVar("Result")


@dataclass
class Health:
    """How Telegram is, judged by answered polls, not by what they brought: a quiet bot is a healthy one."""

    clock: Clock
    patience: timedelta
    state: str = "starting"
    last_poll_at: datetime | None = None
    caught_up: bool = False
    """Whether nothing more waits at Telegram, as far as the last answer of it tells."""
    _last_trouble: dict[str, datetime] = field(default_factory=dict)
    _relapses: int = 0
    """How often trouble came back within the calm time."""
    _was_reported: bool = False

    def now(self) -> PlatformHealth:
        """For `status`."""
        stale = self.last_poll_at is not None and self.clock.now() - self.last_poll_at > self.patience
        degraded = self.state == "ok" and (stale or (self._relapses >= 3 and not self._is_calm()))
        return PlatformHealth("degraded" if degraded else self.state, self.last_poll_at, caught_up=self.caught_up)

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
        self.caught_up = False
        if before is None or now - before > CALM:
            self._was_reported = True
            level = logging.ERROR if event in FOR_THE_OPERATOR else logging.WARNING
            reason = str(error) if isinstance(error, GatewayError) else ""
            log.log(level, event, extra={"error": type(error).__name__, "reason": reason})

    def _is_calm(self) -> bool:
        now = self.clock.now()
        return all(now - at > CALM for at in self._last_trouble.values())


FOR_THE_OPERATOR = ("telegram.conflict", "telegram.token_refused", "telegram.round_broke")
"""Trouble that does not end by itself."""


class Backoff:
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


async def until_answered(call: Callable[[], Awaitable[Result]], health: Health, backoff: Backoff) -> Result:
    """Call Telegram until it answers. Raises TokenRefused when it does not take our token."""
    while True:
        try:
            answer = await call()
        except TokenRefused:
            health.state = "refused"
            raise
        except GatewayError as error:
            health.trouble("telegram.unreachable", error, "degraded")
            await asyncio.sleep(backoff.next(asked_for(error)))
        else:
            backoff.reset()
            health.connected()
            return answer


def asked_for(error: Exception) -> float:
    """How long Telegram or the receiver asks us to wait; other trouble waits as long as our own pauses."""
    if isinstance(error, TryLater) and (isinstance(error, TooManyCalls) or not isinstance(error, PlatformBusy)):
        return error.after
    return 0.0
