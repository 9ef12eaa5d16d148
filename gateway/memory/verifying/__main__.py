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


def main() -> None:
    """Scan what standard input names."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    asked = json.load(sys.stdin)
    wanted = [Passage.of(words) for words in asked["passages"]]
    looked_for = needles.needles([passage.text for passage in wanted], asked["spellings"])
    found = [hit for path in asked["paths"] for hit in _file(Path(path), wanted, looked_for)]
    json.dump(found, sys.stdout)


def _file(path: Path, wanted: Sequence[Passage], looked_for: Sequence[Needle]) -> Iterator[dict[str, object]]:
    try:
        with path.open("rb") as file:
            if not os.fstat(file.fileno()).st_size:
                return
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data, memoryview(data) as view:
                yield from _bytes(path, view, wanted, looked_for)
    except FileNotFoundError:
        return  # it went while we came
    except OSError as error:
        yield {"path": str(path), "trouble": error.strerror or type(error).__name__}


def _bytes(
    path: Path, view: memoryview, wanted: Sequence[Passage], looked_for: Sequence[Needle]
) -> Iterator[dict[str, object]]:
    pages = _pages(view)
    for hit in scanning.scan(view, wanted, looked_for):
        place = None if pages is None else pages.owner(hit.offset)
        yield _told(path, hit, hit.encoding, pages is not None, place)
    if pages is None:
        for packed, piece in scanning.unpacked(view):
            for hit in scanning.scan(piece, wanted, looked_for):
                yield _told(path, hit, f"{packed} {hit.encoding}", False, None)


def _pages(view: memoryview) -> Pages | None:
    """How to tell whose a byte is, where the file is a database."""
    try:
        return Pages(view)
    except (ValueError, IndexError):
        return None


def _told(
    path: Path, hit: scanning.Hit, encoding: str, is_database: bool, place: Place | None
) -> dict[str, object]:
    return {
        "path": str(path),
        "offset": hit.offset,
        "encoding": encoding,
        "inside": hit.inside,
        "database": is_database,
        "place": None if place is None else [place.table, place.rowid, list(place.key)],
    }


if __name__ == "__main__":
    main()
