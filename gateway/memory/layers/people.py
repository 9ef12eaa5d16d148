"""Who uses a space, where, and with which settings: goes only with everything.

The owner stays the owner: whoever forgot that, too, would be locked out of their own bot.
"""

from gateway.memory.layers.layer import Ground, Item, Kind, Layer, LayerPlan, Sought
from gateway.store import spaces, vacating

NAME = "people"


def find(ground: Ground, sought: Sought) -> LayerPlan:
    with ground.db.read() as rd:
        count = vacating.count_of_people(rd, ground.space.id, keep_accounts=ground.space.kind != "person")
    return LayerPlan(NAME, count, (Item(f"{NAME}:*", ""),) if count else ())


def erase(ground: Ground, sought: Sought) -> int:
    is_person = ground.space.kind == "person"
    with ground.db.write() as tx:
        count = vacating.drop_people(tx, ground.space.id, keep_accounts=not is_person)
        if is_person:
            spaces.close_space(tx, ground.space.id, ground.clock.now())
    return count


LAYER = Layer(NAME, find, erase, (Kind.EVERYTHING,))
