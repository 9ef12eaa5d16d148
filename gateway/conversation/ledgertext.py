"""How the ledger reads in a chat, as Markdown: one line for each write, and where an entry comes from. Pure."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from gateway import words
from gateway.conversation import phrases
from gateway.conversation.cardtext import Decider
from gateway.conversation.phrases import escape, excerpt
from gateway.memory.tracing import Traced
from gateway.records import FORGOTTEN, Choice, Origin, Status, Write

Naming = Callable[[str, datetime | None], Decider]
"""Who somebody is to the people of a chat, and when something was."""

_OPEN = (Status.APPLIED, Status.APPROVED, Status.UNDONE)
"""What a group may read of its own memory: the others were never in it."""


@dataclass(frozen=True, slots=True)
class Rests:
    """The message that a write rests on, as far as it is still kept."""

    at: datetime
    by: str
    text: str = ""


# -- the log -------------------------------------------------------------------------------------------------


def log(
    rows: Sequence[Write],
    choices: Sequence[Choice],
    names: Naming,
    language: str,
    *,
    spaces: Mapping[int, str],
    open_only: bool,
    more: bool,
) -> str:
    """One line for each, newest first. `open_only` leaves out the words of what is not in memory.

    `spaces` are the names where rows of several are listed, else empty.
    """
    if not rows and not choices:
        return words.text("log.empty", language)
    said, left = [], list(choices)
    for row in rows:
        while left and left[0].at > row.created_at:
            said.append(choice_line(left.pop(0), spaces, names, language))
        said.append(_line(row, spaces, names, language, open_only))
    said += [choice_line(one, spaces, names, language) for one in left]
    if more:
        said.append(words.text("log.more", language, id=rows[-1].id))
    return "\n".join(said)


def _line(write: Write, spaces: Mapping[int, str], names: Naming, language: str, open_only: bool) -> str:
    """`17 ✓ add to USER: "Lives in Bergen" (by you, 2026-11-30 10:02)`"""
    auto = r"\[auto\] " if write.origin.auto else ""
    place = _place(write.space, spaces, language)
    status = words.text(f"log.{write.status.value}", language)
    head = f"{write.id} {status}{'' if status.endswith('：') else ' '}{auto}"
    shown, joint = _shown(write, language, open_only), "" if place.endswith("）") else " "
    if write.kind == "memory":
        said = joint.join(part for part in (phrases.what(write, language) + place, shown) if part)
    else:
        said = shown + place
    return f"{head}{said}{_who(write, names, language)}"


def _shown(write: Write, language: str, open_only: bool) -> str:
    """The words; of a write without any, such as one that held a secret or was forgotten, why that is."""
    if open_only and write.status not in _OPEN:
        return ""
    if write.kind == "memory" and write.reason and not any(op.content or op.old_text for op in write.operations):
        return words.text("log.forgotten" if write.reason == FORGOTTEN else "log.no_words", language)
    return phrases.gist(write, language)


def _who(write: Write, names: Naming, language: str) -> str:
    if write.status is Status.UNDONE:
        return names(write.undone_by, write.undone_at).said(language)
    if write.decided_by:
        return names(write.decided_by, write.decided_at).said(language)
    when = names("", write.decided_at or write.created_at).when
    key = "log.by_hand" if write.origin is Origin.HAND_EDIT else "log.at"
    return words.text(key, language, when=when)


def choice_line(choice: Choice, spaces: Mapping[int, str], names: Naming, language: str) -> str:
    """`— /memory approval off (owner) (by you, 2026-11-30 10:02)`"""
    key = {"memory.write_approval": "log.memory_approval", "skills.write_approval": "log.skills_approval"}
    said = words.text(key.get(choice.key, "log.choice"), language, key=choice.key, value=choice.value)
    return said + _place(choice.space, spaces, language) + names(choice.by, choice.at).said(language)


def _place(space: int, spaces: Mapping[int, str], language: str) -> str:
    """Whose memory it is, where several are listed."""
    return words.text("log.place", language, space=escape(spaces[space])) if space in spaces else ""


# -- why -----------------------------------------------------------------------------------------------------


def why(traced: Traced, rests: Sequence[Rests | None], names: Naming, language: str) -> str:
    """The entry, and under it what made it say so: which message, proposed by what, decided by whom."""
    file = traced.target.value.upper()
    lines = [words.text("why.entry", language, text=excerpt(traced.entry.text), file=file, id=traced.id)]
    if not traced.writes:
        lines.append(words.text("why.unknown", language))
    for number, (write, message) in enumerate(zip(traced.writes, rests, strict=True)):
        if number:
            lines.append(words.text("why.before", language, text=_before(traced.writes[number - 1])))
        lines += _made(write, message, names, language)
    return "\n".join(lines)


def which(entries: Sequence[tuple[str, str]], language: str) -> str:
    """Several entries could be meant: each with the id that names it."""
    lines = [words.text("why.which", language)]
    lines += [words.text("why.candidate", language, id=escape(id), text=excerpt(text)) for id, text in entries]
    return "\n".join(lines)


def _before(later: Write) -> str:
    return ", ".join(excerpt(op.old_text) for op in phrases.whole_operations(later) if op.old_text)


def _made(write: Write, rests: Rests | None, names: Naming, language: str) -> list[str]:
    when = names("", write.created_at).when
    lines = [words.text(f"why.{write.origin.value}", language, id=write.id, when=when)]
    if rests is not None:
        lines.append(_message(write, rests, names, language))
    elif write.evidence.quote:
        lines.append(words.text("card.rests_on", language, quote=excerpt(write.evidence.quote)))
    lines += [words.text("card.flag", language, flag=phrases.flag(flag, language)) for flag in write.flags]
    if write.edited_by:
        who = names(write.edited_by, write.edited_at).said(language)
        first = ", ".join(excerpt(op.content or op.old_text) for op in write.original)
        lines.append(words.text("why.edited", language, who=who, text=first))
    if write.decided_by and write.origin is not Origin.PERSON:
        who = names(write.decided_by, write.decided_at).said(language)
        lines.append(words.text("why.approved", language, who=who))
    elif write.origin is not Origin.HAND_EDIT and write.origin is not Origin.PERSON:
        lines.append(words.text("why.unasked", language))
    return lines


def _message(write: Write, rests: Rests, names: Naming, language: str) -> str:
    """When it was said and by whom, and the words it rests on: the quote, else what is kept of the message."""
    who = names(rests.by, rests.at).said(language)
    text = write.evidence.quote or rests.text
    key = "why.message" if text else "why.message_gone"
    return words.text(key, language, who=who, quote=excerpt(text))
