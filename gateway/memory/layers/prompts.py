"""Frozen system prompts of sessions, open or ended: one that holds it is erased whole.

Such a session freezes another at its next turn: memory as it is then, its own date.
"""

from gateway import failpoints
from gateway.memory.layers.layer import Ground, Kind, Layer, LayerPlan, Sought, items_of, kept_in, listed
from gateway.store import emptying
from gateway.store.cutting import Held
from gateway.store.encoding import time_text

NAME = "prompts"


def find(ground: Ground, sought: Sought) -> LayerPlan:
    return listed(NAME, items_of(NAME, _held(ground, sought), sought))


def erase(ground: Ground, sought: Sought) -> int:
    erased = 0
    for one in list(kept_in(NAME, _held(ground, sought), sought)):
        with ground.db.write() as tx:
            erased += emptying.empty_prompt(tx, one.id, sought.holds, time_text(ground.clock.now()))
        failpoints.reach("forget.prompts.one")
    return erased


def _held(ground: Ground, sought: Sought) -> list[Held]:
    with ground.db.read() as rd:
        return list(emptying.prompts(rd, ground.space.id, sought.holds))


LAYER = Layer(NAME, find, erase, (Kind.PASSAGE,))
