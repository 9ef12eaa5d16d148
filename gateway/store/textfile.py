"""All file writes of the house.

A file is replaced whole or not at all: a full copy is written beside it and renamed over it. What it held is
overwritten: at once, or (`swap`) a little later. Who may do so at a time is guarded by `locks`, offered here too;
what is left beside a file is `leavings`. SQLite's file is `db`'s: not even this module opens it, because closing it
again would drop the locks that SQLite holds in this process.
"""

import contextlib
import errno
import hashlib
import os
import shutil
import stat
from collections.abc import Iterator
from datetime import UTC, datetime
from glob import escape
from pathlib import Path

from gateway import failpoints
from gateway.store import leavings
from gateway.store.filetrouble import Unreadable as Unreadable
from gateway.store.filetrouble import Unwritable as Unwritable
from gateway.store.filetrouble import mode_text, trouble
from gateway.store.homefolder import prepare_home as prepare_home
from gateway.store.locks import Lock as Lock
from gateway.store.locks import holder as holder
from gateway.store.locks import is_locked as is_locked
from gateway.store.locks import lock as lock
from gateway.store.locks import try_lock as try_lock

_READ_TRIES = 5
_PRIVATE = 0o600


def read(path: Path) -> bytes:
    """The bytes of a file, b"" where there is none. Raises Unreadable for one that is there but closed to us."""
    try:
        return _read(path)
    except FileNotFoundError as error:
        if path.is_symlink():
            raise Unreadable("file.dangling", path=str(path), target=str(path.readlink())) from error
        return b""
    except OSError as error:
        raise trouble(Unreadable, "file.unreadable", path, error) from error


def replace(path: Path, data: bytes) -> None:
    """Make `data` the content of a file: all of it or nothing, also when killed or out of disk.

    A symlink stays and its target is changed; mode and group stay; a new file is 0600. The caller holds the
    lock that guards this file. Raises Unwritable, or StoreBusy where trying again may help.
    """
    _put(path, data, most_left=0)


def swap(path: Path, data: bytes) -> None:
    """Like `replace`, without waiting until what the file held is overwritten.

    That keeps a second name beside it until somebody who holds the same lock calls `overwrite_replaced`: whoever
    swaps sees to it that somebody does, soon. A link's target is replaced as by `replace`: its folder is not ours.
    """
    _put(path, data, most_left=leavings.MOST_REPLACED)


def overwrite_replaced(folder: Path) -> int:
    """Overwrite what files of a folder held before they were swapped. How many times that was.

    The caller holds the lock that guards them. Raises Unwritable.
    """
    try:
        return leavings.overwrite_replaced(folder)
    except OSError as error:
        raise trouble(Unwritable, "file.unwritable", folder, error) from error


def has_replaced(folder: Path) -> bool:
    """Whether `overwrite_replaced` would find something: a look without the lock."""
    return bool(leavings.replaced_in(folder))


def refuse_unwritable(path: Path) -> None:
    """Raise Unwritable now if `replace` would refuse this file: before a change of it is decided."""
    try:
        target = _target_of(path)
        _refuse_what_cannot_be_replaced(path, target, _status(target))
    except OSError as error:
        raise trouble(Unwritable, "file.unwritable", path, error) from error


def write_private(path: Path, data: bytes) -> None:
    """Like `replace`, with mode 0600 whatever it was."""
    with contextlib.suppress(FileNotFoundError, PermissionError):
        path.chmod(0o600)
    replace(path, data)


def remove(path: Path) -> None:
    """Delete a file for good, overwritten; one that is not there is no trouble. A link goes, not its target."""
    try:
        with leavings.last_words(path):
            path.unlink(missing_ok=True)
            if path.parent.is_dir():
                leavings.sync_folder(path.parent)
    except OSError as error:
        raise trouble(Unwritable, "file.unwritable", path, error) from error


def remove_folders(root: Path) -> None:
    """Delete a folder and those below it, as far as nothing is in them but links."""
    try:
        for folder in sorted((path for path in root.rglob("*")), reverse=True):
            if folder.is_symlink():
                folder.unlink()
            elif folder.is_dir() and not any(folder.iterdir()):
                folder.rmdir()
        if root.is_dir() and not root.is_symlink() and not any(root.iterdir()):
            root.rmdir()
            leavings.sync_folder(root.parent)
    except OSError as error:
        raise trouble(Unwritable, "file.unwritable", root, error) from error


def set_aside(path: Path, at: datetime) -> Path:
    """Copy a file to `NAME.bak.TIME` beside it and return the copy; no earlier copy is overwritten.

    When an earlier copy holds the same bytes, that one is returned: a retry makes no second one.
    """
    data = read(path)
    for copy in sorted(path.parent.glob(f"{escape(path.name)}.bak.*")):
        if read(copy) == data:
            return copy
    name = f"{path.name}.bak.{at.astimezone(UTC):%Y%m%dT%H%M%SZ}"
    copy = next(copy for copy in _numbered(path.parent / name) if not copy.exists())
    replace(copy, data)
    return copy


def make_private_folder(path: Path) -> None:
    """Make a folder that nobody else can look into. Raises Unwritable."""
    try:
        path.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise trouble(Unwritable, "file.unwritable", path, error) from error


