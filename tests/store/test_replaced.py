"""Memory files are replaced many times a day: what they held is gone soon, and before anything looks for it."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from gateway import failpoints
from gateway.core import open_core
from gateway.errors import StoreBusy
from gateway.home import Home
from gateway.jobs import Job, TidyJob
from gateway.memory import backup, forgetplan, verifying
from gateway.memory.layers import files as files_layer
from gateway.memory.layers.layer import Ground, Scope, Sought
from gateway.memory.passages import Passage
from gateway.memory.writing import Memory
from gateway.records import Origin, Status, Target
from gateway.store import textfile, writes
from gateway.store.db import Database
from tests.store import given
from tests.store.given import StillClock
from tests.store.remembering import OWNER, Remembering, add, remove, settings
from workers import __main__ as workers
from workers import runtime
from workers.supervisor import Supervisor

SECRET = "Quillfeather bakery"


@pytest.fixture
def bot(db: Database, home: Home, clock: StillClock) -> Remembering:
    """What it said of the bakery was taken out again: of that only the replaced file tells."""
    bot = Remembering(db, home, clock)
    bot.add(f"Owns the {SECRET}")
    bot.add("Lives in Bergen")
    bot.memory.propose(bot.proposal(remove(f"Owns the {SECRET}"), origin=Origin.PERSON, by=OWNER))
    assert _holding(home)
    return bot


def test_whoever_wrote_overwrites_it_at_the_end(bot: Remembering, home: Home) -> None:
    """A command in a terminal is not followed by housekeeping."""
    bot.memory.overwrite_replaced()

    assert not _holding(home)
    assert bot.file() == "Lives in Bergen\n"


def test_housekeeping_overwrites_what_others_left(bot: Remembering, home: Home, other: Database) -> None:
    """A worker that was killed, a terminal that was closed."""
    Remembering(other, home, StillClock()).memory.overwrite_all_replaced()

    assert not _holding(home)


def test_where_somebody_writes_it_is_left_for_later(bot: Remembering, home: Home) -> None:
    """Overwriting needs the lock of the space: never between another's link and rename."""
    with textfile.lock(home.space_lock("owner"), 1):
        bot.memory.overwrite_replaced()
        assert _holding(home)

    bot.memory.overwrite_all_replaced()
    assert not _holding(home)


def test_an_opened_home_is_closed_without_it(home: Home, clock: StillClock) -> None:
    """So that every command of the terminal does."""
    core = open_core(home, clock)
    bot = Remembering(core.db, home, clock)
    core.memory.propose(bot.proposal(add(f"Owns the {SECRET}"), origin=Origin.PERSON, by=OWNER))
    core.memory.propose(bot.proposal(add("Hi"), origin=Origin.PERSON, by=OWNER, dedupe="second"))
    assert textfile.has_replaced(home.space_dir("owner"))

    core.close()

    assert not textfile.has_replaced(home.space_dir("owner"))


