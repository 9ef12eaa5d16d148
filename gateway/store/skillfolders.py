"""The folders of skills on disk: what is in them, reading a file of one, moving one to the archive and back.

Nothing here follows a link below the folder of all skills: what a link shows could lie anywhere. What cannot be
read is a value (`Odd`), never an exception: one bad folder must not hide the others. Files are changed by
`textfile`; which names may be is decided in `skills.names`.
"""

import contextlib
import hashlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path

from gateway import failpoints
from gateway.store.filetrouble import Unwritable, trouble

ARCHIVE = ".archive"
ABSENT = "absent"
"""The hash of a file or folder that is not there."""
MOST_WALKED = 5_000
MOST_HASHED_BYTES = 1_000_000


class Odd(StrEnum):
    """Why a file cannot be read."""

    LINK = "link"
    NOT_A_FILE = "not_a_file"
    TOO_BIG = "too_big"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True)
class Seen:
    """A file as it was when it was looked at. `data` is None for one that is not there, or is `odd`."""

    data: bytes | None = None
    odd: Odd | None = None
    size: int = 0

    @property
    def sha256(self) -> str:
        """Of its bytes; ABSENT where there is none, "" where nobody could look."""
        if self.odd:
            return ""
        return ABSENT if self.data is None else hashlib.sha256(self.data).hexdigest()


@dataclass(frozen=True, slots=True)
class Inside:
    """One thing in a skill's folder. `path` is below the folder, with `/`."""

    path: str
    size: int
    odd: Odd | None = None


def names(root: Path) -> list[str]:
    """What stands in the folder of all skills, in order: folders, and links that may be meant as such."""
    with contextlib.suppress(OSError), os.scandir(root) as entries:
        return sorted(
            entry.name
            for entry in entries
            if not entry.name.startswith(".") and (entry.is_symlink() or entry.is_dir(follow_symlinks=False))
        )
    return []


def is_there(root: Path, name: str) -> bool:
    """Whether anything has this name: it need not be a skill."""
    return os.path.lexists(root / name)


def read(root: Path, name: str, path: str, most: int) -> Seen:
    """A file of a skill, at most so many bytes of it, without following any link."""
    place = root
    try:
        for part in (name, *path.split("/")[:-1]):
            place = place / part
            mode = place.lstat().st_mode
            if not stat.S_ISDIR(mode):
                return Seen(odd=_odd(mode) or Odd.NOT_A_FILE)
        return _read(root / name / path, most)
    except (FileNotFoundError, NotADirectoryError):
        return Seen()
    except (OSError, ValueError):
        return Seen(odd=Odd.CLOSED)


def _read(path: Path, most: int) -> Seen:
    status = path.lstat()
    if odd := _odd(status.st_mode):
        return Seen(odd=odd)
    if status.st_size > most:
        return Seen(odd=Odd.TOO_BIG, size=status.st_size)
    # O_NOFOLLOW and O_NONBLOCK: it may have become a link or a pipe since we looked.
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with open(handle, "rb") as file:
        data = file.read(most + 1)
        if not os.fstat(file.fileno()).st_nlink:  # replaced meanwhile, and perhaps overwritten (`textfile`)
            return _read(path, most)
    if len(data) > most:
        return Seen(odd=Odd.TOO_BIG, size=len(data))
    return Seen(data, size=len(data))


def _odd(mode: int) -> Odd | None:
    if stat.S_ISLNK(mode):
        return Odd.LINK
    return None if stat.S_ISREG(mode) else Odd.NOT_A_FILE


def changed_at(root: Path, name: str) -> datetime | None:
    """When the SKILL.md of a skill was written last; None where that cannot be told."""
    try:
        seconds = (root / name / "SKILL.md").lstat().st_mtime
        return datetime.fromtimestamp(seconds, UTC)
    except (OSError, ValueError, OverflowError):
        return None


def inside(root: Path, name: str) -> list[Inside]:
    """The files of a skill, in order; a link is listed, not followed, and the skill itself may be none."""
    if (root / name).is_symlink():
        return []
    return sorted(_walk(root / name, ""), key=lambda each: each.path)[:MOST_WALKED]


