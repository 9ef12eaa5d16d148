"""What is remembered can be taken back, also after later changes, and nothing of others is written over."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given as for_all
from hypothesis import strategies as st

from gateway import failpoints
from gateway.chat import Person
from gateway.decisions import DecisionEnding
from gateway.errors import AlreadyDecided, NotAllowed, NotFound, OverBudget, Refused
from gateway.home import Home
from gateway.memory import asking, entries, tracing, undos
from gateway.memory.undos import Effect
from gateway.memory.writing import Memory
from gateway.records import Action, Evidence, Operation, Origin, Status, Target, Write
from gateway.store import choices, people, textfile, undoing, writes
from gateway.store.db import Database
from tests.store.given import CHAT, NINE, StillClock, after, at_once
from tests.store.remembering import OWNER, Remembering, add, remove, settings, swap

STEPS = ["undo.begun", "textfile.copy_written", "textfile.replaced", "undo.replaced", "undo.done"]


@pytest.fixture
def bot(db: Database, home: Home, clock: StillClock) -> Remembering:
    return Remembering(db, home, clock)


# -- each kind of write ------------------------------------------------------------------------------------


def test_an_added_entry_goes(bot: Remembering) -> None:
    """The row keeps who took it back and when; the file has nothing of it."""
    bot.add("Likes tea")
    id = bot.add("Lives in Bergen")
    row = bot.memory.undo(id, OWNER, 500)
    assert bot.file() == "Likes tea\n"
    assert (row.status, row.undone_by, row.undone_at, row.undone_in, row.reason) == (
        Status.UNDONE, OWNER, NINE, 500, "",
    )  # fmt: skip


def test_a_removed_entry_comes_back_to_its_place(bot: Remembering) -> None:
    """Not at the end: the file is the person's, and so is its order."""
    bot.writes_by_hand("a\n§\nb\n§\nc\n")
    id = bot.memory.propose(bot.proposal(remove("b"))).write
    assert id is not None
    bot.add("d")
    bot.memory.undo(id, OWNER)
    assert bot.file() == "a\n§\nb\n§\nc\n§\nd\n"


def test_a_replaced_entry_says_again_what_it_said(bot: Remembering) -> None:
    """Where it stood."""
    bot.writes_by_hand("a\n§\nLives in Oslo\n§\nc\n")
    id = bot.memory.propose(bot.proposal(swap("Oslo", "Lives in Bergen"))).write
    assert id is not None
    bot.memory.undo(id, OWNER)
    assert bot.file() == "a\n§\nLives in Oslo\n§\nc\n"


def test_a_batch_is_taken_back_as_one(bot: Remembering) -> None:
    """Also where a later operation changed what an earlier one had put in."""
    bot.writes_by_hand("a\n§\nb\n§\nc\n§\nd\n")
    batch = (remove("a"), swap("b", "B"), swap("B", "BB"), add("e"), remove("d"), add("gone"), remove("gone"))
    id = bot.memory.propose(bot.proposal(*batch, batch=True)).write
    assert id is not None
    assert bot.file() == "BB\n§\nc\n§\ne\n"
    bot.memory.undo(id, OWNER)
    assert bot.file() == "a\n§\nb\n§\nc\n§\nd\n"


def test_a_batch_of_which_one_part_was_changed_stays_whole(bot: Remembering) -> None:
    """All or nothing: half an undo is a state that nobody ever saw."""
    id = bot.memory.propose(bot.proposal(add("a"), add("b"), batch=True)).write
    assert id is not None
    later = bot.memory.propose(bot.proposal(swap("b", "B"))).write
    with pytest.raises(Refused) as refused:
        bot.memory.undo(id, OWNER)
    assert (refused.value.key, refused.value.values) == ("undo.changed_by", {"id": id, "later": later})
    assert (bot.file(), bot.status(id)) == ("a\n§\nB\n", Status.APPLIED)
    assert later is not None
    bot.memory.undo(later, OWNER)
    bot.memory.undo(id, OWNER)
    assert bot.file() == ""


