"""The pages of the search index: words of what was cut lie there until they are merged away (docs/decisions/0013).

Every layer takes its rows out of the index as it cuts them; here the index is rewritten in slices. Also where only
a message was edited since it was last rewritten: what it said before is in no row, but may be what is to go.
"""

from gateway.memory.layers.layer import Ground, Layer, LayerPlan, Sought
from gateway.store import search_upkeep

NAME = "search_index"


def find(ground: Ground, sought: Sought) -> LayerPlan:
    """What can be found is in the messages; nobody can find what still lies here."""
    return LayerPlan(NAME, 0)


def erase(ground: Ground, sought: Sought) -> int:
    if search_upkeep.is_due(ground.db):
        search_upkeep.merge(ground.db)
    return 0


LAYER = Layer(NAME, find, erase)
