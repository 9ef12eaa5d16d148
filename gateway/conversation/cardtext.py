"""What cards say, from records: a staged write with its whole text, and what became of it. Pure.

A card is always one message, so that a rejection can take all of it back: what has no room is cut, and the card
says so. `carddrawing` fetches the records, `memory.cards` puts the rows.
"""

import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from gateway import words
from gateway.chat import Button
from gateway.conversation import notices, phrases, worddiff
from gateway.conversation.notices import Rendered, button
from gateway.conversation.phrases import escape, excerpt, gist, unescape
from gateway.memory import beside, snapshot
from gateway.memory.conflicts import Conflict
from gateway.records import FORGOTTEN, HELD, Action, Operation, Origin, Outgoing, Status, Write

MOST_FORMATS = 90
"""Telegram ignores formats after the hundredth of a message."""
LEAST_OF_A_TEXT = 60
"""Rather than less than so many characters of each text, fewer texts are shown."""


@dataclass(frozen=True, slots=True)
class Room:
    """What one message of a platform holds; `None` for one without a bound."""

    units: int | None
    marks_count: bool
    """Whether the platform counts Markdown as it is written (Discord), not as it is shown (Telegram)."""


_ROOMS = {"discord": Room(1_900, marks_count=True), "terminal": Room(None, marks_count=False)}
_TELEGRAM = Room(4_000, marks_count=False)


@dataclass(frozen=True, slots=True)
class Budget:
    """How full the file is; `after` is None where it would not take the write as things are."""

    chars: int
    after: int | None
    limit: int
    entries: tuple[int, int] = (0, 0)
    """How many entries it has and would have."""


@dataclass(frozen=True, slots=True)
class Around:
    """What a card says besides its write."""

    budget: Budget | None = None
    """None when the file cannot be read."""
    conflict: Conflict | None = None
    """The entry that the write nearly repeats or contradicts, in the file as it is now."""
    elsewhere: bool = False
    """Whether the card is shown outside the chats of its space, which it then names."""
    several: bool = False
    """Whether more of the space waits for the same yes."""


@dataclass(frozen=True, slots=True)
class Decider:
    """Who decided, and when, in the time zone people live in."""

    key: str
    """The catalog's: `card.by_you`, `card.by_owner` or `card.by`; "" when nobody did."""
    account: str
    when: str

    def said(self, language: str) -> str:
        """` (by you, 2026-11-30 10:02)`, escaped; "" when nobody decided."""
        if not self.key:
            return ""
        return words.text(self.key, language, by=escape(self.account), when=self.when)

    def plain(self, language: str) -> str:
        """The same for a toast, which is no Markdown."""
        return unescape(self.said(language))


def card(write: Write, row: Outgoing, around: Around, language: str) -> Rendered:
    """A staged write with its whole text and the buttons to decide; always one message."""
    typed = row.chat.platform == "terminal"
    head, tail = _head(write, around, language), _tail(write, around, language, typed=typed)

    def whole(changes: Sequence[str]) -> str:
        return "\n".join((*head, *changes, *tail))

    changes = _fitting(phrases.whole_operations(write), whole, _ROOMS.get(row.chat.platform, _TELEGRAM), language)
    actions = ("approve", "reject") if typed or not _is_editable(write) else ("approve", "reject", "edit")
    rows = [tuple(decision_button(action, write, row, language) for action in actions)]
    if around.several and not typed:
        rows.append(tuple(button(action, row, language) for action in ("approve_all", "reject_all")))
    return Rendered(whole(changes), buttons=tuple(rows))


def decided(write: Write, row: Outgoing, decider: Decider, language: str) -> Rendered:
    """What a card says after the decision. A rejected, expired or failed one says so without the words."""
    if write.reason == FORGOTTEN:
        return Rendered(words.text("card.forgotten", language), silent=True)
    by = decider.said(language)
    match write.status:
        case Status.APPLIED | Status.APPROVED:
            key = "card.removed" if write.action is Action.REMOVE else "card.remembered"
            text = words.text(key, language, what=gist(write, language), who=by)
            buttons = (button("use_now", row, language), button("undo", row, language))
            return Rendered(text, buttons=(buttons,), silent=True)
        case Status.UNDONE:
            text = words.text("card.undone", language, what=gist(write, language), who=by)
        case Status.REJECTED:
            text = words.text("card.rejected", language, id=write.id, who=by)
        case Status.EXPIRED:
            text = words.text("card.expired", language, id=write.id, when=decider.when)
        case _:
            text = words.text("card.failed", language, id=write.id, reason=phrases.reason(write, language), who=by)
    return Rendered(text, silent=True)


