"""What cards say of a write to a skill: the diff with its buttons, and what became of it. Pure.

One message, like `cardtext`: what has no room is cut, and the card says where all of it is to be seen.
"""

from gateway import words
from gateway.conversation import cardtext, phrases, skilltext
from gateway.conversation.cardtext import Around, Decider
from gateway.conversation.notices import Rendered, button
from gateway.conversation.phrases import escape, excerpt
from gateway.records import FORGOTTEN, Outgoing, Status, Write
from gateway.skills import wording

_ROOM = {"discord": 1_800, "terminal": 1_000_000}
"""UTF-16 units of a whole card, its Markdown counted."""
_ROOM_ELSEWHERE = 3_800


def card(write: Write, row: Outgoing, around: Around, language: str) -> Rendered:
    """A staged write with its diff and the buttons to decide."""
    typed = row.chat.platform == "terminal"
    head, tail = _head(write, around, language), _tail(write, language, typed=typed)
    room = _ROOM.get(row.chat.platform, _ROOM_ELSEWHERE) - _units("\n".join((*head, *tail)))
    rows = [tuple(cardtext.decision_button(action, write, row, language) for action in ("approve", "reject"))]
    if around.several and not typed:
        rows.append(tuple(button(action, row, language) for action in ("approve_all", "reject_all")))
    return Rendered("\n".join((*head, *_fitting(write, room, language), *tail)), buttons=tuple(rows))


def decided(write: Write, row: Outgoing, decider: Decider, language: str) -> Rendered:
    """What a card says after the decision. A rejected, expired or failed one says so without the words."""
    if write.reason == FORGOTTEN:
        return Rendered(words.text("card.forgotten", language), silent=True)
    by = decider.said(language)
    match write.status:
        case Status.APPLIED | Status.APPROVED:
            text = words.text("card.skill_done", language, gist=phrases.gist(write, language), who=by)
            buttons = (button("use_now", row, language), button("undo", row, language))
            return Rendered(text, buttons=(buttons,), silent=True)
        case Status.UNDONE | Status.REJECTED | Status.EXPIRED:
            return cardtext.decided(write, row, decider, language)
        case _:
            reason = phrases.reason(write, language)
            text = words.text("card.skill_failed", language, id=write.id, reason=reason, who=by)
            return Rendered(text, silent=True)


def _head(write: Write, around: Around, language: str) -> list[str]:
    auto = r" \[auto\]" if write.origin.auto else ""
    what = words.text(f"what.{write.action.value}", language, target=escape(write.skill))
    lines = [words.text("card.skill_head", language, id=write.id, what=what) + auto]
    if around.elsewhere:
        lines.append(words.text("card.space", language, space=escape(write.space_name)))
    return lines


def _tail(write: Write, language: str, *, typed: bool) -> list[str]:
    lines = []
    if write.evidence.quote:
        said = "card.because" if write.evidence.message is not None else "card.rests_on"
        lines.append(words.text(said, language, quote=excerpt(write.evidence.quote)))
    lines += [words.text("card.flag", language, flag=phrases.flag(flag, language)) for flag in write.flags]
    if write.reason:
        lines.append(words.text("card.flag", language, flag=phrases.reason(write, language)))
    if typed:
        lines.append(words.text("card.skill_commands", language, id=write.id))
    return lines


def _fitting(write: Write, room: int, language: str) -> list[str]:
    """As much of the diff from its top as there is room for, and a line that counts the rest."""
    text = wording.diff(write)
    whole = skilltext.as_it_is(text)
    if _units(whole) <= room:
        return [whole]
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        fits = _units(_cut(write, text, middle, language)) <= room
        low, high = (middle, high) if fits else (low, middle - 1)
    return [_cut(write, text, low, language)]


def _cut(write: Write, text: str, chars: int, language: str) -> str:
    more = words.text("skills.diff_cut", language, count=f"{len(text) - chars:,}", id=write.id)
    return "\n".join((skilltext.as_it_is(text[:chars]), more))


def _units(text: str) -> int:
    return len(text.encode("utf-16-le", "replace")) // 2
