"""Taking a backup back: the home becomes what it was then, without what was forgotten since.

The backup is made ready beside the home. The marks of the present home go into it first, and what they name is
erased there (`replaying`); then the present home becomes a backup itself, and the other one takes its place
(`store.restoring`, which also finishes what a kill broke off).
"""

from contextlib import ExitStack
from dataclasses import dataclass

from gateway import failpoints
from gateway.errors import Refused
from gateway.home import Home
from gateway.memory import backup, replaying
from gateway.memory.backup import Backup
from gateway.ports import Clock
from gateway.settings import Settings
from gateway.store import copying, forgets, search_upkeep, textfile
from gateway.store import restoring as in_place
from gateway.store.db import Database


@dataclass(frozen=True, slots=True)
class Restored:
    """How it went."""

    name: str
    present: bool
    """Whether there was a home whose marks could be replayed."""
    replayed: int
    """So many rows and entries were erased again."""
    before: str
    """The backup of how it was before; "" where nothing was there."""
    kept: tuple[str, ...]
    """The person's own files that were left as they are, though the backup has others."""


def restore(home: Home, chosen: Backup, clock: Clock, settings: Settings) -> Restored:
    """Make the home what it was at the time of a backup.

    Raises Refused where the backup is damaged or anything of this home still runs.
    """
    backup.check_files(chosen)
    with _alone(home), backup.alone(home):
        backup.remove_leavings(home)
        ready = Home(in_place.scratch(home))
        backup.unpack(chosen, ready.path)
        present = home.state_db.exists()
        replayed, before = 0, ""
        with Database.open(ready, clock) as then:
            if present:
                with Database.open(home, clock) as now:
                    _refuse_while_forgetting(now)
                    replayed = replaying.replay(now, then, ready, clock, settings)
                    before = backup.create_alone(now, home, clock, 0).name
            _leave_rows_only(then)
        kept = _leave_own_files(home, ready)
        failpoints.reach("restore.ready")
        in_place.begin(home)
        failpoints.reach("restore.begun")
        in_place.finish(home)
    return Restored(chosen.name, present, replayed, before, kept)


def _alone(home: Home) -> ExitStack:
    """Hold the gateway's place, so that none starts. Raises Refused where something runs."""
    for lock in (home.gateway_lock, home.worker_lock, home.burst_lock):
        if textfile.is_locked(lock):
            raise Refused("restore.running", pid=textfile.holder(lock) or "?")
    held = ExitStack()
    gateway = textfile.try_lock(home.gateway_lock)
    if gateway is None:
        raise Refused("restore.running", pid=textfile.holder(home.gateway_lock) or "?")
    held.callback(gateway.release)
    return held


def _refuse_while_forgetting(now: Database) -> None:
    with now.read() as rd:
        if forgets.erasing(rd):
            raise Refused("backup.forgetting")


def _leave_rows_only(then: Database) -> None:
    """Let no word lie in the file that is in no row. Nobody waits for this database."""
    if search_upkeep.is_due(then):
        search_upkeep.merge(then, search_upkeep.ALONE)
    then.rewrite()
    search_upkeep.swept(then)


def _leave_own_files(home: Home, ready: Home) -> tuple[str, ...]:
    """Which of the person's own files stay; in what is put in place they are not."""
    kept = []
    for there, restored in zip(backup.own_files(home), backup.own_files(ready), strict=True):
        if there.exists() and restored.exists():
            if textfile.read(there) != textfile.read(restored):
                kept.append(there.name)
            textfile.remove(restored)
    for folder in (ready.backups, ready.exports, ready.logs, ready.run):
        copying.remove_folder(folder)
    return tuple(kept)
