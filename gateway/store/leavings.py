"""What is left beside a file: half-written copies of it, and what it held before it was replaced.

Both hold people's words, so both go, overwritten. A replaced file can keep a second name for a while,
`.NAME.PID-HEX.old`, so that whoever replaced it need not wait until it is overwritten. The caller of everything
here holds the lock that guards the file; for everybody else neither name means anything.
"""

import contextlib
import errno
import os
import re
import secrets
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

from gateway import failpoints

MOST_REPLACED = 8
"""So much of what one file held may wait at a time. Whoever replaces it once more overwrites all of that first."""
_BLOCK = 1 << 20
_REPLACED = re.compile(r"\..+\.[0-9]+-[0-9a-f]{8}\.old")


def half_written(target: Path) -> Path:
    """A name for the copy that is to take a file's place."""
    return target.parent / f".{target.name}.{_mark()}.tmp"


def is_leaving(name: str) -> bool:
    """Whether a file of this name is nobody's but ours: no copy, list or export of a folder has it."""
    return name.startswith(".") and (name.endswith(".tmp") or is_replaced(name))


def is_replaced(name: str) -> bool:
    """Whether such a file is the second name of one that was replaced."""
    return name.endswith(".old") and _REPLACED.fullmatch(name) is not None


def remove(target: Path, most_replaced: int = 0) -> None:
    """Let go what is left of one file; what it held before only where that is more than `most_replaced`."""
    begin = f".{target.name}."
    names = [name for name in os.listdir(target.parent) if name.startswith(begin)]
    for name in names:
        if name.endswith(".tmp") and not _is_being_written(name.removeprefix(begin)):
            copy = target.parent / name
            with last_words(copy):
                copy.unlink(missing_ok=True)
    replaced = [name for name in names if is_replaced(name)]
    if len(replaced) > most_replaced:
        _overwrite(target.parent, replaced)


def replaced_in(folder: Path) -> Sequence[str]:
    """The second names in a folder."""
    try:
        return [name for name in os.listdir(folder) if is_replaced(name)]
    except (FileNotFoundError, NotADirectoryError):
        return ()


def overwrite_replaced(folder: Path) -> int:
    """Overwrite what was replaced in a folder, whoever did it, and let its names go. How many there were."""
    names = replaced_in(folder)
    if names:
        _overwrite(folder, names)
    return len(names)


def keep_name(target: Path) -> Path | None:
    """Give a file that is about to be replaced its second name. None where that cannot be, or is not needed.

    A kill before it is replaced leaves the file with two names; the second goes then, and nothing is overwritten.
    """
    second = target.parent / f".{target.name}.{_mark()}.old"
    try:
        os.link(target, second, follow_symlinks=False)
    except OSError:  # not there; no links on this disk, or not to this file
        return None
    return second


@contextlib.contextmanager
def last_words(path: Path) -> Iterator[None]:
    """Overwrite what a file held once the body has taken its name away; only if no other name is left for it.

    After the folder was synced: a power cut must find the one or the other whole.
    """
    handle = _opened(path)
    if handle is None:
        yield
        return
    try:
        yield
        _zero(handle, names_left=0)
    finally:
        os.close(handle)


def sync_folder(folder: Path) -> None:
    """Without it a power cut can undo a rename, and a write that we have already confirmed would be gone."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _overwrite(folder: Path, names: Sequence[str]) -> None:
    # Whoever replaced them may have been killed before the rename was on disk: until then a power cut would bring
    # the old file back, and it must have its words.
    sync_folder(folder)
    for name in names:
        second = folder / name
        # Overwritten first: after a kill in between, the name is there to say that it is not done.
        handle = _opened(second)
        if handle is not None:
            try:
                _zero(handle, names_left=1)
            finally:
                os.close(handle)
        failpoints.reach("textfile.old_overwritten")
        second.unlink(missing_ok=True)
        failpoints.reach("textfile.old_removed")


def _opened(path: Path) -> int | None:
    """To be overwritten. None: it is not there, a link, or not ours to write; its name may go all the same."""
    try:
        return os.open(path, os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        if error.errno in (errno.EMFILE, errno.ENFILE, errno.EIO):
            raise
        return None


def _zero(handle: int, names_left: int) -> None:
    """With zeros over it, unless more names are left than may be: then somebody means to keep it."""
    status = os.fstat(handle)
    if status.st_nlink > names_left or not stat.S_ISREG(status.st_mode) or not status.st_size:
        return
    block = bytes(min(status.st_size, _BLOCK))
    for at in range(0, status.st_size, _BLOCK):
        os.pwrite(handle, block[: status.st_size - at], at)
    os.fdatasync(handle)  # its length stays: nothing else has to be on disk


def _mark() -> str:
    return f"{os.getpid()}-{secrets.token_hex(4)}"


def _is_being_written(mark: str) -> bool:
    pid = mark.partition("-")[0]
    return pid.isdecimal() and _is_alive(int(pid))


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
