"""What stands for the middle of a session: under which generations, and what takes it away."""

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from gateway.chat import Chat
from gateway.records import Message, Role, Session, Summary, Usage
from gateway.store import messages, people, prompts, sessions, summaries, usage
from gateway.store.db import Database, Transaction

NINE = datetime(2026, 11, 30, 9, tzinfo=UTC)
SESSION = "20261130_090000_000001"
CHAT = Chat("telegram", "123")
TURNS = 6


@pytest.fixture
def rows(db: Database) -> list[Message]:
    """A session of six turns, each a question and its answer."""
    with db.write() as tx:
        space = people.ensure_space(tx, "owner", "owner", "telegram:123", NINE).id
        sessions.open(tx, _session(space))
        for turn in range(1, TURNS + 1):
            assert sessions.begin_turn(tx, SESSION, NINE) == turn
            for role in (Role.USER, Role.ASSISTANT):
                text = f"{role} {turn}"
                messages.keep(
                    tx,
                    messages.NewMessage(
                        space, CHAT, "", role, text, NINE, session=SESSION, turn=turn, generation=1
                    ),
                )
        return messages.of_session(tx, SESSION)


def _session(space: int) -> Session:
    return Session(
        id=SESSION, space=space, chat=CHAT, member="", opened_at=NINE, ended_at=None, system_prompt="one",
        tools="[]", generation=1, frozen_at=NINE, turns=0, last_at=NINE, title="", model="fake-1",
    )  # fmt: skip


def compressed(tx: Transaction, rows: list[Message], generation: int = 2, text: str = "In short.") -> Summary:
    """A summary of the turns 2 to 4."""
    ids = [row.id for row in rows if 1 < row.turn < 5]
    summary = Summary(1, 5, min(ids), max(ids), text)
    prompts.refreeze(tx, SESSION, f"prompt {generation}", "[]", NINE)
    summaries.keep(tx, SESSION, generation, summary, NINE)
    return summary


def test_a_summary_stands_from_its_generation_on(db: Database, rows: list[Message]) -> None:
    """A refresh freezes another prompt, and the middle stays compressed; before it, all was sent."""
    with db.write() as tx:
        summary = compressed(tx, rows)
        prompts.refreeze(tx, SESSION, "prompt 3", "[]", NINE)

        assert [summaries.of(tx, SESSION, generation) for generation in (1, 2, 3)] == [None, summary, summary]


def test_requests_show_what_is_not_compressed(db: Database, rows: list[Message]) -> None:
    """The middle is not even read: the cost of a turn does not grow with the session."""
    with db.write() as tx:
        summary = compressed(tx, rows)

        shown = messages.shown(tx, SESSION, summary, TURNS)
        assert [row.turn for row in shown] == [1, 1, 5, 5, 6, 6]
        assert messages.shown(tx, SESSION, None, 3) == rows[:6]
        assert len(messages.of_session(tx, SESSION)) == 2 * TURNS


def test_a_former_summary_stays_as_long_as_its_prompt(db: Database, rows: list[Message]) -> None:
    """A review that is still due rebuilds the request of its turns byte for byte."""
    with db.write() as tx:
        compressed(tx, rows, 2, "first")
        messages.send_under(tx, SESSION, TURNS, 2)
        compressed(tx, rows, 3, "second")
        sessions.mark_due(tx, SESSION, 5)
        prompts.drop_former(tx, SESSION)
        first = summaries.of(tx, SESSION, 2)
        sessions.mark_due(tx, SESSION, 6)

        prompts.drop_former(tx, SESSION)

        assert first is not None
        assert first.text == "first"
        assert summaries.of(tx, SESSION, 2) is None
        second = summaries.of(tx, SESSION, 3)
        assert second is not None
        assert second.text == "second"


def _delete(tx: Transaction, id: int) -> None:
    tx.execute("DELETE FROM messages WHERE id = ?", (id,))


def _change(tx: Transaction, id: int) -> None:
    tx.execute("UPDATE messages SET text = '…' WHERE id = ?", (id,))


@pytest.mark.parametrize("act", [_delete, _change])
@pytest.mark.parametrize(("turn", "stays"), [(1, True), (2, False), (4, False), (5, True)])
def test_a_summary_goes_with_any_message_it_stands_for(
    db: Database, rows: list[Message], act: Callable[[Transaction, int], None], turn: int, stays: bool
) -> None:
    """Undone, deleted or forgotten words must not live on in other words."""
    id = next(row.id for row in rows if row.turn == turn and row.role is Role.ASSISTANT)
    with db.write() as tx:
        summary = compressed(tx, rows)

        act(tx, id)

        assert summaries.of(tx, SESSION, 2) == (summary if stays else None)


def test_other_changes_of_a_message_leave_it(db: Database, rows: list[Message]) -> None:
    """An answer that is marked as done says the same as before."""
    with db.write() as tx:
        summary = compressed(tx, rows)

        tx.execute("UPDATE messages SET done = 'answered', text = text WHERE session = ?", (SESSION,))

        assert summaries.of(tx, SESSION, 2) == summary


def test_a_deleted_session_leaves_nothing(db: Database, rows: list[Message]) -> None:
    """What was compressed goes with the session."""
    with db.write() as tx:
        compressed(tx, rows)
        summaries.mark_flushed(tx, SESSION, 7, NINE)

        tx.execute("DELETE FROM messages WHERE session = ?", (SESSION,))
        tx.execute("DELETE FROM sessions WHERE id = ?", (SESSION,))

        assert tx.row("SELECT * FROM summaries UNION ALL SELECT *, 0, 0, 0, 0 FROM compressions") is None


def test_how_far_it_has_come_is_kept(db: Database, rows: list[Message]) -> None:
    """One flush for each state of a session, and peace after a failure."""
    with db.write() as tx:
        assert (summaries.flushed(tx, SESSION), summaries.flushed_at(tx, SESSION)) == (0, None)
        assert not summaries.waits(tx, SESSION, 1)

        summaries.mark_flushed(tx, SESSION, 7, NINE)
        summaries.wait(tx, SESSION, 14)

        assert (summaries.flushed(tx, SESSION), summaries.flushed_at(tx, SESSION)) == (7, NINE)
        assert [summaries.waits(tx, SESSION, turn) for turn in (13, 14)] == [True, False]


def test_the_size_of_a_session_is_what_its_newest_call_cost(db: Database, rows: list[Message]) -> None:
    """Not what a review cost, nor what was said under another prompt."""
    with db.write() as tx:
        for task, tokens in (("chat", 100), ("chat", 200), ("background_review", 900)):
            usage.add(tx, Usage(task, SESSION, 1, "fake-1", tokens, 5, 0, NINE))

        assert usage.newest_size(tx, SESSION, NINE) == 205
        assert usage.newest_size(tx, SESSION, datetime(2026, 12, 1, tzinfo=UTC)) == 0
        assert usage.newest_size(tx, "another", NINE) == 0
