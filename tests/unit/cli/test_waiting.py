"""`hikae memory pending` is looked at often: it imports what it shows and no more."""

import subprocess
import sys
from pathlib import Path

import pytest

from gateway.home import Home
from gateway.store import writes
from gateway.store.db import Database
from tests.store import given
from tests.store.given import StillClock

HEAVY = (
    "gateway.app",
    "gateway.serving",
    "gateway.conversation.commands",
    "gateway.conversation.notices",
    "gateway.conversation.tools",
    "gateway.memory.proposals",
    "gateway.memory.snapshot",
    "gateway.memory.writing",
    "gateway.scan",
    "gateway.skills",
    "asyncio",
)


@pytest.mark.processes
def test_looking_imports_nothing_of_deciding(tmp_path: Path) -> None:
    """A third of a second was the import of what the list has no use for."""
    home = Home(tmp_path / "home")
    assert _shown_and_loaded(home) == "Nothing waits for your yes.\n[]\n"

    with Database.open(home, StillClock()) as db, db.write() as tx:
        writes.born(tx, given.proposal(tx, "Plays the tuba"))

    assert _shown_and_loaded(home).splitlines()[1:] == [
        '1 [auto] add to USER: "Plays the tuba"',
        "hikae memory approve ID…|all · hikae memory reject ID…|all",
        "[]",
    ]


def _shown_and_loaded(home: Home) -> str:
    program = (
        "import sys; from gateway import cli; "
        f"cli.main(['--home', {str(home.path)!r}, 'memory', 'pending']); "
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return done.stdout
