"""Opening state.db: look before touching it, set every connection up alike, say what its errors mean."""

import contextlib
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path

from gateway.errors import GatewayError, StoreBusy
from gateway.home import Home
from gateway.ports import Clock
from gateway.store import migrating, search_index
from gateway.store.migrating import Step

_PRAGMAS = """
    PRAGMA busy_timeout = 10000;
    PRAGMA foreign_keys = ON;
    PRAGMA secure_delete = ON;
    PRAGMA temp_store = MEMORY;
    PRAGMA cache_size = -16384;
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    PRAGMA wal_autocheckpoint = 0;
"""


OLDEST_SQLITE = (3, 38, 0)
"""The first with all that the migrations ask for."""

DAMAGED = (
    "state.db is damaged or is no database. Nothing was changed. Move it away and restore a copy "
    "from backups/ (without one, hikae starts a new state.db; memory files are not affected)."
)


class Unusable(GatewayError):
    """This state.db cannot be used as it is, and was left as it is. The text says what to do."""


def refuse_old_sqlite() -> None:
    """Raises Unusable before anything is made: a migration would fail in the middle of a statement."""
    if sqlite3.sqlite_version_info < OLDEST_SQLITE:
        raise Unusable(
            f"This Python's SQLite is {sqlite3.sqlite_version}; hikae needs {_dotted(OLDEST_SQLITE)} or newer. "
            "Start hikae with another Python. Nothing was touched."
        )


def _dotted(version: Sequence[int]) -> str:
    return ".".join(map(str, version))


def connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)  # noqa: TID251 - for db
    connection.row_factory = sqlite3.Row
    try:
        connection.executescript(_PRAGMAS)
    except BaseException:
        connection.close()
        raise
    return connection


def refuse_unusable(path: Path, steps: Sequence[Step]) -> None:
    """Look without touching: a read-only connection neither recovers, checkpoints nor creates."""
    if not path.exists() or path.stat().st_size == 0:
        return
    address = f"{path.absolute().as_uri()}?mode=ro"
    connection = sqlite3.connect(address, uri=True, isolation_level=None)  # noqa: TID251 - for db
    with contextlib.closing(connection):
        refuse_unusable_version(connection, path, steps)


def refuse_unusable_version(connection: sqlite3.Connection, path: Path, steps: Sequence[Step]) -> None:
    """Raises Unusable for a database that is newer than we are, or another program's."""
    version = migrating.version(connection)
    tables: int = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]
    if version > len(steps):
        raise Unusable(
            f"{path} was written by a newer hikae (its version is {version}, this one knows {len(steps)}). "
            "Install that version again, or restore an older copy from backups/. Nothing was touched."
        )
    if version == 0 and tables:
        raise Unusable(f"{path} is the database of another program. Move it away. Nothing was touched.")


def bring_up(connection: sqlite3.Connection, home: Home, clock: Clock, steps: Sequence[Step]) -> None:
    version = migrating.version(connection)
    if 0 < version < len(steps):
        migrating.copy(connection, home.backups / f"state-v{version}-{clock.now():%Y%m%dT%H%M%SZ}.db")
    migrating.bring_up(connection, steps)
    search_index.bring_up(connection)


@contextlib.contextmanager
def translated() -> Iterator[None]:
    """SQLite's errors that somebody can act on, as ours."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            raise Unusable(DAMAGED) from error
        if code in _BUSY:
            raise StoreBusy(f"state.db: {_BUSY[code]}. Nothing was changed.") from error
        raise


_BUSY = {
    sqlite3.SQLITE_BUSY: "it is locked by another program",
    sqlite3.SQLITE_LOCKED: "it is locked",
    sqlite3.SQLITE_FULL: "the disk is full",
    sqlite3.SQLITE_READONLY: "it may not be written; check the mode of the file and of its folder",
    sqlite3.SQLITE_IOERR: "the disk is full or broken",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened; check the mode of the file and of its folder",
}
