"""Asking an external memory to erase what is being forgotten: the part of a forget that needs the network.

The words stand in the request's row until this is done, and go into no job and no log. Asking again does no harm.
"""

import logging
from dataclasses import dataclass

from gateway import failpoints
from gateway.memory.layers.layer import Kind
from gateway.ports import Clock, Provider
from gateway.store import forgets, people
from gateway.store.db import Database

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Eraser:
    """Asks one external memory; None where there is none."""

    db: Database
    clock: Clock
    provider: Provider | None

    async def erase(self, id: int) -> bool:
        """Erase and look that nothing is left. False: later again, or nothing to do. Raises ProviderBusy."""
        with self.db.write() as tx:
            if not forgets.ask_outside(tx, id):
                return False
            forget = forgets.get(tx, id)
            texts = forgets.passages(tx, id)
            space = people.space(tx, forget.space).name
        erased = 0
        if self.provider is not None:
            everything = forget.kind == Kind.EVERYTHING
            erased = await self.provider.erase(space, texts, everything=everything)
            failpoints.reach("forget.erased_outside")
            if texts and await self.provider.find(space, texts):
                log.warning("forget.left_outside", extra={"forget": id})
                return False
        with self.db.write() as tx:
            forgets.outside_done(tx, id, erased, self.clock.now())
        log.info("forget.outside_done", extra={"forget": id, "erased": erased})
        return True
