"""Whole sessions that go: deleted, pruned, too old, or all of a space. Words in them are the other layers'."""

import contextlib

from gateway import failpoints
from gateway.errors import StoreBusy
from gateway.memory.layers.layer import Ground, Item, Kind, Layer, LayerPlan, Sought, listed
from gateway.store import erasing, finding, resting, textfile

NAME = "sessions"


def find(ground: Ground, sought: Sought) -> LayerPlan:
    return listed(NAME, [Item(f"{NAME}:{id}", title) for id, title in _named(ground, sought)])


def erase(ground: Ground, sought: Sought) -> int:
    named = _named(ground, sought)
    for id, _ in named:
        lock = textfile.try_lock(ground.home.session_lock(id))
        if lock is None:  # its turn ends first, or it is ended by whoever asked
            raise StoreBusy("something is being answered in a session that is to go")
        with contextlib.ExitStack() as alone:
            alone.callback(lock.discard)
            with ground.db.write() as tx:
                said = [f"messages:{message}" for message in finding.of_session(tx, id)]
                ground.note(tx, "row", [*said, f"{NAME}:{id}"])
                resting.erase_quotes(tx, id)
                erasing.session(tx, id)
        failpoints.reach("forget.sessions.one")
    return len(named)


def _named(ground: Ground, sought: Sought) -> list[tuple[str, str]]:
    wanted = {ref.partition(":")[2] for ref in sought.rows if ref.startswith(f"{NAME}:")}
    with ground.db.read() as rd:
        there = finding.sessions(rd, ground.space.id)
    return [
        (id, title)
        for id, title in there
        if (sought.everything or id in wanted) and f"{NAME}:{id}" not in sought.left_out
    ]


LAYER = Layer(NAME, find, erase, (Kind.ROWS, Kind.EVERYTHING))
