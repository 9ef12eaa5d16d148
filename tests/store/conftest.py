"""A real home with a real database in a temporary folder, and a clock that stands still."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from gateway.home import Home
from gateway.store.db import Database
from tests.store.given import StillClock


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


@pytest.fixture
def clock() -> StillClock:
    return StillClock()


@pytest.fixture
def db(home: Home, clock: StillClock) -> Iterator[Database]:
    with Database.open(home, clock) as database:
        yield database


@pytest.fixture
def other(home: Home, clock: StillClock, db: Database) -> Iterator[Database]:
    """A second process of the same home, as far as SQLite and flock can tell."""
    with Database.open(home, clock) as database:
        yield database
