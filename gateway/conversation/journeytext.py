"""How the journey reads in a chat, as Markdown: day by day, the newest at the end. Pure."""

from collections.abc import Iterator, Sequence
from datetime import tzinfo
from itertools import groupby

from gateway import words
from gateway.conversation import phrases
from gateway.conversation.phrases import escape, excerpt
from gateway.memory.journey import MEMORY, SKILL, Journey, Node

MOST_SHOWN = 40
"""Nodes in one answer of a chat, the newest; `hikae journey` prints all."""


def journey(found: Journey, zone: tzinfo, language: str, *, with_ids: bool) -> str:
    """The count, and under it what was learnt on each day; with the ids that edit and delete take."""
    if not found.nodes:
        return words.text("journey.none", language)
    lines = [counts(found, language)]
    if left := len(found.nodes) - MOST_SHOWN:
        lines += [words.text("journey.earlier", language, count=left)] if left > 0 else []
    lines += _days(found.nodes[-MOST_SHOWN:], zone, language, with_ids)
    lines.append(words.text("journey.commands" if with_ids else "journey.more", language))
    return "\n".join(lines)


def counts(found: Journey, language: str) -> str:
    """`What I have learnt: 12 entries, 3 skills`"""
    entries = words.text("journey.entries", language, count=found.count(MEMORY))
    skills = words.text("journey.skills", language, count=found.count(SKILL))
    return words.text("journey.head", language, entries=entries, skills=skills)


def day(node: Node, zone: tzinfo, language: str) -> str:
    """The day on which a node was learnt, as people read it."""
    return f"{node.at.astimezone(zone):%Y-%m-%d}" if node.at else words.text("journey.some_day", language)


def file(node: Node) -> str:
    """`MEMORY`, `USER` or `SKILL`."""
    return (node.target or node.kind).upper()


def origin(node: Node, language: str) -> str:
    """Where it came from, in a word or two."""
    return words.text(f"journey.from_{node.origin.value}", language)


def _days(nodes: Sequence[Node], zone: tzinfo, language: str, with_ids: bool) -> Iterator[str]:
    for name, of_day in groupby(nodes, lambda node: day(node, zone, language)):
        yield f"\n{escape(name)}"
        for node in of_day:
            yield _line(node, zone, language)
            if with_ids:
                yield f"   {escape(node.id)}"


def _line(node: Node, zone: tzinfo, language: str) -> str:
    """`• 10:02 USER: Lives in Bergen (a review)`"""
    when = f"{node.at.astimezone(zone):%H:%M} " if node.at else ""
    said = f"{excerpt(node.label)}: {excerpt(node.about)}" if node.about else excerpt(node.label)
    return words.text(
        "journey.line", language, when=when, file=file(node), text=said, origin=origin(node, language)
    )


def question(text: str, *, answers: bool, language: str) -> str:
    """Asks for another text of an entry. `answers`: whether the person answers the message itself."""
    key = "journey.question" if answers else "journey.question_button"
    return words.text(key, language, text=phrases.excerpt(text))
