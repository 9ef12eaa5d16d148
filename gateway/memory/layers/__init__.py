"""The layers: every place where memory lives, in the order in which a forget goes through them.

First what lives inside a home (`inside`), then what lives elsewhere; what asked for it comes last, and after it
only the pages of the search index. Every text column of the database, every file and every key that we write is
claimed by one of these (`store.columns`, tests/store/test_forgetting_layers.py).
"""

from gateway.memory.layers import backups, copies, people, providers, requests, search_index
from gateway.memory.layers.inside import INSIDE
from gateway.memory.layers.layer import Layer

LAYERS: tuple[Layer, ...] = (
    *INSIDE,
    people.LAYER,
    providers.LAYER,
    copies.LAYER,
    backups.LAYER,
    requests.LAYER,
    search_index.LAYER,
)


def named(name: str) -> Layer:
    """The layer with this name."""
    return next(layer for layer in LAYERS if layer.name == name)
