"""How writes to skills and skills themselves read in a chat, as Markdown. Pure; which words: `skills.wording`."""

from collections.abc import Sequence

from gateway import words
from gateway.conversation import notices, phrases
from gateway.records import Write
from gateway.skills import wording
from gateway.skills.catalog import Skill
from gateway.skills.shelf import Whole

MOST_SHOWN_CHARS = 3_000
"""Of a skill or a diff in a chat; the command line prints all."""


def pending_line(write: Write, *, with_space: bool, language: str) -> str:
    """`17 [auto] patch printer: "Wait" → "Wait ten seconds"`, with the space's name where several are listed."""
    auto = r"\[auto\] " if write.origin.auto else ""
    place = words.text("log.place", language, space=phrases.escape(write.space_name)) if with_space else ""
    return f"{write.id} {auto}{phrases.gist(write, language)}{place}"


def pending(staged: Sequence[Write], *, count: int, with_space: bool, language: str) -> str:
    """What waits for a yes, oldest first, under the count and over the commands. `staged`: the first of `count`."""
    if not staged:
        return words.text("skills.pending_none", language)
    lines = [words.text("pending.count", language, count=count)]
    lines += [pending_line(write, with_space=with_space, language=language) for write in staged]
    if left := count - len(staged):
        lines.append(words.text("skills.pending_more", language, count=left))
    return "\n".join((*lines, words.text("skills.commands", language)))


def diff(write: Write, language: str) -> str:
    """What a write changes, line by line, with what speaks against it."""
    head = [f"{write.id} {phrases.gist(write, language)}"]
    head += [words.text("card.flag", language, flag=phrases.flag(flag, language)) for flag in write.flags]
    head += [phrases.reason(write, language)] if write.reason else []
    text = wording.diff(write)
    left = len(text) - MOST_SHOWN_CHARS
    tail = [words.text("skills.diff_cut", language, count=f"{left:,}", id=write.id)] if left > 0 else []
    return "\n".join((*head, as_it_is(text[:MOST_SHOWN_CHARS]), *tail))


def listed(skills: Sequence[Skill], language: str) -> str:
    """One line for each skill, and one for each thing that is wrong with it."""
    if not skills:
        return words.text("skills.none", language)
    lines = [words.text("skills.count", language, count=len(skills))]
    for skill in skills:
        name, description = phrases.escape(skill.name), phrases.excerpt(skill.description)
        lines.append(words.text("skills.line", language, name=name, description=description).rstrip(": "))
        lines += [problem(key, language) for key in skill.problems]
    return "\n".join(lines)


def problem(key: str, language: str) -> str:
    """What is wrong with a skill, as a line."""
    return words.text("skills.problem", language, problem=words.text(key, language))


def shown(whole: Whole, language: str) -> str:
    """One skill as it is."""
    head = [problem(key, language) for key in whole.skill.problems]
    text = whole.text[:MOST_SHOWN_CHARS]
    left = len(whole.text) - len(text)
    tail = [words.text("skills.cut", language, count=f"{left:,}")] if left else []
    files = [phrases.escape(each.path) for each in whole.files if each.path != "SKILL.md"]
    if files:
        tail.append(words.text("skills.files", language, files=", ".join(files)))
    return "\n".join(part for part in (*head, as_it_is(text.rstrip()), *tail) if part)


def as_it_is(text: str) -> str:
    """Words with their lines as they are, for a text that is read as Markdown."""
    return notices.as_it_is(phrases.escape(text))
