"""Backups (`memory.backup`): rewritten without the words. Counted in a plan, looked into while erasing.

Each is made a home of its own beside ours, brought up to date, and goes through the other layers; then its files
take the place of those in the backup, with a new list of hashes. A backup that holds nothing of it keeps every
byte. One that cannot be read may hold anything: it stays, and the scan of bytes tells of it on the receipt.
"""

import logging
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from gateway import failpoints
from gateway.errors import GatewayError, NotFound
from gateway.home import Home
from gateway.memory import backup, verifying
from gateway.memory.backup import Backup
from gateway.memory.layers import requests
from gateway.memory.layers.inside import INSIDE
from gateway.memory.layers.layer import Ground, Item, Kind, Layer, LayerPlan, Sought, listed
from gateway.memory.writing import Memory
from gateway.records import Space
from gateway.store import copying, search_upkeep, spaces
from gateway.store.db import Database
from gateway.store.transaction import Transaction

log = logging.getLogger(__name__)

NAME = "backups"


def find(ground: Ground, sought: Sought) -> LayerPlan:
    return listed(NAME, (Item(f"{NAME}:{one.name}", one.name) for one in backup.listed(ground.home)))


def erase(ground: Ground, sought: Sought) -> int:
    backup.remove_leavings(ground.home)
    erased = 0
    for one in backup.listed(ground.home):
        if f"{NAME}:{one.name}" not in sought.left_out:
            erased += _rewrite(ground, sought, one)
            failpoints.reach("forget.backups.one")
    return erased


def _rewrite(ground: Ground, sought: Sought, one: Backup) -> int:
    """Forget in a copy of the backup, then put the copy in its place. How much was erased."""
    scratch = Home(ground.home.run / "verify")
    try:
        backup.unpack(one, scratch.path)
        with Database.open(scratch, ground.clock) as db:
            erased = _forget_in(ground, sought, db, scratch)
        if erased:
            failpoints.reach("forget.backups.rewritten")
            _put_back(one, scratch, ground.home.backups)
        return erased
    except GatewayError as unusable:
        log.warning("forget.backup_left", extra={"backup": one.name, "error": type(unusable).__name__})
        return 0
    finally:
        copying.remove_folder(scratch.path)


def _forget_in(ground: Ground, sought: Sought, db: Database, scratch: Home) -> int:
    with db.read() as rd:
        try:
            space = spaces.space_named(rd, ground.space.name)
        except NotFound:
            return 0
    memory = Memory(db, scratch, ground.clock, ground.settings)
    there = Ground(db, scratch, ground.clock, ground.settings, memory, space, _note_nothing)
    inside = replace(sought, forget=0)
    layers = (*INSIDE, requests.LAYER)
    erased = sum(layer.erase(there, inside) for layer in layers if sought.kind in layer.kinds)
    if not erased and _lies_in_index(db, scratch, inside, space):
        erased = 1
    if erased:
        _clean(db, scratch, inside, space)
    return erased


def _lies_in_index(db: Database, scratch: Home, sought: Sought, space: Space) -> bool:
    """Whether words of a message that said something else when the copy was made lie in its index still."""
    if not sought.passages or not search_upkeep.is_due(db):
        return False
    found = verifying.verify(scratch, db, sought.passages, verifying.Rightful(space=space.id), sought.texts)
    return any(hit.path == scratch.state_db.name for hit in found.hits)


def _clean(db: Database, scratch: Home, sought: Sought, space: Space) -> None:
    """Nobody waits for this database: its index is merged in one go; the rest is written anew where it must be."""
    if search_upkeep.is_due(db):
        search_upkeep.merge(db, search_upkeep.ALONE)
    db.checkpoint()
    rightful = verifying.Rightful(space=space.id)
    if sought.passages and verifying.verify(scratch, db, sought.passages, rightful, sought.texts).residue:
        db.rewrite()


def _note_nothing(tx: Transaction, kind: str, values: Sequence[str]) -> None:
    """The marks are in the present home."""


def _put_back(one: Backup, scratch: Home, folder: Path) -> None:
    """One rename for the whole: a backup is as it was, or without the words."""
    for inner in (scratch.run, scratch.logs, scratch.exports, scratch.backups):
        copying.remove_folder(inner)
    part = folder / f".{one.name}.part"
    copying.make_folder(part)
    for path in copying.files_below(scratch.path):
        if not path.name.startswith("state.db-"):
            copying.move(path, part / path.relative_to(scratch.path))
    backup.write_manifest(part, one.at)
    copying.put_in_place(part, one.path)


LAYER = Layer(NAME, find, erase, tuple(Kind), finds_again=False)
