"""The words of notices and lists, and what cards share with them, from records. Pure; `rendering` fetches those.

People's words are cut to excerpts, put on one line and escaped here, and nowhere else.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from gateway import words
from gateway.chat import Attachment, Button
from gateway.memory import entries, snapshot
from gateway.memory.proposals import unkept
from gateway.records import Action, Operation, Outgoing, Status, Target, Write
from gateway.skills import wording

EXCERPT_CHARS = 120
MOST_IN_A_GIST = 5
MOST_LISTED = 40
"""Of what waits, so many lines in a chat: what was decided makes room for the next."""
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_INDENT = re.compile(r"^[ \t]+", re.MULTILINE)
_BLANK_LINE = re.compile(r"(?<=\n)(?=\n)")
_NO_BREAK = "\u00a0"
_SPECIAL = re.compile(r"([\\`*_{}\[\]()<>#+\-.!|~=$&^]|:(?=//))")


@dataclass(frozen=True, slots=True)
class Rendered:
    """Something to say, ready for a platform: Markdown, rows of buttons, whether it makes a sound."""

    text: str
    buttons: tuple[tuple[Button, ...], ...] = ()
    silent: bool = False
    aside: bool = True
    escaped: bool = True
    asks: bool = False
    """Whether the person is to answer this very message (`OutgoingMessage.asks`)."""
    file: Attachment | None = None
    """Sent with it."""
    deletes: tuple[str, ...] = ()
    """Messages of the chat to delete, instead of saying anything."""


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


def as_it_is(markdown: str) -> str:
    """Lines as they are: none begins a list, a heading or a block of Markdown."""
    kept = _INDENT.sub(lambda found: _NO_BREAK * len(found[0].expandtabs(4)), markdown)
    return _BLANK_LINE.sub(_NO_BREAK, kept)


# -- notices -------------------------------------------------------------------------------------------


def notice(
    writes: Sequence[Write],
    verbosity: str,
    language: str,
    *,
    unsaved: bool = False,
    unheeded: str = "",
    beside: Sequence[str] = (),
) -> Rendered | None:
    """What a turn or a review changed, and what it could not save. None when there is nothing to say.

    What could not be saved is said at every verbosity: nothing fails silently (design.md 7.7). `unsaved`: the
    turn's last memory call failed, whether or not there is a row for it. `unheeded`: the key of what to say of a
    turn that changed nothing, though that was asked for or claimed. `beside`: lines of `besidetext`.
    """
    applied = [write for write in writes if write.status is Status.APPLIED]
    undone = [write for write in writes if write.status is Status.UNDONE]
    not_saved = _not_saved(writes, language)
    if unsaved and not not_saved:
        not_saved = [words.text("notice.nothing_saved", language)]
    if unheeded and not writes:
        not_saved = [words.text(unheeded, language)]
    updates = [*_updates(applied, verbosity, language), *(beside if verbosity != "off" else ())]
    lines = [*updates, *_undone(undone, verbosity, language), *not_saved]
    return Rendered("\n".join(lines), silent=True) if lines else None


def _updates(applied: Sequence[Write], verbosity: str, language: str) -> list[str]:
    if not applied or verbosity == "off":
        return []
    if verbosity == "verbose":
        return [line for write in applied for line in _in_full(write, language)]
    of_skills = (said(wording.done(write), language) for write in applied if write.kind == "skill")
    of_memory = ["notice.memory"] if any(write.kind == "memory" for write in applied) else []
    parts = (*(words.text(key, language) for key in of_memory), *dict.fromkeys(of_skills))
    return [words.text("notice.done", language, parts=" · ".join(parts))]


def _in_full(write: Write, language: str) -> list[str]:
    if write.kind == "skill":
        return [words.text("notice.done", language, parts=said(wording.done_in_full(write), language))]
    return [_change(op, language) for op in whole_operations(write)]


def said(sentence: wording.Sentence, language: str) -> str:
    """A sentence about a skill, its words cut and escaped."""
    return words.text(sentence.key, language, **{name: excerpt(text) for name, text in sentence.values.items()})


def _undone(undone: Sequence[Write], verbosity: str, language: str) -> list[str]:
    """What was taken back since; at `on` without the words, like what was changed."""
    if not undone or verbosity == "off":
        return []
    if verbosity == "verbose":
        whole = [op for write in undone for op in whole_operations(write)]
        texts = [excerpt(op.content or op.old_text) for op in whole]
        return [words.text("notice.undone_verbose", language, text=text) for text in texts]
    return [words.text("notice.undone", language)]


def _change(op: Operation, language: str) -> str:
    match op.action:
        case Action.REPLACE:
            return words.text("notice.replaced", language, old=excerpt(op.old_text), new=excerpt(op.content))
        case Action.REMOVE:
            return words.text("notice.removed", language, old=excerpt(op.old_text))
        case _:
            return words.text("notice.added", language, new=excerpt(op.content))


def _not_saved(writes: Sequence[Write], language: str) -> list[str]:
    """One line for each write that did not happen and was not made good by a later one."""
    lines = (words.text("notice.not_saved", language, reason=reason(write, language)) for write in unkept(writes))
    return list(dict.fromkeys(lines))


def reason(write: Write, language: str) -> str:
    """Why a write was refused, failed or still waits, as a sentence."""
    try:
        return words.text(write.reason, language, **write.reason_values)
    except KeyError:  # a row of another version
        return words.text("reason.row_unreadable", language)


def flag(key: str, language: str) -> str:
    """Why a write waits although nobody asked for that."""
    return words.text(key if words.has(key) else "flag.unknown", language)


# -- parts of cards and lists --------------------------------------------------------------------------------


def button(action: str, row: Outgoing, language: str) -> Button:
    """A button of this outbox row: what it does, which row, and the row's token."""
    label = words.text(f"button.{action}", language)
    return Button(label, f"{action}:{row.id}:{row.token}", asks=action in ("edit", "choose"))


