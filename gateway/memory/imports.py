"""What an import found and what becomes of each thing of it. Pure: words of people as values, nothing decided here.

An import has two halves that say the same: the dry run tells what would happen, the run does it. What was brought
once, or is there already, is not brought again.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from gateway.records import Target


class Verdict(StrEnum):
    """What becomes of one thing."""

    NEW = "new"
    """It is brought (in a dry run: it would be)."""
    WAITS = "waits"
    """It waits for a yes: the scan wants a person to look at it, or there is no room now."""
    ALREADY = "already"
    """It is there already."""
    BEFORE = "before"
    """An earlier import brought it; whatever became of it since stays so."""
    REFUSED = "refused"
    """It may not be brought: `reason` says why."""
    LEFT = "left"
    """It is not brought: `reason` says why."""


class Kind(StrEnum):
    """What it is."""

    MEMORY = "memory"
    USER = "user"
    SKILL = "skill"
    SESSION = "session"
    SETTING = "setting"


@dataclass(frozen=True, slots=True)
class Item:
    """One thing with what becomes of it."""

    kind: Kind
    name: str = field(repr=False)
    """The entry in one line, the skill (with the file), the title, the setting."""
    verdict: Verdict
    reason: str = ""
    """A key of the catalog."""
    values: Mapping[str, object] = field(default_factory=dict)
    write: int | None = None
    count: int = 0
    """Of a session: how many messages are brought."""


@dataclass(frozen=True, slots=True)
class Report:
    """Everything that was found."""

    items: tuple[Item, ...]
    settings: str = field(default="", repr=False)
    """Lines for config.yaml: what was set there and can be set here."""

    def of(self, *verdicts: Verdict) -> tuple[Item, ...]:
        return tuple(item for item in self.items if item.verdict in verdicts)

    @property
    def is_news(self) -> bool:
        """Whether there is anything to bring. Settings are shown, never brought."""
        return any(item.kind is not Kind.SETTING for item in self.of(Verdict.NEW))

    def count(self, kind: Kind, verdict: Verdict) -> int:
        return sum(item.kind is kind and item.verdict is verdict for item in self.items)


# -- what is found there -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class FoundEntry:
    """An entry of a memory file there, with the time of its file."""

    target: Target
    text: str = field(repr=False)
    at: datetime


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A further file of a skill; `reason` is why it cannot be brought ("" if it can)."""

    path: str = field(repr=False)
    text: str = field(default="", repr=False)
    reason: str = ""


@dataclass(frozen=True, slots=True)
class FoundSkill:
    """A skill there, under the name and with the text that it would have here."""

    name: str = field(repr=False)
    text: str = field(default="", repr=False)
    at: datetime | None = None
    files: tuple[FoundFile, ...] = ()
    reason: str = ""
    changed: str = ""
    """What it has otherwise here, where that is something: a key of the catalog."""
    was: str = field(default="", repr=False)
    """Its name there."""


@dataclass(frozen=True, slots=True)
class Source:
    """What lies in the home of another bot, without its conversations."""

    entries: tuple[FoundEntry, ...]
    skills: tuple[FoundSkill, ...]
    items: tuple[Item, ...]
    """What was looked at and is not brought at all."""
    config: str | None = field(default=None, repr=False)


def lines_of(settings: Mapping[str, object]) -> str:
    """Settings by their whole names, as lines for config.yaml."""
    return "\n".join(_lines(_tree(settings), ""))


def _tree(settings: Mapping[str, object]) -> dict[str, object]:
    tree: dict[str, object] = {}
    for name, value in settings.items():
        *above, last = name.split(".")
        place = tree
        for part in above:
            below = place.setdefault(part, {})
            assert isinstance(below, dict)
            place = below
        place[last] = value
    return tree


def _lines(tree: Mapping[str, object], indent: str) -> Iterator[str]:
    for name, value in tree.items():
        if isinstance(value, dict):
            yield f"{indent}{name}:"
            yield from _lines(value, f"{indent}  ")
        else:
            yield f"{indent}{name}: {_scalar(value)}"


def _scalar(value: object) -> str:
    if isinstance(value, Sequence) and not isinstance(value, str):
        return f"[{', '.join(map(str, value))}]"
    text = str(value)
    plain = text.replace(".", "").replace("_", "").replace("-", "").replace("/", "").isalnum()
    return text if plain else '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
