"""Goes on with what is being forgotten, in a thread of its own, so that no lane waits for it.

What is left when this process ends, or cannot be done now, is housekeeping's (once a minute, and at the start).
"""

import asyncio
import logging
from dataclasses import dataclass, field

from gateway.conversation.committing import to_its_end
from gateway.errors import GatewayError
from gateway.memory.forgetting import Forgetting
from gateway.store import forgets

log = logging.getLogger(__name__)


@dataclass
class Eraser:
    """One runs in each process that people talk to. `wake` is called from the same event loop."""

    forgetting: Forgetting
    _woken: asyncio.Event = field(default_factory=asyncio.Event)
    _idle: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self._idle.set()

    def wake(self) -> None:
        """Somebody may have said yes to a plan."""
        self._idle.clear()
        self._woken.set()

    async def run(self) -> None:
        """Erase until cancelled."""
        while True:
            await self._woken.wait()
            self._woken.clear()
            try:
                await to_its_end(self._go_on)
            except GatewayError as error:
                log.warning("erasing.waits", extra={"error": type(error).__name__})
            finally:
                if not self._woken.is_set():
                    self._idle.set()

    async def until_quiet(self) -> None:
        """Wait until what can be erased now is erased."""
        await self._idle.wait()

    def _go_on(self) -> None:
        with self.forgetting.db.read() as rd:
            waits = forgets.erasing(rd)
        if waits:
            self.forgetting.resume()
