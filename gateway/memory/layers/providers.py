"""An external memory. It is asked by a job in a worker (`workers.forget`), not here: this room has no network.

Without one there is nothing to do. With one the step stays open until a worker has said that it is done.
"""

from gateway.memory.layers.layer import Ground, Item, Kind, Layer, LayerPlan, Sought

NAME = "providers"


def find(ground: Ground, sought: Sought) -> LayerPlan:
    """That there is one: what it holds, it tells the worker."""
    return LayerPlan(NAME, 0, (Item(f"{NAME}:{ground.settings.memory.provider}"),) if is_asked(ground) else ())


def erase(ground: Ground, sought: Sought) -> int:
    return 0


def is_asked(ground: Ground) -> bool:
    """Whether there is an external memory."""
    return ground.settings.memory.provider != "none"


LAYER = Layer(NAME, find, erase, tuple(Kind), finds_again=False)