def test_a_reset_is_taken_back(bot: Remembering) -> None:
    """The greatest loss of all; what was said since stays beside it."""
    bot.writes_by_hand("a\n§\nb\n§\nc\n")
    bot.memory.reset(bot.space, [Target.MEMORY], OWNER)
    assert not bot.home.memory_file("owner", Target.MEMORY).exists()
    bot.add("d")
    id = next(row.id for row in bot.log() if row.operations == (remove("a"), remove("b"), remove("c")))
    bot.memory.undo(id, OWNER)
    assert bot.file() == "a\n§\nb\n§\nc\n§\nd\n"


def test_a_hand_edit_is_taken_back(bot: Remembering) -> None:
    """A slip of an editor is a write like any other."""
    bot.writes_by_hand("a\n§\nb\n§\nc\n")
    assert bot.memory.notice_hand_edits(bot.space)
    bot.writes_by_hand("a\n§\nnew\n§\nother\n")
    assert bot.memory.notice_hand_edits(bot.space)
    bot.memory.undo(bot.log()[-1].id, OWNER)
    assert bot.file() == "a\n§\nb\n§\nc\n"


def test_what_was_put_into_a_glued_entry_goes_and_the_rest_stays(bot: Remembering) -> None:
    """Lines that a person put under an entry of ours without the separator are theirs."""
    bot.add("Lives in Oslo")
    bot.writes_by_hand("Lives in Oslo\nand my own line\n")
    id = bot.memory.propose(bot.proposal(swap("in Oslo", "Lives in Bergen"))).write
    assert id is not None
    bot.memory.undo(id, OWNER)
    assert bot.file() == "Lives in Oslo\n§\nand my own line\n"


def test_what_changed_nothing_cannot_be_taken_back(bot: Remembering) -> None:
    """Approving what the file says already made no change, so there is none to undo."""
    id = bot.stage(add("Likes tea"))
    bot.writes_by_hand("Likes tea\n")
    bot.memory.approve(id, OWNER)
    with pytest.raises(Refused) as refused:
        bot.memory.undo(id, OWNER)
    assert refused.value.key == "undo.nothing"
    assert bot.file() == "Likes tea\n"


# -- what stands in the way -------------------------------------------------------------------------------


def test_an_entry_that_was_edited_by_hand_is_left_alone(bot: Remembering) -> None:
    """The person's words are worth more than our undo; the edit is a row that can be named."""
    id = bot.add("Lives in Bergen")
    bot.writes_by_hand("Lives in Bergen, by the harbour\n")
    bot.memory.notice_hand_edits(bot.space)
    with pytest.raises(Refused) as refused:
        bot.memory.undo(id, OWNER)
    assert refused.value.values == {"id": id, "later": bot.log()[-1].id}
    assert bot.file() == "Lives in Bergen, by the harbour\n"


def test_what_has_no_room_any_more_does_not_come_back(bot: Remembering) -> None:
    """The budget holds for everybody; nothing is pushed out."""
    bot = Remembering(bot.db, bot.home, bot.clock, settings(memory_char_limit=20))
    bot.add("a" * 15)
    id = bot.memory.propose(bot.proposal(remove("a" * 15))).write
    assert id is not None
    bot.add("b" * 10)
    with pytest.raises(OverBudget) as full:
        bot.memory.undo(id, OWNER)
    assert full.value.values == {"id": id, "over": 8, "after": 28, "limit": 20}
    assert bot.file() == "b" * 10 + "\n"


def test_an_attack_does_not_come_back_through_an_undo(bot: Remembering) -> None:
    """Somebody wrote it into the file by hand and took it out again: undo is no way round the scan."""
    bot.writes_by_hand("see \U000e0041\U000e0042\U000e0043 this\n§\nb\n")
    bot.memory.notice_hand_edits(bot.space)
    bot.writes_by_hand("b\n")
    bot.memory.notice_hand_edits(bot.space)
    with pytest.raises(Refused):
        bot.memory.undo(bot.log()[-1].id, OWNER)
    assert bot.file() == "b\n"