def in_use(write: Write, row: Outgoing, decider: Decider, language: str) -> Rendered:
    """What the card says once its person tapped [Use now]."""
    key = "card.removed_in_use" if write.action is Action.REMOVE else "card.in_use"
    text = words.text(key, language, what=gist(write, language), who=decider.said(language))
    return Rendered(text, buttons=((button("undo", row, language),),), silent=True)


def question(write: Write, row: Outgoing, language: str) -> Rendered:
    """What asks for another text. Where a platform has dialogs, its button opens one."""
    room = _ROOMS.get(row.chat.platform, _TELEGRAM)
    answers = row.chat.platform == "telegram"
    key = "edit.question" if answers else "edit.question_button"

    def whole(chars: int) -> str:
        return words.text(key, language, id=write.id, text=_excerpt(write.operations[0].content, chars))

    chars = _most(len(write.operations[0].content), lambda n: _fits(whole(n), room))
    buttons = () if answers else ((button("edit", row, language),),)
    return Rendered(whole(chars), buttons=buttons, asks=answers)


def decision_button(action: str, write: Write, row: Outgoing, language: str) -> Button:
    """As usual; of what was forgotten before it asks whether to keep it now."""
    plain = button(action, row, language)
    label = {"approve": "button.keep", "reject": "button.leave_out"}.get(action, "")
    return replace(plain, label=words.text(label, language)) if HELD in write.flags and label else plain


def _is_editable(write: Write) -> bool:
    return len(write.operations) == 1 and write.action is not Action.REMOVE


def conflict(write: Write, texts: Sequence[str]) -> Conflict | None:
    """The entry among `texts` that a write nearly repeats or contradicts, besides those that it replaces itself."""
    return beside.entry(phrases.whole_operations(write), texts)


# -- around the changes --------------------------------------------------------------------------------------


def _head(write: Write, around: Around, language: str) -> list[str]:
    auto = r" \[auto\]" if write.origin.auto else ""
    key = "card.tidy_head" if write.origin is Origin.TIDY else "card.head"
    lines = [words.text(key, language, id=write.id, what=phrases.what(write, language)) + auto]
    if around.elsewhere:
        lines.append(words.text("card.space", language, space=escape(write.space_name)))
    return lines


def _tail(write: Write, around: Around, language: str, *, typed: bool) -> list[str]:
    lines = []
    if write.evidence.quote:
        said = "card.because" if write.evidence.message is not None else "card.rests_on"
        lines.append(words.text(said, language, quote=excerpt(write.evidence.quote)))
    if around.conflict is not None:
        why = phrases.flag(around.conflict.why, language)
        lines.append(words.text("card.conflict", language, entry=excerpt(around.conflict.entry), why=why))
    told = around.conflict.why if around.conflict else ""
    flags = [flag for flag in write.flags if flag != told and (flag != HELD or not write.reason)]
    lines += [words.text("card.flag", language, flag=phrases.flag(flag, language)) for flag in flags]
    if write.reason:
        lines.append(words.text("card.flag", language, flag=phrases.reason(write, language)))
    if around.budget is not None:
        lines.append(_usage(write, around.budget, language))
    if typed:
        lines.append(words.text("card.commands", language, id=write.id))
    return lines


