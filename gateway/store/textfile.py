"""All file writes of the house.

A file is replaced whole or not at all: a full copy is written beside it and renamed over it. Who may do so
at a time is guarded by `locks`, offered here too. SQLite's file is `db`'s: not even this module opens it,
because closing it again would drop the locks that SQLite holds in this process.
"""

import contextlib
import errno
import hashlib
import os
import secrets
import shutil
import stat
from collections.abc import Iterator
from datetime import UTC, datetime
from glob import escape
from pathlib import Path

from gateway import failpoints
from gateway.store.filetrouble import Unreadable as Unreadable
from gateway.store.filetrouble import Unwritable as Unwritable
from gateway.store.filetrouble import mode_text, trouble
from gateway.store.homefolder import prepare_home as prepare_home
from gateway.store.locks import Lock as Lock
from gateway.store.locks import holder as holder
from gateway.store.locks import is_locked as is_locked
from gateway.store.locks import lock as lock
from gateway.store.locks import try_lock as try_lock

_BLOCK = 1 << 20
_READ_TRIES = 5


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
    try:
        target = _target_of(path)
        target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        before = _status(target)
        _refuse_what_cannot_be_replaced(path, target, before)
        _remove_leavings(target)
        _replace(target, data, before)
    except OSError as error:
        raise trouble(Unwritable, "file.unwritable", path, error) from error


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
        with _last_words(path):
            path.unlink(missing_ok=True)
            if path.parent.is_dir():
                _sync_folder(path.parent)
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
            _sync_folder(root.parent)
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

    Raises Unreadable, or StoreBusy on a full disk. The copy is for a moment: it is not synced.
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
    _sync_folder(to.parent)


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


# -- replacing ---------------------------------------------------------------------------------------


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
    if target.parent.exists() and not os.access(target.parent, os.W_OK):
        mode = mode_text(target.parent.stat())
        raise Unwritable("file.unwritable", path=str(path), why="its folder is read-only", mode=mode)
    if before is None:
        return
    if not stat.S_ISREG(before.st_mode):
        raise Unwritable("file.unwritable", path=str(path), why="not a file", mode=mode_text(before))
    # A rename would replace a read-only file without asking; its person meant it to stay.
    if not before.st_mode & 0o222 or not os.access(target, os.W_OK):
        raise Unwritable("file.unwritable", path=str(path), why="read-only", mode=mode_text(before))


def _replace(target: Path, data: bytes, before: os.stat_result | None) -> None:
    copy = target.parent / f".{target.name}.{os.getpid()}-{secrets.token_hex(4)}.tmp"
    try:
        _write_whole(copy, data, before)
        failpoints.reach("textfile.copy_written")
        with _last_words(target):
            try:
                os.replace(copy, target)
            except OSError as error:
                if error.errno not in (errno.EXDEV, errno.EBUSY):
                    raise
                # The file itself is a mount point: nothing can be renamed over it. The synced copy beside it
                # is what is left to read if we die in here.
                _overwrite(target, data)
            failpoints.reach("textfile.replaced")
            _sync_folder(target.parent)
    finally:
        copy.unlink(missing_ok=True)


def _read(path: Path) -> bytes:
    for _ in range(_READ_TRIES):
        with open(path, "rb") as file:
            data = file.read()
            # Replaced while we read it, and perhaps overwritten: what is there now is what counts.
            if os.fstat(file.fileno()).st_nlink:
                break
    return data


@contextlib.contextmanager
def _last_words(path: Path) -> Iterator[None]:
    """Overwrite what a file held once the body has taken its name away; only if no other name is left for it.

    After the folder was synced: a power cut must find the one or the other whole.
    """
    try:
        handle = os.open(path, os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:  # not there, a link, or not ours to write
        yield
        return
    try:
        yield
        status = os.fstat(handle)
        if not status.st_nlink and stat.S_ISREG(status.st_mode) and status.st_size:
            _zero(handle, status.st_size)
    finally:
        os.close(handle)


def _zero(handle: int, size: int) -> None:
    block = bytes(min(size, _BLOCK))
    for at in range(0, size, _BLOCK):
        os.pwrite(handle, block[: size - at], at)
    os.fsync(handle)


def _write_whole(path: Path, data: bytes, before: os.stat_result | None) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with open(handle, "wb") as file:
        if before is not None:
            if (before.st_uid, before.st_gid) != (os.geteuid(), os.getegid()):
                with contextlib.suppress(PermissionError):
                    os.fchown(handle, before.st_uid, before.st_gid)
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


def _sync_folder(folder: Path) -> None:
    # Without it a power cut can undo the rename, and a write that we have already confirmed would be gone.
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _remove_leavings(target: Path) -> None:
    """Half-written copies of processes that were killed: they hold people's words."""
    for copy in target.parent.glob(f".{escape(target.name)}.*-*.tmp"):
        pid = copy.name.removeprefix(f".{target.name}.").partition("-")[0]
        if not pid.isdecimal() or not _alive(int(pid)):
            with _last_words(copy):
                copy.unlink(missing_ok=True)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _numbered(path: Path) -> Iterator[Path]:
    yield path
    number = 2
    while True:
        yield path.with_name(f"{path.name}-{number}")
        number += 1
