"""Somebody edits a skill in an editor: the ledger says so, and it can be taken back."""

from datetime import datetime, timedelta

import pytest

from gateway.errors import Refused
from gateway.home import Home
from gateway.records import Action, Operation, Origin, Status, Write
from gateway.store.db import Database
from tests.store.given import StillClock
from tests.store.skilful import DELETE, OWNER, PRINTER, Skilful, create, main_file, patch


class Ticking(StillClock):
    """Each look at it is a second later: what comes after what is told by the time."""

    def now(self) -> datetime:
        self.at += timedelta(seconds=1)
        return self.at


@pytest.fixture
def bot(db: Database, home: Home) -> Skilful:
    return Skilful(db, home, Ticking())


def by_hand(bot: Skilful) -> list[Write]:
    return [row for row in bot.log() if row.origin is Origin.HAND_EDIT]


def test_a_hand_edit_is_one_row_with_both_texts(bot: Skilful) -> None:
    """Noticed by housekeeping, once; nobody decided it, so nothing that looks odd in it is vouched for."""
    bot.done("printer", create(PRINTER))
    mine = PRINTER + "3. Wait longer.\n"
    bot.by_hand("printer", mine)

    assert bot.skills.notice_hand_edits(bot.space)
    assert bot.skills.notice_hand_edits(bot.space)

    (row,) = by_hand(bot)
    assert (row.status, row.before, row.after, row.decided_by) == (Status.APPLIED, PRINTER, mine, "")
    assert row.operations == (Operation(Action.EDIT, mine),)


def test_a_hand_edit_is_taken_back(bot: Skilful) -> None:
    """As any other change, and only while nothing was written over it."""
    bot.done("printer", create(PRINTER))
    bot.by_hand("printer", PRINTER + "3. Wait longer.\n")
    bot.skills.notice_hand_edits(bot.space)

    bot.skills.undo(by_hand(bot)[0].id, OWNER)

    assert bot.file("printer") == PRINTER
    bot.skills.notice_hand_edits(bot.space)
    assert len(by_hand(bot)) == 1


def test_a_hand_edit_comes_before_the_change_that_met_it(bot: Skilful) -> None:
    """Each row begins where the one before it ended."""
    bot.done("printer", create(PRINTER))
    bot.by_hand("printer", PRINTER.replace("Wait.", "Wait a minute."))
    bot.done("printer", patch("Switch it off", "Pull the plug"))

    made, mine, patched = bot.log()
    assert [made.after_hash, mine.after_hash] == [mine.before_hash, patched.before_hash]
    assert mine.origin is Origin.HAND_EDIT


def test_a_hand_edit_before_an_undo_is_kept_and_told_apart(bot: Skilful) -> None:
    """What was undone leaves the hand's words alone, and the file as it then is counts as known."""
    bot.done("printer", create(PRINTER))
    id = bot.done("printer", patch("Switch it off", "Pull the plug"))
    bot.by_hand("printer", (bot.file("printer") or "") + "3. Sing.\n")

    bot.skills.undo(id, OWNER)

    assert bot.file("printer") == PRINTER + "3. Sing.\n"
    assert len(by_hand(bot)) == 1


def test_a_skill_that_came_back_by_hand_is_a_creation(bot: Skilful) -> None:
    """Deleted, then copied back: its undo takes it away again."""
    bot.done("printer", create(PRINTER))
    bot.done("printer", DELETE)
    bot.by_hand("printer", PRINTER)
    bot.skills.notice_hand_edits(bot.space)

    assert [row.action for row in by_hand(bot)] == [Action.CREATE]
    bot.skills.undo(by_hand(bot)[0].id, OWNER)
    assert bot.file("printer") is None


def test_a_secret_put_there_by_hand_is_not_copied(bot: Skilful) -> None:
    """The row says that something was changed; without the words it cannot be taken back."""
    bot.done("printer", create(PRINTER))
    bot.by_hand("printer", PRINTER + "password: hunter2-Tr0ub4dor&3\n")
    bot.skills.notice_hand_edits(bot.space)
    (row,) = by_hand(bot)
    assert "hunter2" not in repr((row.operations, row.before, row.after))

    bot.by_hand("printer", PRINTER + "3. Ask Anna.\n")
    bot.skills.notice_hand_edits(bot.space)
    with pytest.raises(Refused) as refused:
        bot.skills.undo(by_hand(bot)[1].id, OWNER)
    assert refused.value.key == "undo.not_kept"


@pytest.mark.parametrize("data", [b"\xff\xfe broken", None])
def test_what_is_no_text_or_gone_is_left_to_the_person(bot: Skilful, data: bytes | None) -> None:
    """There is nothing to show in a ledger of texts; the change after it sets the file aside as before."""
    bot.done("printer", create(PRINTER))
    if data is None:
        bot.path("printer").unlink()
    else:
        bot.by_hand("printer", data)
    assert bot.skills.notice_hand_edits(bot.space)
    assert by_hand(bot) == []


def test_a_skill_that_hikae_never_wrote_is_its_persons_alone(bot: Skilful) -> None:
    """A folder full of skills that somebody copied in floods no ledger."""
    bot.by_hand("tea", main_file("tea"))
    assert bot.skills.notice_hand_edits(bot.space)
    assert bot.log() == []
