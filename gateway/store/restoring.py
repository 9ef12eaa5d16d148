"""Putting a restored home in the place of the present one: all of it, also when killed in the middle.

What is to be put in place lies complete in `run/restore`; the marker beside it says so. Whoever opens the home next
finishes what was begun, before anything of it is read.
"""

from pathlib import Path

from gateway.home import Home
from gateway.store import copying, textfile

WAIT_SECONDS = 60.0


def scratch(home: Home) -> Path:
    """Where a home is made ready that is to take this one's place."""
    return home.run / "restore"


def begin(home: Home) -> None:
    """What lies in `scratch` is complete: from here on it is what this home holds."""
    textfile.replace(home.restoring, b"")


def drop_unready(home: Home) -> None:
    """What was being made ready when somebody was killed: it holds words, and nobody takes it up again.

    Whoever makes one ready holds the gateway's place, and so must the caller.
    """
    if not home.restoring.exists():
        copying.remove_folder(scratch(home))


def finish(home: Home) -> bool:
    """Put in place what was begun. False: nothing was. Nobody may have the database open."""
    if not home.restoring.exists():
        return False
    with textfile.lock(home.run / "restore.lock", WAIT_SECONDS):
        _put_in_place(home)
    return True


def _put_in_place(home: Home) -> None:
    if not home.restoring.exists():
        return  # somebody else was quicker
    for ready in sorted(scratch(home).iterdir()):
        if ready.name == home.run.name:
            continue
        if ready.name == home.state_db.name:
            for part in ("-wal", "-shm"):
                textfile.remove(home.state_db.with_name(home.state_db.name + part))
        copying.put_in_place(ready, home.path / ready.name)
    for replaced in sorted(home.path.glob(".*.old.part")):  # a kill came before it went
        copying.remove_folder(replaced)
    textfile.remove(home.restoring)
    copying.remove_folder(scratch(home))
