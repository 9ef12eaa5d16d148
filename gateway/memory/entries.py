"""MEMORY.md and USER.md as entries: reading, changing, writing, without a disk.

Entries are separated by a line that holds only `§`. A document keeps every byte of its file, also those that
are no UTF-8, and a change touches only its own entry. What an entry shows (`Entry.text`) has no blanks
around it, `\\n` for every line end and U+FFFD for a bad byte; the file keeps what it has.
The budget counts the texts joined by `\\n§\\n`, whatever the file puts between them.
How an operation changes the parts is `drafting`, what a single part shows `entrytext`.
"""

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from types import MappingProxyType

from gateway.memory import entrytext
from gateway.memory.drafting import Draft
from gateway.memory.drafting import Invalid as Invalid
from gateway.memory.drafting import Matches as Matches
from gateway.memory.drafting import NoMatch as NoMatch
from gateway.memory.drafting import why_invalid as why_invalid
from gateway.memory.entrytext import alike as alike
from gateway.memory.entrytext import clean as clean
from gateway.records import Action, Operation

JOINT = "\n§\n"
"""What stands between two entries: in the prompt, in the budget, in undo data."""

_PREVIEW = 80


@dataclass(frozen=True, slots=True)
class Entry:
    """One item, as people and the model see it."""

    text: str

    @property
    def fingerprint(self) -> str:
        return fingerprint(self.text)


@dataclass(frozen=True)
class Document:
    """A memory file. `parts` are its whole text: entry, separator line, entry, …, entry."""

    parts: tuple[str, ...]

    @cached_property
    def entries(self) -> tuple[Entry, ...]:
        return tuple(Entry(entrytext.shown(part)) for part in self.parts[::2] if not entrytext.is_blank(part))

    @cached_property
    def texts(self) -> tuple[str, ...]:
        return tuple(entry.text for entry in self.entries)

    @property
    def bad_bytes(self) -> int:
        """How many bytes are no UTF-8. They stay in the file; people are told."""
        return sum(entrytext.bad_bytes(part) for part in self.parts)


EMPTY = Document(("",))


# -- what a change can end in ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Applied:
    """The document after the change; `before` and `after` are the texts it took away and put in."""

    doc: Document
    before: tuple[str, ...]
    after: tuple[str, ...]
    unreadable: bool = False
    """True when what it takes away holds bytes that only the file itself can keep."""
    places: tuple[int, ...] = ()
    """At which place each of `before` stood when it was taken away."""


@dataclass(frozen=True, slots=True)
class AlreadyThere:
    """Nothing to do: the file says it already."""


@dataclass(frozen=True, slots=True)
class TooBig:
    """No room. `chars` is the file as it is, `after` as it would be, `adding` the new entry alone."""

    chars: int
    after: int
    limit: int
    adding: int
    kind: Action


Change = Applied | AlreadyThere | NoMatch | Matches | TooBig | Invalid


# -- reading and writing -----------------------------------------------------------------------------------


@lru_cache(maxsize=32)
def parse(data: bytes | str) -> Document:
    """The document of a file's bytes (or of a text). Anything can be read; nothing is dropped.

    A write reads its file several times under the lock; the same bytes are the same document.
    """
    text = data.decode("utf-8", "surrogateescape") if isinstance(data, bytes) else data
    return Document(tuple(entrytext.SEPARATOR.split(text)))


def render(doc: Document) -> bytes:
    """The file's bytes: exactly those it was parsed from, but for what was changed."""
    return "".join(doc.parts).encode("utf-8", "surrogateescape")


def chars(doc: Document) -> int:
    """What counts against the budget: code points of the entries joined by `\\n§\\n`."""
    return sum(map(len, doc.texts)) + len(JOINT) * max(len(doc.texts) - 1, 0)


def fingerprint(text: str) -> str:
    """Eight hex digits that name an entry: `memory:user:3fa2c1d0`."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:8]


def preview(text: str) -> str:
    """The first 80 characters on one line."""
    line = " ".join(text.split())
    return line if len(line) <= _PREVIEW else line[: _PREVIEW - 1] + "…"


def split_texts(joined: str) -> tuple[str, ...]:
    """The texts of undo data (`Write.before`, `Write.after`); entries never hold a separator line."""
    return parse(joined).texts


# -- changing ----------------------------------------------------------------------------------------------

_NOTHING_GLUED: Mapping[str, str] = MappingProxyType({})


def glued(doc: Document, ours: Collection[str], known: Collection[str]) -> Mapping[str, str]:
    """Entries that lost the separator to what a person put under them: text -> the entry it once was.

    `ours` are texts that hikae wrote, whole as they are; `known` are all texts that were entries before.
    Replacing such an entry as a whole would take lines that nobody meant.
    """
    long = [text for text in doc.texts if "\n" in text and text not in ours]
    heads = sorted(set(known).difference(doc.texts), key=len)
    return {text: head for text in long for head in heads if head and text.startswith(head + "\n")}


def apply(
    operations: Sequence[Operation],
    doc: Document,
    limit: int | None,
    *,
    batch: bool = False,
    glued: Mapping[str, str] = _NOTHING_GLUED,
) -> Change:
    """The document after all operations in order, or the one thing that forbids them all.

    The budget is checked once, at the end, so a batch may make room before it fills it; `limit=None` skips
    that. When a matched entry is in `glued`, only its head is changed; the rest becomes an entry of its own.
    """
    draft = Draft(list(doc.parts), glued)
    for operation in operations:
        if (trouble := draft.do(operation)) is not None:
            return trouble
    if not draft.touched:
        return AlreadyThere()
    changed = Document(tuple(draft.finished_parts()))
    if limit is not None and (full := _too_big(operations, doc, changed, limit, batch)):
        return full
    return Applied(changed, tuple(draft.before), tuple(draft.after), draft.unreadable, tuple(draft.places))


def insert(doc: Document, text: str, place: int) -> Document:
    """The document with one more entry, before the one that is at this place now; else at its end."""
    parts = list(doc.parts)
    filled = [number for number in range(0, len(parts), 2) if not entrytext.is_blank(parts[number])]
    draft = Draft(parts, _NOTHING_GLUED)
    if place >= len(filled):
        draft.do(Operation(Action.ADD, text))
        return Document(tuple(draft.finished_parts()))
    at, line_end = filled[place], draft.line_end
    mark = "\ufeff" if at == 0 and parts[0].startswith("\ufeff") else ""
    new = mark + text.replace("\n", line_end) + line_end
    parts[at : at + 1] = [new, "§" + line_end, parts[at].removeprefix(mark)]
    return Document(tuple(parts))


def pinned(operations: Sequence[Operation], before: Sequence[str]) -> tuple[Operation, ...]:
    """The operations naming whole entries: each replace or remove takes the next text of `before`.

    `before` is what the same operations took away when they were last tried (`Applied.before`). An operation
    for which nothing is left there stays as it is.
    """
    left = iter(before)
    return tuple(
        operation
        if operation.action is Action.ADD
        else Operation(operation.action, operation.content, next(left, operation.old_text))
        for operation in operations
    )


def _too_big(
    operations: Sequence[Operation], doc: Document, changed: Document, limit: int, batch: bool
) -> TooBig | None:
    now, after = chars(doc), chars(changed)
    if after <= limit or after < now:
        return None
    single = len(operations) == 1 and not batch
    kind = operations[0].action if single else Action.BATCH
    return TooBig(now, after, limit, len(clean(operations[0].content)), kind)


CACHES = (parse, entrytext.shown)
"""What keeps words of people in this process (`memory.caches`)."""