def _usage(write: Write, budget: Budget, language: str) -> str:
    """`USER: 67% → 75% — 1,650/2,200 chars`"""
    then = budget.chars if budget.after is None else budget.after
    usage = notices.usage(then, budget.limit, language)
    if budget.after is None:
        return words.text("card.usage_now", language, file=phrases.file(write), usage=usage)
    if write.origin is Origin.TIDY:
        numbers = dict(zip(_SAVED, (budget.chars, then, *budget.entries), strict=True))
        said = {name: f"{number:,}" for name, number in numbers.items()}
        return words.text("tidy.saved", language, file=phrases.file(write), **said)
    before = snapshot.percent(budget.chars, budget.limit)
    if before == snapshot.percent(then, budget.limit):  # "0% → 0%" would look as if nothing happened
        return words.text("card.usage_then", language, file=phrases.file(write), usage=usage)
    return words.text("card.usage", language, file=phrases.file(write), before=before, usage=usage)


_SAVED = ("chars", "chars_after", "entries", "entries_after")


# -- the changes ---------------------------------------------------------------------------------------------


def _fitting(
    operations: Sequence[Operation], whole: Callable[[Sequence[str]], str], room: Room, language: str
) -> list[str]:
    """Each operation's text, as much of each as there is room for in one message; all are cut to one length."""

    def fits(changes: Sequence[str]) -> bool:
        return _fits(whole(changes), room)

    longest = max(len(text) for op in operations for text in (op.content, op.old_text))
    marked = [_marked(op, language) or _shown(op, longest, language) for op in operations]
    if fits(marked):
        return marked
    count = _most(len(operations), lambda n: fits(_some(operations, n, LEAST_OF_A_TEXT, language)))
    chars = _most(longest, lambda n: fits(_some(operations, count, n, language)))
    return _some(operations, count, chars, language)


def _some(operations: Sequence[Operation], count: int, chars: int, language: str) -> list[str]:
    """The first operations with so many characters of each text, and what is not shown of them, counted."""
    changes = [_shown(op, chars, language) for op in operations[:count]]
    texts = [text for op in operations[:count] for text in (op.old_text, op.content)]
    if cut := sum(len(text) - len(_cut(text, chars)) for text in texts):
        changes.append(words.text("card.more_chars", language, count=f"{cut:,}"))
    if left := len(operations) - count:
        changes.append(words.text("card.more_changes", language, count=left))
    return changes


def _most(highest: int, holds: Callable[[int], bool]) -> int:
    """The highest number up to `highest` for which `holds`, at least 1."""
    low, high = 1, max(highest, 1)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if holds(middle) else (low, middle - 1)
    return low


def _fits(text: str, room: Room) -> bool:
    if room.units is None:
        return True
    formats = text.count("~~") // 2 + text.count("**") // 2 + text.count("`") // 2
    shown = text if room.marks_count else phrases.unescape(text)
    return formats <= MOST_FORMATS and len(shown.encode("utf-16-le", "replace")) // 2 <= room.units


def _marked(op: Operation, language: str) -> str:
    """A replacement as one text in which what goes is struck through and what comes is bold; "" if that is none."""
    if op.action is not Action.REPLACE:
        return ""
    change = worddiff.marked(op.old_text, op.content, escape)
    return words.text("card.change", language, change=notices.as_it_is(change)) if change else ""


def _shown(op: Operation, chars: int, language: str) -> str:
    old, new = _excerpt(op.old_text, chars), _excerpt(op.content, chars)
    match op.action:
        case Action.REPLACE:
            return words.text("card.replace", language, old=old, new=new)
        case Action.REMOVE:
            return words.text("card.remove", language, old=old)
        case _:
            return words.text("card.add", language, new=new)


def _excerpt(text: str, chars: int) -> str:
    cut = _cut(text, chars)
    return notices.as_it_is(escape(cut)) + ("…" if len(cut) < len(text) else "")


def _cut(text: str, chars: int) -> str:
    """At most so many characters."""
    while 1 < chars < len(text) and _belongs_to_the_former(text, chars):
        chars -= 1
    return text[:chars]


def _belongs_to_the_former(text: str, at: int) -> bool:
    """Whether a cut here would take an accent, a skin tone or half an emoji family away."""
    sign = text[at]
    joins = sign == "\u200d" or text[at - 1] == "\u200d" or "\U0001f3fb" <= sign <= "\U0001f3ff"
    return joins or unicodedata.category(sign)[0] == "M"
