"""Where an entry comes from: which write made it say what it says, and what it said before that."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from gateway.errors import NotFound
from gateway.memory import entries, undos
from gateway.memory.entries import Entry
from gateway.memory.files import Files
from gateway.records import Space, Target, Write
from gateway.store import filewrites
from gateway.store.transaction import Reader

MOST_STEPS = 20
MOST_FOUND = 12


@dataclass(frozen=True, slots=True)
class Traced:
    """An entry and the writes that made it what it is, the newest first."""

    target: Target
    entry: Entry = field(repr=False)
    writes: tuple[Write, ...] = field(repr=False)

    @property
    def id(self) -> str:
        return entry_id(self.target, self.entry)


def entry_id(target: Target, entry: Entry) -> str:
    """`memory:user:3fa2c1d0`"""
    return f"memory:{target.value}:{entry.fingerprint}"


def find(files: Files, space: Space, text: str) -> tuple[tuple[Target, Entry], ...]:
    """The different entries of a space that a text means: by id, else whole, else those that hold it.

    What was edited by hand is noticed first, so that every entry has a write.
    """
    files.notice_hand_edits(space, wait_seconds=1.0)
    there = {target: files.read(space, target).doc.entries for target in files.targets(space)}
    all_ = tuple(dict.fromkeys((target, entry) for target, found in there.items() for entry in found))
    wanted = entries.alike(text)
    if not wanted:
        return ()
    fingerprint = text.strip().lower().removeprefix("memory:")
    by_id = tuple(one for one in all_ if fingerprint in (f"{one[0]}:{one[1].fingerprint}", one[1].fingerprint))
    forms = {one: entries.alike(one[1].text) for one in all_}
    return (
        by_id
        or tuple(one for one, form in forms.items() if form == wanted)
        or tuple(one for one, form in forms.items() if wanted in form)
        or tuple(one for one, form in forms.items() if wanted.casefold() in form.casefold())
    )


def trace(files: Files, space: Space, id: str) -> Traced:
    """The entry with this id and its writes. Raises NotFound for one that is not there (any more)."""
    found = [one for one in find(files, space, id) if entry_id(*one) == id]
    if not found:
        raise NotFound("why.gone")
    target, entry = found[0]
    with files.db.read() as rd:
        return Traced(target, entry, _writes(rd, space, target, entry.text))


def _writes(rd: Reader, space: Space, target: Target, text: str) -> tuple[Write, ...]:
    return lineage(text, lambda said: filewrites.naming(rd, space.id, target, said))


def lineage(
    text: str,
    naming: Callable[[str], Iterable[Write]],
    before: Callable[[Write], Mapping[str, str]] | None = None,
) -> tuple[Write, ...]:
    """The write that made the entry say this, the one that had made what it said before, and so on.

    `naming` gives the applied writes that put in or took away a text, newest first. `before` is `said_before`, for
    whoever asks about many entries and remembers what it said.
    """
    before = before or said_before
    found: list[Write] = []
    while text and len(found) < MOST_STEPS:
        rows = (row for row in naming(text) if _is_before(row, found))
        source = next((row for row in rows if text in entries.split_texts(row.after)), None)
        if source is None:
            break
        found.append(source)
        text = before(source).get(text, "")
    return tuple(found)


def _is_before(row: Write, found: Sequence[Write]) -> bool:
    known = {one.id for one in found}
    return not found or (row.id not in known and time(row) <= time(found[-1]))


def time(write: Write) -> datetime:
    """When a write came into force."""
    return write.applied_at or write.created_at


def said_before(write: Write) -> Mapping[str, str]:
    """What each text that a write put in replaced; "" for one that is new."""
    return {effect.now: effect.was for effect in undos.effects(write) if effect.now}


def candidates(found: Sequence[tuple[Target, Entry]]) -> tuple[str, ...]:
    """The ids of the entries that a text could mean, at most so many as fit on a phone."""
    return tuple(entry_id(*one) for one in found[:MOST_FOUND])
