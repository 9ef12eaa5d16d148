"""Reading a home's database as it is, for `status` and `doctor`: nothing is made, moved or brought up to date."""

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from gateway.home import Home
from gateway.store import migrating, opening
from gateway.store.opening import Unusable
from gateway.store.transaction import Reader


@contextlib.contextmanager
def look(home: Home) -> Iterator[Reader | None]:
    """A snapshot of state.db; None where there is none yet.

    Raises Unusable for one that `Database.open` would refuse, and for one it would have to bring up to date.
    """
    path, steps = home.state_db, migrating.steps()
    with opening.translated():
        if not path.exists() or path.stat().st_size == 0:
            yield None
            return
        with contextlib.closing(_connect(path)) as connection:
            opening.refuse_unusable_version(connection, path, steps)
            if migrating.version(connection) < len(steps):
                raise Unusable(f"{path} was written by an older hikae. The next start brings it up to date.")
            connection.execute("BEGIN")
            yield Reader(connection)


def _connect(path: Path) -> sqlite3.Connection:
    # Without a -wal file nobody is writing, and even a read-only connection would leave one behind.
    how = "mode=ro" if path.with_name(f"{path.name}-wal").exists() else "immutable=1"
    uri = f"{path.absolute().as_uri()}?{how}"
    connection = sqlite3.connect(uri, uri=True, timeout=10.0, isolation_level=None)  # noqa: TID251 - read only
    connection.row_factory = sqlite3.Row
    return connection


def sqlite_version() -> tuple[int, ...]:
    """The SQLite that this Python is linked with."""
    return sqlite3.sqlite_version_info


def sqlite_options() -> frozenset[str]:
    """What that SQLite was compiled with, as far as we need it: `FTS5`, `trigram`, `threadsafe`."""
    with contextlib.closing(sqlite3.connect(":memory:")) as connection:  # noqa: TID251 - no file at all
        named = {row[0] for row in connection.execute("PRAGMA compile_options")}
        found = {"FTS5"} if "ENABLE_FTS5" in named else set()
        if migrating.has_fts5(connection):
            found |= {"FTS5", "trigram"}
    return frozenset(found | ({"threadsafe"} if sqlite3.threadsafety > 0 else set()))


def refuse_damaged(rd: Reader) -> None:
    """Raises Unusable where any page of the database is damaged. Reads all of it: not for every start."""
    with opening.translated():
        if rd.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok":
            raise Unusable(opening.DAMAGED)
