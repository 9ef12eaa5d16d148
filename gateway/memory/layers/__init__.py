"""The layers: every place where memory lives, in the order in which a forget goes through them.

Files before the prompts that are made of them; rows that go whole before words are cut out of the rest; what asked
for it comes last, and after it only the pages of the search index. Every text column of the database, every file
and every key that we write is claimed by one of these (`store.columns`, tests/store/test_forgetting_layers.py).
"""

from gateway.memory.layers import (
    backups,
    copies,
    entries,
    files,
    ledger,
    messages,
    outbox,
    people,
    prompts,
    providers,
    requests,
    search_index,
    sessions,
    skills,
    summaries,
    titles,
)
from gateway.memory.layers.layer import Layer

LAYERS: tuple[Layer, ...] = (
    entries.LAYER,
    ledger.LAYER,
    skills.LAYER,
    files.LAYER,
    sessions.LAYER,
    summaries.LAYER,
    messages.LAYER,
    prompts.LAYER,
    titles.LAYER,
    outbox.LAYER,
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
