"""Markdown as Telegram shows it: plain text and entities that the Bot API accepts. Pure.

The Markdown is read by telegramify-markdown; what it gets wrong for us is put right before (HTML-like words
and link definitions would vanish) and after (entities that Telegram refuses).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

import pyromark
import telegramify_markdown
from telegramify_markdown import RenderConfig

from gateway.platforms import text

LONGEST = 4096
"""UTF-16 code units in one message."""
MOST_ENTITIES = 100
"""Telegram ignores the ones after these."""

_HIDDEN = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_DEFINITION = re.compile(r"^(?P<indent>[ >]{0,6})\[(?=[^\]\n]+\]:)", re.MULTILINE)
_WELL_KNOWN_ADDRESS = re.compile(r"(https?|tg|ftp)://\S+\Z|(mailto|tel):\S+\Z")
_QUOTES = ("blockquote", "expandable_blockquote")
_CODE = ("code", "pre")
_OPTIONS = (
    pyromark.Options.ENABLE_TABLES
    | pyromark.Options.ENABLE_STRIKETHROUGH
    | pyromark.Options.ENABLE_TASKLISTS
    | pyromark.Options.ENABLE_MATH
)


@dataclass(frozen=True, slots=True)
class Entity:
    """A format over a range of UTF-16 code units."""

    type: str
    offset: int
    length: int
    url: str | None = None
    language: str | None = None

    @property
    def end(self) -> int:
        return self.offset + self.length


@dataclass(frozen=True, slots=True)
class Rendered:
    """A message as Telegram takes it."""

    text: str
    entities: tuple[Entity, ...] = ()


def chunks(markdown: str) -> tuple[str, ...]:
    """Cut Markdown into pieces each of which is one message once rendered."""
    return text.split(markdown, _fits, LONGEST * 2)


def _fits(markdown: str) -> bool:
    plain, found = _read(markdown)
    if text.utf16_length(plain) > LONGEST or len(found) > MOST_ENTITIES:
        return False
    return len(_acceptable(found)) <= MOST_ENTITIES


def render(markdown: str) -> Rendered:
    """Never blank: Markdown that shows nothing is shown as it was written."""
    plain, found = _read(markdown)
    plain, entities = plain.rstrip(), _acceptable(found[: 10 * MOST_ENTITIES])
    if text.BLANK.fullmatch(plain):
        return Rendered("…")
    end = text.utf16_length(plain)
    clipped = (replace(one, length=min(one.end, end) - one.offset) for one in entities if one.offset < end)
    return Rendered(plain, tuple(clipped)[:MOST_ENTITIES])


def _read(markdown: str) -> tuple[str, list[Entity]]:
    """Text and formats before they are made acceptable; what would show nothing stays as it was written."""
    source = _escape(_HIDDEN.sub("", text.clean(markdown)))
    plain, found = telegramify_markdown.convert(source, latex_escape=False, config=_look())
    if not plain.strip():
        return _HIDDEN.sub("", text.clean(markdown)).strip(), []
    return plain, [Entity(one.type, one.offset, one.length, one.url, one.language) for one in found]


@lru_cache(maxsize=1)
def _look() -> RenderConfig:
    """Headings without emoji, boxes that show whether they are ticked."""
    look = RenderConfig.isolated()
    symbols = look.markdown_symbol
    symbols.heading_level_1 = symbols.heading_level_2 = ""
    symbols.heading_level_3 = symbols.heading_level_4 = ""
    symbols.unordered_list_item = "•"
    symbols.task_completed, symbols.task_uncompleted = "☑", "☐"
    return look


def _escape(markdown: str) -> str:
    """Backslashes where Markdown would swallow words: `<tag>` and `[name]: address`."""
    if "<" not in markdown and "]:" not in markdown:
        return markdown
    source = markdown.encode()
    # Each round may bring up HTML that the former one hid; an escaped sign is never found again.
    while offsets := sorted(set(_swallowed(source))):
        bounds = [0, *offsets, len(source)]
        source = b"\\".join(source[start:end] for start, end in pairwise(bounds))
    return source.decode()


def _swallowed(source: bytes) -> Iterator[int]:
    """Where the signs stand, in bytes, that make words vanish."""
    code: list[tuple[int, int]] = []
    for event, where in pyromark.events_with_range(source.decode(), options=_OPTIONS):
        if isinstance(event, str):
            continue
        start, end = where["start"], where["end"]
        if ("Html" in event or "InlineHtml" in event) and source[start:end].lstrip().startswith(b"<"):
            yield source.index(b"<", start)
        elif "Code" in event or ("Start" in event and "CodeBlock" in event["Start"]):
            code.append((start, end))
    for definition in _DEFINITION.finditer(source.decode()):
        at = len(source.decode()[: definition.end() - 1].encode())
        if not any(start <= at < end for start, end in code):
            yield at


def _acceptable(entities: list[Entity]) -> tuple[Entity, ...]:
    """Only what Telegram takes: no format across code, no quote in a quote, no odd addresses, in order."""
    code = [one for one in entities if one.type in _CODE]
    kept: set[Entity] = set(_outermost(code))
    quotes = _outermost([one for one in entities if one.type in _QUOTES])
    for one in entities:
        if one.type in _QUOTES and one in quotes:
            kept.add(one)
        elif one.type == "text_link" and not _WELL_KNOWN_ADDRESS.match(one.url or ""):
            continue
        elif one.type not in _CODE + _QUOTES:
            kept.update(_around(one, code))
    return tuple(sorted(kept, key=lambda one: (one.offset, -one.length, one.type)))


def _outermost(entities: list[Entity]) -> list[Entity]:
    """Those that no other one of them holds."""
    return [
        one
        for one in entities
        if not any(
            other is not one and other.offset <= one.offset and one.end <= other.end and other != one
            for other in entities
        )
    ]


def _around(entity: Entity, code: list[Entity]) -> list[Entity]:
    """The parts of a format that lie outside code."""
    parts, start = [], entity.offset
    for hole in sorted(code, key=lambda one: one.offset):
        if hole.end <= start or hole.offset >= entity.end:
            continue
        parts.append((start, hole.offset))
        start = hole.end
    parts.append((start, entity.end))
    return [replace(entity, offset=first, length=last - first) for first, last in parts if last > first]
