"""Backups: a folder in `backups/` that looks like a home, with a list of its files and their hashes.

Made while everything runs: the files of all spaces are held still for the moment in which they are copied and the
snapshot of the database begins. Not in one: `.env` (tokens), logs, exports, what is in `run/`. A forget goes
through the backups that are there (`layers.backups`), so none is made while one goes on. Taking one back is
`restoring`.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from gateway import __version__, failpoints
from gateway.errors import NotFound, Refused
from gateway.home import Home
from gateway.memory import incognito
from gateway.ports import Clock
from gateway.store import copying, forgets, looking, restoring, spaces, textfile
from gateway.store.db import Database

MANIFEST = "manifest.json"
FORMAT = 1
_DATABASE = "state.db"
LOCK_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Backup:
    """One backup; `bytes` is what its files take."""

    name: str
    at: datetime
    bytes: int
    path: Path


@dataclass(frozen=True, slots=True)
class Checked:
    """What a backup was found to hold when it was restored for a try."""

    files: int
    spaces: int


def create(db: Database, home: Home, clock: Clock, keep: int) -> Backup:
    """Make one, then let the oldest go, so that `keep` stay (0: all).

    Raises Refused while something is being forgotten, and StoreBusy where a file is held for too long.
    """
    with alone(home):
        return create_alone(db, home, clock, keep)


def create_alone(db: Database, home: Home, clock: Clock, keep: int) -> Backup:
    """`create`, for a caller that is `alone` already."""
    _refuse_while_forgetting(db)
    remove_leavings(home)
    at = clock.now().astimezone(UTC)
    name = _free_name(home, f"{at:%Y%m%dT%H%M%SZ}")
    part = home.backups / f".{name}.part"
    copying.make_folder(part)
    try:
        _copy_home(db, home, part)
        incognito.leave_out(db, part, clock)
        failpoints.reach("backup.copied")
        write_manifest(part, at)
        copying.put_in_place(part, home.backups / name)
    finally:
        copying.remove_folder(part)
    for old in _too_many(home, keep):
        copying.remove_folder(old.path)
    return read(home.backups / name)


def alone(home: Home) -> ExitStack:
    """Be the only one who forgets, or makes, checks or takes back a backup: all of them work in `run/verify`.

    Raises Refused where somebody else does.
    """
    lock = textfile.try_lock(home.forget_lock)
    if lock is None:
        raise Refused("backup.busy")
    held = ExitStack()
    held.callback(lock.release)
    return held


def listed(home: Home) -> list[Backup]:
    """The backups that are there, oldest first; without the `broken`."""
    told = (backup for backup in _told(home) if isinstance(backup, Backup))
    return sorted(told, key=lambda backup: (backup.at, backup.name))


def broken(home: Home) -> list[Refused]:
    """What is wrong with folders in `backups/` whose own list cannot be read: they stay as they are."""
    return [trouble for trouble in _told(home) if isinstance(trouble, Refused)]


def _told(home: Home) -> Iterator[Backup | Refused]:
    if not home.backups.is_dir():
        return
    for folder in sorted(path for path in home.backups.iterdir() if (path / MANIFEST).is_file()):
        try:
            yield read(folder)
        except Refused as trouble:
            yield trouble


def found(home: Home, named: str) -> Backup:
    """The backup with this name, or in this folder. Raises NotFound."""
    for folder in (home.backups / named, Path(named).expanduser()):
        if named not in ("", ".", "..") and (folder / MANIFEST).is_file():
            return read(folder)
    raise NotFound("backup.unknown", name=named)


def read(folder: Path) -> Backup:
    """What a backup's own list says of it. Raises Refused for one that is damaged or of a later version."""
    told = _manifest(folder)
    files = told["files"]
    assert isinstance(files, dict)
    size = sum(int(file["bytes"]) for file in files.values())
    return Backup(folder.name, datetime.fromisoformat(str(told["at"])), size, folder)


def write_manifest(folder: Path, at: datetime) -> None:
    """List the files of a backup with their hashes: from now on it counts as one. Raises Refused for a half."""
    files = {
        path.relative_to(folder).as_posix(): {"sha256": copying.sha256_of(path), "bytes": path.stat().st_size}
        for path in copying.files_below(folder)
        if path.name != MANIFEST
    }
    _refuse_without_database(folder, files)
    told = {"format": FORMAT, "hikae": __version__, "at": at.isoformat(), "files": files}
    textfile.replace(folder / MANIFEST, json.dumps(told, ensure_ascii=False, indent=1).encode() + b"\n")