@pytest.mark.parametrize("status", ["staged", "rejected", "refused", "undone"])
def test_only_what_is_in_force_can_be_taken_back(bot: Remembering, status: str) -> None:
    """An undo itself is not undone: what is wanted again is a new write."""
    id = bot.stage(add("x"))
    if status == "rejected":
        bot.memory.reject(id, OWNER)
    elif status == "refused":
        id = bot.add("password: hunter2hunter2")
    elif status == "undone":
        bot.memory.approve(id, OWNER)
        bot.memory.undo(id, OWNER)
    key = "undo.already" if status == "undone" else "undo.not_applied"
    with pytest.raises(AlreadyDecided, check=lambda error: error.key == key):
        bot.memory.undo(id, OWNER)


def test_a_forged_number_is_said_and_a_store_that_is_off_is_closed(bot: Remembering) -> None:
    """People type ids; a switched-off store is reached by no door."""
    with pytest.raises(NotFound):
        bot.memory.undo(99, OWNER)
    id = bot.add("x")
    off = Memory(bot.db, bot.home, bot.clock, settings(memory_enabled=False))
    with pytest.raises(NotAllowed):
        off.undo(id, OWNER)


def test_what_is_wanted_again_is_a_write_of_its_own(bot: Remembering) -> None:
    """The way back from an undo."""
    id = bot.add("x")
    bot.memory.undo(id, OWNER)
    again = bot.add("x", dedupe="turn-500-1-0")
    assert again != id
    assert (bot.file(), bot.status(id), bot.status(again)) == ("x\n", Status.UNDONE, Status.APPLIED)


# -- once, whatever happens -------------------------------------------------------------------------------


def test_the_same_tap_twice_is_one_undo(bot: Remembering) -> None:
    """A command that is done again after a kill gets its own answer again; another one hears who was first."""
    id = bot.add("x")
    assert bot.memory.undo(id, OWNER, 500) == bot.memory.undo(id, OWNER, 500)
    with pytest.raises(AlreadyDecided):
        bot.memory.undo(id, OWNER, 501)


def test_two_people_at_once_take_it_back_once(
    bot: Remembering, other: Database, home: Home, clock: StillClock
) -> None:
    """Two processes, one row, one change of the file."""
    bot.writes_by_hand("x\n§\ny\n")
    id = bot.memory.propose(bot.proposal(remove("x"))).write
    assert id is not None
    there = Memory(other, home, clock, bot.settings)

    def undo(memory: Memory, by: str) -> str:
        try:
            return memory.undo(id, by).undone_by
        except AlreadyDecided as late:
            return late.key

    done = at_once(lambda: undo(bot.memory, OWNER), lambda: undo(there, "discord:9"))
    assert sorted(done) == sorted([bot.row(id).undone_by, "undo.already"])
    assert bot.file() == "x\n§\ny\n"


def test_the_card_and_the_notice_say_it(bot: Remembering) -> None:
    """Once each, whoever took it back and where."""
    id = bot.stage(add("x"))
    bot.memory.approve(id, OWNER, 500)
    bot.memory.undo(id, OWNER, 501)
    assert bot.said_keys()[1:] == [f"write-{id}-approved", f"write-{id}-undone"]


@pytest.mark.processes
@pytest.mark.parametrize("step", STEPS)
def test_a_kill_during_an_undo_is_finished_later(bot: Remembering, step: str) -> None:
    """The row says what the file was and will be; one of both is true (promise 2)."""
    bot.writes_by_hand("a\n§\nLives in Oslo\n§\nb\n")
    id = bot.stage(swap("Oslo", "Lives in Bergen"))
    bot.memory.approve(id, OWNER, 500)

    died = subprocess.run(
        [sys.executable, "-m", "tests.store.test_undoing", step, str(bot.home.path), str(id)],
        check=False,
        timeout=60,
    )

    assert died.returncode == -9
    bot.memory.finish_interrupted()
    assert bot.file() == "a\n§\nLives in Oslo\n§\nb\n"
    assert (bot.status(id), bot.row(id).reason) == (Status.UNDONE, "")
    assert bot.said_keys()[-1] == f"write-{id}-undone"
    assert bot.memory.notice_hand_edits(bot.space)
    assert [row.origin for row in bot.log()].count(Origin.HAND_EDIT) == 1  # nothing more than what a person did
    assert bot.memory.finish_interrupted() == 0


