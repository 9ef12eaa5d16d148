"""What a person left out of a forget stays, in copies too, and is no failure on the receipt."""

import pytest

from gateway.home import Home
from gateway.memory import backup
from gateway.memory.forgeterasing import Erasing
from gateway.memory.forgetting import Forgetting, Scope
from gateway.store import forgets, messages, people, prompts
from gateway.store.db import Database
from tests.store.given import CHAT, StillClock, after, keep, session
from tests.store.remembering import OWNER, Remembering

FACT = "the blue heron of Lysekil"


@pytest.fixture
def kept(db: Database, home: Home, clock: StillClock) -> Remembering:
    return Remembering(db, home, clock)


@pytest.fixture
def forgetting(kept: Remembering) -> Forgetting:
    return Forgetting(kept.db, kept.home, kept.clock, kept.settings, kept.memory)


def test_what_was_left_out_may_stay_in_backups(kept: Remembering, forgetting: Forgetting) -> None:
    """And what others said there is theirs, as it is in the home."""
    kept.add(f"Anna knows {FACT}", dedupe="a")
    kept.add(f"Ben knows {FACT}", dedupe="b")
    with kept.db.write() as tx:
        ben = people.ensure_space(tx, "telegram-456", "person", "telegram:456", kept.clock.now())
        opened = session(tx, turns=2)
        stays = keep(tx, f"I saw {FACT}", session=opened.id, turn=1)
        keep(tx, f"We read of {FACT}", session=opened.id, turn=2)
        keep(tx, f"I have never seen {FACT}", space=ben.id)
    theirs = kept.home.memory_file(ben.name, "memory")
    theirs.parent.mkdir(parents=True)
    theirs.write_text(f"Looks for {FACT}\n", "utf-8")
    made = backup.create(kept.db, kept.home, kept.clock, 7)
    entry = forgetting.plan(kept.space, Scope((FACT,))).layer("entries").items[0]

    id = forgetting.forget(kept.space, Scope((FACT,)), OWNER, left_out=[entry.ref, f"messages:{stays}"])
    assert forgetting.go_on(id)

    with kept.db.read() as rd:
        told = forgets.get(rd, id).verified
        assert (told["clean"], told["where"]) == (True, [])
        assert messages.get(rd, stays).text == f"I saw {FACT}"
    assert kept.file() == f"Anna knows {FACT}\n"
    assert (made.path / "memories" / "MEMORY.md").read_text("utf-8") == f"Anna knows {FACT}\n"


def test_a_prompt_made_meanwhile_of_what_was_left_out_is_no_failure(
    kept: Remembering, forgetting: Forgetting, clock: StillClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever talks on gets the memory as it now is."""
    kept.add(f"Anna knows {FACT}", dedupe="a")
    kept.add(f"Ben knows {FACT}", dedupe="b")
    with kept.db.write() as tx:
        people.keep_chat(tx, CHAT, space=1, private=True, person=OWNER, language="en", at=clock.now())
        opened = session(tx)
    entry = forgetting.plan(kept.space, Scope((FACT,))).layer("entries").items[0]
    look = Erasing._until_clean

    def freeze_and_look(self: Erasing) -> None:
        with kept.db.write() as tx:
            prompts.refreeze(tx, opened.id, f"You know: {entry.excerpt}", "[]", clock.now())
        look(self)

    monkeypatch.setattr(Erasing, "_until_clean", freeze_and_look)
    clock.at = after(minutes=1)
    id = forgetting.forget(kept.space, Scope((FACT,)), OWNER, left_out=[entry.ref])
    assert forgetting.go_on(id)

    with kept.db.read() as rd:
        assert forgets.get(rd, id).verified["clean"] is True


def test_a_backup_whose_list_is_broken_stops_nothing(kept: Remembering, forgetting: Forgetting) -> None:
    """It is left as it is; the receipt names it where it holds the words."""
    kept.add(f"Anna knows {FACT}", dedupe="a")
    broken = backup.create(kept.db, kept.home, kept.clock, 7)
    whole = backup.create(kept.db, kept.home, kept.clock, 7)
    (broken.path / backup.MANIFEST).write_text('{"format": 1, "at": ', "utf-8")

    id = forgetting.forget(kept.space, Scope((FACT,)), OWNER)
    assert forgetting.go_on(id)

    assert kept.file() == ""
    assert (whole.path / "memories" / "MEMORY.md").read_text("utf-8") == ""
    assert [one.name for one in backup.listed(kept.home)] == [whole.name]
    assert [trouble.values["name"] for trouble in backup.broken(kept.home)] == [broken.name]
    with kept.db.read() as rd:
        told = forgets.get(rd, id).verified
        where = told["where"]
        assert isinstance(where, list)
        assert (told["clean"], {path.split("/")[1] for path in where}) == (False, {broken.name})


def test_what_an_edited_message_said_when_a_backup_was_made_leaves_the_backup(
    kept: Remembering, forgetting: Forgetting
) -> None:
    """No row of it says so any more; the pages of its index do."""
    with kept.db.write() as tx:
        session(tx)
        id = keep(tx, "I bought quillfeather flour")
    with kept.db.write() as tx:
        messages.reword(tx, messages.get(tx, id), "I bought flour", ())
    made = backup.create(kept.db, kept.home, kept.clock, 7)
    assert b"quillfeather" in (made.path / "state.db").read_bytes()

    id = forgetting.forget(kept.space, Scope(("quillfeather",)), OWNER)
    assert forgetting.go_on(id)

    assert b"quillfeather" not in (made.path / "state.db").read_bytes()
    with kept.db.read() as rd:
        assert forgets.get(rd, id).verified["clean"] is True
