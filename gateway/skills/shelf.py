"""The skills of a space as they are now: for the prompt, for the tool, for people, and as the ground of a change.

Everything that a model gets to see goes through the scan here, at each load (design.md 7.5).
"""

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from gateway.home import Home
from gateway.records import SKILL, Action, Operation, Space
from gateway.skills import catalog, names, tool
from gateway.skills.catalog import Skill
from gateway.skills.changes import Ground
from gateway.store import filewrites, skillfolders
from gateway.store.db import Database
from gateway.store.skillfolders import Inside, Seen

MOST_VIEWED_FILES = 200


@dataclass(frozen=True, slots=True)
class Whole:
    """One skill with all that a person may want to know of it."""

    skill: Skill
    text: str = field(repr=False)
    files: tuple[Inside, ...]


@dataclass(frozen=True, slots=True)
class Shelf:
    """Reads skills. Changes nothing."""

    db: Database
    home: Home

    def root(self, space: Space) -> Path:
        return self.home.skills_dir(space.name)

    def skills(self, space: Space) -> tuple[Skill, ...]:
        """Every folder of the space, by name, with what is wrong with it."""
        root = self.root(space)
        return tuple(_skill(name, self._seen(root, name, "")) for name in skillfolders.names(root))

    def whole(self, space: Space, name: str) -> Whole | None:
        """One skill, for a person: as it is, not scanned. None where there is none."""
        root = self.root(space)
        if name not in skillfolders.names(root):
            return None
        seen = self._seen(root, name, "")
        files = tuple(skillfolders.inside(root, name)[:MOST_VIEWED_FILES])
        return Whole(_skill(name, seen), catalog.text_of(seen.data or b""), files)

    def index(self, space: Space) -> str:
        """The block for a prompt, scanned now; "" where there is no skill."""
        skills = self.skills(space)
        odd = [one for one in skills if one.description and not catalog.is_fit(one.description, vouched=False)]
        vouched = [one.sha256 for one in odd if self._is_vouched(space, one.name, one.sha256)]
        return catalog.index(skills, vouched)

    # -- for the model -----------------------------------------------------------------------------------

    def view(self, space: Space, asked: tool.View, draft: Mapping[tuple[str, str], str] | None = None) -> str:
        """The result of a call that reads, as JSON text. `draft` holds what a review has changed already."""
        known = draft or {}
        if not asked.name:
            return tool.listing(self._described(space))
        if (asked.name, asked.path) in known:
            return self._shown(space, asked, known[asked.name, asked.path])
        root = self.root(space)
        if not skillfolders.is_there(root, asked.name):
            skills = [skill.name for skill in self.skills(space) if skill.readable]
            return tool.unknown(asked.name, difflib.get_close_matches(asked.name, skills, n=3, cutoff=0.5))
        seen = self._seen(root, asked.name, asked.path)
        if seen.data is None:
            return self._cannot_show(space, asked, seen)
        text = catalog.text_of(seen.data)
        if not catalog.is_fit(text, vouched=self._is_vouched(space, asked.name, seen.sha256)):
            return _bad("It is not shown: it looks like an attack, a secret or hidden text, and no person has "
                        "approved it. It is still in the file.")  # fmt: skip
        return self._shown(space, asked, text)

    def _described(self, space: Space) -> list[tuple[str, str]]:
        readable = [skill for skill in self.skills(space) if skill.readable]
        return [
            (
                skill.name,
                skill.description
                if catalog.is_fit(skill.description, vouched=self._is_vouched(space, skill.name, skill.sha256))
                else "",
            )
            for skill in readable
        ]

    def _shown(self, space: Space, asked: tool.View, text: str) -> str:
        return tool.shown(asked.name, asked.path, text, self._files(space, asked.name))

    def _files(self, space: Space, name: str) -> Sequence[str]:
        """The further files that can be viewed."""
        found = (each for each in skillfolders.inside(self.root(space), name) if not each.odd)
        fit = (each.path for each in found if not names.is_main(each.path) and not names.why_no_path(each.path))
        return [path for path in fit if catalog.is_fit(path, vouched=False)][:MOST_VIEWED_FILES]

    def _cannot_show(self, space: Space, asked: tool.View, seen: Seen) -> str:
        if seen.odd:
            return _bad(tool.sentence(f"skill.odd_{seen.odd.value}"))
        files = ", ".join(self._files(space, asked.name)) or "none"
        return _bad(f"The skill '{asked.name}' has no {asked.path or names.MAIN}. Its further files: {files}.")

    # -- for a change ------------------------------------------------------------------------------------

    def ground(self, space: Space, name: str, operation: Operation) -> Ground:
        """What an operation meets now."""
        root = self.root(space)
        there = skillfolders.is_there(root, name)
        seen = self._seen(root, name, operation.path)
        text, lossy = _text(seen.data)
        odd = f"skill.odd_{seen.odd.value}" if seen.odd else ""
        match operation.action:
            case Action.DELETE:
                sha256 = skillfolders.fingerprint(root, name)
                return Ground(there, text, sha256, lossy, "" if sha256 else "skill.odd_link")
            case Action.CREATE:
                skills = self.skills(space)
                description = catalog.front(operation.content.lstrip("\ufeff")).description
                like = catalog.like(name, description, skills)
                return Ground(there, text, seen.sha256, lossy, odd, skills=len(skills), like=like)
            case _:
                files = skillfolders.inside(root, name) if operation.path else []
                size = sum(each.size for each in files)
                return Ground(there, text, seen.sha256, lossy, odd, files=len(files), size=size)

    def _seen(self, root: Path, name: str, path: str) -> Seen:
        return skillfolders.read(root, name, path or names.MAIN, names.MOST_FILE_BYTES)

    def _is_vouched(self, space: Space, name: str, sha256: str) -> bool:
        """Whether a person said yes to exactly this text."""
        with self.db.read() as rd:
            rows = filewrites.sources(rd, space.id, f"{SKILL}{name}")
        return any(row.decided_by and row.after_hash == sha256 for row in rows)


def _skill(name: str, seen: Seen) -> Skill:
    name = name.encode("utf-8", "replace").decode()  # a folder's name may be no UTF-8
    if seen.data is None:
        problem = f"skill.odd_{seen.odd.value}" if seen.odd else "skill_problem.no_main"
        return Skill(name, problems=(problem,))
    return catalog.skill(name, seen.data, seen.sha256)


def _text(data: bytes | None) -> tuple[str | None, bool]:
    """The text of a file as it is, and whether its bytes are more than that."""
    if data is None:
        return None, False
    try:
        return data.decode(), False
    except UnicodeDecodeError:
        return data.decode("utf-8", "replace"), True


def _bad(error: str) -> str:
    return tool.bad_call(tool.BadCall(error))
