"""What a SKILL.md says of itself, and the index of skills in the prompt. Pure.

Reading is lenient: whatever stands in the file, there is a `Skill` with a list of what is wrong with it. Writing
is strict (`why_not`): a file that we write has exactly one front-matter block with its name and a description.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import yaml

from gateway import scan
from gateway.skills import names

MOST_FRONT_CHARS = 20_000
MOST_INDEX_CHARS = 6_000
LEAST_DESCRIPTION_CHARS = 60
"""So much of each description is shown before whole skills are left out of the index."""

_RULE = "═" * 46
_TITLE = "SKILLS (procedures you have learnt; read one with the skill tool, action view, before you follow it)"
_FENCE = re.compile(r"(?:---|\.\.\.)[ \t]*")
_LINE = re.compile(r"^(name|description)[ \t]*:[ \t]*(.+?)[ \t]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Skill:
    """One folder of skills as it was read. `name` is the folder's: what the front matter says is checked only."""

    name: str
    description: str = field(default="", repr=False)
    problems: tuple[str, ...] = ()
    """What is wrong with it: keys of the catalog under `skill_problem.`."""
    sha256: str = ""
    """Of its SKILL.md; "" where that could not be read."""
    readable: bool = False
    """Whether the model can read and follow it."""


# -- reading -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Front:
    """What stands between the two lines of `---`; `body` is the rest."""

    name: str = ""
    description: str = field(default="", repr=False)
    body: str = field(default="", repr=False)
    problems: tuple[str, ...] = ()


def skill(folder: str, data: bytes, sha256: str) -> Skill:
    """A skill from the bytes of its SKILL.md."""
    text, problems = text_of(data), []
    if "\ufffd" in text and b"\xef\xbf\xbd" not in data:
        problems.append("skill_problem.not_text")
    found = front(text)
    problems += found.problems
    if found.name and found.name != folder:
        problems.append("skill_problem.other_name")
    if not names.is_name(folder):
        problems.append("skill_problem.name")
    return Skill(folder, found.description, tuple(problems), sha256, readable=names.is_name(folder))


def text_of(data: bytes) -> str:
    """The text of a file: without a byte order mark, bytes that are none as �."""
    return data.decode("utf-8", "replace").removeprefix("\ufeff")


def front(text: str) -> Front:
    """Read the front matter as far as it can be read."""
    lines = text.replace("\r\n", "\n").lstrip().split("\n")
    if lines[0].rstrip() != "---":
        return Front(body=text, problems=("skill_problem.no_front_matter",))
    end = next((place for place, line in enumerate(lines[1:], 1) if _FENCE.fullmatch(line)), None)
    if end is None:
        return _by_lines("\n".join(lines[1:]), "", "skill_problem.front_matter_open")
    written, body = "\n".join(lines[1:end]), "\n".join(lines[end + 1 :])
    if len(written) > MOST_FRONT_CHARS:
        return _by_lines(written, body, "skill_problem.front_matter_long")
    try:
        # Everything as the text that it is: `name: 2026-01-15` is no date.
        read = yaml.load(written, Loader=yaml.CBaseLoader if yaml.__with_libyaml__ else yaml.BaseLoader)
    except (yaml.YAMLError, ValueError, RecursionError):
        return _by_lines(written, body, "skill_problem.yaml")
    if not isinstance(read, dict):
        return _by_lines(written, body, "skill_problem.yaml")
    return _checked(read.get("name"), read.get("description"), body)


def _by_lines(written: str, body: str, problem: str) -> Front:
    """YAML trips over `description: Backups: how to`; a person reads it all the same."""
    found = {key: value.strip("\"'") for key, value in reversed(_LINE.findall(written[:MOST_FRONT_CHARS]))}
    read = _checked(found.get("name"), found.get("description"), body)
    return Front(read.name, read.description, body, (problem, *read.problems))


