"""The card of a plan to forget: what was found, hit by hit, and what becomes of it. Pure.

It is always one message: a card of several parts could not be changed as a whole, and words would stay in the chat.
So the hits are shown a few at a time. Numbers and letters count in the plan as it is (`numbered`, `lettered`);
`drawn` notes how much there was, and whoever uses them compares.
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gateway import words
from gateway.chat import Button
from gateway.conversation import notices
from gateway.conversation.notices import Rendered
from gateway.conversation.phrases import escape
from gateway.memory.forgetplan import Near, Plan
from gateway.memory.layers.layer import Item
from gateway.records import Outgoing

WITH_HITS = ("entries", "ledger", "skills", "messages", "summaries", "titles", "files")
"""Layers whose hits are shown one by one; of the others only how much they hold."""
COMPARED = ("entries", "ledger", "skills", "messages")
"""Where there is more of it than the card showed, the card is shown again before anything is erased."""
PER_PAGE = 6
MOST_NUMBERED = 60
MOST_LETTERS = 5
LONGEST = 1_950
"""UTF-16 units that one message of every platform holds, as it is sent."""
EXCERPTS = (82, 60, 40, 20, 8)
"""So many characters of a hit, the most for which the card is still one message."""


@dataclass(frozen=True, slots=True)
class InChats:
    """How many messages of chats show it: those that can be deleted there, and those that people must see to."""

    can: int = 0
    cannot: int = 0


@dataclass(frozen=True, slots=True)
class Draft:
    """A plan as the person has it before them."""

    plan: Plan
    asked: str = ""
    """The ref of the message that asked: it goes anyway and is no hit."""
    left_out: frozenset[str] = frozenset()
    marks: bool = True
    in_chats: InChats = InChats()
    page: int = 0
    deletes: bool = False
    """Whether those messages are to be deleted in the chats, too."""
    changed: bool = False
    """Whether there was more of it when somebody said yes."""


@dataclass(frozen=True, slots=True)
class Choice:
    """What somebody answered to a card: hits by number, near matches by letter."""

    numbers: tuple[int, ...]
    letters: tuple[str, ...]


# -- numbers -------------------------------------------------------------------------------------------------


def numbered(plan: Plan, asked: str = "") -> list[tuple[str, Item]]:
    """Every hit that has a number, with its layer: the first has 1."""
    found = [
        (layer.layer, item)
        for name in WITH_HITS
        for layer in plan.layers
        if layer.layer == name
        for item in layer.items
        if item.ref != asked
    ]
    return found[:MOST_NUMBERED]


def lettered(plan: Plan) -> list[tuple[str, Near]]:
    """Every near match that has a letter."""
    return list(zip("abcdefghij"[:MOST_LETTERS], plan.near, strict=False))


def found(plan: Plan, asked: str = "") -> int:
    """How many hits there are; the request itself is none, and copies are searched later."""
    return sum(one.found for one in plan.layers if one.layer not in _LATER) - (asked in plan.refs)


def counts(plan: Plan, asked: str = "") -> dict[str, int]:
    """How much there is of what is compared."""
    return {name: plan.layer(name).found - (name == "messages" and asked in plan.refs) for name in COMPARED}


def has_grown(plan: Plan, asked: str, before: object) -> bool:
    """Whether there is more of it than when a card was drawn."""
    known = before if isinstance(before, Mapping) else {}
    return any(count > int(known.get(name, 0)) for name, count in counts(plan, asked).items())


def has_changed(plan: Plan, asked: str, before: object) -> bool:
    """Whether numbers may mean something else than when a card was drawn."""
    return before != counts(plan, asked)


_TO = re.compile(r"(\d+)\s*[-~〜–]\s*(\d+)")
_PART = re.compile(r"\d+|[a-z]")


def choice(text: str) -> Choice | None:
    """`2 3-5 a` as numbers and letters; None for words that are none."""
    plain = unicodedata.normalize("NFKC", text).lower()
    if re.sub(r"[\d\sa-z,.、。・;~〜–-]", "", plain) or re.search(r"[a-z]{2}", plain):
        return None
    spread = _TO.sub(lambda span: " ".join(map(str, _range(int(span[1][:4]), int(span[2][:4])))), plain)
    parts = _PART.findall(spread)
    if not parts:
        return None
    numbers = tuple(dict.fromkeys(int(part[:9]) for part in parts if part.isdecimal()))
    return Choice(numbers, tuple(dict.fromkeys(part for part in parts if part.isalpha())))


def _range(first: int, last: int) -> range:
    return range(first, min(last, first + MOST_NUMBERED) + 1)


# -- the card ------------------------------------------------------------------------------------------------


def card(draft: Draft, row: Outgoing, language: str) -> Rendered:
    """The plan, with its buttons."""
    if draft.plan.scope.everything:
        return _of_everything(draft, row, language, sure=bool(row.values.get("sure")))
    in_terminal = row.chat.platform == "terminal"
    hits = numbered(draft.plan, draft.asked)
    size = MOST_NUMBERED if in_terminal else PER_PAGE
    pages = max(1, -(-len(hits) // size))
    first = draft.page % pages * size
    shown = _Page(hits[first : first + size], first + 1, draft.page % pages + 1, pages)
    texts = (_text(draft, shown, language, most, terminal=in_terminal) for most in EXCERPTS)
    text = next((text for text in texts if in_terminal or len(text.encode("utf-16-le")) <= 2 * LONGEST), "")
    buttons = _buttons(draft, row, language, more=pages > 1, terminal=in_terminal)
    return Rendered(text or _text(draft, shown, language, EXCERPTS[-1], terminal=False), buttons=buttons)


@dataclass(frozen=True, slots=True)
class _Page:
    """The hits that are shown now, the number of the first, and which page of how many that is."""

    hits: Sequence[tuple[str, Item]]
    first: int
    number: int
    of: int


def _text(draft: Draft, page: _Page, language: str, most: int, *, terminal: bool) -> str:
    """The card with excerpts of at most so many characters."""
    lines = [words.text("forget.changed", language)] if draft.changed else []
    lines.append(words.text("forget.ask", language, count=found(draft.plan, draft.asked)))
    lines += _hits(draft, page.hits, page.first, language, most)
    if page.of > 1:
        lines.append(words.text("forget.page", language, page=page.number, pages=page.of))
    lines += _besides(draft, language, most)
    lines.append(words.text("forget.outside", language))
    if not terminal:
        lines.append(words.text("forget.how_near" if draft.plan.near else "forget.how", language))
    return "\n".join(lines)


def _hits(draft: Draft, hits: Sequence[tuple[str, Item]], first: int, language: str, most: int) -> list[str]:
    lines: list[str] = []
    before = ""
    for number, (layer, item) in enumerate(hits, first):
        if layer != before:
            lines.append(_layer(layer, draft.plan.layer(layer).found, language))
            before = layer
        box = "☐" if item.ref in draft.left_out else "☑"
        lines.append(f"{box} {number} {_excerpt(item.excerpt, most)}")
    return lines


def _layer(name: str, count: int, language: str) -> str:
    return words.text("forget.layer", language, layer=words.text(f"layer.{name}", language), count=count)


def _besides(draft: Draft, language: str, most: int) -> list[str]:
    plan = draft.plan
    lines = []
    if others := [one for one in plan.layers if one.found and one.layer not in (*WITH_HITS, *_LATER)]:
        named = " · ".join(_layer(one.layer, one.found, language) for one in others)
        lines.append(words.text("forget.also", language, layers=named))
    if plan.backups:
        lines.append(words.text("forget.backups", language, count=plan.backups))
    if plan.left:
        files = ", ".join(f"{escape(one.path)} ({one.found})" for one in plan.left)
        lines.append(words.text("forget.left", language, files=files))
    if plan.elsewhere:
        lines.append(words.text("forget.elsewhere", language, count=plan.elsewhere))
    if near := lettered(plan):
        lines.append(words.text("forget.near", language))
        lines += [f"☐ {letter} {_excerpt(one.excerpt, most)}" for letter, one in near]
    lines += _in_chats(draft, language)
    lines.append(words.text("forget.mark" if draft.marks else "forget.no_mark", language))
    return lines


_LATER = ("copies", "backups", "requests")


def _in_chats(draft: Draft, language: str) -> list[str]:
    lines = []
    if draft.in_chats.can:
        key = "forget.chat_deleted" if draft.deletes else "forget.chat_stays"
        lines.append(words.text(key, language, count=draft.in_chats.can))
    if draft.in_chats.cannot:
        lines.append(words.text("forget.chat_cannot", language, count=draft.in_chats.cannot))
    return lines


def _excerpt(text: str, most: int) -> str:
    line = " ".join(text.split())
    return escape(line if len(line) <= most else line[: most - 1] + "…")


def _buttons(
    draft: Draft, row: Outgoing, language: str, *, more: bool, terminal: bool
) -> tuple[tuple[Button, ...], ...]:
    first = tuple(notices.button(name, row, language) for name in ("forget", "cancel"))
    if terminal:
        return (first,)
    second = ["choose", "no_mark" if draft.marks else "mark", *(["more"] if more else [])]
    third = [] if not draft.in_chats.can else ["leave_there" if draft.deletes else "delete_there"]
    rows = (first, *(tuple(notices.button(name, row, language) for name in names) for names in (second, third)))
    return tuple(each for each in rows if each)


def _of_everything(draft: Draft, row: Outgoing, language: str, *, sure: bool) -> Rendered:
    plan = draft.plan
    named = " · ".join(_layer(one.layer, one.found, language) for one in plan.layers if one.found)
    lines = [
        words.text("forget.all_sure" if sure else "forget.all_ask", language, space=escape(plan.space.name)),
        words.text("forget.all_holds", language, layers=named or words.text("forget.all_empty", language)),
        words.text("forget.all_goes" if plan.space.kind == "person" else "forget.all_goes_kept", language),
        words.text("forget.outside", language),
    ]
    names = ("forget_all", "cancel") if sure else ("forget", "cancel")
    return Rendered("\n".join(lines), buttons=(tuple(notices.button(name, row, language) for name in names),))
