"""Transcripts, and commands and taps that wait: only the words go, a mark stays in their place."""

from collections.abc import Iterator

from gateway import failpoints
from gateway.memory.layers.layer import Ground, Item, Kind, Layer, LayerPlan, Sought, items_of, listed
from gateway.store import cutting, erasing, finding, search_upkeep
from gateway.store.cutting import Held

NAME = "messages"
LOOKED_AT_ONCE = 2_000
CUT_AT_ONCE = 50


def find(ground: Ground, sought: Sought) -> LayerPlan:
    whole = [Item(f"{NAME}:{id}") for id in _named(ground, sought)]
    return listed(NAME, [*whole, *items_of(NAME, _held(ground, sought), sought)])


def erase(ground: Ground, sought: Sought) -> int:
    return _erase_named(ground, sought) + _cut(ground, sought)


def _erase_named(ground: Ground, sought: Sought) -> int:
    erased = 0
    for ids in cutting.batches(_named(ground, sought), CUT_AT_ONCE):
        with ground.db.write() as tx:
            ground.note(tx, "row", [f"{NAME}:{id}" for id in ids])
            erased += erasing.messages(tx, ids)
        failpoints.reach("forget.messages.batch")
    return erased


def _cut(ground: Ground, sought: Sought) -> int:
    erased = 0
    ids = [int(one.id) for one in _held(ground, sought) if f"{NAME}:{one.id}" not in sought.left_out]
    for batch in cutting.batches(ids, CUT_AT_ONCE):
        with ground.db.write() as tx:
            ground.note(tx, "row", [f"{NAME}:{id}" for id in batch])
            erased += cutting.cut_messages(tx, batch, sought)
            search_upkeep.ask_for_sweep(tx)
        failpoints.reach("forget.messages.batch")
    return erased


def _named(ground: Ground, sought: Sought) -> list[int]:
    """What goes whole: named one by one, or all of a space that is in no session."""
    named = {int(ref.partition(":")[2]) for ref in sought.rows if ref.startswith(f"{NAME}:")}
    with ground.db.read() as rd:
        if sought.everything:
            return finding.all_messages(rd, ground.space.id)
        return finding.existing(rd, ground.space.id, sorted(named))


def _held(ground: Ground, sought: Sought) -> Iterator[Held]:
    if not sought.passages or sought.everything:
        return
    with ground.db.read() as rd:
        ids = finding.messages(rd, ground.space.id, sought.texts, sought.holds)
        for batch in cutting.batches(ids, LOOKED_AT_ONCE):
            yield from list(cutting.messages(rd, batch, sought))


LAYER = Layer(NAME, find, erase, tuple(Kind))
