"""MEMORY.md and USER.md as entries: reading, changing, writing, without a disk.

Entries are separated by a line that holds only `§`. A document keeps every byte of its file, also those that
are no UTF-8, and a change touches only its own entry. What an entry shows (`Entry.text`) has no blanks
around it, `\\n` for every line end and U+FFFD for a bad byte; the file keeps what it has.
The budget counts the texts joined by `\\n§\\n`, whatever the file puts between them.
"""

import hashlib
import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from types import MappingProxyType

from gateway.records import Action, Operation

JOINT = "\n§\n"
"""What stands between two entries: in the prompt, in the budget, in undo data."""

_BLANK = r"(?:[^\S\r\n]|\ufeff)"
_BLANKS = "".join(chr(code) for code in range(0x3001) if chr(code).isspace()) + "\ufeff"
_SEPARATOR = re.compile(rf"((?<![^\r\n]){_BLANK}*§{_BLANK}*(?:\r\n|\r|\n|\Z))")
_LINE_END = re.compile(r"\r\n|\r|\n")
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
        return tuple(Entry(_shown(part)) for part in self.parts[::2] if not _is_blank(part))

    @cached_property
    def texts(self) -> tuple[str, ...]:
        return tuple(entry.text for entry in self.entries)

    @property
    def bad_bytes(self) -> int:
        """How many bytes are no UTF-8. They stay in the file; people are told."""
        return sum(_bad_bytes(part) for part in self.parts)


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
class NoMatch:
    old_text: str


@dataclass(frozen=True, slots=True)
class Matches:
    """Several different entries hold `old_text`; `texts` are they, whole."""

    old_text: str
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TooBig:
    """No room. `chars` is the file as it is, `after` as it would be, `adding` the new entry alone."""

    chars: int
    after: int
    limit: int
    adding: int
    kind: Action


@dataclass(frozen=True, slots=True)
class Invalid:
    """What is wrong with the request: a key of the catalog under `reason.`"""

    why: str


Change = Applied | AlreadyThere | NoMatch | Matches | TooBig | Invalid


# -- reading and writing -----------------------------------------------------------------------------------


@lru_cache(maxsize=32)
def parse(data: bytes | str) -> Document:
    """The document of a file's bytes (or of a text). Anything can be read; nothing is dropped.

    A write reads its file several times under the lock; the same bytes are the same document.
    """
    text = data.decode("utf-8", "surrogateescape") if isinstance(data, bytes) else data
    return Document(tuple(_SEPARATOR.split(text)))


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


def clean(content: str) -> str:
    """Content as an entry can show it: no blanks around, `\\n` line ends, no lone surrogates."""
    return _shown(content.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))


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
    draft = _Draft(list(doc.parts), glued)
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
    filled = [number for number in range(0, len(parts), 2) if not _is_blank(parts[number])]
    draft = _Draft(parts, _NOTHING_GLUED)
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


class _Draft:
    """The parts of a document while operations change them, and what they took away and put in."""

    def __init__(self, parts: list[str], glued: Mapping[str, str]) -> None:
        self.parts = parts
        self.glued = glued
        self.before: list[str] = []
        self.after: list[str] = []
        self.places: list[int] = []
        self.touched = False
        self.unreadable = False
        self.line_end = _line_end("".join(parts))

    def do(self, operation: Operation) -> NoMatch | Matches | Invalid | None:
        content = clean(operation.content)
        if why := why_invalid(operation):
            return Invalid(why)
        if operation.action is Action.ADD:
            self._add(content)
            return None
        place = self._locate(operation.old_text)
        if not isinstance(place, int):
            return place
        if operation.action is Action.REMOVE:
            self._remove(place)
        else:
            self._replace(place, content)
        return None

    def finished_parts(self) -> list[str]:
        """We end a file with a newline; a file without entries is empty."""
        if all(_is_blank(part) for part in self.parts[::2]):
            return [""]
        if not self.parts[-1].endswith(("\n", "\r")) and not _is_blank(self.parts[-1]):
            self.parts[-1] += self.line_end
        return self.parts

    def _add(self, content: str) -> None:
        if content in self._texts():
            return
        last = self.parts[-1]
        if not _is_blank(last):
            self.parts[-1] = last if last.endswith(("\n", "\r")) else last + self.line_end
            self.parts += ["§" + self.line_end, ""]
        elif len(self.parts) > 1 and not self.parts[-2].endswith(("\n", "\r")):
            self.parts[-2] += self.line_end
        self.parts[-1] += self._with_line_ends(content) + self.line_end
        self._changed(put_in=content)

    def _replace(self, place: int, content: str) -> None:
        old = _shown(self.parts[place])
        if content == old:
            self._note(place)
            self.after.append(content)
            return
        if content in self._texts():
            self._remove(place)  # the file says it already; a second copy would help nobody
            return
        self._take(place)
        start, _, end = _edges(self.parts[place])
        self.parts[place] = start + self._with_line_ends(content) + end
        self._changed(put_in=content)

    def _remove(self, place: int) -> None:
        self._take(place)
        if place > 0:
            del self.parts[place - 1 : place + 1]
        else:
            mark = "\ufeff" if self.parts[0].startswith("\ufeff") else ""
            del self.parts[:2]
            self.parts[:1] = [mark + "".join(self.parts[:1])]
        self._changed()

    def _take(self, place: int) -> None:
        self._note(place)
        self.unreadable = self.unreadable or _bad_bytes(self.parts[place]) > 0

    def _note(self, place: int) -> None:
        self.before.append(_shown(self.parts[place]))
        self.places.append(sum(not _is_blank(part) for part in self.parts[:place:2]))

    def _changed(self, put_in: str = "") -> None:
        self.touched = True
        self.after += [put_in] if put_in else []

    def _locate(self, old_text: str) -> int | NoMatch | Matches:
        place = _find(self.parts, clean(old_text))
        if isinstance(place, int) and self._unglue(place, clean(old_text)):
            return _find(self.parts, clean(old_text))
        return place

    def _unglue(self, place: int, old_text: str) -> bool:
        """Put back a separator that got lost between a known entry and what was appended to it."""
        text = _shown(self.parts[place])
        if text == old_text or text not in self.glued:
            return False
        head, tail = _cut(self.parts[place], self.glued[text])
        self.parts[place : place + 1] = [head, "§" + self.line_end, tail]
        return True

    def _texts(self) -> list[str]:
        return [_shown(part) for part in self.parts[::2] if not _is_blank(part)]

    def _with_line_ends(self, content: str) -> str:
        return content.replace("\n", self.line_end)


