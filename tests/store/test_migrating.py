"""Making the tables, and changing them later without losing anything."""

import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from gateway.errors import Broken
from gateway.home import Home
from gateway.store import migrating
from gateway.store.db import Database
from gateway.store.migrating import Step
from tests.store import given
from tests.store.given import StillClock

ADD_MOOD = Step(len(migrating.steps()) + 1, "ALTER TABLE spaces ADD COLUMN mood TEXT NOT NULL DEFAULT 'calm';")


def test_a_new_home_gets_every_step_and_needs_no_copy(home: Home, db: Database) -> None:
    """There is nothing to keep a copy of."""
    with db.read() as rd:
        assert rd.execute("PRAGMA user_version").fetchone()[0] == len(migrating.steps())
    assert list(home.backups.iterdir()) == []


def test_an_older_database_is_copied_and_brought_up(home: Home, clock: StillClock) -> None:
    """An upgrade that goes wrong must be one `cp` away from the day before."""
    with Database.open(home, clock) as db, db.write() as tx:
        given.space(tx)
    newer = (*migrating.steps(), ADD_MOOD)

    with Database.open(home, clock, steps=newer) as db, db.read() as rd:
        assert [row["mood"] for row in rd.rows("SELECT mood FROM spaces")] == ["calm"]

    [copy] = home.backups.iterdir()
    assert copy.name == f"state-v{len(migrating.steps())}-20261130T090007Z.db"
    assert copy.stat().st_mode & 0o777 == 0o600
    assert _names(copy) == ["owner"]


def test_a_step_that_fails_leaves_everything_as_it_was(home: Home, clock: StillClock) -> None:
    """Half a migration is a database that no version knows."""
    with Database.open(home, clock) as db, db.write() as tx:
        given.space(tx)
    bad = replace(ADD_MOOD, sql=ADD_MOOD.sql + "INSERT INTO nowhere VALUES (1);")

    with pytest.raises(sqlite3.OperationalError):
        Database.open(home, clock, steps=(*migrating.steps(), bad))

    with Database.open(home, clock) as db, db.read() as rd:
        assert rd.execute("PRAGMA user_version").fetchone()[0] == len(migrating.steps())
        assert "mood" not in rd.rows("SELECT * FROM spaces")[0].keys()  # noqa: SIM118 - a Row is no mapping


def test_processes_that_upgrade_at_once_do_it_once(home: Home, clock: StillClock) -> None:
    """Gateway and worker start together after an upgrade; ALTER TABLE twice would fail."""
    Database.open(home, clock).close()
    newer = (*migrating.steps(), ADD_MOOD)

    given.at_once(*[lambda: Database.open(home, clock, steps=newer).close()] * 4)

    assert len(list(home.backups.iterdir())) == 1


def test_the_steps_are_numbered_without_a_gap() -> None:
    """`user_version` counts them."""
    assert [step.number for step in migrating.steps()] == list(range(1, len(migrating.steps()) + 1))


def test_a_gap_in_the_steps_is_our_bug(home: Home) -> None:
    """The package would be incomplete."""
    with pytest.raises(Broken, match="not numbered"):
        migrating.check((Step(1, ""), Step(3, "")))


def _names(path: Path) -> list[str]:
    connection = sqlite3.connect(path)
    names = [row[0] for row in connection.execute("SELECT name FROM spaces")]
    connection.close()
    return names
