"""A Python whose SQLite is too old for our tables."""

import sqlite3

import pytest

from tests.flows.test_cli import Machine
from tests.flows.test_cli import machine as machine


@pytest.fixture(autouse=True)
def old(monkeypatch: pytest.MonkeyPatch) -> None:
    """The library is the port that is faked: what it says of itself."""
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 37, 2))
    monkeypatch.setattr(sqlite3, "sqlite_version", "3.37.2")


def test_nothing_is_made_with_it(machine: Machine) -> None:
    """A migration would fail in the middle of a statement, with words that nobody understands."""
    ran = machine.hikae("memory", "show", "--json")

    assert (ran.code, ran.json["error"]["kind"]) == (1, "Unusable")
    assert "SQLite is 3.37.2; hikae needs 3.38.0 or newer" in ran.json["error"]["message"]
    assert not machine.home.state_db.exists()


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "3.37.2 is too old. Use a Python with SQLite 3.38 or newer."),
        ("ja", "3.37.2 は古すぎます。SQLite 3.38 以降の Python を使ってください。"),
    ],
)
def test_doctor_says_so(machine: Machine, language: str, said: str) -> None:
    """It is for when nothing starts."""
    machine.configure(f"display: {{language: {language}}}\n")

    ran = machine.hikae("doctor")

    assert ran.code == 1
    assert said in ran.out
