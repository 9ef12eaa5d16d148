"""The process that reads every byte of a home; started by `verifying.look`, never by hand.

A process of its own, because whoever closes an SQLite file that it has opened by itself drops the locks that SQLite
holds on it. Told by JSON on its standard input (never by arguments, which everybody may read); says by JSON on its
standard output what it found, without words.
"""

import json
import mmap
import os
import resource
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from gateway.memory.passages import Passage
from gateway.memory.verifying import needles, scanning
from gateway.memory.verifying.needles import Needle
from gateway.memory.verifying.pages import Pages, Place
from gateway.memory.verifying.parts import Part

NICENESS = 10
"""Whoever talks with the bot meanwhile comes first."""


def main() -> None:
    """Scan what standard input names: parts of files."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.nice(NICENESS)
    asked = json.load(sys.stdin)
    wanted = [Passage.of(words) for words in asked["passages"]]
    looked_for = needles.needles([passage.text for passage in wanted], asked["spellings"])
    found = [hit for part in asked["parts"] for hit in _file(Part(*part), wanted, looked_for)]
    json.dump(found, sys.stdout)


def _file(part: Part, wanted: Sequence[Passage], looked_for: Sequence[Needle]) -> Iterator[dict[str, object]]:
    path = Path(part.path)
    try:
        with path.open("rb") as file:
            if not os.fstat(file.fileno()).st_size:
                return
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data, memoryview(data) as view:
                yield from _bytes(part, view, wanted, looked_for)
    except FileNotFoundError:
        return  # it went while we came
    except OSError as error:
        yield {"path": part.path, "trouble": error.strerror or type(error).__name__}


def _bytes(
    part: Part, view: memoryview, wanted: Sequence[Passage], looked_for: Sequence[Needle]
) -> Iterator[dict[str, object]]:
    pages = _pages(view)
    for hit in scanning.scan(view, wanted, looked_for, part.first, part.end):
        place = None if pages is None else pages.owner(hit.offset)
        yield _told(part.path, hit, hit.encoding, pages is not None, place)
    if pages is None and not part.first:
        for packed, piece in scanning.unpacked(view):
            for hit in scanning.scan(piece, wanted, looked_for):
                yield _told(part.path, hit, f"{packed} {hit.encoding}", False, None)


def _pages(view: memoryview) -> Pages | None:
    """How to tell whose a byte is, where the file is a database."""
    try:
        return Pages(view)
    except (ValueError, IndexError):
        return None


def _told(path: str, hit: scanning.Hit, encoding: str, is_database: bool, place: Place | None) -> dict[str, object]:
    return {
        "path": path,
        "offset": hit.offset,
        "encoding": encoding,
        "inside": hit.inside,
        "database": is_database,
        "place": None if place is None else [place.table, place.rowid, list(place.key)],
    }


if __name__ == "__main__":
    main()
