"""The layers inside a home, and so inside every backup of it, in the order in which a forget goes through them.

Files before the prompts that are made of them; rows that go whole before words are cut out of the rest.
"""

from gateway.memory.layers import (
    entries,
    files,
    ledger,
    messages,
    outbox,
    prompts,
    sessions,
    skills,
    summaries,
    titles,
)
from gateway.memory.layers.layer import Layer

INSIDE: tuple[Layer, ...] = (
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
)
