"""Killed between ledger and file, every approved or undone change of a skill still ends, once (promise 2)."""

import subprocess
import sys
from pathlib import Path

import pytest

from gateway import failpoints
from gateway.home import Home
from gateway.records import Operation, Status
from gateway.store.db import Database
from tests.store.given import StillClock
from tests.store.skilful import DELETE, OWNER, PRINTER, Skilful, create, edit, main_file, patch, write_file

PATCH = patch("2. Wait.", "2. Wait ten seconds.")
STEPS = ["skills.approved", "textfile.copy_written", "textfile.replaced", "skills.file_replaced", "skills.applied"]
OPERATIONS = {"patch": PATCH, "edit": edit(main_file("printer")), "file": write_file("a.md", "x"), "delete": DELETE}


@pytest.fixture
def bot(db: Database, home: Home, clock: StillClock) -> Skilful:
    return Skilful(db, home, clock)


def dies_at(step: str, home: Home, what: str, *arguments: str) -> None:
    """Do something in another process that is killed there."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.store.test_skills_interrupted", step, str(home.path), what, *arguments],
        check=False,
        timeout=60,
    )
    assert done.returncode == -9


def _do(step: str, path: str, what: str, argument: str) -> None:
    home, clock = Home(Path(path)), StillClock()
    with Database.open(home, clock) as db:
        bot = Skilful(db, home, clock)
        failpoints.arm(step)
        match what:
            case "approve":
                bot.skills.approve(int(argument), OWNER, 500)
            case "propose":
                bot.propose("printer", OPERATIONS[argument], dedupe="turn-412-1-0")
            case "undo":
                bot.skills.undo(int(argument), OWNER)
            case "restore":
                bot.skills.restore(bot.space, argument, OWNER)


@pytest.mark.processes
@pytest.mark.parametrize("step", STEPS)
def test_a_kill_during_an_approval_is_finished_later(bot: Skilful, step: str) -> None:
    """The row says what the file was and will be; one of both is true."""
    bot.done("printer", create())
    id = bot.stage("printer", PATCH)

    dies_at(step, bot.home, "approve", str(id))
    bot.skills.finish_interrupted()

    assert (bot.status(id), bot.file("printer")) == (
        Status.APPLIED,
        PRINTER.replace("Wait.", "Wait ten seconds."),
    )
    assert bot.said_keys() == [f"write-{id}-card", f"write-{id}-approved"]
    assert bot.skills.finish_interrupted() == 0


@pytest.mark.processes
@pytest.mark.parametrize("step", ["skills.approved", "skills.file_replaced", "skills.applied"])
@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_kill_during_a_turns_change_gives_the_first_outcome_again(
    bot: Skilful, step: str, operation: str
) -> None:
    """The turn goes on from its last committed round and asks for the same change again."""
    bot.done("printer", create())
    dies_at(step, bot.home, "propose", operation)
    outcome = bot.propose("printer", OPERATIONS[operation], dedupe="turn-412-1-0")
    assert outcome.status is Status.APPLIED
    assert [row.status for row in bot.log()] == [Status.APPLIED, Status.APPLIED]
    assert (bot.file("printer") is None) == (operation == "delete")


@pytest.mark.processes
def test_a_kill_in_the_middle_of_a_move_loses_no_skill(bot: Skilful) -> None:
    """It is either here or in the archive, once."""
    bot.done("printer", create())
    dies_at("skills.moved", bot.home, "propose", "delete")
    bot.skills.finish_interrupted()
    assert bot.file("printer") is None
    assert [path.name for path in (bot.home.skills / ".archive").iterdir()] == ["printer-20261130T090007Z"]
    assert bot.log()[-1].status is Status.APPLIED


@pytest.mark.processes
@pytest.mark.parametrize("step", ["skills.undone", "textfile.replaced", "skills.put_back"])
def test_a_kill_during_an_undo_is_finished_later(bot: Skilful, step: str) -> None:
    """The ledger says undone first; the file follows, also after the kill."""
    bot.done("printer", create())
    id = bot.done("printer", PATCH)
    dies_at(step, bot.home, "undo", str(id))
    assert bot.status(id) is Status.UNDONE
    assert bot.skills.finish_interrupted() == 1
    assert (bot.file("printer"), bot.row(id).reason) == (PRINTER, "")
    assert bot.skills.finish_interrupted() == 0


@pytest.mark.processes
@pytest.mark.parametrize("step", ["skills.undone", "skills.moved", "skills.put_back"])
def test_a_kill_while_a_skill_is_restored_is_finished_later(bot: Skilful, step: str) -> None:
    """A person asked for it to come back."""
    bot.done("printer", create())
    id = bot.done("printer", DELETE)
    dies_at(step, bot.home, "restore", "printer")
    bot.skills.finish_interrupted()
    assert (bot.file("printer"), bot.status(id), bot.row(id).reason) == (PRINTER, Status.UNDONE, "")


@pytest.mark.processes
def test_the_next_change_finishes_what_a_kill_left(bot: Skilful) -> None:
    """Housekeeping may be a minute away; the approved one must not be overtaken."""
    bot.done("printer", create())
    id = bot.stage("printer", PATCH)
    dies_at("skills.approved", bot.home, "approve", str(id))
    bot.done("printer", patch("off", "off at the wall"))
    expected = PRINTER.replace("Wait.", "Wait ten seconds.").replace("off", "off at the wall")
    assert (bot.status(id), bot.file("printer")) == (Status.APPLIED, expected)


@pytest.mark.processes
@pytest.mark.parametrize("operation", [PATCH, DELETE])
def test_a_skill_that_changed_meanwhile_is_not_written_over(bot: Skilful, operation: Operation) -> None:
    """Neither what it was nor what it should be: failed, and said on the card."""
    bot.done("printer", create())
    id = bot.stage("printer", operation)
    dies_at("skills.approved", bot.home, "approve", str(id))
    bot.by_hand("printer", "mine\n")
    bot.skills.finish_interrupted()
    assert (bot.status(id), bot.row(id).reason) == (Status.FAILED, "reason.skill_changed")
    assert bot.file("printer") == "mine\n"
    assert bot.said_keys() == [f"write-{id}-card", f"write-{id}-failed"]


@pytest.mark.processes
def test_an_undo_that_a_hand_overtook_says_so_and_writes_over_nothing(bot: Skilful) -> None:
    """The row keeps why the file was not put back."""
    bot.done("printer", create())
    id = bot.stage("printer", edit(main_file("printer")))
    bot.skills.approve(id, OWNER)
    dies_at("skills.undone", bot.home, "undo", str(id))
    bot.by_hand("printer", "mine\n")
    bot.skills.finish_interrupted()
    assert (bot.row(id).reason, bot.file("printer")) == ("undo.skill_changed", "mine\n")
    assert bot.status(id) is Status.APPLIED
    assert bot.said_keys() == [f"write-{id}-card", f"write-{id}-approved"]  # nobody is told that it was taken back


@pytest.mark.processes
def test_a_link_in_place_of_the_file_is_not_written_through(bot: Skilful, tmp_path: Path) -> None:
    """Between the yes and the write, too."""
    bot.done("printer", create())
    id = bot.stage("printer", PATCH)
    dies_at("skills.approved", bot.home, "approve", str(id))
    outside = tmp_path / "outside.md"
    outside.write_text(PRINTER)
    bot.path("printer").unlink()
    bot.path("printer").symlink_to(outside)
    bot.skills.finish_interrupted()
    assert (bot.status(id), outside.read_text()) == (Status.FAILED, PRINTER)


if __name__ == "__main__":
    _do(*sys.argv[1:])
