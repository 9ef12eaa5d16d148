"""Making and changing the tables: numbered SQL files, forward only, each in a transaction with its number."""

import contextlib
import re
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from gateway.errors import Broken
from gateway.store import textfile


@dataclass(frozen=True, slots=True)
class Step:
    """One migration: it brings a database from `number - 1` to `number`."""

    number: int
    sql: str


def steps() -> tuple[Step, ...]:
    """All migrations of this version, in order, numbered from 1 without a gap."""
    files = sorted(
        (file for file in resources.files("gateway.store.migrations").iterdir() if file.name.endswith(".sql")),
        key=lambda file: file.name,
    )
    found = tuple(Step(int(file.name.partition("_")[0]), file.read_text(encoding="utf-8")) for file in files)
    check(found)
    return found


def check(steps: Sequence[Step]) -> None:
    """Raises Broken unless the steps are numbered 1, 2, 3 …: `user_version` counts them."""
    if [step.number for step in steps] != list(range(1, len(steps) + 1)):
        raise Broken("the migrations are not numbered 1, 2, 3 …")


def version(connection: sqlite3.Connection) -> int:
    """The number of the last step that was done; 0 for a new database."""
    number: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return number


def bring_up(connection: sqlite3.Connection, steps: Sequence[Step]) -> None:
    """Do the steps that are missing. One that fails leaves the database at the step before it."""
    for step in steps[version(connection) :]:
        sql = step.sql if has_fts5(connection) else _without_index(step.sql)
        try:
            connection.executescript(f"BEGIN IMMEDIATE;\n{sql}\nPRAGMA user_version = {step.number};\nCOMMIT;")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise


def copy(connection: sqlite3.Connection, to: Path) -> Path:
    """Copy the whole database by SQLite's backup API; a file with the final name is always complete."""
    part = to.with_name(f"{to.name}.part")
    textfile.remove(part)
    textfile.create_private(part)
    with contextlib.closing(sqlite3.connect(part)) as target:  # noqa: TID251 - a copy, not the database
        connection.backup(target)
    textfile.rename(part, to)
    return to


def has_fts5(connection: sqlite3.Connection) -> bool:
    """Whether this SQLite can search (whichever can has all that we need)."""
    try:
        connection.execute("CREATE VIRTUAL TABLE temp.search_probe USING fts5 (x, tokenize = 'trigram')")
    except sqlite3.OperationalError:
        return False
    connection.execute("DROP TABLE temp.search_probe")
    return True


def _without_index(sql: str) -> str:
    return re.sub(r"CREATE VIRTUAL TABLE message_words [^;]*;", "", sql)
