"""Killed between any two steps, every approved write still ends, once (design.md, promise 2)."""

import subprocess
import sys
from pathlib import Path

import pytest

from gateway import failpoints
from gateway.chat import Chat
from gateway.home import Home
from gateway.memory.proposals import Ending
from gateway.memory.writing import Memory, ReviewClaim
from gateway.records import Origin, Status, Target
from gateway.store import outbox, reviews
from gateway.store.db import Database
from tests.store import given
from tests.store.given import CHAT, NINE, StillClock
from tests.store.remembering import OWNER, Remembering, add, remove, swap

ALL_STEPS = ["write.approved", "textfile.copy_written", "textfile.replaced", "write.replaced", "write.applied"]
STEPS = ["write.approved", "write.replaced", "write.applied"]
CLAIM = "job-review-s-3-1"


@pytest.fixture
def bot(db: Database, home: Home, clock: StillClock) -> Remembering:
    return Remembering(db, home, clock)


def dies_at(step: str, home: Home, what: str, *arguments: str) -> None:
    """Do something in another process that is killed there."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.store.test_interrupted", step, str(home.path), what, *arguments],
        check=False,
        timeout=60,
    )
    assert done.returncode == -9


def _do(step: str, path: str, what: str, *arguments: str) -> None:
    home, clock = Home(Path(path)), StillClock()
    with Database.open(home, clock) as db:
        bot = Remembering(db, home, clock)
        failpoints.arm(step)
        match what:
            case "approve":
                bot.memory.approve(int(arguments[0]), OWNER, 500)
            case "propose":
                bot.memory.propose(bot.proposal(add(arguments[0]), dedupe="turn-412-1-0"))
            case "reset":
                bot.memory.reset(bot.space, [Target.MEMORY], OWNER)
            case "review":
                texts = [bot.proposal(add(text), **_of_review(number)) for number, text in enumerate(arguments)]
                bot.memory.commit_review(_claim(bot), texts, chat=CHAT)


def _of_review(number: int) -> dict[str, object]:
    return {
        "origin": Origin.REVIEW,
        "dedupe": f"review-20261130_090007_57bbf6-3-{number}",
        "message": None,
        "session": "20261130_090007_57bbf6",
        "review_turn": 3,
        "quotes": ("I moved to Bergen",),
    }


def _claim(bot: Remembering) -> ReviewClaim:
    return ReviewClaim(bot.space, "20261130_090007_57bbf6", 3, CLAIM)


@pytest.mark.processes
@pytest.mark.parametrize("step", ALL_STEPS)
def test_a_kill_during_an_approval_is_finished_later(bot: Remembering, step: str) -> None:
    """The row says what the file was and will be; one of both is true."""
    bot.writes_by_hand("a\n§\nLives in Oslo\n§\nb")
    id = bot.stage(swap("Oslo", "Lives in Bergen"))

    dies_at(step, bot.home, "approve", str(id))
    bot.memory.finish_interrupted()

    assert (bot.status(id), bot.file()) == (Status.APPLIED, "a\n§\nLives in Bergen\n§\nb\n")
    assert bot.said_keys() == [f"write-{id}-card", f"write-{id}-approved"]
    assert bot.memory.finish_interrupted() == 0
    bot.add("c")
    assert [row.origin for row in bot.log()].count(Origin.HAND_EDIT) == 1


@pytest.mark.processes
@pytest.mark.parametrize("step", STEPS)
def test_a_kill_during_a_turns_write_gives_the_first_outcome_again(bot: Remembering, step: str) -> None:
    """The turn goes on from its last committed round and asks for the same write again."""
    dies_at(step, bot.home, "propose", "Lives in Bergen")
    outcome = bot.memory.propose(bot.proposal(add("Lives in Bergen"), dedupe="turn-412-1-0"))
    assert (outcome.ending, outcome.entry_count) == (Ending.APPLIED, 1)
    assert bot.file() == "Lives in Bergen\n"
    assert [row.status for row in bot.log()] == [Status.APPLIED]


@pytest.mark.processes
@pytest.mark.parametrize("step", ["review.committed", *STEPS, "write.approved:2", "write.replaced:2"])
def test_a_kill_at_the_end_of_a_review_loses_nothing(bot: Remembering, step: str) -> None:
    """Its effect is one commit; the notice waits until it is known how the writes ended."""
    with bot.db.write() as tx:
        session = given.session(tx, turns=3)
        reviews.make_due(tx, session.id, bot.space.id, 3, 1, "asked", NINE)
        reviews.claim(tx, session.id, 3, CLAIM, given.after(minutes=5), NINE)

    dies_at(step, bot.home, "review", "Lives in Bergen", "Likes short answers")
    with bot.db.read() as rd:
        held_back = outbox.waiting(rd, ["telegram"], NINE) == []
    assert held_back == any(row.status is Status.APPROVED for row in bot.log())
    bot.memory.finish_interrupted()

    assert bot.file() == "Lives in Bergen\n§\nLikes short answers\n"
    assert [row.status for row in bot.log()] == [Status.APPLIED, Status.APPLIED]
    assert bot.said_keys() == ["review-20261130_090007_57bbf6-3"]
    assert not bot.memory.commit_review(_claim(bot), [], chat=CHAT)


@pytest.mark.processes
@pytest.mark.parametrize("step", STEPS)
def test_a_kill_during_a_reset_is_finished_later(bot: Remembering, step: str) -> None:
    """The person asked for the file to be gone."""
    bot.writes_by_hand("\ufeffa\r\n§\r\nb")
    dies_at(step, bot.home, "reset")
    bot.memory.finish_interrupted()
    assert bot.file() == ""
    assert bot.log()[-1].status is Status.APPLIED


@pytest.mark.processes
def test_the_next_write_finishes_what_a_kill_left(bot: Remembering) -> None:
    """Housekeeping may be a minute away; the approved one must not be overtaken."""
    id = bot.stage(add("first"))
    dies_at("write.approved", bot.home, "approve", str(id))
    bot.add("second")
    assert bot.file() == "first\n§\nsecond\n"
    assert bot.memory.approve(id, OWNER, 500).ending.value == "applied"


@pytest.mark.processes
def test_a_file_that_changed_meanwhile_is_not_written_over(bot: Remembering) -> None:
    """Neither what it was nor what it should be: failed, and said on the card."""
    id = bot.stage(add("first"))
    dies_at("write.approved", bot.home, "approve", str(id))
    bot.writes_by_hand("mine\n")
    bot.memory.finish_interrupted()
    assert (bot.status(id), bot.row(id).reason, bot.file()) == (Status.FAILED, "reason.changed", "mine\n")
    assert bot.said_keys() == [f"write-{id}-card", f"write-{id}-failed"]


@pytest.mark.processes
def test_a_closed_file_keeps_only_its_own_writes_waiting(bot: Remembering) -> None:
    """A drive that is not there must not keep the gateway from starting, nor anything else from being written."""
    id = bot.stage(add("first"))
    dies_at("write.approved", bot.home, "approve", str(id))
    path = bot.home.memory_file("owner", Target.MEMORY)
    path.symlink_to(bot.home.path / "not-mounted" / "MEMORY.md")

    assert bot.memory.finish_interrupted() == 0
    bot.add("second", target=Target.USER)

    assert (bot.status(id), bot.file(Target.USER)) == (Status.APPROVED, "second\n")
    path.unlink()
    assert bot.memory.finish_interrupted() == 1
    assert (bot.status(id), bot.file()) == (Status.APPLIED, "first\n")


@pytest.mark.processes
def test_a_write_without_a_card_that_fails_gets_one(bot: Remembering) -> None:
    """Nothing silent: the chat it came from is told, with a way to propose it again."""
    with bot.db.write() as tx:
        message = given.keep(tx, "remember", chat=Chat("telegram", "123", "7"))
    dies_at("write.approved", bot.home, "propose", "first")
    with bot.db.write() as tx:
        tx.execute("UPDATE writes SET message = ?", (message,))
    bot.writes_by_hand("mine\n")
    bot.memory.finish_interrupted()
    [said] = bot.said()
    assert (said.kind, said.chat, said.write) == ("card", Chat("telegram", "123", "7"), bot.log()[0].id)


def test_a_removal_is_redone_to_the_same_bytes(bot: Remembering, home: Home, db: Database) -> None:
    """What was approved is found again by whole entries, not by the part that once named them."""
    bot.writes_by_hand("Oslo office\n§\nOslo\n")
    id = bot.stage(remove("Oslo office"))
    assert Memory(db, home, StillClock(), bot.settings).approve(id, OWNER).write.before == "Oslo office"
    assert bot.file() == "Oslo\n"


if __name__ == "__main__":
    _do(*sys.argv[1:])