def _die(step: str, path: str, id: str) -> None:
    home, clock = Home(Path(path)), StillClock()
    with Database.open(home, clock) as db:
        bot = Remembering(db, home, clock)
        failpoints.arm(step)
        bot.memory.undo(int(id), OWNER)


def test_whoever_edits_by_hand_between_ledger_and_file_loses_nothing(bot: Remembering) -> None:
    """The undo is carried out on the file as it is then."""
    id = bot.add("Lives in Bergen")
    file = bot.home.memory_file("owner", Target.MEMORY)
    with bot.db.write() as tx:
        undoing.begin(
            tx, id, by=OWNER, at=NINE,
            before_hash=textfile.sha256(file.read_bytes()), after_hash=textfile.sha256(b""),
        )  # fmt: skip
    bot.writes_by_hand("Lives in Bergen\n§\nmine\n")
    bot.clock.at = after(minutes=1)
    bot.memory.finish_interrupted()
    assert (bot.file(), bot.row(id).reason) == ("mine\n", "")
    assert bot.log()[-1].operations == (add("mine"),)
    # Read from its beginning, the ledger comes to the file: what was undone on the hand's file is undone after it.
    assert bot.row(id).undone_at == bot.log()[-1].applied_at == after(minutes=1)


def test_an_undo_that_a_hand_overtook_leaves_the_write_in_force(bot: Remembering) -> None:
    """All or nothing: what still stands keeps its write, and the command, done again, says what conflicts."""
    id = bot.stage(add("a"), add("b"), batch=True)
    bot.memory.approve(id, OWNER)
    card = bot.said_keys()
    with bot.db.write() as tx:
        undoing.begin(
            tx, id, by=OWNER, at=NINE, through=500,
            before_hash=textfile.sha256(b"a\n\xc2\xa7\nb\n"), after_hash=textfile.sha256(b""),
        )  # fmt: skip
    bot.writes_by_hand("a\n§\nB\n")
    bot.memory.finish_interrupted()
    assert (bot.file(), bot.status(id), bot.row(id).undone_by) == ("a\n§\nB\n", Status.APPLIED, "")
    assert bot.said_keys() == card  # nobody is told that it was taken back
    ((target, entry),) = bot.memory.find(bot.space, "a")
    assert [row.id for row in bot.memory.trace(bot.space, tracing.entry_id(target, entry)).writes] == [id]
    with pytest.raises(Refused) as refused:
        bot.memory.undo(id, OWNER, 500)
    assert refused.value.key == "undo.changed_by"
    bot.writes_by_hand("a\n§\nb\n")
    assert bot.memory.undo(id, OWNER, 501).status is Status.UNDONE
    assert (bot.file(), bot.row(id).reason) == ("", "")


@pytest.mark.parametrize(("through", "told"), [(None, True), (500, False)])
def test_an_undo_of_a_dead_terminal_that_came_to_nothing_is_told(
    bot: Remembering, through: int | None, told: bool
) -> None:
    """A chat's command is done again after the kill and says it itself; of a terminal nobody would hear."""
    with bot.db.write() as tx:
        people.keep_account(tx, Person.parse(OWNER), "owner", bot.space.id, NINE)
        people.keep_chat(tx, CHAT, private=True, person=OWNER, space=bot.space.id, language="", at=NINE)
    id = bot.add("Lives in Bergen")
    with bot.db.write() as tx:
        undoing.begin(tx, id, by="terminal:owner", at=NINE, through=through, before_hash="x", after_hash="y")
    bot.writes_by_hand("Lives in Oslo\n")

    bot.memory.finish_interrupted()

    assert (bot.status(id), bot.row(id).reason) == (Status.APPLIED, "undo.changed")
    said = [row.values for row in bot.said()]
    assert said == ([{"key": "undo.overtaken", "id": id}] if told else [])


