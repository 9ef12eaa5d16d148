"""How an applied change of a skill can be taken back. Pure.

Also after later changes, where these left its own words alone; where not, it says what conflicts and writes over
nothing. The second half of an undo asks again after a crash: what is back already is `Already`.
"""

from dataclasses import dataclass, field

from gateway.records import Action, Write
from gateway.skills.catalog import why_not
from gateway.skills.changes import ABSENT, Ground, in_its_line_ends, plain, sha256

CHANGED = "undo.skill_changed"


@dataclass(frozen=True, slots=True)
class Text:
    """The file gets this text."""

    text: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Gone:
    """What the write brought goes: the skill to the archive, or the file."""


@dataclass(frozen=True, slots=True)
class FromArchive:
    """The skill comes back."""


@dataclass(frozen=True, slots=True)
class Already:
    """It is as it was before."""


@dataclass(frozen=True, slots=True)
class Conflict:
    """It cannot be taken back: a key of the catalog."""

    reason: str


Way = Text | Gone | FromArchive | Already | Conflict


def of_delete(write: Write, ground: Ground, *, is_kept: bool) -> Way:
    """A deleted skill comes back whole from the archive, unless its name is taken."""
    if ground.there:
        return Already() if ground.sha256 == write.before_hash else Conflict("skill.exists")
    return FromArchive() if is_kept else Conflict("undo.archive_gone")


def of_file(write: Write, ground: Ground) -> Way:
    """Any other change of a file."""
    if ground.sha256 == write.before_hash:
        return Already()
    if ground.odd:
        return Conflict(ground.odd)
    if ground.sha256 != write.after_hash:
        return _of_later(write, ground)
    if write.before_hash == ABSENT:
        return Gone()
    if sha256(write.before) != write.before_hash:
        return Conflict("undo.not_kept")
    return Text(write.before)


def _of_later(write: Write, ground: Ground) -> Way:
    """After other changes a patch can still be turned round, where its new text stands exactly once."""
    operation = write.operations[0]
    if operation.action is not Action.PATCH or ground.text is None or ground.lossy or not operation.content:
        return Conflict(CHANGED)
    new, old = (in_its_line_ends(ground.text, each) for each in (operation.content, operation.old_text))
    if ground.text.count(new) == 1:
        text = ground.text.replace(new, old)
        return Text(text) if operation.path or not why_not(write.skill, plain(text)) else Conflict(CHANGED)
    return Already() if ground.text.count(old) == 1 and new not in ground.text else Conflict(CHANGED)
