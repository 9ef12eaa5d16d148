"""What stands for the compressed middle of a session. One that holds it goes: the session is sent whole then.

The database lets a summary go, too, with every message of its part that is cut.
"""

from gateway.memory.layers.layer import Ground, Kind, Layer, LayerPlan, Sought, items_of, kept_in, listed
from gateway.store import emptying
from gateway.store.cutting import Held

NAME = "summaries"


def find(ground: Ground, sought: Sought) -> LayerPlan:
    return listed(NAME, items_of(NAME, _held(ground, sought), sought))


def erase(ground: Ground, sought: Sought) -> int:
    erased = 0
    for one in list(kept_in(NAME, _held(ground, sought), sought)):
        with ground.db.write() as tx:
            erased += emptying.drop_summaries(tx, one.id, sought.holds)
    return erased


def _held(ground: Ground, sought: Sought) -> list[Held]:
    with ground.db.read() as rd:
        return list(emptying.summaries(rd, ground.space.id, sought.holds))


LAYER = Layer(NAME, find, erase, (Kind.PASSAGE,))
