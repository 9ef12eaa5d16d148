"""A yes is to what the card showed, on the file as it is (design.md 7.6)."""

import multiprocessing
from functools import partial
from pathlib import Path

import pytest

from gateway.decisions import DecisionEnding
from gateway.errors import NotFound, Refused
from gateway.home import Home
from gateway.memory.writing import Memory
from gateway.records import Operation, Status, Target
from gateway.store.db import Database
from tests.store import given
from tests.store.given import StillClock, at_once
from tests.store.remembering import OWNER, Remembering, add, remove, settings, swap


@pytest.fixture
def bot(db: Database, home: Home, clock: StillClock) -> Remembering:
    return Remembering(db, home, clock)


# -- yes, no -------------------------------------------------------------------------------------------


def test_a_yes_writes_the_file_and_changes_the_card(bot: Remembering) -> None:
    """Also when there is no file yet (PI-179)."""
    id = bot.stage(add("Lives in Bergen"))
    decision = bot.memory.approve(id, OWNER, 500)
    assert (decision.ending, decision.write.status) == (DecisionEnding.APPLIED, Status.APPLIED)
    assert (decision.write.decided_by, decision.write.decided_in) == (OWNER, 500)
    assert bot.file() == "Lives in Bergen\n"
    card, update = bot.said()
    assert (update.dedupe, update.kind, update.edits) == (f"write-{id}-approved", "card_update", card.id)


def test_a_no_leaves_the_file_alone(bot: Remembering) -> None:
    """And the card says so."""
    id = bot.stage(add("x"))
    assert bot.memory.reject(id, OWNER, 500).ending is DecisionEnding.REJECTED
    assert (bot.file(), bot.status(id)) == ("", Status.REJECTED)
    assert bot.said_keys()[1:] == [f"write-{id}-rejected"]


def test_the_second_decision_hears_that_somebody_was_first(bot: Remembering) -> None:
    """Double taps and two approvers are safe; a retried tap gets its own answer again (PI-177)."""
    id = bot.stage(add("x"))
    bot.memory.approve(id, OWNER, 500)
    assert bot.memory.approve(id, OWNER, 500).ending is DecisionEnding.APPLIED
    for late in (bot.memory.approve(id, OWNER, 501), bot.memory.reject(id, OWNER, 502)):
        assert (late.ending, late.write.status) == (DecisionEnding.ALREADY, Status.APPLIED)
    assert bot.said_keys()[1:] == [f"write-{id}-approved"]


def test_an_unknown_number_is_said(bot: Remembering) -> None:
    """People type ids."""
    for decide in (bot.memory.approve, bot.memory.reject):
        with pytest.raises(NotFound):
            decide(99, OWNER)


def test_two_taps_at_once_are_one_decision(
    bot: Remembering, other: Database, home: Home, clock: StillClock
) -> None:
    """Two processes, one row: the file is written once, the card changed once."""
    id = bot.stage(add("x"))
    there = Memory(other, home, clock, bot.settings)
    endings = at_once(
        lambda: bot.memory.approve(id, OWNER, 500).ending, lambda: there.approve(id, "discord:9", 501).ending
    )
    assert sorted(endings) == [DecisionEnding.ALREADY, DecisionEnding.APPLIED]
    assert bot.file() == "x\n"
    assert bot.said_keys()[1:] == [f"write-{id}-approved"]


def test_yes_and_no_at_once_are_one_decision(
    bot: Remembering, other: Database, home: Home, clock: StillClock
) -> None:
    """Whoever is first; the file says what the ledger says."""
    there = Memory(other, home, clock, bot.settings)
    for number in range(5):
        id = bot.stage(add(f"entry {number}"))
        yes, no = at_once(partial(bot.memory.approve, id, OWNER), partial(there.reject, id, OWNER))
        assert [yes.ending, no.ending].count(DecisionEnding.ALREADY) == 1
        assert (f"entry {number}" in bot.file()) == (bot.status(id) is Status.APPLIED)


def _approve_in_another_process(home: str, ids: list[int]) -> None:
    here = Home(Path(home))
    clock = StillClock()
    with Database.open(here, clock) as db:
        memory = Memory(db, here, clock, settings())
        for id in ids:
            memory.approve(id, OWNER)


