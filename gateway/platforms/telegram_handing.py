"""Handing one of Telegram's updates to the receiver, however it came: by a poll or by a webhook.

When `over` returns, the update is kept or not for us, and may be confirmed. TryLater means: not yet.
"""

import logging
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from gateway.chat import IncomingMessage, Tap
from gateway.errors import PlatformBusy, TryLater
from gateway.platforms import telegram_updates
from gateway.platforms.telegram_api import TelegramApi
from gateway.platforms.telegram_pieces import PLATFORM, Me
from gateway.platforms.telegram_updates import Edited, Moved, Received
from gateway.ports import Clock, Receiver

log = logging.getLogger(__name__)

TRIES_PER_UPDATE = 3
"""How often an update is handed over on which the receiver breaks, before it is given up."""


@dataclass(frozen=True, slots=True)
class WebhookAddress:
    """Where Telegram calls us: its public address, our port behind it, the secret that Telegram shows."""

    url: str
    port: int
    secret: str = field(repr=False)


@dataclass
class Handing:
    """Where received things go. `acknowledge` is called for each tap with its id and toast."""

    api: TelegramApi
    receiver: Receiver
    me: Me
    clock: Clock
    acknowledge: Callable[[str, str], None]
    saw_forum: Callable[[str], None]
    """Called with each chat that has topics and in which something happened."""
    _broke_on: Counter[int] = field(default_factory=Counter)
    """The updates on which the receiver breaks, and how often it did."""

    async def over(self, number: int, raw: dict[str, Any]) -> None:
        """Hand over one update. Raises TryLater when it must come again."""
        try:
            update = self.api.read(raw)
            thing = telegram_updates.translate(update, self.me, self.clock.now())
        except Exception as error:  # noqa: BLE001 - any error: the update is not what the Bot API describes
            log.warning("telegram.update_skipped", extra={"update": number, "error": type(error).__name__})
            return
        if thing is None:
            return
        if forum := telegram_updates.forum(update):
            self.saw_forum(forum)
        try:
            await self._give(thing)
        except TryLater:
            raise
        except Exception as error:  # noqa: BLE001 - one bug of ours must not end the receiving
            self._count_break(number, error)

    async def _give(self, thing: Received) -> None:
        match thing:
            case IncomingMessage():
                await self.receiver.message(thing)
            case Edited(message):
                await self.receiver.edit(message)
            case Moved(from_id, to_id):
                await self.receiver.moved(PLATFORM, from_id, to_id)
            case Tap():
                self.acknowledge(thing.id, await self.receiver.tap(thing))

    def _count_break(self, number: int, error: Exception) -> None:
        """Raises TryLater until the update has had its tries; then it is given up, loudly."""
        self._broke_on[number] += 1
        if self._broke_on[number] < TRIES_PER_UPDATE:
            raise TryLater(f"the receiver broke ({type(error).__name__})", after=0.0) from None
        del self._broke_on[number]
        log.error("telegram.update_given_up", extra={"update": number}, exc_info=error)


def number_of(raw: Any) -> int:
    """The update's id. Raises PlatformBusy: without one there is nothing to confirm, so it is asked again."""
    number = raw.get("update_id") if isinstance(raw, dict) else None
    if not isinstance(number, int):
        raise PlatformBusy("Telegram's answer is not a list of updates")
    return number