def what(write: Write, language: str) -> str:
    """`add to USER`, `replace in MEMORY` …"""
    return words.text(f"what.{write.action.value}", language, target=file(write))


def file(write: Write) -> str:
    """The file that a write changes, as people read it."""
    return "USER" if write.target is Target.USER else "MEMORY"


def gist(write: Write, language: str) -> str:
    """A write in one line; one to memory without what it does."""
    if write.kind == "skill":
        return said(wording.gist(write), language)
    operations = whole_operations(write)
    texts = [excerpt(op.content or op.old_text) for op in operations[:MOST_IN_A_GIST]]
    parts = [words.text("gist.one", language, text=text) for text in texts]
    if left := len(operations) - len(texts):
        parts.append(words.text("gist.more", language, count=left))
    return words.text("gist.joint", language).join(parts)


def usage(chars: int, limit: int, language: str) -> str:
    """`67% — 1,474/2,200 chars`, as people read it, escaped."""
    percent = snapshot.percent(chars, limit)
    return escape(words.text("memory.usage_of", language, percent=percent, used=f"{chars:,}", limit=f"{limit:,}"))


def whole_operations(write: Write) -> tuple[Operation, ...]:
    """What a write does, naming whole entries where they are known: it may name one by a part of it."""
    return entries.pinned(write.operations, entries.split_texts(write.before))


# -- lists -----------------------------------------------------------------------------------------------


def pending_line(write: Write, *, with_space: bool, language: str) -> str:
    """`17 [auto] add to USER: "Lives in Bergen"`, with the space's name where several are listed."""
    auto = r"\[auto\] " if write.origin.auto else ""
    place = words.text("log.place", language, space=escape(write.space_name)) if with_space else ""
    head = f"{write.id} {auto}{what(write, language)}{place}"
    return words.text("pending.line", language, head=head, gist=gist(write, language))


def pending(staged: Sequence[Write], *, count: int, with_space: bool, language: str) -> str:
    """What waits for a yes, oldest first, under the count and over the commands. `staged`: the first of `count`."""
    if not staged:
        return words.text("pending.none", language)
    lines = [words.text("pending.count", language, count=count)]
    lines += [pending_line(write, with_space=with_space, language=language) for write in staged]
    if left := count - len(staged):
        lines.append(words.text("pending.more", language, count=left))
    lines.append(words.text("pending.commands", language))
    return "\n".join(lines)
