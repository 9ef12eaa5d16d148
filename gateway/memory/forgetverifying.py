"""After the layers are erased: every byte of the home is looked at, and what it says becomes part of the receipt.

What a person left out, what is in spaces of others and the request itself may still hold the words; whatever else
does is told on the receipt, by its file and never by its words.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from gateway.home import Home
from gateway.memory import verifying
from gateway.memory.layers import files, skills, trees
from gateway.memory.layers.layer import Ground, Sought
from gateway.records import Target
from gateway.store import disks, forgets, people, sessions
from gateway.store.db import Database

_TABLES = {"messages": "messages", "ledger": "writes"}
MOST_TOLD = 20


@dataclass(frozen=True, slots=True)
class Checked:
    """How a forget was verified."""

    told: dict[str, object]
    """For the receipt: numbers, and files that hold it."""
    residue: bool = False
    """Whether words lie in the database where no row is."""


def verify(ground: Ground, sought: Sought, redis: Sequence[tuple[str, bytes]]) -> Checked:
    """Look at everything. Without words (whole rows went) there is nothing to look for."""
    filesystem = disks.filesystem_of(ground.home.path)
    disk: dict[str, object] = {"filesystem": filesystem, "overwrites": disks.overwrites(filesystem)}
    if not sought.passages:
        return Checked({"how": "rows", "clean": True, **disk})
    rightful = verifying.Rightful(
        space=ground.space.id,
        rows=_rows(ground.db, sought),
        keys=_keys(ground, sought),
        paths=tuple(_paths(ground.home, ground.db, ground, sought)),
    )
    found = verifying.verify(ground.home, ground.db, sought.passages, rightful, sought.texts, redis)
    told: dict[str, object] = {
        "how": "bytes",
        "clean": found.is_clean,
        "hits": len(found.hits),
        "accounted": len(found.accounted),
        "inside_longer_words": found.inside_longer_words,
        "where": [path for path in dict.fromkeys(hit.path for hit in found.hits) if not sought.holds(path)][
            :MOST_TOLD
        ],
        "unreadable": len(found.unreadable),
        **disk,
    }
    return Checked(told, found.residue)


def _rows(db: Database, sought: Sought) -> tuple[tuple[str, int], ...]:
    """The rows that were left out, and the requests that are begun: each loses its words when it is done."""
    named = (ref.split(":") for ref in sought.left_out)
    kept = [(_TABLES[layer], int(id)) for layer, id, *_ in named if layer in _TABLES and id.isdecimal()]
    with db.read() as rd:
        begun = forgets.erasing(rd)
    return (*kept, *(("forgets", id) for id in begun))


def _keys(ground: Ground, sought: Sought) -> list[tuple[str, tuple[int | str, ...]]]:
    """What we know of a file in which an entry was left out, and the prompts that were made of it meanwhile."""
    kept_in = _kept_in(sought)
    if not kept_in:
        return []
    with ground.db.read() as rd:
        begun = forgets.get(rd, sought.forget).begun_at if sought.forget else None
        frozen = sessions.frozen_since(rd, ground.space.id, begun) if begun is not None else []
    files: list[tuple[str, tuple[int | str, ...]]] = [
        ("known_files", (ground.space.id, target.value)) for target in kept_in
    ]
    return [*files, *(("sessions", (id,)) for id in frozen)]


def _kept_in(sought: Sought) -> list[Target]:
    """The memory files in which an entry was left out; what we know of such a file holds it as well."""
    return [
        target for target in Target if any(ref.startswith(f"entries:{target.value}:") for ref in sought.left_out)
    ]


def _paths(home: Home, db: Database, ground: Ground, sought: Sought) -> list[str]:
    """Files in which something was left out, and the folders of other spaces."""
    with db.read() as rd:
        others = [space for space in people.spaces(rd) if space.id != ground.space.id]
    paths = [folder for space in others for folder in (home.space_dir(space.name), home.skills_dir(space.name))]
    paths += [home.exports / space.name for space in others]
    paths += [home.memory_file(ground.space.name, target) for target in _kept_in(sought)]
    of_layers = ((skills.NAME, trees.files(home.skills_dir(ground.space.name))), (files.NAME, files.paths(ground)))
    for layer, candidates in of_layers:
        paths += [path for path in candidates if trees.ref_of(layer, home.path, path) in sought.left_out]
    paths += [
        home.backups / ref.partition(":")[2] for ref in sought.left_out if ref.startswith(("copies:", "backups:"))
    ]
    return [str(path.relative_to(home.path)) for path in paths]