def _walk(folder: Path, above: str) -> Iterator[Inside]:
    count = 0
    waiting = [(folder, above)]
    while waiting and count < MOST_WALKED:
        here, path = waiting.pop()
        with contextlib.suppress(OSError), os.scandir(here) as entries:
            for entry in entries:
                count += 1
                if count > MOST_WALKED:
                    return
                if entry.is_dir(follow_symlinks=False):
                    waiting.append((Path(entry.path), f"{path}{entry.name}/"))
                    continue
                status = entry.stat(follow_symlinks=False)
                yield Inside(f"{path}{entry.name}", status.st_size, _odd(status.st_mode))


def fingerprint(root: Path, name: str) -> str:
    """The hash of a whole skill: of names and contents. ABSENT where there is none, "" where it is a link."""
    folder = root / name
    try:
        mode = folder.lstat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return ABSENT
    except OSError:
        return ""
    if not stat.S_ISDIR(mode):
        return ""
    sums = hashlib.sha256()
    for each in inside(root, name):
        sums.update(f"{each.path}\0{_content(folder / each.path, each)}\n".encode("utf-8", "surrogateescape"))
    return sums.hexdigest()


def _content(path: Path, each: Inside) -> str:
    if each.odd:
        return each.odd.value
    with contextlib.suppress(OSError):
        if each.size > MOST_HASHED_BYTES:
            return f"{each.size}:{path.lstat().st_mtime_ns}"
        return _read(path, MOST_HASHED_BYTES).sha256
    return "closed"


# -- the archive -------------------------------------------------------------------------------------------


def archive(root: Path, name: str, at: datetime) -> Path:
    """Move a skill out of sight, to `.archive/<name>-<time>`. Nothing there is written over."""
    free = _free(root / ARCHIVE / f"{name}-{at.astimezone(UTC):%Y%m%dT%H%M%SZ}")
    _move(root / name, free)
    return free


def archived(root: Path, name: str) -> list[Path]:
    """The archived states of a skill, or the one that this is the full name of; newest first."""
    folder = root / ARCHIVE
    if folder.is_symlink():
        return []
    found = [entry for entry in names(folder) if entry == name or _name_of(entry) == name]
    return [folder / entry for entry in sorted(found, key=_when, reverse=True)]


def skill_of(entry: str) -> str:
    """The skill whose state an entry of the archive is; "" for something else that lies there."""
    return _name_of(entry)


def put_back(archived: Path, root: Path, name: str) -> None:
    """Move an archived skill back. The caller has seen that its place is free."""
    _move(archived, root / name)


def _name_of(entry: str) -> str:
    return entry.rpartition("-")[0] if entry.rpartition("-")[2].endswith("Z") else _name_of_numbered(entry)


def _name_of_numbered(entry: str) -> str:
    """`foo` of `foo-20261130T090007Z.2`."""
    head, dot, number = entry.rpartition(".")
    return head.rpartition("-")[0] if dot and number.isdecimal() and head.endswith("Z") else ""


def _when(entry: str) -> tuple[str, int]:
    time, _, number = entry.rpartition("-")[2].partition(".")
    return time, int(number) if number.isascii() and number.isdecimal() else 0


def _free(path: Path) -> Path:
    number, free = 1, path
    while os.path.lexists(free):
        number += 1
        free = path.with_name(f"{path.name}.{number}")
    return free


def _move(path: Path, to: Path) -> None:
    try:
        if path.is_symlink() or to.parent.is_symlink():
            raise Unwritable("file.unwritable", path=str(path), why="a link", mode="link")
        to.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.rename(to)
        failpoints.reach("skills.moved")
        _sync(path.parent)
        _sync(to.parent)
    except OSError as error:
        raise trouble(Unwritable, "file.unwritable", path, error) from error


def _sync(folder: Path) -> None:
    # See textfile: without it a power cut could undo the move.
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
