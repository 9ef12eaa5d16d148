"""Whether a home still holds words that were to be forgotten, byte by byte (`hikae forget --verify`, promise 5).

Reads each file of the home and what Redis holds, whatever wrote it, and says where a passage still stands and
whether something that rightly stays accounts for it. What is looked for is `needles`, how a hit is read `scanning`,
whose a byte of the database is `pages`; the files are read by processes of their own, `__main__`.

Beyond its sight: words that are cut in two where nobody's bytes of a database end, or by the prefix compression of
the search index; a sweep rewrites all of that (docs/decisions/0013).
"""

import json
import subprocess
import sys
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from gateway.errors import StoreBusy
from gateway.home import Home
from gateway.memory import replaced
from gateway.memory.passages import Passage
from gateway.memory.verifying import needles, parts, scanning
from gateway.memory.verifying.pages import Place
from gateway.memory.verifying.parts import Part
from gateway.records import Target
from gateway.store import leavings, whose
from gateway.store.db import Database

SCAN_SECONDS = 600.0
_TRIES = 5
_PAUSE_SECONDS = 0.2


@dataclass(frozen=True, slots=True)
class Where:
    """A place in which a passage stands: a file (below the home) or `redis:KEY`, never the words."""

    path: str
    offset: int
    encoding: str
    """text, utf-16 or base64; before it, what it was packed by: `gzip text`."""
    place: Place | None = None
    """In a database: whose the bytes are; None where they are nobody's."""
    in_database: bool = False


@dataclass(frozen=True, slots=True)
class Rightful:
    """What may go on holding the words: what was left out of a forget, and what belongs to others."""

    space: int | None = None
    """The space in which was forgotten; rows and files of others are accounted for. None: nothing is."""
    rows: Collection[tuple[str, int]] = ()
    """(table, rowid) of rows that were left out, and of the request itself."""
    keys: Collection[tuple[str, tuple[int | str | None, ...]]] = ()
    """The same of tables without a rowid: (table, first values of the key)."""
    paths: Collection[str] = ()
    """Files or folders below the home whose hits were left out, or that are other spaces'."""


@dataclass(frozen=True, slots=True)
class Verified:
    """What was found."""

    hits: tuple[Where, ...]
    """Nothing that rightly stays accounts for these."""
    accounted: tuple[Where, ...]
    """Left out, or others'."""
    left: tuple[Where, ...]
    """In the person's own files, which nobody but they may change."""
    inside_longer_words: int
    """Places where a passage is only a part of a longer word: not covered."""
    unreadable: tuple[str, ...]
    """Files that could not be read."""

    @property
    def is_clean(self) -> bool:
        return not self.hits and not self.unreadable

    @property
    def residue(self) -> bool:
        """Whether words lie in state.db where no row is: writing the file anew helps."""
        return any(hit.path == "state.db" and hit.place is None for hit in self.hits)


def verify(
    home: Home,
    db: Database,
    wanted: Sequence[Passage],
    rightful: Rightful | None = None,
    spellings: Iterable[str] = (),
    redis: Iterable[tuple[str, bytes]] = (),
) -> Verified:
    """Look everywhere. `spellings` are forms in which the words are known to have stood, `redis` what it holds.

    Raises StoreBusy where the database would not hold still.
    """
    told = _settled(home, db, wanted, tuple(spellings))
    in_files = [_where(home, one) for one in told if "offset" in one and not one["inside"]]
    in_redis, inside_redis = _in_redis(redis, wanted, tuple(spellings))
    kinds: dict[str, list[Where]] = {"hit": [], "accounted": [], "left": []}
    with db.read() as rd:
        judge = _Judge(home, rd, wanted, rightful or Rightful())
        for hit in (*in_files, *in_redis):
            kinds[judge.kind(hit)].append(hit)
    return Verified(
        hits=tuple(kinds["hit"]),
        accounted=tuple(kinds["accounted"]),
        left=tuple(kinds["left"]),
        inside_longer_words=inside_redis + sum(1 for one in told if one.get("inside")),
        unreadable=tuple(_below(home, str(one["path"])) for one in told if "trouble" in one),
    )


def files(home: Home) -> Iterator[Path]:
    """Every regular file of the home. The homes of profiles, which lie in it, are others.

    Links are not followed, but for those in the place of a memory file: what they point at goes into prompts.
    """
    memory = {home.memory_file("owner", target).name for target in Target}
    for path in sorted(home.path.rglob("*")):
        is_ours = not path.is_symlink() or path.name in memory
        if is_ours and path.is_file() and not path.is_relative_to(home.profiles):
            yield path


# -- reading ---------------------------------------------------------------------------------------------


