"""A write on one line, and the list of those that wait, from records. Pure.

People's words are cut to excerpts, put on one line and escaped here, and nowhere else. It imports little: people
ask often what waits, and a terminal loads it for each answer.
"""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from gateway import words
from gateway.memory import entries
from gateway.records import Operation, Target, Write

if TYPE_CHECKING:
    from gateway.skills import wording

EXCERPT_CHARS = 120
MOST_IN_A_GIST = 5
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_SPECIAL = re.compile(r"([\\`*_{}\[\]()<>#+\-.!|~=$&^]|:(?=//))")


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


def pending_line(write: Write, *, with_space: bool, language: str) -> str:
    """`17 [auto] add to USER: "Lives in Bergen"`, with the space's name where several are listed."""
    auto = r"\[auto\] " if write.origin.auto else ""
    place = words.text("log.place", language, space=escape(write.space_name)) if with_space else ""
    head = f"{write.id} {auto}{what(write, language)}{place}"
    return words.text("pending.line", language, head=head, gist=gist(write, language))


def what(write: Write, language: str) -> str:
    """`add to USER`, `replace in MEMORY` …"""
    return words.text(f"what.{write.action.value}", language, target=file(write))


def file(write: Write) -> str:
    """The file that a write changes, as people read it."""
    return "USER" if write.target is Target.USER else "MEMORY"


def gist(write: Write, language: str) -> str:
    """A write in one line; one to memory without what it does."""
    if write.kind == "skill":
        from gateway.skills import wording  # late: a list of memory needs none of it

        return said(wording.gist(write), language)
    operations = whole_operations(write)
    texts = [excerpt(op.content or op.old_text) for op in operations[:MOST_IN_A_GIST]]
    parts = [words.text("gist.one", language, text=text) for text in texts]
    if left := len(operations) - len(texts):
        parts.append(words.text("gist.more", language, count=left))
    return words.text("gist.joint", language).join(parts)


def said(sentence: "wording.Sentence", language: str) -> str:
    """A sentence about a skill, its words cut and escaped."""
    return words.text(sentence.key, language, **{name: excerpt(text) for name, text in sentence.values.items()})


def whole_operations(write: Write) -> tuple[Operation, ...]:
    """What a write does, naming whole entries where they are known: it may name one by a part of it."""
    return entries.pinned(write.operations, entries.split_texts(write.before))


def reason(write: Write, language: str) -> str:
    """Why a write was refused, failed or still waits, as a sentence."""
    try:
        return words.text(write.reason, language, **write.reason_values)
    except KeyError:  # a row of another version
        return words.text("reason.row_unreadable", language)


def flag(key: str, language: str) -> str:
    """Why a write waits although nobody asked for that."""
    return words.text(key if words.has(key) else "flag.unknown", language)


def excerpt(text: str) -> str:
    """At most 120 characters on one line, escaped."""
    line = " ".join(text.split())
    return escape(line if len(line) <= EXCERPT_CHARS else line[: EXCERPT_CHARS - 1] + "…")


def escape(text: str) -> str:
    """Words as they are, for a text that is read as Markdown."""
    return _SPECIAL.sub(r"\\\1", text)


def unescape(text: str) -> str:
    """A text of ours as a terminal shows it: `escape` undone."""
    return _ESCAPED.sub(r"\1", text)