def copy_private(path: Path, to: Path) -> None:
    """Copy a file of somebody else's as it is now, for us alone; no link is followed.

    Raises Unreadable, or StoreBusy on a full disk. The copy is not synced: whoever keeps it sees to that.
    """
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        raise trouble(Unreadable, "file.unreadable", path, error) from error
    with open(handle, "rb") as source:
        try:
            to.unlink(missing_ok=True)
            with open(os.open(to, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as copy:
                shutil.copyfileobj(source, copy, 1 << 20)
        except OSError as error:
            raise trouble(Unwritable, "file.unwritable", to, error) from error


def create_private(path: Path) -> None:
    """Make an empty file (0600) where there is none. Safe for SQLite: a new file has no locks to lose."""
    with contextlib.suppress(FileExistsError):
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))


def rename(path: Path, to: Path) -> None:
    """Give a finished file its name."""
    path.replace(to)
    leavings.sync_folder(to.parent)


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


# -- replacing ---------------------------------------------------------------------------------------


def _put(path: Path, data: bytes, most_left: int) -> None:
    """`most_left`: how much of what it held may be left to be overwritten later."""
    try:
        target = _target_of(path)
        before = _status(target)
        if before is None:
            target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        _refuse_what_cannot_be_replaced(path, target, before)
        later = most_left > 0 and target is path
        leavings.remove(target, most_left if later else 0)
        _replace(target, data, before, later=later)
    except OSError as error:
        raise trouble(Unwritable, "file.unwritable", path, error) from error


def _target_of(path: Path) -> Path:
    if not path.is_symlink():
        return path
    target = Path(os.path.realpath(path))
    if not target.exists():
        # Perhaps a drive that is not mounted: writing now would fork the file.
        raise Unwritable("file.dangling", path=str(path), target=str(path.readlink()))
    return target


def _status(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except FileNotFoundError:
        return None


def _refuse_what_cannot_be_replaced(path: Path, target: Path, before: os.stat_result | None) -> None:
    if not os.access(target.parent, os.W_OK) and target.parent.exists():
        mode = mode_text(target.parent.stat())
        raise Unwritable("file.unwritable", path=str(path), why="its folder is read-only", mode=mode)
    if before is None:
        return
    if not stat.S_ISREG(before.st_mode):
        raise Unwritable("file.unwritable", path=str(path), why="not a file", mode=mode_text(before))
    # A rename would replace a read-only file without asking; its person meant it to stay.
    if not before.st_mode & 0o222 or not os.access(target, os.W_OK):
        raise Unwritable("file.unwritable", path=str(path), why="read-only", mode=mode_text(before))


def _replace(target: Path, data: bytes, before: os.stat_result | None, *, later: bool) -> None:
    copy = leavings.half_written(target)
    try:
        _write_whole(copy, data, before)
        failpoints.reach("textfile.copy_written")
        second = leavings.keep_name(target) if later and before is not None else None
        if second is not None:
            failpoints.reach("textfile.linked")
            _swap(copy, target, second)
            return
        with leavings.last_words(target):
            try:
                os.replace(copy, target)
            except OSError as error:
                if error.errno not in (errno.EXDEV, errno.EBUSY):
                    raise
                # The file itself is a mount point: nothing can be renamed over it. The synced copy beside it
                # is what is left to read if we die in here.
                _overwrite(target, data)
                copy.unlink()
            failpoints.reach("textfile.replaced")
            leavings.sync_folder(target.parent)
    except BaseException:
        copy.unlink(missing_ok=True)
        raise


def _swap(copy: Path, target: Path, second: Path) -> None:
    try:
        os.replace(copy, target)
    except OSError:
        second.unlink(missing_ok=True)
        raise
    failpoints.reach("textfile.replaced")
    leavings.sync_folder(target.parent)


def _read(path: Path) -> bytes:
    for _ in range(_READ_TRIES):
        with open(path, "rb") as file:
            data = file.read()
            # Replaced while we read it, and perhaps overwritten: what is there now counts.
            if _is_still(path, file.fileno()):
                break
    return data


def _is_still(path: Path, handle: int) -> bool:
    """Whether an open file still has its name. That it has any does not say so: see `leavings`."""
    here = os.fstat(handle)
    try:
        there = os.stat(path)
    except FileNotFoundError:
        return False
    return (there.st_ino, there.st_dev) == (here.st_ino, here.st_dev)


def _write_whole(path: Path, data: bytes, before: os.stat_result | None) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _PRIVATE)
    with open(handle, "wb") as file:
        if before is not None:
            if (before.st_uid, before.st_gid) != (os.geteuid(), os.getegid()):
                with contextlib.suppress(PermissionError):
                    os.fchown(handle, before.st_uid, before.st_gid)
            if stat.S_IMODE(before.st_mode) != _PRIVATE:
                os.fchmod(handle, stat.S_IMODE(before.st_mode))
        file.write(data)
        file.flush()
        os.fsync(handle)


def _overwrite(path: Path, data: bytes) -> None:
    with open(path, "r+b") as file:
        file.write(data)
        file.truncate()
        file.flush()
        os.fsync(file.fileno())


def _numbered(path: Path) -> Iterator[Path]:
    yield path
    number = 2
    while True:
        yield path.with_name(f"{path.name}-{number}")
        number += 1
