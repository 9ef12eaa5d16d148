"""MEMORY.md and USER.md, and what was last known of them: an entry that holds it goes whole."""

from collections.abc import Iterator

from gateway import failpoints
from gateway.memory import entries, passages
from gateway.memory.files import File
from gateway.memory.layers.layer import Ground, Item, Layer, LayerPlan, Sought, listed
from gateway.records import Action, Operation, Target
from gateway.store import textfile, vacating, writes

NAME = "entries"


def find(ground: Ground, sought: Sought) -> LayerPlan:
    return listed(NAME, _items(ground, sought))


def erase(ground: Ground, sought: Sought) -> int:
    erased = 0
    with ground.files.locked(ground.space):
        for target in Target:
            erased += _erase(ground, sought, target)
    return erased


def ref(target: Target, text: str) -> str:
    """How an entry is named: `entries:user:3fa2c1d0`."""
    return f"{NAME}:{target.value}:{entries.fingerprint(text)}"


def _items(ground: Ground, sought: Sought) -> Iterator[Item]:
    for target in Target:
        file = ground.files.read(ground.space, target)
        for text in file.doc.texts:
            if sought.goes(ref(target, text), text):
                yield Item(ref(target, text), sought.excerpt(text))
        for text in _known_only(ground, target, file):
            if sought.goes(ref(target, text), text):
                yield Item(ref(target, text), sought.excerpt(text))


def _known_only(ground: Ground, target: Target, file: File) -> list[str]:
    """What we still know of an older state of the file."""
    with ground.db.read() as rd:
        known = writes.known_file(rd, ground.space.id, target)
    texts = entries.parse(known.text).texts if known is not None else ()
    return [text for text in texts if text not in file.doc.texts]


def _erase(ground: Ground, sought: Sought, target: Target) -> int:
    file = ground.files.read(ground.space, target)
    if not any(_goes(ground, sought, target, file)) and not (sought.everything and file.data):
        return 0
    textfile.refuse_unwritable(file.path)
    with ground.db.write() as tx:
        file = ground.files.read(ground.space, target)  # we may have waited for long, and an editor has not
        gone, stale = _goes(ground, sought, target, file)
        ground.files.notice_hand_edit(tx, ground.space, target, file)
        ground.note(tx, "entry", [*gone, *stale])
    failpoints.reach("forget.entries.noted")
    data = _without(file, gone)
    if sought.everything:
        textfile.remove(file.path)
        data = b""
    elif gone:
        textfile.replace(file.path, data)
    failpoints.reach("forget.entries.replaced")
    with ground.db.write() as tx:
        writes.set_known_file(
            tx, ground.space.id, target, textfile.sha256(data), data.decode("utf-8", "replace"), ground.clock.now()
        )
        if sought.everything:
            vacating.drop_known_files(tx, ground.space.id)
    return len(gone) + len(stale)


def _goes(ground: Ground, sought: Sought, target: Target, file: File) -> tuple[list[str], list[str]]:
    """The entries of the file that go, and those that we know of an older state of it."""
    gone = [text for text in file.doc.texts if sought.goes(ref(target, text), text)]
    stale = [text for text in _known_only(ground, target, file) if sought.goes(ref(target, text), text)]
    return gone, stale


def _without(file: File, gone: list[str]) -> bytes:
    """The file without these entries, every other byte as it was."""
    removing = [Operation(Action.REMOVE, old_text=text) for text in gone]
    change = entries.apply(removing, file.doc, None) if removing else entries.AlreadyThere()
    return entries.render(change.doc) if isinstance(change, entries.Applied) else file.data


def facts(ground: Ground, sought: Sought) -> list[str]:
    """The whole entries that hold it: what a tombstone is made of."""
    texts = (text for target in Target for text in ground.files.read(ground.space, target).doc.texts)
    return [text for text in texts if passages.holds(text, sought.passages)] if sought.passages else []


LAYER = Layer(NAME, find, erase)
