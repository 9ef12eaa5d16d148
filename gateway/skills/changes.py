"""What one operation makes of a file of a skill. Pure: the same on a review's draft, on a card and on disk."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field

from gateway.records import Action, Operation
from gateway.skills import catalog, names

ABSENT = "absent"
"""The hash of what is not there (also `skillfolders.ABSENT`)."""


@dataclass(frozen=True, slots=True)
class Ground:
    """What an operation meets: the skill, and the file of it that is meant."""

    there: bool
    """Whether anything has the skill's name."""
    text: str | None = field(default=None, repr=False)
    """The file as it is, byte order mark and line ends included; None where there is none."""
    sha256: str = ABSENT
    """Of the file's bytes, for DELETE of the whole folder; "" where it cannot be read."""
    lossy: bool = False
    """True where its bytes are no UTF-8."""
    odd: str = ""
    """Why the file cannot be changed: a key of the catalog."""
    skills: int = 0
    """How many skills there are, and of this one how many files and bytes."""
    files: int = 0
    size: int = 0
    like: str = ""
    """For CREATE: a skill that it would nearly repeat."""


@dataclass(frozen=True, slots=True)
class Changed:
    """The file before and after: what a diff shows is what is written. `after` of a DELETE is ""."""

    before: str = field(repr=False)
    after: str = field(repr=False)
    before_hash: str
    after_hash: str


@dataclass(frozen=True, slots=True)
class Same:
    """The file says it already."""


@dataclass(frozen=True, slots=True)
class Cannot:
    """Why it cannot be done: a key of the catalog and its values, never anybody's words."""

    key: str
    values: Mapping[str, object] = field(default_factory=dict)


Change = Changed | Same | Cannot


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def apply(name: str, operation: Operation, ground: Ground) -> Change:
    """Do one operation."""
    match operation.action:
        case Action.CREATE:
            return Cannot("skill.exists") if ground.there else _create(name, operation, ground)
        case Action.DELETE:
            return _delete(ground)
        case Action.EDIT | Action.PATCH | Action.WRITE_FILE if not ground.there:
            return Cannot("skill.gone")
        case Action.EDIT | Action.WRITE_FILE:
            return _written(name, operation, ground, tidy(operation.content))
        case Action.PATCH:
            return _patch(name, operation, ground)
        case _:
            return Cannot("skill.unknown_action")


def plain(text: str) -> str:
    """A text without a byte order mark, with Unix line ends."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n")


def tidy(content: str) -> str:
    """A whole text as we write it: plain, one line end at its end."""
    text = plain(content).rstrip("\n")
    return f"{text}\n" if text.strip() else ""


def _create(name: str, operation: Operation, ground: Ground) -> Change:
    if ground.skills >= names.MOST_SKILLS:
        return Cannot("skill.too_many", {"most": names.MOST_SKILLS})
    return _written(name, operation, ground, tidy(operation.content))


def _delete(ground: Ground) -> Change:
    if not ground.there:
        return Cannot("skill.gone")
    if ground.odd or not ground.sha256:
        return Cannot(ground.odd or "skill.odd_link")
    return Changed(ground.text or "", "", ground.sha256, ABSENT)


def _patch(name: str, operation: Operation, ground: Ground) -> Change:
    if ground.text is None and not ground.odd:
        return Cannot("skill.no_file")
    if ground.odd or ground.lossy:
        return Cannot(ground.odd or "skill.odd_not_text")
    text = ground.text or ""
    old, new = in_its_line_ends(text, operation.old_text), in_its_line_ends(text, operation.content)
    if not old:
        return Cannot("skill.patch_gone")
    if (found := _count(text, old)) != 1:
        return Cannot("skill.patch_often", {"count": found}) if found else _unless_done(text, new)
    return _written(name, operation, ground, text.replace(old, new))


def _unless_done(text: str, new: str) -> Change:
    return Same() if new and _count(text, new) == 1 else Cannot("skill.patch_gone")


def _count(text: str, part: str) -> int:
    """How often it stands there, overlaps counted: `aa` stands twice in `aaa`, so it names no one place."""
    found, at = 0, text.find(part)
    while at >= 0 and found < 1000:
        found, at = found + 1, text.find(part, at + 1)
    return found


def in_its_line_ends(text: str, part: str) -> str:
    """A model writes \\n whatever the file has."""
    if "\r\n" in text and "\r" not in part:
        return part.replace("\n", "\r\n")
    return part


def _written(name: str, operation: Operation, ground: Ground, after: str) -> Change:
    if ground.odd:
        return Cannot(ground.odd)
    if why := _why_not(name, operation, ground, after):
        return why
    if after == ground.text:
        return Same()
    return Changed(ground.text or "", after, ground.sha256, sha256(after))


def _why_not(name: str, operation: Operation, ground: Ground, after: str) -> Cannot | None:
    size = len(after.encode())
    if size > names.MOST_FILE_BYTES:
        return Cannot("skill.too_big", {"size": f"{size:,}", "most": f"{names.MOST_FILE_BYTES:,}"})
    if not after.strip():
        return Cannot("skill.content_missing")
    if not operation.path:
        key = catalog.why_not(name, plain(after))
        return Cannot(key) if key else None
    if key := names.why_no_path(operation.path):
        return Cannot(key)
    new_file = ground.text is None
    if new_file and ground.files >= names.MOST_FILES:
        return Cannot("skill.too_many_files", {"most": names.MOST_FILES})
    if ground.size - len((ground.text or "").encode()) + size > names.MOST_SKILL_BYTES:
        return Cannot("skill.too_big_in_all", {"most": f"{names.MOST_SKILL_BYTES:,}"})
    return None
