"""What memory files held before they were replaced: overwritten later, off the way of the write (decision 20).

Done by housekeeping once a minute, by a process that replaced something when it ends, before anything looks for
what was forgotten, and by the next write where much of it waits (`store.leavings`).
"""

from pathlib import Path

from gateway.errors import Refused, StoreBusy
from gateway.home import Home
from gateway.store import spaces, textfile
from gateway.store.db import Database

WAIT_SECONDS = 1.0


def overwrite(home: Home, space: str, wait_seconds: float = WAIT_SECONDS) -> bool:
    """In one space, by the name of its folder. False: not now, its lock is held or its folder closed to us."""
    folder = home.space_dir(space)
    try:
        if textfile.has_replaced(folder):
            with textfile.lock(home.space_lock(space), wait_seconds):
                textfile.overwrite_replaced(folder)
    except (StoreBusy, Refused, OSError):
        return False
    return True


def overwrite_all(home: Home, db: Database, wait_seconds: float = WAIT_SECONDS) -> bool:
    """In every space. Without anything to do that is a look into each folder, and no lock."""
    left = [name for name in _names(db) if not overwrite(home, name, wait_seconds)]
    return not left


def folders(home: Home, db: Database) -> frozenset[Path]:
    """Where `overwrite_all` looks: what was replaced anywhere else is overwritten by nobody."""
    return frozenset(map(home.space_dir, _names(db)))


def _names(db: Database) -> list[str]:
    with db.read() as rd:
        return [space.name for space in spaces.spaces(rd)]
