"""What goes wrong with files, as our errors: each names the file, its mode and what would do."""

import errno
import os
import stat
from pathlib import Path

from gateway.errors import Refused, StoreBusy


class Unreadable(Refused):
    """A file is there and cannot be read. Never to be taken for an empty one."""


class Unwritable(Refused):
    """A file cannot be changed, and was not."""


def trouble(kind: type[Refused], key: str, path: Path, error: OSError) -> Refused | StoreBusy:
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EMFILE, errno.ENFILE, errno.EINTR):
        return StoreBusy(f"{path} was left as it is: {os.strerror(error.errno)}.", after=5.0)
    why = os.strerror(error.errno or errno.EIO)
    return kind(key, path=str(path), why=why, mode=_mode_of(path))


def _mode_of(path: Path) -> str:
    try:
        return mode_text(path.stat())
    except OSError:
        return "unknown"


def mode_text(status: os.stat_result) -> str:
    return f"{stat.S_IMODE(status.st_mode):04o}"
