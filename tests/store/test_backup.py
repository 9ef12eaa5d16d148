"""Making backups, checking them and taking one back, with real files and a real database."""

import json
from pathlib import Path

import pytest

from gateway import failpoints
from gateway.errors import NotFound, Refused
from gateway.home import Home
from gateway.memory import backup, restoring, verifying
from gateway.memory.forgetting import Forgetting
from gateway.memory.layers.layer import Scope
from gateway.memory.passages import Passage
from gateway.settings import Settings
from gateway.store import forgets, search, search_upkeep, sessions, textfile
from gateway.store import restoring as in_place
from gateway.store.db import Database
from tests.store.given import StillClock, after, keep, session
from tests.store.remembering import Remembering


@pytest.fixture
def bot(db: Database, home: Home, clock: StillClock) -> Remembering:
    return Remembering(db, home, clock)


def test_a_backup_holds_memory_skills_and_what_was_said_and_no_tokens(bot: Remembering) -> None:
    """Copies are taken elsewhere: a token in one would be a token lost. Profiles are homes of their own."""
    bot.add("Lives in Drammen", dedupe="turn-1")
    (bot.home.skills / "tea").mkdir()
    (bot.home.skills / "tea" / "SKILL.md").write_text("---\nname: tea\ndescription: Make tea\n---\nBoil.\n")
    bot.home.env_file.write_text("TELEGRAM_BOT_TOKEN=1:x")
    bot.home.soul.write_text("You are kind.")
    (bot.home.profiles / "work" / "memories").mkdir(parents=True)
    (bot.home.profiles / "work" / "memories" / "MEMORY.md").write_text("Another home")

    made = backup.create(bot.db, bot.home, bot.clock, keep=7)

    files = {path.relative_to(made.path).as_posix() for path in made.path.rglob("*") if path.is_file()}
    assert files == {
        "manifest.json", "state.db", "SOUL.md", "memories/MEMORY.md", "skills/tea/SKILL.md",
    }  # fmt: skip
    assert (made.name, made.bytes > 10_000) == ("20261130T090007Z", True)
    assert backup.listed(bot.home) == [made]


def test_the_oldest_go_when_there_are_too_many(bot: Remembering) -> None:
    """A disk is not endless."""
    names = []
    for minute in range(4):
        bot.clock.at = after(minutes=minute)
        names.append(backup.create(bot.db, bot.home, bot.clock, keep=2).name)

    assert [one.name for one in backup.listed(bot.home)] == names[-2:]


def test_two_in_one_second_are_two(bot: Remembering) -> None:
    """Nothing is written over."""
    first = backup.create(bot.db, bot.home, bot.clock, keep=7)
    second = backup.create(bot.db, bot.home, bot.clock, keep=7)

    assert [one.name for one in backup.listed(bot.home)] == [first.name, second.name] == [
        "20261130T090007Z", "20261130T090007Z-2",
    ]  # fmt: skip


def test_a_backup_that_is_whole_is_said_to_be(bot: Remembering) -> None:
    """It is restored for a try, and nothing of the try stays."""
    bot.add("Lives in Drammen", dedupe="turn-1")
    made = backup.create(bot.db, bot.home, bot.clock, keep=7)

    checked = backup.verify(bot.home, made, bot.clock)

    assert (checked.files, checked.spaces) == (2, 2)
    assert not (bot.home.run / "verify").exists()


@pytest.mark.parametrize("file", ["memories/MEMORY.md", "state.db"])
def test_a_backup_whose_file_changed_or_went_is_damaged(bot: Remembering, file: str) -> None:
    """Found out on the day on which it is made, not on that on which it is needed."""
    bot.add("Lives in Drammen", dedupe="turn-1")
    made = backup.create(bot.db, bot.home, bot.clock, keep=7)
    data = (made.path / file).read_bytes()
    (made.path / file).write_bytes(data[:-1] + b"!")

    with pytest.raises(Refused, match="damaged"):
        backup.verify(bot.home, made, bot.clock)


@pytest.mark.parametrize(
    "told",
    [
        "",
        "[]",
        "{}",
        '{"format": 1, "at": "x", "files": {}}',
        '{"format": 1, "at": "2026-11-30T09:00:00+00:00", "files": {"../../x": {"sha256": "", "bytes": 1}}}',
    ],
)
def test_a_list_of_files_that_makes_no_sense_is_refused(bot: Remembering, told: str) -> None:
    """A backup may come from anywhere; it must not write outside its folder."""
    made = backup.create(bot.db, bot.home, bot.clock, keep=7)
    (made.path / "manifest.json").write_text(told)

    with pytest.raises(Refused, match="damaged"):
        backup.found(bot.home, made.name)