def _settled(
    home: Home, db: Database, wanted: Sequence[Passage], spellings: Sequence[str]
) -> list[dict[str, object]]:
    """What the scan says of a moment in which nobody wrote the database file while it was read.

    What memory files held before they were replaced is on its way out; what of it is there time after time is not.
    """
    for tries_left in reversed(range(_TRIES)):
        replaced.overwrite_all(home, db)
        db.checkpoint()
        before = _state(home.state_db)
        told = _scan(home, wanted, spellings)
        on_their_way_out = replaced.folders(home, db) if tries_left else ()
        passing = any(_passes(home, Path(str(one["path"])), on_their_way_out) for one in told or ())
        if told is not None and _state(home.state_db) == before and not passing:
            return told
        time.sleep(_PAUSE_SECONDS)
    raise StoreBusy("state.db would not hold still to be read.")


def _passes(home: Home, path: Path, overwritten_in: Collection[Path]) -> bool:
    """Whether what was found there will be gone in a moment."""
    if str(path) == f"{home.state_db}-wal":
        return True
    return leavings.is_replaced(path.name) and path.parent in overwritten_in


def _state(path: Path) -> tuple[int, int, int]:
    status = path.stat()
    return status.st_mtime_ns, status.st_size, status.st_ino


def _scan(home: Home, wanted: Sequence[Passage], spellings: Sequence[str]) -> list[dict[str, object]] | None:
    shares = parts.shared_out((str(path), _size(path)) for path in files(home))
    with ThreadPoolExecutor(len(shares)) as pool:
        told = list(pool.map(partial(_read, wanted, spellings), shares))
    return None if None in told else [one for share in told for one in share or ()]


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0  # it went while we came


def _read(
    wanted: Sequence[Passage], spellings: Sequence[str], share: Sequence[Part]
) -> list[dict[str, object]] | None:
    asked = {
        "parts": [(part.path, part.first, part.end) for part in share],
        "passages": [passage.text for passage in wanted],
        "spellings": list(spellings),
    }
    ended = subprocess.run(
        [sys.executable, "-m", __name__],
        input=json.dumps(asked),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,  # a traceback could hold words
        text=True,
        timeout=SCAN_SECONDS,
        check=False,
    )
    # Killed, or a file shrank under it: as if it had not been.
    told: list[dict[str, object]] | None = None if ended.returncode else json.loads(ended.stdout)
    return told


def _where(home: Home, one: dict[str, object]) -> Where:
    place = one["place"]
    found = None
    if isinstance(place, list):
        table, rowid, key = place
        found = Place(table, rowid, tuple(key))
    return Where(
        _below(home, str(one["path"])), int(str(one["offset"])), str(one["encoding"]), found, bool(one["database"])
    )


def _below(home: Home, path: str) -> str:
    return str(Path(path).relative_to(home.path))


def _in_redis(
    redis: Iterable[tuple[str, bytes]], wanted: Sequence[Passage], spellings: Sequence[str]
) -> tuple[list[Where], int]:
    looked_for = needles.needles([passage.text for passage in wanted], spellings)
    found: list[Where] = []
    inside = 0
    for key, value in redis:
        for packed, data in (("", value), *scanning.unpacked(value)):
            for hit in scanning.scan(data, wanted, looked_for):
                inside += hit.inside
                if not hit.inside:
                    found.append(Where(f"redis:{key}", hit.offset, f"{packed} {hit.encoding}".strip()))
    return found, inside


def _in_backup(path: str) -> str:
    """Where a file of a backup is when that is restored; another file as it is."""
    parts = Path(path).parts
    return str(Path(*parts[2:])) if parts[0] == "backups" and len(parts) > 2 else path


def _is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder}/")


# -- judging ---------------------------------------------------------------------------------------------


class _Judge:
    """Says of each hit whether something that rightly stays accounts for it."""

    def __init__(self, home: Home, rd: whose.Reader, wanted: Sequence[Passage], rightful: Rightful) -> None:
        self._own = {path.name for path in (home.config, home.soul, home.agents, home.env_file)}
        self._database = home.state_db.name
        self._rd = rd
        self._wanted = wanted
        self._rightful = rightful

    def kind(self, hit: Where) -> str:
        """hit | accounted | left. What may stay in the home may stay in its backups, too."""
        inside = _in_backup(hit.path)
        if inside in self._own:
            return "left"
        if inside == self._database:
            return "accounted" if hit.place is not None and self._row_stays(hit.place) else "hit"
        stays = any(_is_below(place, path) for place in (hit.path, inside) for path in self._rightful.paths)
        return "accounted" if stays else "hit"

    def _row_stays(self, place: Place) -> bool:
        if self._rightful.space is None:
            return False
        if whose.is_index_of_words(place.table):
            return any(whose.is_indexed(self._rd, passage.text) for passage in self._wanted)
        if place.rowid is not None and (place.table, place.rowid) in self._rightful.rows:
            return True
        if any(place.table == table and place.key[: len(key)] == key for table, key in self._rightful.keys):
            return True
        space = whose.space_of(self._rd, place.table, place.rowid, place.key)
        return space is not None and space != self._rightful.space