def _checked(name: object, description: object, body: str) -> Front:
    said = " ".join(description.split()) if isinstance(description, str) else ""
    problems = []
    if not isinstance(name, str) or not name:
        problems.append("skill_problem.no_name")
    if not said:
        problems.append("skill_problem.no_description")
    if len(said) > names.MOST_DESCRIPTION_CHARS:
        problems.append("skill_problem.description_long")
    return Front(name if isinstance(name, str) else "", said[: names.MOST_DESCRIPTION_CHARS], body, tuple(problems))


# -- what we write -----------------------------------------------------------------------------------------


def why_not(name: str, text: str) -> str:
    """Why this may not be written as the SKILL.md of `name`: a key of the catalog; "" if it may."""
    if not text.startswith("---\n"):
        return "skill.needs_front_matter"
    found = front(text)
    if found.problems:
        return found.problems[0]
    if found.name != name:
        return "skill_problem.other_name"
    if not found.body.strip():
        return "skill.needs_body"
    return "skill.two_front_matters" if _begins_again(found.body) else ""


def _begins_again(body: str) -> bool:
    """Whether a second front-matter block follows the first: what careless rewriting leaves."""
    again = front(body)
    return "skill_problem.no_front_matter" not in again.problems and bool(again.name or again.description)


# -- one like it -------------------------------------------------------------------------------------------

_ALIKE = 0.6
_TOKEN = r"[a-z0-9]{3,}|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+"


def like(name: str, description: str, others: Sequence[Skill]) -> str:
    """The name of a skill that this one would nearly repeat; "" if there is none."""
    own, purpose = _tokens(name), _tokens(description)
    for other in others:
        same_name = own == _tokens(other.name) and bool(own)
        if other.name != name and (same_name or _share(purpose, _tokens(other.description)) >= _ALIKE):
            return other.name
    return ""


def _share(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other) if len(one & other) > 1 else 0.0


def _tokens(text: str) -> frozenset[str]:
    """Words, without a plural's s; of scripts without blanks every two signs."""
    found = re.findall(_TOKEN, text.lower())
    words = {word.rstrip("s") for word in found if word.isascii()}
    return frozenset(words | {run[at : at + 2] for run in found if not run.isascii() for at in range(len(run))})


# -- the index ---------------------------------------------------------------------------------------------


def index(skills: Sequence[Skill], vouched: Sequence[str] = ()) -> str:
    """The block for the prompt, one line for each skill; "" where there is none.

    `vouched` are the hashes of the SKILL.md files that a person approved as they are: an odd-looking description
    of one of these is shown. Descriptions are cut, then skills left out, where there is no room.
    """
    shown = [(skill.name, _description(skill, vouched)) for skill in skills if skill.readable]
    if not shown:
        return ""
    longest = max(len(description) for _, description in shown)
    while longest > LEAST_DESCRIPTION_CHARS and _length(shown, longest) > MOST_INDEX_CHARS:
        longest = max(LEAST_DESCRIPTION_CHARS, longest * 3 // 4)
    lines = [_line(*each, longest) for each in shown]
    kept = len(lines)
    while sum(len(line) + 1 for line in lines[:kept]) > MOST_INDEX_CHARS:
        kept -= 1
    if left := len(lines) - kept:
        lines[kept:] = [f"[{left} more: the skill tool, action view without a name, lists all.]"]
    return "\n".join((_RULE, _TITLE, _RULE, *lines))


def is_fit(text: str, *, vouched: bool) -> bool:
    """Whether a model may see this text of a skill."""
    level = scan.check(text).level
    return level is scan.Level.CLEAN or (level is scan.Level.SUSPICIOUS and vouched)


def _description(skill: Skill, vouched: Sequence[str]) -> str:
    if skill.description and not is_fit(skill.description, vouched=skill.sha256 in vouched):
        return "[its description is not shown: it looks like an attack, a secret or hidden text]"
    return " ".join(skill.description.split()) or "(no description)"


def _length(shown: Sequence[tuple[str, str]], longest: int) -> int:
    return sum(len(_line(name, description, longest)) + 1 for name, description in shown)


def _line(name: str, description: str, longest: int) -> str:
    cut = description if len(description) <= longest else description[: longest - 1].rstrip() + "…"
    return f"- {name}: {cut}"
