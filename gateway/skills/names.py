"""What a skill and a file of it may be called, and how big they may be. Pure; the last fence is `skillfolders`."""

import re
import unicodedata

MAIN = "SKILL.md"
MOST_NAME_CHARS = 64
MOST_DESCRIPTION_CHARS = 1024
MOST_FILE_BYTES = 100_000
"""Of one file, SKILL.md as well: more is no procedure, and takes long to scan."""
MOST_FILES = 50
"""In one skill, as far as we write."""
MOST_SKILL_BYTES = 1_000_000
MOST_SKILLS = 200
"""In one space, as far as we create them."""
MOST_PATH_BYTES = 200
MOST_FOLDERS = 4

_READABLE = (
    "md txt rst json jsonl yaml yml toml ini cfg conf csv tsv xml html css svg sql tex py sh bash js mjs ts rb pl "
    "go rs c h java lua r j2 tmpl template diff patch"
)
"""How the names of files end that people can read and judge."""

_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")
_PART = re.compile(r"[\w(][\w .,+=@()\[\]-]*")


def is_name(name: str) -> bool:
    """Whether a skill may be called so: a-z, 0-9 and -, beginning with a letter or digit, at most 64."""
    return _NAME.fullmatch(name) is not None


def plain(path: str) -> str:
    """A path as it is kept: composed letters, no `./` before it."""
    composed = unicodedata.normalize("NFC", path.strip())
    return composed.removeprefix("./")


def why_no_path(path: str) -> str:
    """Why a file below a skill's folder may not be called so: a key of the catalog; "" if it may."""
    parts = path.split("/")
    if path.startswith(("/", "~")) or "\\" in path or ":" in path or ".." in parts:
        return "skill.path_outside"
    if any(part.startswith(".") for part in parts):
        return "skill.path_hidden"
    if len(path.encode("utf-8", "replace")) > MOST_PATH_BYTES or len(parts) > MOST_FOLDERS:
        return "skill.path_long"
    if not all(_PART.fullmatch(part) and part == part.rstrip(" .") for part in parts):
        return "skill.path_signs"
    return "" if _suffix(parts[-1]) in _READABLE.split() else "skill.path_suffix"


def is_main(path: str) -> bool:
    """Whether it is, or could be taken for, the skill's SKILL.md."""
    return path.rpartition("/")[2].casefold() == MAIN.casefold()


def _suffix(part: str) -> str:
    head, dot, tail = part.rpartition(".")
    return tail.lower() if dot and head else ""
