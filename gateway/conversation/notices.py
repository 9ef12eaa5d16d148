"""The words of notices, cards and lists, from records. Pure; `rendering` fetches the records.

People's words are cut to excerpts, put on one line and escaped here, and nowhere else.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from gateway import words
from gateway.chat import Button
from gateway.memory.proposals import unkept
from gateway.records import Action, Operation, Outgoing, Status, Target, Write

EXCERPT_CHARS = 120
CARD_CHARS = 1500
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_SPECIAL = re.compile(r"([\\`*_{}\[\]()<>#+\-.!|~=$&^])")


@dataclass(frozen=True, slots=True)
class Rendered:
    """Something to say, ready for a platform: Markdown, rows of buttons, whether it makes a sound."""

    text: str
    buttons: tuple[tuple[Button, ...], ...] = ()
    silent: bool = False
    aside: bool = True
    escaped: bool = True


def escape(text: str) -> str:
    """Words as they are, for a text that is read as Markdown."""
    return _SPECIAL.sub(r"\\\1", text)


def unescape(text: str) -> str:
    """A text of ours as a terminal shows it: `escape` undone."""
    return _ESCAPED.sub(r"\1", text)


def excerpt(text: str) -> str:
    """At most 120 characters on one line, escaped."""
    line = " ".join(text.split())
    return escape(line if len(line) <= EXCERPT_CHARS else line[: EXCERPT_CHARS - 1] + "…")


# -- notices -------------------------------------------------------------------------------------------


def notice(writes: Sequence[Write], verbosity: str, language: str, *, unsaved: bool = False) -> Rendered | None:
    """What a turn or a review changed, and what it could not save. None when there is nothing to say.

    What could not be saved is said at every verbosity: nothing fails silently (design.md 7.7). `unsaved`: the
    turn's last memory call failed, whether or not there is a row for it.
    """
    applied = [write for write in writes if write.status is Status.APPLIED]
    not_saved = _not_saved(writes, language)
    if unsaved and not not_saved:
        not_saved = [words.text("notice.nothing_saved", language)]
    lines = [*_updates(applied, verbosity, language), *not_saved]
    return Rendered("\n".join(lines), silent=True) if lines else None


def _updates(applied: Sequence[Write], verbosity: str, language: str) -> list[str]:
    if not applied or verbosity == "off":
        return []
    if verbosity == "verbose":
        return [_change(write, op, language) for write in applied for op in write.operations]
    return [words.text("notice.memory_updated", language)]


def _change(write: Write, op: Operation, language: str) -> str:
    old = _old(write, op)
    match op.action:
        case Action.REPLACE:
            return words.text("notice.replaced", language, old=excerpt(old), new=excerpt(op.content))
        case Action.REMOVE:
            return words.text("notice.removed", language, old=excerpt(old))
        case _:
            return words.text("notice.added", language, new=excerpt(op.content))


def _not_saved(writes: Sequence[Write], language: str) -> list[str]:
    """One line for each write that did not happen and was not made good by a later one."""
    lines = (words.text("notice.not_saved", language, reason=reason(write, language)) for write in unkept(writes))
    return list(dict.fromkeys(lines))


def reason(write: Write, language: str) -> str:
    """Why a write was refused, failed or still waits, as a sentence."""
    return words.text(write.reason, language, **write.reason_values)


# -- cards -----------------------------------------------------------------------------------------------


def card(write: Write, row: Outgoing, usage: str, language: str, *, typed: bool = False) -> Rendered:
    """A staged write with its whole text and the buttons to decide; always one message.

    `usage` is the budget after it ("70% — 1,540/2,200 chars", "" when unknown). `typed`: where buttons are words.
    """
    lines = [words.text("card.head", language, id=write.id, what=what(write, language)) + _auto(write)]
    lines += [_whole(write, op, language) for op in write.operations]
    if write.evidence.quote:
        said = "card.because" if write.evidence.message is not None else "card.rests_on"
        lines.append(words.text(said, language, quote=excerpt(write.evidence.quote)))
    lines += [words.text(flag, language) for flag in write.flags]
    if write.reason:
        lines.append(reason(write, language))
    if usage:
        lines.append(words.text("card.usage", language, usage=escape(usage)))
    if typed:
        lines.append(words.text("card.commands", language, id=write.id))
    buttons = (button("approve", row, language), button("reject", row, language))
    return Rendered("\n".join(lines), buttons=(buttons,))


def decided(write: Write, row: Outgoing, by: str, language: str) -> Rendered:
    """What a card says after the decision. A rejected, expired or failed one says so without the words.

    `by` is who decided, "" when it was the person whose chat this is.
    """
    who = words.text("card.by", language, by=escape(by)) if by else ""
    match write.status:
        case Status.APPLIED | Status.APPROVED:
            text = words.text("card.remembered", language, what=gist(write), who=who)
            return Rendered(text, buttons=((button("use_now", row, language),),), silent=True)
        case Status.REJECTED:
            text = words.text("card.rejected", language, id=write.id, who=who)
        case Status.EXPIRED:
            text = words.text("card.expired", language, id=write.id)
        case _:
            text = words.text("card.failed", language, id=write.id, reason=reason(write, language))
    return Rendered(text, silent=True)


def button(action: str, row: Outgoing, language: str) -> Button:
    """A button of this outbox row: what it does, which row, and the row's token."""
    return Button(words.text(f"button.{action}", language), f"{action}:{row.id}:{row.token}")