def why_invalid(operation: Operation) -> str:
    """What is wrong with an operation whatever the file holds: a key under `reason.`, "" for nothing."""
    content = clean(operation.content)
    if operation.action is not Action.ADD and not clean(operation.old_text):
        return "reason.old_text_missing"
    if operation.action is Action.REMOVE:
        return ""
    if not content:
        return "reason.content_missing"
    return "reason.separator" if _SEPARATOR.search(content) else ""


# -- finding the entry that is meant -----------------------------------------------------------------------


def _find(parts: Sequence[str], old_text: str) -> int | NoMatch | Matches:
    """The place of the one entry that `old_text` names: a whole entry, else part of one, else one that
    differs only in quotes, dashes, blanks or width."""
    places = {place: _shown(parts[place]) for place in range(0, len(parts), 2) if not _is_blank(parts[place])}
    whole = [place for place, text in places.items() if text == old_text]
    if whole:
        return whole[0]
    form = alike(old_text)
    loosely = {place: alike(text) for place, text in places.items()} if form else {}
    found = (
        [place for place, text in places.items() if old_text in text]
        or [place for place, text in loosely.items() if text == form]
        or [place for place, text in loosely.items() if form in text]
    )
    if not found:
        return NoMatch(old_text)
    different = tuple(dict.fromkeys(places[place] for place in found))
    return found[0] if len(different) == 1 else Matches(old_text, different)


_QUOTES = dict.fromkeys(map(ord, "‘’‚‛′`´ʼ"), "'") | dict.fromkeys(map(ord, "“”„‟″«»「」『』"), '"')
_DASHES = dict.fromkeys(map(ord, "‐‑‒–—―−－"), "-")


def alike(text: str) -> str:
    """A form in which a model's plain copy equals the typographic original. Case still counts."""
    plain = unicodedata.normalize("NFKC", text.translate(_QUOTES | _DASHES)).translate(_QUOTES | _DASHES)
    return " ".join(plain.split())


# -- text of a part ----------------------------------------------------------------------------------------


def _edges(part: str) -> tuple[str, str, str]:
    """Blanks, what is between, blanks."""
    rest = part.lstrip(_BLANKS)
    core = rest.rstrip(_BLANKS)
    return part[: len(part) - len(rest)], core, rest[len(core) :]


def _is_blank(part: str) -> bool:
    return not part.strip(_BLANKS)


@lru_cache(maxsize=1024)
def _shown(part: str) -> str:
    core = _edges(part)[1]
    return _LINE_END.sub("\n", core.encode("utf-8", "surrogateescape").decode("utf-8", "replace"))


def _bad_bytes(part: str) -> int:
    return sum("\udc80" <= char <= "\udcff" for char in part)


def _cut(part: str, head: str) -> tuple[str, str]:
    """A part in two, after its first lines, of which `head` is what is shown."""
    start, core, end = _edges(part)
    lines = head.count("\n") + 1
    position = [match.end() for match in _LINE_END.finditer(core)][lines - 1]
    return start + core[:position], core[position:] + end


def _line_end(text: str) -> str:
    found = _LINE_END.search(text)
    return found.group() if found else "\n"


CACHES = (parse, _shown)
"""What keeps words of people in this process (`memory.caches`)."""
