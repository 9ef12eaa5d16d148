"""When a session ends unasked, as its rows have it: what was said when, and what goes on all the same."""

from dataclasses import replace
from datetime import timedelta

import pytest

from gateway.chat import Chat
from gateway.conversation import resetting
from gateway.records import Done, Message, Session
from gateway.settings import Settings
from gateway.store import sessions
from gateway.store.db import Database, Transaction
from tests.store import given
from tests.store.given import NINE

IDLE = Settings.model_validate({"session": {"reset": "idle", "idle_minutes": 60}})


def asks(tx: Transaction, session: Session, text: str = "hello", minutes: float = 0.0) -> Message:
    """A question that has begun its turn, said so many minutes after nine."""
    at = given.after(minutes=minutes)
    id = given.keep(tx, text, at=at)
    turn = sessions.begin_turn(tx, session.id, at, at)
    given.messages.begin(tx, id, session.id, turn, 1, "", None)
    return given.messages.get(tx, id)


def waits(tx: Transaction, minutes: float, **fields: object) -> Message:
    """A message that has no turn yet."""
    return given.messages.get(tx, given.keep(tx, "well?", at=given.after(minutes=minutes), **fields))


def why(tx: Transaction, session: Session, message: Message) -> str:
    return resetting.why(tx, IDLE, sessions.get(tx, session.id), message)


def test_a_session_ends_for_a_message_that_comes_too_late(db: Database) -> None:
    """The plain case, which all others are exceptions of."""
    with db.write() as tx:
        session = given.session(tx)
        given.messages.finish(tx, asks(tx, session).id, Done.ANSWERED, NINE)

        assert [why(tx, session, waits(tx, minutes)) for minutes in (59, 60)] == ["", "idle"]


def test_a_session_in_which_a_turn_runs_goes_on(db: Database) -> None:
    """Another process may be answering in it: `hikae chat --resume` in the session of a chat."""
    with db.write() as tx:
        session = given.session(tx)
        asked = asks(tx, session)
        assert why(tx, session, waits(tx, 600)) == ""

        given.messages.finish(tx, asked.id, Done.FAILED, NINE)

        assert why(tx, session, waits(tx, 600)) == "idle"


def test_a_session_that_was_named_goes_on(db: Database) -> None:
    """Whoever says `--resume` has said which one."""
    with db.write() as tx:
        session = given.session(tx)
        given.messages.finish(tx, asks(tx, session).id, Done.ANSWERED, NINE)
        elsewhere = waits(tx, 600, chat=Chat("terminal", "1"), session=session.id)

        assert why(tx, session, elsewhere) == ""


def test_a_session_in_which_nothing_was_said_goes_on(db: Database) -> None:
    """It was opened to be talked in, however long ago."""
    with db.write() as tx:
        session = given.session(tx)

        assert why(tx, session, waits(tx, 100_000)) == ""


def test_a_session_that_was_taken_up_again_goes_on_until_something_is_said(db: Database) -> None:
    """From then on it is like any other."""
    with db.write() as tx:
        session = given.session(tx)
        given.messages.finish(tx, asks(tx, session).id, Done.ANSWERED, NINE)
        sessions.end(tx, session.id, "asked", NINE)
        assert sessions.reopen(tx, session.id, session.chat)
        assert why(tx, session, waits(tx, 10_000)) == ""

        given.messages.finish(tx, asks(tx, session, minutes=10_000).id, Done.ANSWERED, NINE)

        assert why(tx, session, waits(tx, 10_059)) == ""
        assert why(tx, session, waits(tx, 10_060)) == "idle"


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ([0, 5], 5),
        ([5, 0], 5),
        ([-5], -5),
        ([500_000, 5], 5),
        ([500_000, 5, 0], 5),
    ],
)
def test_what_was_said_last_is_the_newest_that_can_be_true(db: Database, said: list[float], kept: float) -> None:
    """A message that comes late changes nothing; one from the future is forgotten once the clock is right."""
    with db.write() as tx:
        session = given.session(tx)
        for minutes in said:
            at = given.after(minutes=minutes)
            sessions.begin_turn(tx, session.id, max(at, given.after(minutes=6)), at)

        assert sessions.get(tx, session.id).said_at == NINE + timedelta(minutes=kept)


def test_the_end_and_what_is_said_of_it_are_one_commit(db: Database) -> None:
    """The row says which, why, and nothing of what was talked about."""
    with db.write() as tx:
        session = given.session(tx)
        given.messages.finish(tx, asks(tx, session, "xyzzy").id, Done.ANSWERED, NINE)
        message = waits(tx, 600)
        resetting.reset(tx, IDLE, session, message, "idle", given.after(minutes=600))
        resetting.reset(tx, IDLE, session, message, "idle", given.after(minutes=601))

        (told,) = tx.rows('SELECT kind, dedupe, "values" FROM outbox')
        assert (told["kind"], told["dedupe"]) == ("reset", f"reset-{session.id}-{message.id}")
        assert "xyzzy" not in told["values"]
        assert [tuple(row) for row in tx.rows("SELECT turn, cause FROM reviews")] == [(1, "end")]
        assert sessions.get(tx, session.id).ended_at == given.after(minutes=600)
        assert replace(sessions.get(tx, session.id), ended_at=None).system_prompt == session.system_prompt