def in_use(write: Write, language: str) -> Rendered:
    """What the card says once its person tapped [Use now]."""
    return Rendered(words.text("card.in_use", language, what=gist(write)), silent=True)


def what(write: Write, language: str) -> str:
    """`add to USER`, `replace in MEMORY` …"""
    name = "USER" if write.target is Target.USER else "MEMORY"
    return words.text(f"what.{write.action.value}", language, target=name)


def _auto(write: Write) -> str:
    return r" \[auto\]" if write.origin.auto else ""


def gist(write: Write) -> str:
    """A write in one line, without what it does."""
    return "; ".join(f'"{excerpt(op.content or op.old_text)}"' for op in write.operations)


def _whole(write: Write, op: Operation, language: str) -> str:
    old, new = _on_a_card(_old(write, op)), _on_a_card(op.content)
    match op.action:
        case Action.REPLACE:
            return words.text("card.replace", language, old=old, new=new)
        case Action.REMOVE:
            return words.text("card.remove", language, old=old)
        case _:
            return words.text("card.add", language, new=new)


def _on_a_card(text: str) -> str:
    """Whole, unless it would not fit into one message: a card that spans two could not be taken back whole."""
    return escape(text if len(text) <= CARD_CHARS else text[: CARD_CHARS - 1] + "…")


def _old(write: Write, op: Operation) -> str:
    """The entry that an operation replaces or removes, whole where it is known."""
    return write.before if len(write.operations) == 1 and write.before else op.old_text


# -- lists -----------------------------------------------------------------------------------------------


def pending_line(write: Write, *, with_space: bool, language: str) -> str:
    """`17 [auto] add to USER: "Lives in Bergen"`, with the space's name where several are listed."""
    auto = r"\[auto\] " if write.origin.auto else ""
    place = f" ({escape(write.space_name)})" if with_space else ""
    return f"{write.id} {auto}{what(write, language)}{place}: {gist(write)}"


def pending(staged: Sequence[Write], *, with_space: bool, language: str) -> str:
    """What waits for a yes, oldest first, under the count and over the commands."""
    if not staged:
        return words.text("pending.none", language)
    lines = [words.text("pending.count", language, count=len(staged))]
    lines += [pending_line(write, with_space=with_space, language=language) for write in staged]
    lines.append(words.text("pending.commands", language))
    return "\n".join(lines)
