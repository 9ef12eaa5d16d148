"""What was forgotten since a backup was made, forgotten in it again: by the marks of the present home.

The words are not known any more. But a mark tells them when it meets them (`tombstones.said_in`), and the numbers
of the rows that went are kept. So the older state gets the marks, is read once from end to end, and what they
recognise goes through the layers as if somebody had asked for it again.
"""

from collections.abc import Sequence

from gateway.home import Home
from gateway.memory import tombstones
from gateway.memory.layers import LAYERS, backups, copies, entries, people, providers, search_index
from gateway.memory.layers.layer import Ground, Sought
from gateway.memory.passages import Passage
from gateway.memory.writing import Memory
from gateway.ports import Clock
from gateway.records import Space, Target
from gateway.settings import Settings
from gateway.store import carrying, copying, oldcopies, spaces, textfile
from gateway.store import tombstones as kept
from gateway.store.db import Database
from gateway.store.transaction import Transaction

_NOT_HERE = (backups, copies, people, providers, search_index)
"""What an older state that is being made ready does not have, what stays as it was, and what is done once at the
end, whatever was erased (`restoring`)."""


def replay(now: Database, then: Database, ready: Home, clock: Clock, settings: Settings) -> int:
    """Take the marks of `now` into `then`, and erase there what they name. How many rows and entries went."""
    pairs = _spaces_in_both(now, then)
    with now.read() as rd, then.write() as tx:
        carrying.carry_over(rd, tx, {here.id: there.id for here, there in pairs})
    then.checkpoint()
    erased = 0
    for here, there in pairs:
        with now.read() as rd:
            rows = sorted(kept.rows(rd, here.id))
        ground = Ground(then, ready, clock, settings, Memory(then, ready, clock, settings), there, _note_nothing)
        erased += _erase(ground, _known_again(ground), _still_whole(now, then, rows))
    return erased


def _spaces_in_both(now: Database, then: Database) -> list[tuple[Space, Space]]:
    with now.read() as rd:
        here = spaces.spaces(rd)
    with then.read() as rd:
        there = {space.name: space for space in spaces.spaces(rd)}
    return [(space, there[space.name]) for space in here if space.name in there]


def _known_again(ground: Ground) -> list[str]:
    """The forgotten passages that stand anywhere in the older state."""
    with ground.db.read() as rd:
        key = kept.known_key(rd)
        if key is None or not kept.is_marked(rd, ground.space.id):
            return []
        found: dict[str, None] = {}

        def recognise(text: str) -> bool:
            found.update(dict.fromkeys(tombstones.said_in(rd, ground.space.id, text, key)))
            return False

        oldcopies.holds(ground.home.state_db, recognise)
        for path in copying.files_below(ground.home.path):
            if not path.name.startswith(ground.home.state_db.name):
                recognise(textfile.read(path).decode("utf-8", "replace"))
    return list(found)


def _still_whole(now: Database, then: Database, rows: Sequence[str]) -> list[str]:
    """The refs of rows that are to go. A message that is still there, with words cut, is taken as it is now."""
    whole = []
    for ref in rows:
        layer, _, id = ref.partition(":")
        if layer == "messages":
            with now.read() as rd, then.write() as tx:
                if carrying.take_words(rd, tx, int(id)):
                    continue
        whole.append(ref)
    return whole


def _erase(ground: Ground, words: Sequence[str], rows: Sequence[str]) -> int:
    sought = Sought(
        passages=tuple(Passage.of(text) for text in words),
        rows=frozenset((*rows, *_entries(ground))),
        texts=tuple(words),
    )
    if not sought.passages and not sought.rows:
        return 0
    skipped = {layer.NAME for layer in _NOT_HERE}
    return sum(layer.erase(ground, sought) for layer in LAYERS if layer.name not in skipped)


def _entries(ground: Ground) -> list[str]:
    """The entries that went, by their marks."""
    with ground.db.read() as rd:
        key = kept.known_key(rd)
        gone = {one.mark.mark for one in kept.every(rd, ground.space.id) if one.mark.kind is kept.Kind.ENTRY}
    found = []
    for target in Target if key is not None and gone else ():
        for text in ground.files.read(ground.space, target).doc.texts:
            mark = tombstones.entry(text, key or b"")
            if mark is not None and mark.mark in gone:
                found.append(entries.ref(target, text))
    return found


def _note_nothing(tx: Transaction, kind: str, values: Sequence[str]) -> None:
    """The marks are there already."""
