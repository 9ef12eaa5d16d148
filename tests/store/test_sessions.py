"""Sessions: one open per chat, with a prompt that stays byte for byte."""

import re
import sqlite3

import pytest

from gateway.chat import Chat
from gateway.errors import NotFound
from gateway.records import Done, Role, SessionSummary
from gateway.store import messages, prompts, reviews, sessions
from gateway.store.db import Database, Transaction
from tests.store import given
from tests.store.given import CHAT, NINE

SESSION = "20261130_090007_57bbf6"


def test_an_id_says_when_and_is_unique() -> None:
    """People see it, and type it."""
    ids = {sessions.new_id(NINE) for _ in range(50)}

    assert len(ids) == 50
    assert all(re.fullmatch(r"20261130_090007_[0-9a-f]{6}", id) for id in ids)


def test_a_session_comes_back_with_every_byte_of_its_prompt(db: Database, other: Database) -> None:
    """Another byte and the model's cache is lost, and the memory it saw is no longer the one it saw."""
    with db.write() as tx:
        opened = given.session(tx)

    with other.read() as rd:
        assert sessions.current(rd, CHAT) == sessions.get(rd, SESSION) == opened
        assert sessions.current(rd, CHAT, "telegram:5") is None
        assert sessions.current(rd, Chat("telegram", "123", "9")) is None


def test_a_chat_has_one_open_session_whoever_opens_it(db: Database, other: Database) -> None:
    """A terminal and a gateway that begin at once must not split the conversation."""
    with db.write() as tx:
        given.space(tx)

    def begin(database: Database, id: str) -> str:
        with database.write() as tx:
            return (sessions.current(tx, CHAT) or given.session(tx, id)).id

    both = given.at_once(
        lambda: begin(db, "20261130_090007_aaaaaa"), lambda: begin(other, "20261130_090007_bbbbbb")
    )

    assert both[0] == both[1]
    with pytest.raises(sqlite3.IntegrityError), db.write() as tx:
        given.session(tx, "20261130_090007_cccccc")


def test_an_ended_session_makes_room_and_can_be_taken_up_again(db: Database) -> None:
    """/new, and `--resume` later, perhaps from another chat."""
    terminal = Chat("terminal", "1")
    with db.write() as tx:
        given.session(tx)

        assert (sessions.end(tx, SESSION, "asked", NINE), sessions.end(tx, SESSION, "idle", NINE)) == (True, False)
        assert sessions.current(tx, CHAT) is None
        assert (sessions.reopen(tx, SESSION, terminal), sessions.reopen(tx, SESSION, terminal)) == (True, False)
        again = sessions.current(tx, terminal)

    assert again is not None
    assert (again.id, again.ended_at) == (SESSION, None)


def _turn(tx: Transaction, *, generation: int = 1, done: bool = True) -> int:
    """One turn of the session, answered unless told otherwise."""
    number = sessions.begin_turn(tx, SESSION, NINE)
    id = given.keep(tx, f"question {number}")
    messages.begin(tx, id, SESSION, number, generation, "", None)
    if done:
        messages.finish(tx, id, Done.ANSWERED, NINE)
    return number


def test_a_former_prompt_stays_until_its_turns_are_reviewed(db: Database) -> None:
    """The review repeats the request of the turn byte for byte; then nobody needs the old memory text."""
    with db.write() as tx:
        space = given.session(tx).space
        _turn(tx)
        prompts.refreeze(tx, SESSION, "You are hikae. Bergen.", "[1]", NINE)
        _turn(tx, generation=2)
        assert sessions.get(tx, SESSION).generation == 2
        assert prompts.of(tx, SESSION, 1) == ("You are hikae.", "[]")
        assert prompts.of(tx, SESSION, 2) == ("You are hikae. Bergen.", "[1]")

        reviews.make_due(tx, SESSION, space, 1, 1, "asked", NINE)
        prompts.drop_former(tx, SESSION)
        assert prompts.of(tx, SESSION, 1) == ("You are hikae.", "[]")

        reviews.claim(tx, SESSION, 1, "job-1", NINE, NINE)
        reviews.finish(tx, SESSION, 1, "job-1", NINE)
        prompts.drop_former(tx, SESSION)
        with pytest.raises(NotFound, match="no longer kept"):
            prompts.of(tx, SESSION, 1)
        assert prompts.of(tx, SESSION, 2) == ("You are hikae. Bergen.", "[1]")


