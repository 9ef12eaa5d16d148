"""What a person writes into a memory file while something is forgotten."""

import os
from pathlib import Path

import pytest

from gateway.home import Home
from gateway.memory.forgetting import Forgetting, Scope
from gateway.records import Target
from gateway.store import textfile
from gateway.store.db import Database
from tests.store.given import StillClock
from tests.store.remembering import OWNER, Remembering


def test_a_hand_edit_made_while_it_waits_for_the_database_stays(
    home: Home, db: Database, clock: StillClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may wait for ten seconds; an editor waits for nobody."""
    kept = Remembering(db, home, clock)
    kept.add("Owns the Quillfeather bakery")
    kept.add("Lives in Bergen")
    forgetting = Forgetting(db, home, clock, kept.settings, kept.memory)
    id = forgetting.forget(kept.space, Scope(("Quillfeather",)), OWNER)
    path, look = home.memory_file("owner", Target.MEMORY), textfile.refuse_unwritable

    def edit_after(looked_at: Path) -> None:
        """The last thing before the commit."""
        look(looked_at)
        if looked_at == path and "Allergic" not in path.read_text("utf-8"):
            saved = path.with_name("x.swp")
            saved.write_text(path.read_text("utf-8") + "§\nAllergic to nuts\n", "utf-8")
            os.replace(saved, path)

    monkeypatch.setattr(textfile, "refuse_unwritable", edit_after)
    while not forgetting.go_on(id):
        continue

    assert kept.file() == "Lives in Bergen\n§\nAllergic to nuts\n"