def test_a_name_that_is_none_is_refused(bot: Remembering) -> None:
    """`..` is no backup."""
    for name in ("", ".", "..", "../memories", "nothing"):
        with pytest.raises(NotFound):
            backup.found(bot.home, name)


def test_none_is_made_while_something_is_being_forgotten(bot: Remembering) -> None:
    """It would hold what goes, and the forget would be past it."""
    with bot.db.write() as tx:
        id = forgets.plan(
            tx, bot.space.id, "passage", by="telegram:123", passages=("Drammen",), rows=(), message=None,
            marks=False, at=bot.clock.now(), expires_at=after(hours=24),
        )  # fmt: skip
        forgets.begin(tx, id, "telegram:123", None, ["messages"], bot.clock.now())

    with pytest.raises(Refused, match="forgotten"):
        backup.create(bot.db, bot.home, bot.clock, keep=7)

    assert list(bot.home.backups.iterdir()) == []


def test_going_back_brings_files_and_database_back_and_keeps_how_it_was(home: Home, clock: StillClock) -> None:
    """The day after a mistake; and the mistake can be had back, too."""
    with Database.open(home, clock) as db:
        bot = Remembering(db, home, clock)
        bot.add("Lives in Drammen", dedupe="turn-1")
        with db.write() as tx:
            session(tx, turns=1)
            keep(tx, "the ferry leaves at nine", session="20261130_090007_57bbf6", turn=1)
        made = backup.create(db, home, clock, keep=7)
        bot.add("Likes tea", dedupe="turn-2")
        clock.at = after(minutes=1)

    done = restoring.restore(home, made, clock, Settings())

    assert home.memory_file("owner", "memory").read_text() == "Lives in Drammen\n"
    with Database.open(home, clock) as db, db.read() as rd:
        found = search.find(rd, bot.space.id, "ferry", 5)
    assert [hit.role for hit in found.hits] == ["user"]
    before = backup.found(home, done.before)
    assert (before.path / "memories" / "MEMORY.md").read_text() == "Lives in Drammen\n§\nLikes tea\n"
    assert not in_place.scratch(home).exists()


def test_the_persons_own_files_are_never_written_over(home: Home, clock: StillClock) -> None:
    """config.yaml is theirs; a missing one comes back."""
    home.path.mkdir()
    home.config.write_text("display: {language: ja}\n")
    home.soul.write_text("You are kind.")
    with Database.open(home, clock) as db:
        made = backup.create(db, home, clock, keep=7)
    home.config.write_text("display: {language: en}\n")
    home.soul.unlink()
    clock.at = after(minutes=1)

    done = restoring.restore(home, made, clock, Settings())

    assert done.kept == ("config.yaml",)
    assert home.config.read_text() == "display: {language: en}\n"
    assert home.soul.read_text() == "You are kind."


def test_nothing_is_restored_under_a_running_bot(home: Home, clock: StillClock) -> None:
    """It would write into files that are not there any more."""
    with Database.open(home, clock) as db:
        made = backup.create(db, home, clock, keep=7)
    running = textfile.try_lock(home.gateway_lock)
    assert running is not None

    with pytest.raises(Refused, match="running"):
        restoring.restore(home, made, clock, Settings())

    running.release()
    assert not in_place.scratch(home).exists()


def test_a_backup_can_be_taken_back_on_another_machine(home: Home, clock: StillClock, tmp_path: Path) -> None:
    """There are no marks there: that is said."""
    with Database.open(home, clock) as db:
        Remembering(db, home, clock).add("Lives in Drammen", dedupe="turn-1")
        made = backup.create(db, home, clock, keep=7)
    other = Home(tmp_path / "other")
    other.path.mkdir()

    done = restoring.restore(other, backup.found(other, str(made.path)), clock, Settings())

    assert (done.present, done.before) == (False, "")
    assert other.memory_file("owner", "memory").read_text() == "Lives in Drammen\n"


SEPARATOR = "\n§\n"


class Killed(BaseException):
    """Stands for SIGKILL."""