def test_an_undo_that_still_waits_is_not_told_as_done_when_its_command_is_done_again(bot: Remembering) -> None:
    """After a kill the command comes again; its file is closed to us as before."""
    id = bot.add("Lives in Bergen")
    file = bot.home.memory_file("owner", Target.MEMORY)
    with bot.db.write() as tx:
        undoing.begin(
            tx, id, by=OWNER, at=NINE, through=500,
            before_hash=textfile.sha256(file.read_bytes()), after_hash=textfile.sha256(b""),
        )  # fmt: skip
    file.chmod(0o400)
    with pytest.raises(Refused) as refused:
        bot.memory.undo(id, OWNER, 500)
    assert refused.value.key == "undo.waits"
    file.chmod(0o600)
    assert bot.memory.undo(id, OWNER, 500).status is Status.UNDONE
    assert bot.file() == ""


def test_a_file_that_is_closed_for_a_while_is_put_back_later(bot: Remembering) -> None:
    """What was promised is kept; nobody has to say it again."""
    id = bot.add("Lives in Bergen")
    file = bot.home.memory_file("owner", Target.MEMORY)
    with bot.db.write() as tx:
        undoing.begin(
            tx, id, by=OWNER, at=NINE,
            before_hash=textfile.sha256(file.read_bytes()), after_hash=textfile.sha256(b""),
        )  # fmt: skip
    file.chmod(0o400)
    assert bot.memory.finish_interrupted() == 0
    assert bot.row(id).reason == undoing.DUE
    file.chmod(0o600)
    assert bot.memory.finish_interrupted() == 1
    assert (bot.file(), bot.row(id).reason) == ("", "")


# -- hand edits are rows ------------------------------------------------------------------------------------


def test_a_hand_edit_is_noticed_once_and_without_a_write(bot: Remembering) -> None:
    """The ledger says it when it is asked, not only after hikae's next write."""
    bot.writes_by_hand("a\n§\nb\n")
    assert bot.memory.notice_hand_edits(bot.space)
    bot.memory.notice_all_hand_edits()
    (row,) = bot.log()
    assert (row.origin, row.status, row.operations) == (Origin.HAND_EDIT, Status.APPLIED, (add("a"), add("b")))


def test_a_copy_that_was_taken_out_by_hand_is_a_change(bot: Remembering) -> None:
    """Of two equal entries one went: the ledger replayed must come to the file."""
    bot.writes_by_hand("a\n§\na\n")
    bot.memory.notice_hand_edits(bot.space)
    bot.writes_by_hand("a\n")
    bot.memory.notice_hand_edits(bot.space)
    assert bot.log()[-1].operations == (remove("a"),)


def test_noticing_waits_for_nobody(bot: Remembering, home: Home) -> None:
    """A turn must not stand still because a review is writing."""
    bot.writes_by_hand("a\n")
    with textfile.lock(home.space_lock("owner"), 1):
        assert not bot.memory.notice_hand_edits(bot.space)
    assert bot.memory.notice_hand_edits(bot.space)
    assert len(bot.log()) == 1


