"""The request itself: the message that asked, and other plans that wait with the same words.

Its own words stand in its row until all else is erased; `forgetting` takes them away last.
"""

from gateway.memory.folding import MARK
from gateway.memory.layers.layer import Ground, Item, Layer, LayerPlan, Sought, listed
from gateway.store import cutting, finding, forgets

NAME = "requests"


def find(ground: Ground, sought: Sought) -> LayerPlan:
    return listed(NAME, [Item(f"{NAME}:{ref}") for ref in (*_asked(ground, sought), *_plans(ground, sought))])


def erase(ground: Ground, sought: Sought) -> int:
    asked, plans = _asked(ground, sought), _plans(ground, sought)
    with ground.db.write() as tx:
        for id in asked:
            cutting.blank_message(tx, id, MARK)
        for id in plans:
            forgets.end_planned(tx, id, "cancelled", ground.clock.now())
    return len(asked) + len(plans)


def _asked(ground: Ground, sought: Sought) -> list[int]:
    if sought.message is None or sought.everything:
        return []
    with ground.db.read() as rd:
        return [sought.message] if finding.says_more_than(rd, sought.message, MARK) else []


def _plans(ground: Ground, sought: Sought) -> list[int]:
    with ground.db.read() as rd:
        waiting = forgets.planned_holding(rd, ground.space.id)
    return [id for id, texts in waiting if sought.everything or any(map(sought.holds, texts))]


LAYER = Layer(NAME, find, erase)
