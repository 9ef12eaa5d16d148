"""A backup that lies where no forget reaches it, taken back after one."""

from pathlib import Path

import pytest

from gateway.home import Home
from gateway.memory import backup, restoring
from gateway.memory.forgetting import Forgetting
from gateway.memory.layers.layer import Scope
from gateway.settings import Settings
from gateway.store.db import Database
from tests.store.given import StillClock, after
from tests.store.remembering import Remembering

NOTES = {
    "notes.txt": "Ask for {words} first.\n",
    "scripts/find.py": 'NAME = "{words}"\n',
    "data.json": '["{words}"]\n',
}


@pytest.mark.parametrize("file", NOTES)
@pytest.mark.parametrize("words", ["the Quillfeather bakery", "千代田区の鯨の隠れ家"])
def test_what_only_a_file_of_a_skill_says_stays_forgotten(
    home: Home, clock: StillClock, tmp_path: Path, words: str, file: str
) -> None:
    """Whatever the file is called."""
    skill = home.path / "skills" / "maps"
    path = skill / file
    path.parent.mkdir(parents=True)
    (skill / "SKILL.md").write_text(
        "---\nname: maps\ndescription: Finding the way\n---\nRead the notes.\n", "utf-8"
    )
    path.write_text(NOTES[file].format(words=words), "utf-8")
    with Database.open(home, clock) as db:
        bot = Remembering(db, home, clock)
        bot.memory.notice_all_hand_edits()
        made = backup.create(db, home, clock, keep=7)
        elsewhere = made.path.rename(tmp_path / made.name)
        forgetting = Forgetting(db, home, clock, Settings(), bot.memory)
        assert forgetting.go_on(forgetting.forget(bot.space, Scope(passages=(words,)), "telegram:123"))
    clock.at = after(minutes=1)

    restoring.restore(home, backup.found(home, str(elsewhere)), clock, Settings())

    assert path.read_text("utf-8") == NOTES[file].format(words="(forgotten)")
