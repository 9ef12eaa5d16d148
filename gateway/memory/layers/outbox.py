"""What is still to be said: what was rendered and has not arrived. A row itself holds no words."""

from gateway.memory.layers.layer import Ground, Item, Kind, Layer, LayerPlan, Sought, items_of, kept_in, listed
from gateway.store import emptying, vacating
from gateway.store.cutting import Held

NAME = "outbox"


def find(ground: Ground, sought: Sought) -> LayerPlan:
    if sought.everything:
        with ground.db.read() as rd:
            count = vacating.count_outgoing(rd, ground.space.id)
        return LayerPlan(NAME, count, (Item(f"{NAME}:*", ""),) if count else ())
    return listed(NAME, items_of(NAME, _held(ground, sought), sought))


def erase(ground: Ground, sought: Sought) -> int:
    if sought.everything:
        with ground.db.write() as tx:
            return vacating.drop_outgoing(tx, ground.space.id)
    held = list(kept_in(NAME, _held(ground, sought), sought))
    for one in held:
        with ground.db.write() as tx:
            emptying.cut_chunk(tx, one.id, sought.cut)
    return len(held)


def _held(ground: Ground, sought: Sought) -> list[Held]:
    with ground.db.read() as rd:
        return list(emptying.chunks(rd, ground.space.id, sought.holds))


LAYER = Layer(NAME, find, erase, (Kind.PASSAGE, Kind.EVERYTHING))
