"""Proposed, decided and undone writes: a row that holds it keeps what happened when, and no word."""

from collections.abc import Iterator

from gateway import failpoints
from gateway.memory import cards
from gateway.memory.layers.layer import Ground, Kind, Layer, LayerPlan, Sought, items_of, kept_in, listed
from gateway.store import emptying, vacating
from gateway.store import writes as ledger
from gateway.store.cutting import Held
from gateway.store.encoding import time_text

NAME = "ledger"


def find(ground: Ground, sought: Sought) -> LayerPlan:
    return listed(NAME, items_of(NAME, _held(ground, sought), sought))


def erase(ground: Ground, sought: Sought) -> int:
    """Under the lock of the files: nobody decides about a row meanwhile."""
    erased = 0
    with ground.files.locked(ground.space):
        ground.memory.skills.finish(ground.space)
        if sought.everything:
            with ground.db.write() as tx:
                return vacating.drop_writes(tx, ground.space.id)
        held = list(kept_in(NAME, _held(ground, sought), sought))
        for one in held:
            _empty(ground, sought, int(one.id))
            failpoints.reach("forget.ledger.row")
            erased += 1
    return erased


def _held(ground: Ground, sought: Sought) -> Iterator[Held]:
    with ground.db.read() as rd:
        if sought.everything:
            rows = ledger.log(rd, ground.space.id, -1)
            held = [Held(str(write.id), "") for write in rows]
        elif sought.passages:
            held = list(emptying.writes(rd, ground.space.id, sought))
        else:
            held = []
    return iter(held)


def _empty(ground: Ground, sought: Sought, id: int) -> None:
    """The row and its cards, in one commit."""
    now = ground.clock.now()
    with ground.db.write() as tx:
        ground.note(tx, "row", [f"{NAME}:{id}"])
        if emptying.empty_write(tx, id, sought, time_text(now)):
            cards.update(tx, ledger.get(tx, id), "forgotten", now)


LAYER = Layer(NAME, find, erase, (Kind.PASSAGE, Kind.EVERYTHING))
