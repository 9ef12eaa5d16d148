"""Somebody else at the backups while one is made, checked, taken back or rewritten; and half of one."""

import json
from pathlib import Path

import pytest

from gateway import failpoints
from gateway.errors import Refused
from gateway.home import Home
from gateway.memory import backup
from gateway.memory.forgetting import Forgetting
from gateway.memory.layers.layer import Scope
from gateway.settings import Settings
from gateway.store import forgets, textfile
from gateway.store.db import Database
from tests import processes
from tests.store.given import StillClock
from tests.store.remembering import Remembering

BUSY = (
    "Something is being forgotten, or another backup is being made, checked or taken back. Try again in a minute.\n"
)


@pytest.mark.parametrize("command", [("verify",), ("restore", "--yes")], ids=["verify", "restore"])
def test_whoever_looks_into_a_backup_during_a_forget_takes_nothing_out_of_it(
    home: Home, clock: StillClock, db: Database, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    """All unpack it in one place: an emptied one would be whole by its own list, and the receipt clean."""
    bot = Remembering(db, home, clock)
    bot.add("Lives in Drammen", dedupe="turn-1")
    bot.add("Likes tea", dedupe="turn-2")
    first, second = (backup.create(db, home, clock, keep=7) for _ in range(2))
    said: list[tuple[int, str]] = []

    def reach(name: str) -> None:
        if name == "forget.backups.rewritten":
            ended = processes.Machine(home).run("backup", *command, second.name)
            said.append((ended.returncode, ended.stderr))

    monkeypatch.setattr(failpoints, "reach", reach)
    forgetting = Forgetting(db, home, clock, Settings(), bot.memory)
    id = forgetting.forget(bot.space, Scope(passages=("Drammen",)), "telegram:123")
    assert forgetting.go_on(id)

    assert said == [(1, BUSY), (1, BUSY)]
    for one in (first, second):
        assert (one.path / "memories" / "MEMORY.md").read_text() == "Likes tea\n"
        assert backup.verify(home, backup.read(one.path), clock) == backup.Checked(files=2, spaces=2)
    with db.read() as rd:
        assert forgets.get(rd, id).verified["clean"] is True


@pytest.mark.parametrize("what", ["create", "verify"])
def test_who_comes_second_is_told_to_wait(home: Home, clock: StillClock, db: Database, what: str) -> None:
    """And whoever is at it already may make one, as a restore does before it puts another in place."""
    made = backup.create(db, home, clock, keep=7)

    with backup.alone(home):
        with pytest.raises(Refused, match="Try again in a minute"):
            backup.create(db, home, clock, 7) if what == "create" else backup.verify(home, made, clock)
        assert backup.create_alone(db, home, clock, keep=7).name != made.name

    backup.verify(home, made, clock)


def test_a_backup_without_a_database_is_damaged(home: Home, clock: StillClock, db: Database) -> None:
    """It was made of a folder that somebody had emptied; what it lists is there, and nothing can be got from it."""
    made = backup.create(db, home, clock, keep=7)
    told = json.loads((made.path / "manifest.json").read_text())
    (made.path / "manifest.json").write_text(json.dumps({**told, "files": {}}))

    for check in (lambda: backup.check_files(made), lambda: backup.verify(home, made, clock)):
        with pytest.raises(Refused, match="damaged") as refused:
            check()
        assert refused.value.values["file"] == "state.db"


def test_half_of_a_home_gets_no_list(tmp_path: Path, clock: StillClock) -> None:
    """With one it would count as a backup, and take the place of the whole."""
    textfile.replace(tmp_path / "memories" / "MEMORY.md", b"Likes tea\n")

    with pytest.raises(Refused, match="damaged"):
        backup.write_manifest(tmp_path, clock.now())

    assert not (tmp_path / "manifest.json").exists()
