"""Whose a byte of a database file is."""

import contextlib
import re
import sqlite3
from pathlib import Path

import pytest

from gateway.memory.verifying.pages import Pages, Place


def test_each_byte_of_a_row_is_that_rows_also_where_it_goes_on_on_other_pages(tmp_path: Path) -> None:
    """A hit that a row accounts for must be told from one that lies where no row is."""
    with _database(tmp_path) as connection:
        connection.execute("CREATE TABLE said (id INTEGER PRIMARY KEY, words TEXT)")
        for number in range(1, 800):
            text = f"start{number}; {'x' * (number * 13 % 9000)} end{number};"
            connection.execute("INSERT INTO said VALUES (?, ?)", (number, text))
    data = (tmp_path / "a.db").read_bytes()
    pages = Pages(memoryview(data))

    owners = {int(found[1]): pages.owner(found.start()) for found in re.finditer(rb"(?:start|end)(\d+);", data)}

    assert owners == {number: Place("said", number) for number in range(1, 800)}


def test_a_row_without_a_number_is_told_by_its_key(tmp_path: Path) -> None:
    """Sessions have ids of letters and no rowid."""
    with _database(tmp_path) as connection:
        connection.execute(
            "CREATE TABLE kept (name TEXT, place INTEGER, words TEXT, PRIMARY KEY (name, place)) WITHOUT ROWID"
        )
        for number in range(300):
            words = "pad " * number + f"word{number};"
            connection.execute("INSERT INTO kept VALUES (?, ?, ?)", (f"key-{number}", number, words))
    data = (tmp_path / "a.db").read_bytes()
    pages = Pages(memoryview(data))

    owners = {int(found[1]): pages.owner(found.start()) for found in re.finditer(rb"word(\d+);", data)}

    assert owners == {number: Place("kept", None, (f"key-{number}", number)) for number in range(300)}


def test_what_a_full_page_left_behind_when_its_rows_moved_is_nobodys(tmp_path: Path) -> None:
    """SQLite's secure_delete does not reach it: a forget must find it and have the file written anew."""
    with _database(tmp_path) as connection:
        connection.execute("CREATE TABLE said (id INTEGER PRIMARY KEY, words TEXT)")
        connection.execute("CREATE INDEX by_words ON said (words)")
        for number in range(1, 2000):
            words = f"word{number};{'x' * (number * 13 % 9000)}"
            connection.execute("INSERT INTO said VALUES (?, ?)", (number, words))
        connection.execute("DELETE FROM said WHERE id % 3 = 0")
    data = (tmp_path / "a.db").read_bytes()
    pages = Pages(memoryview(data))

    said = re.finditer(rb"word(\d+);", data)
    left = [found.start() for found in said if int(found[1]) % 3 == 0]

    assert left, "SQLite has learnt to clear them: nothing is to be tested here"
    assert {pages.owner(offset) for offset in left} == {None}


def test_a_file_that_is_no_database_is_not_taken_for_one() -> None:
    """Everything in a home is looked at."""
    with pytest.raises(ValueError, match="not a database"):
        Pages(b"# MEMORY.md\nsqlite is a database\n")


@contextlib.contextmanager
def _database(folder: Path):  # type: ignore[no-untyped-def]
    with contextlib.closing(sqlite3.connect(folder / "a.db")) as connection, connection:
        connection.execute("PRAGMA secure_delete = ON")
        yield connection
