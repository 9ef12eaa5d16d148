"""Copies of the whole database from before it was brought up to date. One that holds it is deleted.

They are for the day on which a migration goes wrong, and hold everybody's words in the form of an older version. So
they are only counted in a plan and looked into while erasing. Backups that a person asked for are `backups`.
"""

from pathlib import Path

from gateway import failpoints
from gateway.memory.layers.layer import Ground, Item, Kind, Layer, LayerPlan, Sought, listed
from gateway.store import oldcopies, textfile

NAME = "copies"


def find(ground: Ground, sought: Sought) -> LayerPlan:
    return listed(NAME, (Item(f"{NAME}:{path.name}", path.name) for path in _paths(ground)))


def erase(ground: Ground, sought: Sought) -> int:
    erased = 0
    for path in _paths(ground):
        if f"{NAME}:{path.name}" in sought.left_out:
            continue
        if sought.everything or path.name.endswith(".part") or oldcopies.holds(path, sought.holds):
            for part in (path, path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm")):
                textfile.remove(part)
            failpoints.reach("forget.copies.one")
            erased += 1
    return erased


def _paths(ground: Ground) -> list[Path]:
    folder = ground.home.backups
    return [*sorted(folder.glob("state-v*.db")), *sorted(folder.glob("state-v*.db.part"))]


LAYER = Layer(NAME, find, erase, (Kind.PASSAGE, Kind.EVERYTHING), finds_again=False)