def test_a_prompt_that_no_turn_was_sent_under_is_not_kept(db: Database) -> None:
    """Two refreshes in a row."""
    with db.write() as tx:
        given.session(tx)
        prompts.refreeze(tx, SESSION, "second", "[]", NINE)
        prompts.refreeze(tx, SESSION, "third", "[]", NINE)

        assert tx.rows("SELECT * FROM former_prompts") == []
        with pytest.raises(NotFound):
            prompts.refreeze(tx, "20260101_000000_000000", "x", "[]", NINE)


def test_turns_are_numbered_in_one_row_for_all_processes(db: Database, other: Database) -> None:
    """The number is what a review is known by."""
    with db.write() as tx:
        given.session(tx)

    def begin(database: Database) -> int:
        with database.write() as tx:
            return sessions.begin_turn(tx, SESSION, NINE)

    numbers = given.at_once(*[lambda: begin(db), lambda: begin(other)] * 3)

    assert sorted(numbers) == [1, 2, 3, 4, 5, 6]
    with pytest.raises(NotFound), db.write() as tx:
        sessions.begin_turn(tx, "20260101_000000_000000", NINE)


def test_only_finished_turns_wait_for_a_review(db: Database) -> None:
    """A turn under way is reviewed with the next ones; none is reviewed twice."""
    with db.write() as tx:
        given.session(tx)
        assert sessions.unreviewed(tx, SESSION) is None
        _turn(tx)
        _turn(tx)
        _turn(tx, done=False)
        assert sessions.unreviewed(tx, SESSION) == (1, 2)
        sessions.mark_due(tx, SESSION, 2)
        sessions.mark_due(tx, SESSION, 1)
        assert sessions.unreviewed(tx, SESSION) is None
        messages.finish(tx, messages.of_turn(tx, SESSION, 3)[0].id, Done.STOPPED, NINE)
        assert sessions.unreviewed(tx, SESSION) == (3, 3)
        assert sessions.unreviewed(tx, "20260101_000000_000000") is None


def test_quiet_sessions_are_those_with_something_left(db: Database) -> None:
    """Sessions shorter than the interval were never reviewed in other bots."""
    with db.write() as tx:
        given.session(tx)
        _turn(tx)
        given.session(tx, "20261130_090007_000000", chat=Chat("telegram", "5"))
        sessions.end(tx, SESSION, "asked", NINE)

        assert sessions.quiet(tx, NINE) == []
        assert [session.id for session in sessions.quiet(tx, given.after(minutes=1))] == [SESSION]


def test_sessions_are_listed_newest_first_with_what_a_list_shows(db: Database) -> None:
    """Of one space, or for the owner of all."""
    with db.write() as tx:
        space = given.session(tx).space
        _turn(tx)
        given.keep(tx, "answer", role=Role.ASSISTANT, session=SESSION, turn=1)
        given.session(tx, "20261130_100007_000000", chat=Chat("telegram", "5"))
        sessions.begin_turn(tx, "20261130_100007_000000", given.after(hours=1))
        sessions.rename(tx, SESSION, "Bergen")

        listed = sessions.recent(tx, space, 10)
        assert [summary.id for summary in listed] == ["20261130_100007_000000", SESSION]
        assert listed[1] == SessionSummary(SESSION, "Bergen", CHAT, "owner", NINE, NINE, None, 2)
        assert sessions.recent(tx, None, 1) == listed[:1]
        assert sessions.recent(tx, space + 1, 10) == []
        with pytest.raises(NotFound):
            sessions.rename(tx, "20260101_000000_000000", "x")
