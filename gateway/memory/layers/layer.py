"""What a layer is, and what is sought in it. A layer is one place where somebody's words live.

`find` says what would be erased and changes nothing; `erase` erases it and may be repeated after a kill at any
point. Refs name what was found (`messages:412`) and never hold words: they are kept, for what a person left out.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import islice

from gateway.home import Home
from gateway.memory import passages
from gateway.memory.files import Files
from gateway.memory.passages import Passage
from gateway.memory.writing import Memory
from gateway.ports import Clock
from gateway.records import Space
from gateway.settings import Settings
from gateway.store.cutting import Held
from gateway.store.db import Database
from gateway.store.transaction import Transaction

MOST_ITEMS = 200
"""So many hits of a layer are shown; all are counted and erased."""


class Kind(StrEnum):
    """What is to be forgotten: words, whole rows, or all of a space."""

    PASSAGE = "passage"
    ROWS = "rows"
    EVERYTHING = "everything"


ALL_KINDS = tuple(Kind)


@dataclass(frozen=True, slots=True)
class Scope:
    """What a person wants forgotten."""

    passages: tuple[str, ...] = ()
    """The words: first what was asked for, then the other parts of the fact."""
    rows: tuple[str, ...] = ()
    """Refs that go whole, whatever they hold: `sessions:ID`, `messages:412`, `entries:memory:3fa2c1d0`."""
    everything: bool = False

    @property
    def kind(self) -> Kind:
        return _kind_of(self)


@dataclass(frozen=True, slots=True)
class Item:
    """One hit."""

    ref: str
    excerpt: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class LayerPlan:
    """What a layer holds: `found` counts all, `items` are the first of them."""

    layer: str
    found: int
    items: tuple[Item, ...] = ()


@dataclass(frozen=True)
class Sought:
    """What is to be erased, as a layer asks for it."""

    passages: tuple[Passage, ...] = ()
    rows: frozenset[str] = frozenset()
    left_out: frozenset[str] = frozenset()
    everything: bool = False
    texts: tuple[str, ...] = ()
    """The passages as they were given."""
    message: int | None = None
    """The message that asked."""
    forget: int = 0
    """Whose request this is; 0 while it is only looked for."""

    @property
    def kind(self) -> Kind:
        return _kind_of(self)

    def holds(self, text: str) -> bool:
        """Whether a text holds what is sought."""
        return bool(text) and bool(self.passages) and passages.holds(text, self.passages)

    def may_hold(self, text: str) -> bool:
        """Whether it is worth a closer look."""
        return bool(self.passages) and passages.may_hold(text, self.passages)

    def cut(self, text: str) -> str:
        return passages.cut(text, self.passages) if text else text

    def cut_json(self, text: str) -> str:
        """Inside the strings of a JSON text; as a text where it is none."""
        if text[:1] not in ("{", "["):
            return self.cut(text)
        return passages.json_cut(text, self.passages)

    def excerpt(self, text: str) -> str:
        """What a person is shown of a hit."""
        found = passages.spans(text, self.passages) if self.passages else ()
        return passages.excerpt(text, found[0] if found else (0, 0))

    def goes(self, ref: str, *texts: str) -> bool:
        """Whether what this ref names is to be erased, with these texts in it."""
        if ref in self.left_out:
            return False
        return self.everything or ref in self.rows or any(map(self.holds, texts))


def _kind_of(wanted: Scope | Sought) -> Kind:
    if wanted.everything:
        return Kind.EVERYTHING
    return Kind.PASSAGE if wanted.passages else Kind.ROWS


@dataclass(frozen=True)
class Ground:
    """Where a layer looks and erases."""

    db: Database
    home: Home
    clock: Clock
    settings: Settings
    memory: Memory
    space: Space
    note: Callable[[Transaction, str, Sequence[str]], None]
    """Told of the rows (`row`, their refs) and entries (`entry`, their texts) that go, in the commit that lets them
    go: a restore erases them again."""

    @property
    def files(self) -> Files:
        return self.memory.files

    @property
    def is_owners(self) -> bool:
        return self.space.kind == "owner"


@dataclass(frozen=True, slots=True)
class Layer:
    """One place where memory lives."""

    name: str
    find: Callable[[Ground, Sought], LayerPlan]
    erase: Callable[[Ground, Sought], int]
    """How much was erased by this call."""
    kinds: Sequence[Kind] = ALL_KINDS
    """For what it is asked."""
    finds_again: bool = True
    """Whether `find` says that nothing is left. Where not, `erase` itself sees to it."""


def listed(layer: str, items: Iterable[Item]) -> LayerPlan:
    """All of them counted, the first of them shown."""
    all_of_them = iter(items)
    shown = tuple(islice(all_of_them, MOST_ITEMS))
    return LayerPlan(layer, len(shown) + sum(1 for _ in all_of_them), shown)


def kept_in(layer: str, held: Iterable[Held], sought: Sought) -> Iterator[Held]:
    """Those rows that were not left out."""
    return (one for one in held if f"{layer}:{one.id}" not in sought.left_out)


def items_of(layer: str, held: Iterable[Held], sought: Sought) -> Iterator[Item]:
    return (Item(f"{layer}:{one.id}", sought.excerpt(one.text)) for one in kept_in(layer, held, sought))
