"""Reading in a folder that is not ours: small plain files, no link followed below it, nothing written."""

import os
from datetime import UTC, datetime
from pathlib import Path

from gateway.store import skillfolders
from gateway.store.skillfolders import Seen

MOST_FOLDERS = 5_000
MOST_DEPTH = 4
"""`skills/CATEGORY/KIND/NAME`."""


def read(root: Path, path: str, most: int) -> Seen:
    """A file below the folder, at most so many bytes of it."""
    first, _, rest = path.partition("/")
    if not rest:
        return skillfolders.read(root.parent, root.name, first, most)
    return skillfolders.read(root, first, rest, most)


def there(root: Path, path: str) -> bool:
    """Whether anything has this name."""
    return os.path.lexists(root / path)


def changed_at(root: Path, path: str, now: datetime) -> datetime | None:
    """When a file was written last; at the latest now. None where that cannot be told."""
    try:
        return min(datetime.fromtimestamp((root / path).lstat().st_mtime, UTC), now)
    except (OSError, ValueError, OverflowError):
        return None


def folders_with(root: Path, below: str, name: str) -> list[str]:
    """The folders below `below` in which a file of this name stands, in order; hidden ones are not looked into."""
    found, waiting, looked = [], [below], 0
    while waiting and looked < MOST_FOLDERS:
        here = waiting.pop()
        looked += 1
        try:
            if not (root / here).is_dir() or (root / here).is_symlink():
                continue
            with os.scandir(root / here) as listed:
                inside = sorted(listed, key=lambda entry: entry.name)
        except OSError:
            continue
        if here != below and any(entry.name == name for entry in inside):
            found.append(here)  # a skill's own folders hold its files, no further skills
            continue
        if here.count("/") < MOST_DEPTH:
            folders = [entry.name for entry in inside if entry.is_dir(follow_symlinks=False)]
            waiting += [f"{here}/{each}" for each in folders if not each.startswith(".")]
    return sorted(found)