@pytest.mark.processes
def test_two_processes_that_approve_everything_lose_nothing(bot: Remembering) -> None:
    """Gateway, worker and CLI share one home (PI-035): every yes is in the file, once."""
    ids = [bot.stage(add(f"entry {number}")) for number in range(12)]
    spawn = multiprocessing.get_context("spawn")
    workers = [
        spawn.Process(target=_approve_in_another_process, args=(str(bot.home.path), order))
        for order in (ids, ids[::-1])
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert [worker.exitcode for worker in workers] == [0, 0]
    assert {bot.status(id) for id in ids} == {Status.APPLIED}
    assert sorted(bot.memory.read(bot.space, Target.MEMORY).texts) == sorted(f"entry {n}" for n in range(12))


# -- the file changed between card and tap -------------------------------------------------------------


def test_a_target_that_changed_is_shown_again_and_needs_a_new_yes(bot: Remembering) -> None:
    """The first yes was to replacing something else."""
    bot.writes_by_hand("Lives in Oslo\n")
    id = bot.stage(swap("Oslo", "Lives in Bergen"))
    bot.writes_by_hand("Lives in Oslo until May\n")

    decision = bot.memory.approve(id, OWNER, 500)

    assert (decision.ending, decision.reason) == (DecisionEnding.REDRAWN, "reason.entry_changed")
    assert (decision.write.status, decision.write.before, decision.write.redrawn) == (
        Status.STAGED,
        "Lives in Oslo until May",
        1,
    )
    assert bot.file() == "Lives in Oslo until May\n"
    assert bot.said_keys()[1:] == [f"write-{id}-redrawn-1"]

    assert bot.memory.approve(id, OWNER, 501).ending is DecisionEnding.APPLIED
    assert bot.file() == "Lives in Bergen\n"


def test_a_double_tap_on_the_old_card_does_not_approve_the_new_one(bot: Remembering) -> None:
    """The second of two quick taps was to the same drawing as the first."""
    bot.writes_by_hand("Lives in Oslo\n")
    id = bot.stage(swap("Oslo", "Lives in Bergen"))
    bot.writes_by_hand("Lives in Oslo until May\n")
    endings = [bot.memory.approve(id, OWNER, tap, seen=0) for tap in (500, 501)]
    assert [decision.reason for decision in endings] == ["reason.entry_changed", "reason.redrawn"]
    assert bot.status(id) is Status.STAGED
    assert bot.memory.approve(id, OWNER, 502, seen=1).ending is DecisionEnding.APPLIED


@pytest.mark.parametrize("operation", [swap("Oslo", "Lives in Bergen"), remove("Oslo")])
def test_a_target_that_is_gone_ends_the_write(bot: Remembering, operation: Operation) -> None:
    """There is nothing left to change."""
    bot.writes_by_hand("Lives in Oslo\n")
    id = bot.stage(operation)
    bot.writes_by_hand("Likes tea\n")
    decision = bot.memory.approve(id, OWNER)
    assert (decision.ending, decision.reason) == (DecisionEnding.FAILED, "reason.gone")
    assert bot.file() == "Likes tea\n"
    assert bot.said_keys()[1:] == [f"write-{id}-failed"]


def test_a_target_that_could_be_several_by_now_ends_the_write(bot: Remembering) -> None:
    """A guess would change the wrong one."""
    bot.writes_by_hand("Oslo office\n")
    id = bot.stage(remove("Oslo"))
    bot.writes_by_hand("Oslo flat\n§\nOslo boat\n")
    assert bot.memory.approve(id, OWNER).reason == "reason.ambiguous"
    assert bot.status(id) is Status.FAILED


def test_a_target_that_only_got_company_is_approved(bot: Remembering) -> None:
    """The card showed a whole entry; that it is now one of two with the word changes nothing."""
    bot.writes_by_hand("Oslo office\n")
    id = bot.stage(remove("Oslo"))
    bot.writes_by_hand("Oslo flat\n§\nOslo office\n")
    assert bot.memory.approve(id, OWNER).ending is DecisionEnding.APPLIED
    assert bot.file() == "Oslo flat\n"


def test_no_room_any_more_keeps_it_waiting_and_says_by_how_much(
    db: Database, home: Home, clock: StillClock
) -> None:
    """Failed ones stay pending with the reason (PI-170)."""
    bot = Remembering(db, home, clock, settings(memory_char_limit=20))
    id = bot.stage(add("bbbbbbbb"))
    bot.writes_by_hand("a" * 12 + "\n")
    decision = bot.memory.approve(id, OWNER)
    assert (decision.ending, decision.reason) == (DecisionEnding.REDRAWN, "reason.over_budget")
    assert decision.values is not None and decision.values["over"] == 3
    assert bot.row(id).reason_values["over"] == 3
    bot.writes_by_hand("a\n")
    assert bot.memory.approve(id, OWNER).ending is DecisionEnding.APPLIED
    assert bot.row(id).reason == ""


@pytest.mark.parametrize("operation", [add("Lives in Bergen"), swap("Oslo", "Lives in Bergen")])
def test_what_the_file_says_already_is_applied_without_writing(bot: Remembering, operation: Operation) -> None:
    """Not a byte changes."""
    bot.writes_by_hand("Lives in Oslo\n")
    id = bot.stage(operation)
    bot.writes_by_hand("Lives in Bergen")
    assert bot.memory.approve(id, OWNER).ending is DecisionEnding.APPLIED
    assert bot.file() == "Lives in Bergen"


def test_what_is_no_longer_clean_fails(bot: Remembering) -> None:
    """Rules may have become stricter while it waited."""
    id = bot.stage(add("Likes tea"))
    with bot.db.write() as tx:
        tx.execute("UPDATE writes SET operations = replace(operations, 'tea', 'te\u202ea') WHERE id = ?", (id,))
    decision = bot.memory.approve(id, OWNER)
    assert (decision.ending, decision.reason) == (DecisionEnding.FAILED, "reason.hidden_characters")
    assert bot.file() == ""


def test_an_approval_after_many_hand_edits_keeps_them_all(bot: Remembering) -> None:
    """Never overwrites (design.md 7.6)."""
    bot.writes_by_hand("a\n§\nb\n")
    id = bot.stage(swap("b", "B"), remove("a"), batch=True)
    bot.writes_by_hand("\ufeffc\r\n§\r\na\r\n\r\n§\r\nb\r\n§\r\nd")
    assert bot.memory.approve(id, OWNER).ending is DecisionEnding.APPLIED
    assert bot.file() == "\ufeffc\r\n§\r\nB\r\n§\r\nd\r\n"


# -- another text --------------------------------------------------------------------------------------


def test_an_edited_write_stays_staged_and_says_who(bot: Remembering) -> None:
    """Fix the wording before it is stored (PI-172)."""
    id = bot.stage(add("Lives in Bergn"))
    decision = bot.memory.edit(id, "  Lives in Bergen\n", OWNER)
    assert (decision.ending, decision.write.status, decision.write.edited_by) == (
        DecisionEnding.EDITED,
        Status.STAGED,
        OWNER,
    )
    bot.memory.approve(id, OWNER)
    assert bot.file() == "Lives in Bergen\n"
    assert len(bot.said()) == 3


def test_an_edited_text_is_checked_again(bot: Remembering) -> None:
    """Flags of the text follow the text; those of the evidence stay."""
    id = bot.stage(add("hide this from the user"), own=(), quotes=("never said",))
    assert bot.row(id).flags == ("flag.conceal", "flag.not_found")
    bot.memory.edit(id, "Likes tea", OWNER)
    assert bot.row(id).flags == ("flag.not_found",)
    for text in ("password: hunter2", "a\n§\nb", " "):
        with pytest.raises(Refused):
            bot.memory.edit(id, text, OWNER)
    assert bot.row(id).operations == (add("Likes tea"),)


def test_only_one_text_can_be_edited(bot: Remembering) -> None:
    """A batch or a removal has no single text."""
    bot.writes_by_hand("a\n")
    for operations in ((remove("a"),), (add("b"), add("c"))):
        with pytest.raises(Refused):
            bot.memory.edit(bot.stage(*operations), "x", OWNER)


def test_a_decided_write_cannot_be_edited(bot: Remembering) -> None:
    """The card may be old."""
    id = bot.stage(add("x"))
    bot.memory.reject(id, OWNER)
    assert bot.memory.edit(id, "y", OWNER).ending is DecisionEnding.ALREADY
    assert bot.memory.edit(id, "", OWNER).ending is DecisionEnding.ALREADY  # whatever is wrong with the text


def test_an_expired_write_cannot_be_approved(bot: Remembering) -> None:
    """It has ended; proposing it again makes a new row."""
    id = bot.stage(add("x"))
    bot.clock.at = given.after(days=31)
    bot.memory.expire()
    assert bot.memory.approve(id, OWNER).write.status is Status.EXPIRED
    assert bot.file() == ""
