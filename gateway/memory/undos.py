"""What taking a write back would do to a file. Pure.

A write's effects are its changes of the file, entry by entry, as its row tells them. Each is taken back only where
the entry still says what the write made it say; nothing that was written since is written over.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from gateway.memory import entries
from gateway.memory.entries import Document
from gateway.records import Action, Operation, Write

AT_THE_END = 1_000_000


@dataclass(frozen=True, slots=True)
class Effect:
    """One entry: what it said before ("" for none), what the write made of it ("" for nothing), where it was."""

    was: str = field(repr=False)
    now: str = field(repr=False)
    place: int = AT_THE_END


@dataclass(frozen=True, slots=True)
class Back:
    """The document after the undo, and the texts that come back."""

    doc: Document
    texts: tuple[str, ...] = field(repr=False)
    unreadable: bool = False
    """True when what goes holds bytes that only the file itself can keep."""


@dataclass(frozen=True, slots=True)
class Changed:
    """What the write put in does not stand there any more; this text is missing."""

    text: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class NothingToDo:
    """The file is without the write's effect already."""


@dataclass(frozen=True, slots=True)
class Full:
    """What would come back has no room."""

    chars: int
    after: int
    limit: int


Way = Back | Changed | NothingToDo | Full


def way_back(write: Write, doc: Document, limit: int | None) -> Way:
    """How a write can be taken back on this file: all of it or nothing. `limit=None` asks for no room."""
    done = effects(write)
    out = _take_out(done, doc)
    if isinstance(out, Changed):
        return out
    draft, texts = _put_back(done, out.doc)
    if draft == doc:
        return NothingToDo()
    chars, after = entries.chars(doc), entries.chars(draft)
    if limit is not None and after > limit and after >= chars:
        return Full(chars, after, limit)
    return Back(draft, texts, out.unreadable)


def _take_out(done: Sequence[Effect], doc: Document) -> Back | Changed:
    """The document with a mark wherever something is to come back: no text of one effect hides another's."""
    draft, unreadable = doc, False
    brought = {effect.now for effect in done}
    for number, effect in reversed(list(enumerate(done))):
        if effect.now:
            change = entries.apply((_contrary(effect, number),), draft, None) if effect.now in draft.texts else None
            if not isinstance(change, entries.Applied):
                return Changed(effect.now)
            draft, unreadable = change.doc, unreadable or change.unreadable
        elif effect.was not in doc.texts or effect.was in brought:
            draft = entries.insert(draft, _mark(number), effect.place)
    return Back(draft, (), unreadable)


def _put_back(done: Sequence[Effect], draft: Document) -> tuple[Document, tuple[str, ...]]:
    """The marks become what was there; what somebody put there anew is not put a second time."""
    texts = []
    for number, effect in enumerate(done):
        if _mark(number) in draft.texts:
            change = entries.apply((Operation(Action.REPLACE, effect.was, _mark(number)),), draft, None)
            assert isinstance(change, entries.Applied)
            draft = change.doc
            texts.append(effect.was)
    return draft, tuple(texts)


def _mark(number: int) -> str:
    return f"\x00{number}"


def _contrary(effect: Effect, number: int) -> Operation:
    if effect.was:
        return Operation(Action.REPLACE, _mark(number), effect.now)
    return Operation(Action.REMOVE, old_text=effect.now)


def effects(write: Write) -> tuple[Effect, ...]:
    """What a write did, in order; what a later operation of a batch made of an earlier one's text is one effect."""
    before, after, places = list(entries.split_texts(write.before)), _put_in(write), list(write.places)
    found: list[Effect] = []
    for operation in write.operations:
        content = entries.clean(operation.content)
        puts_in = bool(after) and after[0] == content and operation.action is not Action.REMOVE
        now = after.pop(0) if puts_in else ""
        if operation.action is Action.ADD:
            found += [Effect("", now)] if now else []
        elif before:
            was, place = before.pop(0), places.pop(0) if places else AT_THE_END
            _follow(found, Effect(was, now, place))
    return tuple(effect for effect in found if effect.was != effect.now)


def _put_in(write: Write) -> list[str]:
    return list(entries.split_texts(write.after))


def _follow(found: list[Effect], effect: Effect) -> None:
    """Join an effect to the earlier one whose text it changed."""
    earlier = next((one for one in found if one.now and one.now == effect.was), None)
    if earlier is not None:
        found.remove(earlier)
        effect = Effect(earlier.was, effect.now, earlier.place)
    found.append(effect)


def places_of(gone: Sequence[str], texts: Sequence[str]) -> tuple[int, ...]:
    """At which place each stood when it was taken away, one after the other, from a file with these texts."""
    left, places = list(texts), []
    for text in gone:
        places.append(left.index(text))
        left.remove(text)
    return tuple(places)
