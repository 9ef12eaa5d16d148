"""Erasing one forget that was begun: layer by layer, until nothing finds anything, then down to the bytes.

May be killed between any two steps and done again: what was cut holds nothing any more. The words stand in the row
of the request until nothing else holds them; a row that has lost them only waits for its receipt.
"""

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from gateway import failpoints
from gateway.errors import TryLater
from gateway.memory import forgetplan, forgetverifying
from gateway.memory.layers import LAYERS, providers, search_index
from gateway.memory.layers.layer import Ground, Kind, Layer, Scope, Sought
from gateway.records import Forget
from gateway.store import forgets, search_upkeep
from gateway.store.transaction import Transaction

log = logging.getLogger(__name__)

MOST_ROUNDS = 10
"""So often the layers are gone through at a time, for what is said meanwhile; then it goes on a minute later."""
CHECKPOINT_TRIES = 25
CHECKPOINT_PAUSE_SECONDS = 0.2


@dataclass(frozen=True, slots=True)
class Erasing:
    """One forget. The caller holds the lock of all erasing."""

    ground: Ground
    forget: Forget
    scope: Scope
    redis: Callable[[], Sequence[tuple[str, bytes]]]
    tell: Callable[[Transaction], None]
    """Put what is said of it into the outbox, in the commit that says that it is done."""

    def erase(self) -> bool:
        """True: it is done. False: not now. Raises TryLater, and Refused for a file that is closed to us."""
        if self.forget.kind == Kind.PASSAGE and not self.scope.passages:
            return self._finish()  # killed after the words themselves were erased
        sought = forgetplan.sought_of(
            self.scope, frozenset(self.forget.left_out), message=self.forget.message, forget=self.forget.id
        )
        if not self._erase_all(sought):
            return False
        failpoints.reach("forget.layers_erased")
        self._until_clean()
        failpoints.reach("forget.swept")
        found = forgetverifying.verify(self.ground, sought, self.redis())
        if found.residue:  # words between the rows: the database is written anew
            self.ground.db.rewrite()
            found = forgetverifying.verify(self.ground, sought, self.redis())
        failpoints.reach("forget.verified")
        self._erase_words(sought, found.told)
        failpoints.reach("forget.words_gone")
        return self._finish()

    # -- the layers --------------------------------------------------------------------------------------

    def _erase_all(self, sought: Sought) -> bool:
        """Go through the layers until none of them finds anything. False: not now."""
        open_ = {step.layer for step in self.forget.steps if step.done_at is None}
        layers = [layer for layer in LAYERS[:-1] if self.scope.kind in layer.kinds]
        todo = [layer for layer in layers if layer.name in open_]
        for _ in range(MOST_ROUNDS):
            for layer in todo:
                self._erase(layer, sought)
            if not self._provider_is_done():
                return self._later("provider")
            with self.ground.db.write() as tx:
                # What was thought before all was erased is void; what is thought from now on rests on what is left.
                forgets.next_epoch(tx, self.forget.space)
            todo = [layer for layer in layers if layer.finds_again and layer.find(self.ground, sought).found]
            if not todo:
                self._erase(search_index.LAYER, sought)
                return True
        return self._later("rounds")

    def _erase(self, layer: Layer, sought: Sought) -> None:
        db, id = self.ground.db, self.forget.id
        with db.read() as rd:
            known = next((step for step in forgets.get(rd, id).steps if step.layer == layer.name), None)
        if known is not None and known.erased is None and layer.finds_again:
            count = layer.find(self.ground, sought).found
            with db.write() as tx:
                forgets.found(tx, id, layer.name, count)
        failpoints.reach(f"forget.layer.{layer.name}")
        erased = layer.erase(self.ground, sought)
        failpoints.reach(f"forget.erased.{layer.name}")
        if layer.name == providers.NAME:
            return  # a worker says when that is done
        with db.write() as tx:
            forgets.erased(tx, id, layer.name, erased, self.ground.clock.now())

    def _provider_is_done(self) -> bool:
        with self.ground.db.read() as rd:
            steps = forgets.get(rd, self.forget.id).steps
        return all(step.done_at is not None for step in steps if step.layer == providers.NAME)

    def _later(self, why: str) -> bool:
        log.warning("forget.waits", extra={"forget": self.forget.id, "reason": why})
        return False

    # -- the bytes ---------------------------------------------------------------------------------------

    def _until_clean(self) -> None:
        """Empty the WAL into the database: every page that was written anew overwrites what it was."""
        db = self.ground.db
        for _ in range(CHECKPOINT_TRIES):
            if db.checkpoint():
                search_upkeep.swept(db)
                if db.checkpoint():
                    return
            time.sleep(CHECKPOINT_PAUSE_SECONDS)
        raise TryLater("somebody reads in the database")

    def _erase_words(self, sought: Sought, verified: dict[str, object]) -> None:
        """The words themselves are the last to go."""
        left = forgetplan.left(self.ground, sought)
        with self.ground.db.write() as tx:
            forgets.erase_words(
                tx,
                self.forget.id,
                left=[(one.path, one.found) for one in left],
                left_out=[_without_hash(ref) for ref in self.forget.left_out],
                verified=verified,
            )

    def _finish(self) -> bool:
        self._until_clean()
        with self.ground.db.write() as tx:
            if forgets.done(tx, self.forget.id, self.ground.clock.now()):
                self.tell(tx)
        failpoints.reach("forget.done")
        log.info("forget.done", extra={"forget": self.forget.id})
        return True


def _without_hash(ref: str) -> str:
    """Which rows were left out stays on the receipt; of what is named by a hash of its words only the layer."""
    layer = ref.partition(":")[0]
    return layer if layer in ("entries", "skills", "files") else ref
