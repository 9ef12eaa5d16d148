"""Copies of state.db in the form of any version: whether one holds words, whatever its tables are called."""

import contextlib
import sqlite3
from collections.abc import Callable
from pathlib import Path


def holds(path: Path, found: Callable[[str], bool]) -> bool:
    """Whether any text in any table does. One that cannot be read may hold anything."""
    address = f"{path.absolute().as_uri()}?mode=ro&immutable=1"
    try:
        with contextlib.closing(sqlite3.connect(address, uri=True)) as copy:  # noqa: TID251 - read only
            return any(_in_table(copy, table, found) for table in _tables(copy))
    except sqlite3.DatabaseError:
        return True


def _tables(copy: sqlite3.Connection) -> list[str]:
    """Without those of the search index: what they hold stands in a message."""
    rows = copy.execute("SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'")
    return [name for (name,) in rows if not name.startswith(("message_words", "session_words", "sqlite_"))]


def _in_table(copy: sqlite3.Connection, table: str, found: Callable[[str], bool]) -> bool:
    quoted = table.replace('"', '""')
    for row in copy.execute(f'SELECT * FROM "{quoted}"'):
        for value in row:
            if isinstance(value, str) and value and found(value):
                return True
    return False
