"""What a forget leaves behind so that nothing comes back unasked: marks without the words (`tombstones`).

Of each passage with the entries that hold it, when a person says yes; of each row and entry that goes, in the
commit that lets it go: an older copy of the home that is restored loses them again.
"""

from collections.abc import Sequence
from datetime import datetime

from gateway.memory import passages, tombstones
from gateway.memory.layers import entries
from gateway.memory.layers.layer import Ground, Sought
from gateway.store import tombstones as store
from gateway.store.tombstones import Mark
from gateway.store.transaction import Transaction


def mark(tx: Transaction, ground: Ground, sought: Sought, forget: int) -> None:
    """The facts may not be learnt again unasked."""
    key = store.key(tx)
    facts = entries.facts(ground, sought)
    found: list[Mark] = []
    for passage in sought.passages:
        for fact in [text for text in facts if passages.holds(text, (passage,))] or [""]:
            found += tombstones.marks(passage, fact, key)
    store.add(tx, ground.space.id, forget, found, ground.clock.now())


def note_rows(tx: Transaction, space: int, forget: int, refs: Sequence[str], at: datetime) -> None:
    """Rows that go, by their refs (`messages:412`): these are no words."""
    named = (ref.partition(":") for ref in refs)
    store.add(tx, space, forget, [store.row(table, id) for table, _, id in named], at)


def note_entries(tx: Transaction, space: int, forget: int, texts: Sequence[str], at: datetime) -> None:
    """Entries that go."""
    key = store.key(tx)
    found = [one for text in texts if (one := tombstones.entry(text, key)) is not None]
    store.add(tx, space, forget, found, at)