# -- rows that nobody can read --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "odd",
    [
        {"operations": "not json"},
        {"operations": "[]"},
        {"operations": '[{"action":"append","text":"x"}]'},
        {"operations": '[{"action":"add","content":5,"old_text":""}]'},
        {"operations": '{"add": "x"}'},
        {"origin": "dream"},
        {"target": "notes"},
        {"flags": "{", "reason_values": "[1]", "operations": "null"},
        {"operations": "[" * 100_000},
        {"operations": '[{"action":"create","content":"x"}]'},
        {"operations": "[]", "created_at": "yesterday", "expires_at": "", "places": "[1e400]"},
        {"operations": "[]", "created_at": "2026-01-01T00:00:00"},
    ],
)
def test_an_odd_row_is_listed_and_nobody_can_approve_it(bot: Remembering, odd: dict[str, str]) -> None:
    """One row of an older version must not hide the others."""
    good, id = bot.stage(add("x")), bot.stage(add("y"))
    with bot.db.write() as tx:
        for column, value in odd.items():
            tx.execute(f"UPDATE writes SET {column} = ? WHERE id = ?", (value, id))
    with bot.db.read() as rd:
        assert [row.id for row in writes.staged(rd, None)] == [good, id]
        assert all(row.created_at <= NINE for row in writes.log(rd, None, 9))  # times that can be compared
    decision = bot.memory.approve(id, OWNER)
    assert (decision.ending, decision.reason) == (DecisionEnding.FAILED, "reason.row_unreadable")
    assert bot.memory.approve(good, OWNER).ending is DecisionEnding.APPLIED
    assert bot.file() == "x\n"


# -- who switched approval ------------------------------------------------------------------------------------


def test_every_switch_of_approval_stays_known(bot: Remembering) -> None:
    """Whoever turned it off for a minute is still to be seen."""
    with bot.db.write() as tx:
        for asks, by in ((True, OWNER), (False, "discord:9"), (True, OWNER)):
            asking.choose(tx, bot.space.id, asks=asks, by=Person.parse(by), at=NINE)
        found = choices.changes(tx, bot.space.id, None, None)
        assert choices.changes(tx, bot.group.id, None, None) == []
    assert [(each.value, each.by) for each in found] == [("on", OWNER), ("off", "discord:9"), ("on", OWNER)]


# -- for all files and batches --------------------------------------------------------------------------------


def applied(batch: Sequence[Operation], change: entries.Applied) -> Write:
    """The row of a write that did this."""
    return Write(
        id=1, space=1, space_name="owner", kind="memory", about="memory", operations=tuple(batch),
        origin=Origin.FOREGROUND, evidence=Evidence(None, "", ""), flags=(), status=Status.APPLIED, reason="",
        reason_values={}, message=None, session="", review_turn=None, base_hash="", before_hash="", after_hash="",
        before=entries.JOINT.join(change.before), after=entries.JOINT.join(change.after), created_at=NINE,
        expires_at=None, decided_by="", decided_at=None, decided_in=None, places=change.places,
    )  # fmt: skip


TEXTS = st.sampled_from(["a", "b", "c", "d", "two\nlines", "ab"])
OPERATIONS = st.one_of(
    st.builds(add, TEXTS), st.builds(remove, TEXTS), st.builds(swap, TEXTS, TEXTS)
)  # fmt: skip


@for_all(st.lists(TEXTS, unique=True, max_size=5), st.lists(OPERATIONS, min_size=1, max_size=5))
def test_an_undo_at_once_gives_what_was_there_before(texts: list[str], batch: list[Operation]) -> None:
    """Whatever a write did; the order, too, unless a batch named the same text again and again."""
    doc = entries.parse("\n§\n".join(texts))
    change = entries.apply(batch, doc, None)
    if not isinstance(change, entries.Applied):
        return
    way = undos.way_back(applied(batch, change), change.doc, None)
    assert isinstance(way, undos.Back | undos.NothingToDo)
    back = way.doc if isinstance(way, undos.Back) else change.doc
    assert sorted(back.texts) == sorted(doc.texts)
    named = [text for operation in batch for text in (operation.content, operation.old_text) if text]
    if len(set(named)) == len(named):
        assert back.texts == doc.texts


def test_the_effects_of_a_batch_are_told_entry_by_entry() -> None:
    """An entry that a batch put in and changed again is one effect; one that it took out again is none."""
    doc = entries.parse("a\n§\nb\n")
    batch = (add("x"), swap("x", "y"), remove("a"), add("z"), remove("z"), Operation(Action.ADD, "b"))
    change = entries.apply(batch, doc, None)
    assert isinstance(change, entries.Applied)
    assert undos.effects(applied(batch, change)) == (Effect("", "y"), Effect("a", "", 0))


if __name__ == "__main__":
    _die(*sys.argv[1:])
