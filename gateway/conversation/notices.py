"""The words of notices, and what cards share with them, from records. Pure; `rendering` fetches those.

How a single write reads, cut and escaped, is `phrases`.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from gateway import words
from gateway.chat import Attachment, Button
from gateway.conversation import phrases
from gateway.memory import snapshot
from gateway.memory.proposals import unkept
from gateway.records import Action, Operation, Outgoing, Status, Write
from gateway.skills import wording

MOST_LISTED = 40
"""Of what waits, so many lines in a chat: what was decided makes room for the next."""
_INDENT = re.compile(r"^[ \t]+", re.MULTILINE)
_BLANK_LINE = re.compile(r"(?<=\n)(?=\n)")
_NO_BREAK = "\u00a0"


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
    of_skills = (phrases.said(wording.done(write), language) for write in applied if write.kind == "skill")
    of_memory = ["notice.memory"] if any(write.kind == "memory" for write in applied) else []
    parts = (*(words.text(key, language) for key in of_memory), *dict.fromkeys(of_skills))
    return [words.text("notice.done", language, parts=" · ".join(parts))]


def _in_full(write: Write, language: str) -> list[str]:
    if write.kind == "skill":
        return [words.text("notice.done", language, parts=phrases.said(wording.done_in_full(write), language))]
    return [_change(op, language) for op in phrases.whole_operations(write)]


def _undone(undone: Sequence[Write], verbosity: str, language: str) -> list[str]:
    """What was taken back since; at `on` without the words, like what was changed."""
    if not undone or verbosity == "off":
        return []
    if verbosity == "verbose":
        whole = [op for write in undone for op in phrases.whole_operations(write)]
        texts = [phrases.excerpt(op.content or op.old_text) for op in whole]
        return [words.text("notice.undone_verbose", language, text=text) for text in texts]
    return [words.text("notice.undone", language)]


def _change(op: Operation, language: str) -> str:
    match op.action:
        case Action.REPLACE:
            return words.text(
                "notice.replaced", language, old=phrases.excerpt(op.old_text), new=phrases.excerpt(op.content)
            )
        case Action.REMOVE:
            return words.text("notice.removed", language, old=phrases.excerpt(op.old_text))
        case _:
            return words.text("notice.added", language, new=phrases.excerpt(op.content))


def _not_saved(writes: Sequence[Write], language: str) -> list[str]:
    """One line for each write that did not happen and was not made good by a later one."""
    lines = (
        words.text("notice.not_saved", language, reason=phrases.reason(write, language)) for write in unkept(writes)
    )
    return list(dict.fromkeys(lines))


# -- parts of cards and lists --------------------------------------------------------------------------------


def button(action: str, row: Outgoing, language: str) -> Button:
    """A button of this outbox row: what it does, which row, and the row's token."""
    label = words.text(f"button.{action}", language)
    return Button(label, f"{action}:{row.id}:{row.token}", asks=action in ("edit", "choose"))


def usage(chars: int, limit: int, language: str) -> str:
    """`67% — 1,474/2,200 chars`, as people read it, escaped."""
    percent = snapshot.percent(chars, limit)
    return phrases.escape(
        words.text("memory.usage_of", language, percent=percent, used=f"{chars:,}", limit=f"{limit:,}")
    )


# -- lists -----------------------------------------------------------------------------------------------
