"""What would be forgotten, before anybody says yes: layer by layer, with excerpts. No row or file changes.

Besides what holds the words: the person's own files, which nobody but they may change; what says nearly the same in
other words, to be ticked; how much is in spaces of others, of which only the owner is told.
"""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from gateway.errors import Refused
from gateway.memory import entries, passages, replaced
from gateway.memory.layers import LAYERS, ledger, messages
from gateway.memory.layers import entries as entries_layer
from gateway.memory.layers.layer import Ground, Kind, LayerPlan, Scope, Sought
from gateway.memory.passages import Passage
from gateway.records import Space, Target
from gateway.store import finding, textfile, writes

MOST_NEAR = 20
RARE_MESSAGES = 50
"""A word that is in no more messages of a space than this says something."""


@dataclass(frozen=True, slots=True)
class Left:
    """A file of the person's own that holds it, and how often. It is not touched."""

    path: str
    found: int


@dataclass(frozen=True, slots=True)
class Near:
    """What says nearly the same in other words. `text` is what joins the passages if it is ticked."""

    ref: str
    text: str = field(repr=False)
    excerpt: str = field(repr=False)
    score: float


@dataclass(frozen=True, slots=True)
class Plan:
    """What would be forgotten."""

    space: Space
    scope: Scope
    layers: tuple[LayerPlan, ...]
    """All that were asked, also those that hold nothing."""
    left: tuple[Left, ...] = ()
    near: tuple[Near, ...] = ()
    backups: int = 0
    """So many backups and old copies will be searched while erasing; they are not counted in `found`."""
    elsewhere: int = 0
    """How many hits there are in memory, ledger and transcripts of others' spaces: only the owner is told."""

    @property
    def found(self) -> int:
        return sum(one.found for one in self.layers if one.layer not in _SEARCHED_LATER)

    @property
    def refs(self) -> frozenset[str]:
        return frozenset(item.ref for one in self.layers for item in one.items)

    def layer(self, name: str) -> LayerPlan:
        return next((one for one in self.layers if one.layer == name), LayerPlan(name, 0))


_SEARCHED_LATER = ("copies", "backups")


def sought_of(
    scope: Scope, left_out: frozenset[str] = frozenset(), *, message: int | None = None, forget: int = 0
) -> Sought:
    """What the layers are asked for. Raises Refused for words that would be found everywhere or nowhere."""
    return Sought(
        passages=tuple(map(Passage.of, scope.passages)),
        rows=frozenset(scope.rows),
        left_out=left_out,
        everything=scope.everything,
        texts=scope.passages,
        message=message,
        forget=forget,
    )


def plan(ground: Ground, scope: Scope, others: tuple[Ground, ...] = ()) -> Plan:
    """Look into every layer. `others` are the spaces of others, where it is the owner who asks."""
    sought = sought_of(scope)
    replaced.overwrite(ground.home, ground.space.name)  # what is on its way out is not shown
    found = tuple(layer.find(ground, sought) for layer in LAYERS if scope.kind in layer.kinds)
    later = sum(one.found for one in found if one.layer in _SEARCHED_LATER)
    return Plan(
        space=ground.space,
        scope=scope,
        layers=found,
        left=left(ground, sought),
        near=tuple(_near(ground, sought)) if scope.kind is Kind.PASSAGE else (),
        backups=later,
        elsewhere=sum(_found_in(other, sought) for other in others) if sought.passages else 0,
    )


def left(ground: Ground, sought: Sought) -> tuple[Left, ...]:
    """The person's own files that hold it. They are the owner's: nobody else is told of them."""
    if not ground.is_owners or not sought.passages:
        return ()
    home = ground.home
    counted = ((path, _count(path, sought)) for path in (home.soul, home.agents, home.config, home.env_file))
    return tuple(Left(path.name, count) for path, count in counted if count)


def _count(path: Path, sought: Sought) -> int:
    with contextlib.suppress(textfile.Unreadable):
        return len(passages.spans(textfile.read(path).decode("utf-8", "replace"), sought.passages))
    return 0


def _found_in(ground: Ground, sought: Sought) -> int:
    with contextlib.suppress(Refused):
        layers = (entries_layer.LAYER, ledger.LAYER, messages.LAYER)
        return sum(layer.find(ground, sought).found for layer in layers)
    return 0


def _near(ground: Ground, sought: Sought) -> list[Near]:
    with ground.db.read() as rd:
        known: dict[str, bool] = {}

        def rare(word: str) -> bool:
            if word not in known:
                known[word] = finding.is_rare(rd, ground.space.id, word, RARE_MESSAGES)
            return known[word]

        found: dict[str, Near] = {}
        for ref, text in _texts(ground):
            scores = [score for one in sought.passages if (score := passages.near(text, one, rare)) is not None]
            if scores and not sought.holds(text):
                found.setdefault(text, Near(ref, text, entries.preview(text), max(scores)))
    return sorted(found.values(), key=lambda one: (-one.score, one.ref))[:MOST_NEAR]


def _texts(ground: Ground) -> Iterator[tuple[str, str]]:
    """What is remembered or waits to be, one fact at a time."""
    for target in Target:
        for text in ground.files.read(ground.space, target).doc.texts:
            yield entries_layer.ref(target, text), text
    with ground.db.read() as rd:
        waiting = writes.staged(rd, ground.space.id, "memory")
    for write in waiting:
        for operation in write.operations:
            if operation.content:
                yield f"{ledger.NAME}:{write.id}", operation.content