def test_a_write_that_a_forget_finished_is_overwritten_with_all_else(
    home: Home, clock: StillClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A forget of whole rows looks at no bytes; in a terminal nobody comes after it."""
    core = open_core(home, clock)
    bot = Remembering(core.db, home, clock)
    bot.add(f"Owns the {SECRET}")
    textfile.overwrite_replaced(home.space_dir("owner"))
    id = bot.stage(add("Plays the tuba"))
    _dies(monkeypatch, "write.approved", lambda: bot.memory.approve(id, OWNER, 500))

    forgetting = core.forgetting
    assert forgetting.go_on(forgetting.forget(bot.space, Scope(rows=("sessions:none",)), OWNER))
    core.close()

    assert bot.file() == f"Owns the {SECRET}\n§\nPlays the tuba\n"
    assert not textfile.has_replaced(home.space_dir("owner"))


def test_a_job_that_breaks_overwrites_it_too(
    bot: Remembering, home: Home, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Where no gateway runs nobody else would."""

    def write_and_break(self: runtime.Runtime, job: Job) -> None:
        self.memory.propose(bot.proposal(add("Likes tea"), dedupe="tea"))
        raise ZeroDivisionError

    bot.memory.overwrite_replaced()
    monkeypatch.setattr(runtime.Runtime, "do", write_and_break)

    runtime.run(home, TidyJob("none", 0))

    assert "job.failed" in caplog.text
    assert bot.file() == "Lives in Bergen\n§\nLikes tea\n"
    assert not textfile.has_replaced(home.space_dir("owner"))


@pytest.mark.parametrize("arguments", [[], ["--burst"]])
def test_a_worker_that_gives_up_overwrites_it_too(
    bot: Remembering, home: Home, monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    """It finished one write, and then the disk was full."""

    def write_and_break(self: Memory) -> int:
        self.propose(bot.proposal(add("Likes tea"), dedupe="tea"))
        raise StoreBusy("the disk is full")

    bot.memory.overwrite_replaced()
    monkeypatch.setattr(Memory, "finish_interrupted", write_and_break)
    monkeypatch.setattr(Supervisor, "run", lambda self: self.memory.finish_interrupted())

    assert workers.main(["--home", str(home.path), *arguments]) == 1

    assert bot.file() == "Lives in Bergen\n§\nLikes tea\n"
    assert not textfile.has_replaced(home.space_dir("owner"))


def test_a_plan_to_forget_does_not_show_it(bot: Remembering, home: Home, db: Database, clock: StillClock) -> None:
    """Nobody can tick a file that is on its way out."""
    plan = forgetplan.plan(_ground(bot, home, db, clock), Scope((SECRET,)))

    assert plan.layer("files").found == 0
    assert not _holding(home)


def test_the_layer_of_files_erases_it(bot: Remembering, home: Home, db: Database, clock: StillClock) -> None:
    """Also what another process left since the plan was made."""
    erased = files_layer.erase(_ground(bot, home, db, clock), Sought((Passage.of(SECRET),), texts=(SECRET,)))

    assert erased == 0
    assert not _holding(home)


def test_a_file_that_a_person_called_tmp_stays(
    bot: Remembering, home: Home, db: Database, clock: StillClock
) -> None:
    """Only our own names are ours: whatever else it holds would go with the words."""
    folder = home.space_dir("owner")
    theirs, half = folder / "notes.tmp", folder / ".MEMORY.md.999999-0a1b2c3d.tmp"
    for path in (theirs, half):
        path.write_text(f"Buys bread at {SECRET}\nCall Clara\n")

    erased = files_layer.erase(_ground(bot, home, db, clock), Sought((Passage.of(SECRET),), texts=(SECRET,)))

    assert (erased, half.exists()) == (1, False)
    assert theirs.read_text() == f"Buys bread at {SECRET}\nCall Clara\n"


def test_looking_at_every_byte_does_not_find_it(bot: Remembering, home: Home, db: Database) -> None:
    """A receipt that names a file which is gone a minute later would frighten for nothing."""
    found = verifying.verify(home, db, [Passage.of(SECRET)])

    assert [hit.path for hit in (*found.hits, *found.left) if hit.path != "state.db"] == []
    assert not _holding(home)


def test_a_backup_has_none_of_it(bot: Remembering, home: Home, db: Database, clock: StillClock) -> None:
    """It would keep for years what was to be gone in a minute."""
    made = backup.create(db, home, clock, 0)

    assert [path.name for path in (made.path / "memories").iterdir()] == ["MEMORY.md"]


def test_a_reset_leaves_nothing(bot: Remembering, home: Home) -> None:
    """Who deletes a file wants no copy of it."""
    bot.memory.reset(bot.space, [Target.MEMORY], OWNER)

    assert list(home.space_dir("owner").iterdir()) == []


# -- the last commit of a write is not waited for ------------------------------------------------------------


def test_a_power_cut_that_takes_back_the_last_commit_loses_nothing(
    bot: Remembering, home: Home, clock: StillClock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The row is approved then and the file has it: it ends applied, and nothing looks like an edit by hand."""
    id = bot.stage(add("Plays the tuba"))
    after = _power_cut_after_approval(bot, id, tmp_path / "after", monkeypatch)

    with Database.open(after, clock) as then:
        restarted = Remembering(then, after, clock)
        assert restarted.status(id) is Status.APPROVED
        restarted.memory.finish_interrupted()
        restarted.memory.notice_hand_edits(restarted.space)

        assert restarted.status(id) is Status.APPLIED
        assert restarted.said_keys() == bot.said_keys()
        assert [one.origin for one in restarted.log()] == [one.origin for one in bot.log()]
        assert restarted.file() == bot.file() == "Lives in Bergen\n§\nPlays the tuba\n"


def test_an_edit_by_hand_after_that_loses_nothing_either(
    bot: Remembering, clock: StillClock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody can tell who wrote what: the row says that it failed, and the edit counts as all of it."""
    id = bot.stage(add("Plays the tuba"))
    after = _power_cut_after_approval(bot, id, tmp_path / "after", monkeypatch)
    by_hand = "Lives in Bergen\n§\nPlays the tuba\n§\nLikes tea\n"
    after.memory_file("owner", "memory").write_text(by_hand)

    with Database.open(after, clock) as then:
        restarted = Remembering(then, after, clock)
        restarted.memory.finish_interrupted()
        restarted.memory.notice_hand_edits(restarted.space)

        assert (restarted.status(id), restarted.row(id).reason) == (Status.FAILED, "reason.changed")
        assert restarted.file() == by_hand
        (edit,) = [one for one in restarted.log() if one.origin is Origin.HAND_EDIT]
        assert [one.content for one in edit.operations] == ["Plays the tuba", "Likes tea"]


def _power_cut_after_approval(bot: Remembering, id: int, path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """Approve a write, and the home as a power cut may leave it: without the last commit."""
    on_disk: list[int] = []

    def reach(name: str) -> None:
        if name == "write.replaced":
            on_disk.append(bot.home.state_db.with_name("state.db-wal").stat().st_size)

    with monkeypatch.context() as patched:
        patched.setattr(failpoints, "reach", reach)
        bot.memory.approve(id, OWNER, 500)
    after = Home(path)
    shutil.copytree(bot.home.path, after.path, ignore=shutil.ignore_patterns("*-shm", "*.sock", "run"))
    with (after.path / "state.db-wal").open("r+b") as log:
        log.truncate(on_disk[0])
    return after


def test_a_row_is_given_back_as_it_will_be_read(db: Database) -> None:
    """It is not read after it was born: whoever acts on it must see no other row than those who read it later."""
    with db.write() as tx:
        space = given.space(tx)
        for number, fields in enumerate(_BORN):
            born, _ = writes.born(tx, given.proposal(tx, "猫\ud800", space=space, dedupe=f"n{number}", **fields))

            assert born == writes.get(tx, born.id)


_BORN: list[dict[str, object]] = [
    {},
    {"status": Status.APPLIED, "places": (1, 2), "before": "a\ud83d\ude00", "after": "b"},
    {"status": Status.REFUSED, "reason": "reason.over_budget", "reason_values": {"chars": 12, "limit": 9}},
    {"flags": ("flag.repeats",), "expires_at": given.NINE, "session": "", "decided_by": "telegram:1"},
    {"status": Status.APPROVED, "decided_at": given.NINE, "before_hash": "a", "after_hash": "b"},
    {"operations": ()},
    {"target": "NOTES"},
]


class Killed(BaseException):
    """Stands for SIGKILL."""


def _dies(monkeypatch: pytest.MonkeyPatch, step: str, doing: Callable[[], object]) -> None:
    def reach(name: str) -> None:
        if name == step:
            raise Killed

    with monkeypatch.context() as patched, pytest.raises(Killed):
        patched.setattr(failpoints, "reach", reach)
        doing()


def _ground(bot: Remembering, home: Home, db: Database, clock: StillClock) -> Ground:
    return Ground(db, home, clock, settings(), bot.memory, bot.space, lambda *_: None)


def _holding(home: Home) -> list[str]:
    """The files beside the database that hold it."""
    folder = home.space_dir("owner")
    return [path.name for path in folder.iterdir() if SECRET.encode() in path.read_bytes()]
