"""The receiving side of Telegram: a polling loop that confirms only what was kept.

PTB's own loop confirms an update as soon as it is in memory. Here the offset moves past an update only after
the receiver returned, so what was not kept comes again. The offset is in memory only: update ids may start
anywhere after a quiet week, and the receiver knows what it has by its rows.
"""

import asyncio
from datetime import timedelta

from gateway.errors import PlatformBusy, TryLater
from gateway.platforms.telegram_api import TelegramApi
from gateway.platforms.telegram_errors import SecondPoller, TokenRefused
from gateway.platforms.telegram_handing import Handing, number_of
from gateway.platforms.telegram_health import Health, Pauses, asked_for, until_answered
from gateway.platforms.telegram_pieces import Me
from gateway.ports import Clock

FORGET_OFFSET_AFTER = timedelta(days=1)


class Polling:
    """The one getUpdates loop of a bot, and how it is doing."""

    def __init__(self, api: TelegramApi, clock: Clock, poll_seconds: int, pause_seconds: float) -> None:
        self._api = api
        self._clock = clock
        self._poll_seconds = poll_seconds
        self._pauses = Pauses(pause_seconds)
        self._offset: int | None = None
        self._last_update_at = clock.now()
        self.health = Health(clock, patience=timedelta(seconds=poll_seconds + 60))

    async def connect(self) -> Me:
        """Until Telegram answers. Raises TokenRefused when it does not take our token."""
        return await until_answered(self._say_hello, self.health, self._pauses)

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
        """Fetch, hand over one by one, move the offset past each. The first poll after trouble is short."""
        wait = self._poll_seconds if self.health.last_poll_at and not self._pauses.in_a_row else 0
        updates = await self._api.fetch(self._offset, wait)
        self.health.polled()
        self._forget_old_offset(bool(updates))
        for raw in updates:
            number = number_of(raw)
            await handing.over(number, raw)
            self._offset = number + 1
        self._pauses.reset()

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
        await asyncio.sleep(self._pauses.next(asked_for(error)))
