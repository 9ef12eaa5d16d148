"""Locks between processes: `flock` on a file in `run/`, with the holder's pid written into it.

The kernel lets go when the holder dies, so a file that a dead process left is no obstacle. A lock is opened
anew each time it is taken: a handle inherited by a fork would share it.
"""

import contextlib
import fcntl
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from gateway.errors import StoreBusy
from gateway.store.filetrouble import Unwritable, trouble

_FIRST_PAUSE, _LONGEST_PAUSE = 0.0005, 0.02
_PROBE_SECONDS = 0.05
"""How long `try_lock` insists: `is_locked` of somebody else holds a lock for an instant."""
_NOBODY = b" " * 10
"""What stands in the file of a lock that nobody holds; longer than any pid."""


@dataclass(frozen=True, slots=True)
class Lock:
    """A lock that is held until `release` (or until this process ends)."""

    path: Path
    handle: int

    def release(self) -> None:
        """Let go; the file stays, blank."""
        with contextlib.suppress(OSError):
            os.pwrite(self.handle, _NOBODY, 0)
        os.close(self.handle)

    def discard(self) -> None:
        """Let go and delete the file: for locks whose name never comes back, e.g. those of jobs."""
        self.path.unlink(missing_ok=True)
        os.close(self.handle)


@contextlib.contextmanager
def lock(path: Path, wait_seconds: float) -> Iterator[None]:
    """Hold a lock for a block. Raises StoreBusy, naming the holder, when it is not free in time.

    Raises Unwritable where no lock can be taken at all: the home is read-only.
    """
    held = _take(path, wait_seconds)
    if held is None:
        raise StoreBusy(f"{path.name} is held by process {holder(path) or 'unknown'}.")
    try:
        yield
    finally:
        held.release()


def try_lock(path: Path, insist_seconds: float = _PROBE_SECONDS) -> Lock | None:
    """Take a lock if it is free. None: somebody else holds it (see `holder`)."""
    return _take(path, insist_seconds)


@contextlib.contextmanager
def said(path: Path) -> Iterator[None]:
    """Say something for a block, as others may at the same time (`is_said`); nobody is kept from anything."""
    handle = _open(path)
    try:
        fcntl.flock(handle, fcntl.LOCK_SH)
        yield
    finally:
        os.close(handle)


def is_said(path: Path) -> bool:
    """Whether anybody says it now."""
    handle = _open(path)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(handle)
    return False


def is_locked(path: Path) -> bool:
    """Whether somebody (perhaps we ourselves) holds this lock now."""
    try:
        handle = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(handle)
    return False


def holder(path: Path) -> int | None:
    """The pid written into a lock's file: of its holder, while it is held."""
    with contextlib.suppress(OSError, ValueError):
        return int(path.read_text(encoding="ascii"))
    return None


def _take(path: Path, wait_seconds: float) -> Lock | None:
    deadline = time.monotonic() + wait_seconds
    pause = _FIRST_PAUSE
    while (held := _take_now(path)) is None:
        if time.monotonic() >= deadline:
            return None
        time.sleep(pause)
        pause = min(pause * 2, _LONGEST_PAUSE)
    return held


def _take_now(path: Path) -> Lock | None:
    handle = _open(path)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        return None
    if not _is_still(path, handle):
        os.close(handle)
        return None
    with contextlib.suppress(OSError):  # a full disk holds no pid, but it does hold the lock
        # Always of one length: cutting a file off costs more than all the rest of taking its lock.
        os.pwrite(handle, str(os.getpid()).encode("ascii").ljust(len(_NOBODY)), 0)
    return Lock(path, handle)


def _open(path: Path) -> int:
    try:
        with contextlib.suppress(FileNotFoundError):
            return os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        return os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise trouble(Unwritable, "file.unwritable", path, error) from error


def _is_still(path: Path, handle: int) -> bool:
    """False when the file was deleted between our opening and locking it: others now lock another one."""
    try:
        there = os.stat(path)
    except FileNotFoundError:
        return False
    here = os.fstat(handle)
    return (there.st_dev, there.st_ino) == (here.st_dev, here.st_ino)