@pytest.mark.parametrize("step", ["restore.ready", "restore.begun", "textfile.replaced"])
def test_a_restore_that_is_killed_is_done_or_was_never_begun(
    home: Home, clock: StillClock, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """Half of one home and half of another would be the end of both."""
    with Database.open(home, clock) as db:
        bot = Remembering(db, home, clock)
        bot.add("Lives in Drammen", dedupe="turn-1")
        made = backup.create(db, home, clock, keep=7)
        bot.add("Likes tea", dedupe="turn-2")
    clock.at = after(minutes=1)
    seen = 0

    def killed(name: str) -> None:
        nonlocal seen
        seen += name == step
        if name == step and seen == 1:
            raise Killed

    monkeypatch.setattr(failpoints, "reach", killed)
    with pytest.raises(Killed):
        restoring.restore(home, made, clock, Settings())
    monkeypatch.undo()
    in_place.finish(home)

    old, new = "Lives in Drammen\n§\nLikes tea\n", "Lives in Drammen\n"
    assert home.memory_file("owner", "memory").read_text() == (new if step == "restore.begun" else old)
    with Database.open(home, clock) as db, db.read() as rd:
        assert len(rd.rows("SELECT id FROM writes")) == (1 if step == "restore.begun" else 2)


def test_forgetting_rewrites_the_backup_and_touches_nothing_else_in_it(bot: Remembering) -> None:
    """What comes back with a backup was never forgotten."""
    bot.add("Lives in Drammen", dedupe="turn-1")
    bot.add("Likes tea", dedupe="turn-2")
    with bot.db.write() as tx:
        session(tx, turns=1)
        keep(tx, "I moved to Drammen by ferry", session="20261130_090007_57bbf6", turn=1)
    other = backup.create(bot.db, bot.home, bot.clock, keep=7)
    forgetting = Forgetting(bot.db, bot.home, bot.clock, bot.settings, bot.memory)

    id = forgetting.forget(bot.space, Scope(passages=("Drammen",)), "telegram:123")
    assert forgetting.go_on(id)

    assert b"Drammen" not in b"".join(path.read_bytes() for path in other.path.rglob("*") if path.is_file())
    assert (other.path / "memories" / "MEMORY.md").read_text() == "Likes tea\n"
    backup.verify(bot.home, backup.found(bot.home, other.name), bot.clock)


def test_a_backup_without_the_words_keeps_every_byte(bot: Remembering) -> None:
    """Rewriting what need not be is a risk for nothing."""
    bot.add("Likes tea", dedupe="turn-1")
    made = backup.create(bot.db, bot.home, bot.clock, keep=7)
    manifest = (made.path / "manifest.json").read_text()
    bot.add("Lives in Drammen", dedupe="turn-2")
    forgetting = Forgetting(bot.db, bot.home, bot.clock, bot.settings, bot.memory)

    id = forgetting.forget(bot.space, Scope(passages=("Drammen",)), "telegram:123")
    assert forgetting.go_on(id)

    assert (made.path / "manifest.json").read_text() == manifest
    assert backup.check_files(made) == len(json.loads(manifest)["files"])


@pytest.mark.parametrize("marks", [True, False], ids=["marked", "mark left out"])
@pytest.mark.parametrize("words", ["Drammen", "架空の猫ミソ丸"])
def test_going_back_to_a_time_before_a_forget_brings_nothing_of_it_back(
    home: Home, clock: StillClock, tmp_path: Path, words: str, marks: bool
) -> None:
    """The copy lies on another disk, where no forget reaches it."""
    with Database.open(home, clock) as db:
        bot = Remembering(db, home, clock)
        bot.add(f"Knows {words}", dedupe="turn-1")
        bot.add("Likes tea", dedupe="turn-2")
        with db.write() as tx:
            session(tx, turns=1)
            keep(tx, f"I saw {words} by the ferry", session="20261130_090007_57bbf6", turn=1)
            sessions.rename(tx, "20261130_090007_57bbf6", f"About {words}")
        made = backup.create(db, home, clock, keep=7)
        elsewhere = made.path.rename(tmp_path / made.name)
        forgetting = Forgetting(db, home, clock, Settings(), bot.memory)
        id = forgetting.forget(bot.space, Scope(passages=(words,)), "telegram:123", marks=marks)
        assert forgetting.go_on(id)
    clock.at = after(minutes=1)

    restoring.restore(home, backup.found(home, str(elsewhere)), clock, Settings())

    if marks:
        everything = b"".join(path.read_bytes() for path in home.path.rglob("*") if path.is_file())
        assert words.encode() not in everything
        assert words.lower().encode() not in everything
    # Without a mark nobody can test guesses, and nobody knows an entry again: rows alone are told by their numbers.
    assert (
        home.memory_file("owner", "memory").read_text()
        == f"{'' if marks else f'Knows {words}{SEPARATOR}'}Likes tea\n"
    )
    with Database.open(home, clock) as db, db.read() as rd:
        assert verifying.verify(home, db, [Passage.of(words)]).is_clean is marks
        assert search.find(rd, bot.space.id, words, 5).hits == ()
        assert search.find(rd, bot.space.id, "ferry", 5).hits[0].snippet.startswith("I saw (forgotten) by")
        assert forgets.get(rd, id).status == "done"


def test_a_message_that_lost_its_words_brings_none_back_in_the_index(
    home: Home, clock: StillClock, tmp_path: Path
) -> None:
    """It is taken as it is now; without a mark nothing else is erased in the older state."""
    with Database.open(home, clock) as db:
        bot = Remembering(db, home, clock)
        with db.write() as tx:
            session(tx, turns=1)
            keep(tx, "I saw quillfeather by the ferry", session="20261130_090007_57bbf6", turn=1)
        made = backup.create(db, home, clock, keep=7)
        elsewhere = made.path.rename(tmp_path / made.name)
        forgetting = Forgetting(db, home, clock, Settings(), bot.memory)
        id = forgetting.forget(bot.space, Scope(passages=("quillfeather",)), "telegram:123", marks=False)
        assert forgetting.go_on(id)
    clock.at = after(minutes=1)

    restoring.restore(home, backup.found(home, str(elsewhere)), clock, Settings())

    with Database.open(home, clock) as db:
        assert verifying.verify(home, db, [Passage.of("quillfeather")]).is_clean
        assert not search_upkeep.is_due(db)


def test_nothing_is_taken_back_while_somebody_forgets(bot: Remembering) -> None:
    """A forget works in the same folder: what it has unpacked there must not go under its hands."""
    made = backup.create(bot.db, bot.home, bot.clock, keep=7)
    unpacked = bot.home.run / "verify" / "state.db"
    backup.unpack(made, unpacked.parent)

    with backup.alone(bot.home), pytest.raises(Refused) as refused:
        restoring.restore(bot.home, made, bot.clock, Settings())

    assert refused.value.key == "backup.busy"
    assert unpacked.exists()
    bot.db.close()
    assert restoring.restore(bot.home, made, bot.clock, Settings()).name == made.name


def test_what_stood_in_a_backup_is_overwritten(bot: Remembering) -> None:
    """A name that is taken away leaves its bytes on the disk."""
    bot.add("Lives in Drammen", dedupe="turn-1")
    made = backup.create(bot.db, bot.home, bot.clock, keep=7)
    forgetting = Forgetting(bot.db, bot.home, bot.clock, bot.settings, bot.memory)
    with (made.path / "state.db").open("rb") as database, (made.path / "memories/MEMORY.md").open("rb") as file:
        assert b"Drammen" in database.read()
        assert b"Drammen" in file.read()
        id = forgetting.forget(bot.space, Scope(passages=("Drammen",)), "telegram:123")
        assert forgetting.go_on(id)

        for open_ in (database, file):
            open_.seek(0)
            assert open_.read().strip(b"\0") == b""


def test_a_restore_that_was_killed_leaves_no_words(bot: Remembering) -> None:
    """What it made ready is a whole home of then; a forget must find it, or nobody does."""
    ready = in_place.scratch(bot.home) / "memories" / "MEMORY.md"
    ready.parent.mkdir(parents=True)
    ready.write_text("Lives in Drammen\n")
    bot.add("Lives in Drammen", dedupe="turn-1")
    forgetting = Forgetting(bot.db, bot.home, bot.clock, bot.settings, bot.memory)

    id = forgetting.forget(bot.space, Scope(passages=("Drammen",)), "telegram:123")
    assert forgetting.go_on(id)

    assert not in_place.scratch(bot.home).exists()
    with bot.db.read() as rd:
        assert forgets.get(rd, id).verified["clean"] is True
