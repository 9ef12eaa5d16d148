"""The receiving side of Telegram: a polling loop that confirms only what was kept.

PTB's own loop confirms an update as soon as it is in memory. Here the offset moves past an update only after
the receiver returned, so what was not kept comes again. The offset is in memory only: update ids may start
anywhere after a quiet week, and the receiver knows what it has by its rows.

Chats are handed over beside each other, each in order: a quiet chat must not wait until a flood is kept, and what
is kept at the same time shares a commit.
"""

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from gateway.errors import PlatformBusy, TryLater
from gateway.platforms.telegram_api import TelegramApi
from gateway.platforms.telegram_errors import SecondPoller, TokenRefused
from gateway.platforms.telegram_handing import Handing, number_of
from gateway.platforms.telegram_health import Backoff, Health, asked_for, until_answered
from gateway.platforms.telegram_pieces import Me
from gateway.ports import Clock

FORGET_OFFSET_AFTER = timedelta(days=1)
MOST_AT_ONCE = 100
"""So many updates Telegram gives at once; then more may wait."""


class Polling:
    """The one getUpdates loop of a bot, and how it is doing."""

    def __init__(self, api: TelegramApi, clock: Clock, poll_seconds: int, pause_seconds: float) -> None:
        self._api = api
        self._clock = clock
        self._poll_seconds = poll_seconds
        self._backoff = Backoff(pause_seconds)
        self._offset: int | None = None
        self._last_update_at = clock.now()
        self.health = Health(clock, patience=timedelta(seconds=poll_seconds + 60))

    async def connect(self) -> Me:
        """Until Telegram answers. Raises TokenRefused when it does not take our token."""
        return await until_answered(self._say_hello, self.health, self._backoff)

    async def _say_hello(self) -> Me:
        me = await self._api.connect()
        await self._api.switch_webhook_off()
        return me

    async def receive(self, handing: Handing) -> None:
        """Until cancelled."""
        while True:
            await self._outlive(handing)

    def close(self) -> None:
        """Nothing to let go of: the connections are the API's."""

    async def _outlive(self, handing: Handing) -> None:
        """One round; whatever goes wrong in it is followed by a pause and another round."""
        try:
            await self._round(handing)
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

    async def _round(self, handing: Handing) -> None:
        """Fetch, hand over, move the offset past what was kept. The first poll after trouble is short."""
        wait = self._poll_seconds if self.health.last_poll_at and not self._backoff.in_a_row else 0
        updates = await self._api.fetch(self._offset, wait)
        self.health.polled()
        self._forget_old_offset(bool(updates))
        await self._hand_over(handing, updates)
        self.health.caught_up = len(updates) < MOST_AT_ONCE
        self._backoff.reset()

    async def _hand_over(self, handing: Handing, updates: Sequence[Any]) -> None:
        """Move the offset to the first that was not kept; those behind it come again, and are known by then."""
        kept: set[int] = set()

        async def work_off(line: Sequence[int]) -> None:
            for place in line:
                await handing.over(number_of(updates[place]), updates[place])
                kept.add(place)

        endings = await asyncio.gather(*map(work_off, _lines(updates)), return_exceptions=True)
        whole = next((place for place in range(len(updates)) if place not in kept), len(updates))
        if whole:
            self._offset = number_of(updates[whole - 1]) + 1
        for ending in endings:
            if ending is not None:
                raise ending

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
        self.health.trouble(event, error, state)
        await asyncio.sleep(self._backoff.next(asked_for(error)))


def _lines(updates: Sequence[Any]) -> list[list[int]]:
    """The places of each chat's updates. All are one line where a group becomes another chat."""
    if any(_moves(raw) for raw in updates):
        return [list(range(len(updates)))]
    lines: dict[str, list[int]] = {}
    for place, raw in enumerate(updates):
        lines.setdefault(_chat_of(raw), []).append(place)
    return list(lines.values())


def _moves(raw: Any) -> bool:
    message = raw.get("message") if isinstance(raw, dict) else None
    return isinstance(message, dict) and not message.keys().isdisjoint(
        ("migrate_to_chat_id", "migrate_from_chat_id")
    )


def _chat_of(raw: Any) -> str:
    """The chat that an update happened in, or in the message of a tap; "" for what is in none or is damaged."""
    for thing in raw.values() if isinstance(raw, dict) else ():
        for place in (thing, thing.get("message")) if isinstance(thing, dict) else ():
            if isinstance(place, dict) and isinstance(place.get("chat"), dict):
                return str(place["chat"].get("id"))
    return ""