def check_files(backup: Backup) -> int:
    """Compare each file with its hash; how many there are. Raises Refused, naming the first that differs."""
    files = _manifest(backup.path)["files"]
    assert isinstance(files, dict)
    _refuse_without_database(backup.path, files)
    for name, known in files.items():
        path = backup.path / name
        if not path.is_file() or copying.sha256_of(path) != known["sha256"]:
            raise Refused("backup.damaged", name=backup.name, file=name)
    return len(files)


def verify(home: Home, backup: Backup, clock: Clock) -> Checked:
    """Restore it for a try, beside the home, and look whether it is whole. Raises Refused or Unusable."""
    with alone(home) as held:
        files = check_files(backup)
        scratch = home.run / "verify"
        held.callback(copying.remove_folder, scratch)
        unpack(backup, scratch)
        with Database.open(Home(scratch), clock) as db, db.read() as rd:
            looking.refuse_damaged(rd)
            return Checked(files, len(spaces.spaces(rd)))


def unpack(backup: Backup, to: Path) -> None:
    """A copy of a backup as a home of its own, which may be opened and changed."""
    copying.make_folder(to)
    for path in copying.files_below(backup.path):
        name = path.relative_to(backup.path)
        if name.name == MANIFEST:
            continue
        if name == Path(_DATABASE):
            copying.copy_database_file(path, to / name)
        else:
            copying.copy_file(path, to / name)


def remove_leavings(home: Home) -> None:
    """End what was half made when somebody was killed: it holds words. Nothing that was complete is lost.

    The caller is `alone`: what somebody is making now looks the same.
    """
    copying.remove_folder(home.run / "verify")
    _drop_unready(home)
    for part in sorted(home.backups.glob(".*.part")):  # `.NAME.old.part` comes before `.NAME.part`
        name = part.name[1:].removesuffix(".part").removesuffix(".old")
        newer = home.backups / f".{name}.part"
        is_complete = (part / MANIFEST).is_file() and not (home.backups / name).exists()
        if is_complete and (part == newer or not (newer / MANIFEST).is_file()):
            copying.put_in_place(part, home.backups / name)
        else:
            copying.remove_folder(part)


def _drop_unready(home: Home) -> None:
    """A gateway that runs has done it when it started; or it is just being made ready."""
    if not restoring.scratch(home).exists():
        return
    place = textfile.try_lock(home.gateway_lock)
    if place is not None:
        try:
            restoring.drop_unready(home)
        finally:
            place.release()


# -- making ----------------------------------------------------------------------------------------------


def _refuse_while_forgetting(db: Database) -> None:
    """What is being forgotten would be in it, and the forget would have been past it."""
    with db.read() as rd:
        if forgets.erasing(rd):
            raise Refused("backup.forgetting")


def _copy_home(db: Database, home: Home, to: Path) -> None:
    with db.read() as rd:
        names = sorted(space.name for space in spaces.spaces(rd))
    with ExitStack() as still:
        for name in names:
            still.enter_context(textfile.lock(home.space_lock(name), LOCK_SECONDS))
        with db.read() as rd:
            spaces.spaces(rd)  # the snapshot begins with the first look
            for path in _files(home):
                copying.copy_file(path, to / path.relative_to(home.path))
            still.close()
            copying.copy_database(rd, to / home.state_db.name)


def _files(home: Home) -> Iterator[Path]:
    for path in own_files(home):
        if path.is_file():
            yield path
    for folder in (home.space_dir("owner"), home.path / "spaces", home.skills):
        yield from copying.files_below(folder)


def own_files(home: Home) -> Sequence[Path]:
    """The person's own files: kept in a backup, and never put over one that is there."""
    return (home.config, home.soul, home.agents)


def _too_many(home: Home, keep: int) -> list[Backup]:
    return listed(home)[:-keep] if keep else []


def _free_name(home: Home, name: str) -> str:
    number = 1
    while (home.backups / (free := name if number == 1 else f"{name}-{number}")).exists():
        number += 1
    return free


def _refuse_without_database(folder: Path, files: Mapping[str, object]) -> None:
    """Every home has one: a list without it was made of a folder that somebody had emptied."""
    if _DATABASE not in files:
        raise Refused("backup.damaged", name=folder.name, file=_DATABASE)


def _manifest(folder: Path) -> dict[str, object]:
    try:
        told = json.loads(textfile.read(folder / MANIFEST))
        if told["format"] != FORMAT:
            raise Refused("backup.newer", name=folder.name)
        datetime.fromisoformat(told["at"])
        for name, file in told["files"].items():
            if Path(name).is_absolute() or ".." in Path(name).parts or not int(file["bytes"]) >= 0:
                raise ValueError(name)
            str(file["sha256"])
    except (ValueError, KeyError, TypeError, AttributeError):
        raise Refused("backup.damaged", name=folder.name, file=MANIFEST) from None
    result: dict[str, object] = told
    return result
