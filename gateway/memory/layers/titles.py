"""What sessions are called."""

from gateway.memory.layers.layer import Ground, Kind, Layer, LayerPlan, Sought, items_of, kept_in, listed
from gateway.store import emptying
from gateway.store.cutting import Held

NAME = "titles"


def find(ground: Ground, sought: Sought) -> LayerPlan:
    return listed(NAME, items_of(NAME, _held(ground, sought), sought))


def erase(ground: Ground, sought: Sought) -> int:
    held = list(kept_in(NAME, _held(ground, sought), sought))
    for one in held:
        with ground.db.write() as tx:
            emptying.cut_title(tx, one.id, sought.cut)
    return len(held)


def _held(ground: Ground, sought: Sought) -> list[Held]:
    with ground.db.read() as rd:
        return list(emptying.titles(rd, ground.space.id, sought.holds))


LAYER = Layer(NAME, find, erase, (Kind.PASSAGE,))
