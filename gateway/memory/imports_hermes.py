"""What lies in the home of a Hermes Agent: memory files, skills, config.yaml. Reads only, and follows no link.

The folder may be a running bot's, a copy, or somebody hostile's: what cannot be read is an item of the report, and
nothing in it keeps the rest from being read. `.env` is not looked at.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path

from gateway.memory import entries
from gateway.memory.imports import FoundEntry, FoundFile, FoundSkill, Item, Kind, Source, Verdict
from gateway.records import Target
from gateway.skills import catalog, changes, names
from gateway.store import foreignfolder, skillfolders
from gateway.store.skillfolders import Odd

MOST_MEMORY_BYTES = 1_000_000
MOST_ENTRIES = 1_000
MOST_CONFIG_BYTES = 1_000_000
MOST_SKILLS = 1_000
_BUNDLED = ".bundled_manifest"
_NOT_A_NAME = re.compile(r"[^a-z0-9]+")
_ODD = {
    Odd.LINK: "import.odd_link",
    Odd.NOT_A_FILE: "import.odd_not_a_file",
    Odd.TOO_BIG: "import.odd_too_big",
    Odd.CLOSED: "import.odd_closed",
}


def read(home: Path, now: datetime) -> Source:
    """Everything that can be brought, and what cannot."""
    found: list[FoundEntry] = []
    items: list[Item] = []
    for target in Target:
        for folder in ("memories", ""):
            more, trouble = _entries(home, folder, target, now)
            found += more
            items += trouble
    skills = tuple(_skills(home, now, items))
    config = foreignfolder.read(home, "config.yaml", MOST_CONFIG_BYTES)
    if config.odd:
        items.append(Item(Kind.SETTING, "config.yaml", Verdict.LEFT, _ODD[config.odd]))
    text = config.data.decode("utf-8", "replace") if config.data is not None else None
    return Source(tuple(dict.fromkeys(found)), skills, tuple(items), text)


def is_one(home: Path) -> bool:
    """Whether there is anything in this folder that a Hermes Agent keeps."""
    known = ("memories", "skills", "state.db", "config.yaml", "MEMORY.md", "USER.md")
    return any(foreignfolder.there(home, name) for name in known)


# -- memory --------------------------------------------------------------------------------------------------


def _entries(home: Path, folder: str, target: Target, now: datetime) -> tuple[list[FoundEntry], list[Item]]:
    kind = Kind(target.value)
    path = "/".join(part for part in (folder, f"{target.upper()}.md") if part)
    seen = foreignfolder.read(home, path, MOST_MEMORY_BYTES)
    if seen.odd:
        return [], [Item(kind, path, Verdict.LEFT, _ODD[seen.odd])]
    if seen.data is None:
        return [], []
    at = foreignfolder.changed_at(home, path, now) or now
    texts = entries.parse(seen.data).texts
    found = [FoundEntry(target, text, at) for text in dict.fromkeys(texts[:MOST_ENTRIES])]
    if len(texts) <= MOST_ENTRIES:
        return found, []
    left = {"count": len(texts) - MOST_ENTRIES}
    return found, [Item(kind, path, Verdict.LEFT, "import.too_many_entries", left)]


# -- skills --------------------------------------------------------------------------------------------------


def _skills(home: Path, now: datetime, items: list[Item]) -> Iterator[FoundSkill]:
    """The skills that were learnt there: those that came with the bot, and were not changed, are no memory."""
    bundled = _bundled(home)
    taken: set[str] = set()
    folders = foreignfolder.folders_with(home, "skills", names.MAIN)
    for folder in folders[:MOST_SKILLS]:
        skill, came_with_it = _skill(home, folder, bundled, now)
        if came_with_it:
            items.append(Item(Kind.SKILL, skill.name, Verdict.LEFT, "import.skill_bundled"))
        elif skill.name in taken:
            items.append(Item(Kind.SKILL, skill.name, Verdict.LEFT, "import.skill_twice"))
        else:
            taken.add(skill.name)
            yield skill
    if len(folders) > MOST_SKILLS:
        left = {"count": len(folders) - MOST_SKILLS}
        items.append(Item(Kind.SKILL, "skills", Verdict.LEFT, "import.too_many_skills", left))


def _skill(home: Path, folder: str, bundled: Mapping[str, str], now: datetime) -> tuple[FoundSkill, bool]:
    """A skill of ours made of one of theirs, and whether it came with the bot."""
    last = folder.rpartition("/")[2]
    main = foreignfolder.read(home, f"{folder}/{names.MAIN}", names.MOST_FILE_BYTES)
    if main.data is None:
        reason = _ODD[main.odd] if main.odd else "import.odd_closed"
        return FoundSkill(_name("", last), reason=reason), False
    text = changes.tidy(catalog.text_of(main.data))
    front = catalog.front(text)
    if front.name in bundled and bundled[front.name] in ("", _fingerprint(home, folder)):
        return FoundSkill(_name(front.name, last)), True
    name = _name(front.name, last)
    at = foreignfolder.changed_at(home, f"{folder}/{names.MAIN}", now)
    if not names.is_name(name):
        return FoundSkill(last, at=at, reason="skill_problem.name"), False
    fitted = fit(name, text)
    reason = catalog.why_not(name, fitted)
    files = () if reason else tuple(_files(home, folder))
    was = front.name or last
    changed = "import.skill_renamed" if was != name else "import.skill_headed" if fitted != text else ""
    return FoundSkill(name, fitted, at, files, reason, changed, was), False


def _name(written: str, folder: str) -> str:
    """A name as skills have them here: of what stands in the file, else of the folder."""
    if names.is_name(written):
        return written
    plain = (_NOT_A_NAME.sub("-", each.lower()).strip("-")[: names.MOST_NAME_CHARS] for each in (written, folder))
    return next((each.strip("-") for each in plain if each), "")


def fit(name: str, text: str) -> str:
    """A SKILL.md that may stand here: as it is where it can, else with a front matter of our own over its body."""
    if not catalog.why_not(name, text):
        return text
    front = catalog.front(text)
    body = front.body.strip("\n")
    description = front.description or next((line.strip("# ") for line in body.split("\n") if line.strip("# ")), "")
    quoted = description[: names.MOST_DESCRIPTION_CHARS].replace("\\", "\\\\").replace('"', '\\"')
    return changes.tidy(f'---\nname: {name}\ndescription: "{quoted}"\n---\n{body}\n')


def _files(home: Path, folder: str) -> Iterator[FoundFile]:
    """The further files of a skill, with why some of them stay behind."""
    root, name = home / folder.rpartition("/")[0], folder.rpartition("/")[2]
    size = 0
    for number, each in enumerate(one for one in skillfolders.inside(root, name) if not names.is_main(one.path)):
        path = names.plain(each.path)
        seen = skillfolders.read(root, name, each.path, names.MOST_FILE_BYTES)
        reason = names.why_no_path(path) or (_ODD[seen.odd] if seen.odd else "")
        if number >= names.MOST_FILES - 1 or size > names.MOST_SKILL_BYTES:
            reason = reason or "import.skill_too_big"
        text = _as_text(seen.data) if seen.data is not None else None
        if text is None or not text.strip():
            reason = reason or "skill.odd_not_text"
        size += each.size if not reason else 0
        yield FoundFile(path, "" if reason else text or "", reason)


def _as_text(data: bytes) -> str | None:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None


def _bundled(home: Path) -> Mapping[str, str]:
    """The skills that came with the bot, with the fingerprint that they came with."""
    seen = foreignfolder.read(home, f"skills/{_BUNDLED}", MOST_CONFIG_BYTES)
    lines = (seen.data or b"").decode("utf-8", "replace").split("\n")
    pairs = (line.strip().partition(":") for line in lines if line.strip())
    return {name.strip(): mark.strip() for name, _, mark in pairs}


def _fingerprint(home: Path, folder: str) -> str:
    """What that bot's own list says of a folder that nobody changed."""
    root, name = home / folder.rpartition("/")[0], folder.rpartition("/")[2]
    sums = hashlib.md5(usedforsecurity=False)
    for each in _in_order(skillfolders.inside(root, name)):
        seen = skillfolders.read(root, name, each, names.MOST_SKILL_BYTES)
        sums.update(each.encode("utf-8", "surrogateescape") + (seen.data or b""))
    return sums.hexdigest()


def _in_order(found: Sequence[skillfolders.Inside]) -> list[str]:
    return sorted((each.path for each in found), key=lambda path: path.split("/"))
