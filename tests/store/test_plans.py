"""What is asked for each message or every few seconds reads no table from end to end, however full it is."""

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from gateway.chat import Chat
from gateway.records import Role, Summary
from gateway.store import (
    cardrows,
    filewrites,
    incognito,
    messages,
    outbox,
    reviews,
    saidwhere,
    sessions,
    summaries,
    titles,
    turns,
    unanswered,
    undoing,
    usage,
    writes,
)
from gateway.store.db import Database, Transaction
from tests.store import given

NOW = datetime(2026, 11, 30, 9, tzinfo=UTC)
CHAT = Chat("telegram", "123")
ASKED_OFTEN: dict[str, Callable[[Transaction], object]] = {
    "messages of a platform": lambda tx: messages.of_platform(tx, CHAT, "1"),
    "the next message": lambda tx: unanswered.oldest(tx, CHAT, (Role.USER,)),
    "what a person said last": lambda tx: unanswered.newest_of(tx, CHAT, "telegram:123"),
    "how many messages wait": lambda tx: unanswered.count(tx, CHAT),
    "chats that wait": unanswered.chats,
    "a transcript": lambda tx: messages.of_session(tx, "a session"),
    "what is shown of it": lambda tx: messages.shown(tx, "a session", Summary(1, 9, 3, 17, "In short."), 12),
    "what stands for its middle": lambda tx: summaries.of(tx, "a session", 3),
    "whether it may be compressed": lambda tx: summaries.waits(tx, "a session", 3),
    "how long it is": lambda tx: usage.newest_size(tx, "a session", NOW),
    "turns of a person": lambda tx: messages.user_turns_since(tx, ["telegram:123"], NOW),
    "the open session": lambda tx: sessions.current(tx, CHAT),
    "unreviewed turns": lambda tx: sessions.unreviewed(tx, "a session"),
    "quiet sessions": lambda tx: sessions.quiet(tx, NOW),
    "what is to be said": lambda tx: outbox.waiting(tx, ["telegram"], NOW),
    "cards of a write": lambda tx: cardrows.cards_of(tx, 1),
    "staged writes": lambda tx: writes.staged(tx, None),
    "staged writes of a space": lambda tx: writes.staged(tx, 1),
    "unfinished writes": writes.unfinished,
    "expired writes": lambda tx: writes.expire(tx, NOW),
    "what a command took back": lambda tx: undoing.undone_in(tx, 1),
    "undos to finish": lambda tx: undoing.due(tx, "memory"),
    "how many are staged": lambda tx: writes.count_staged(tx, 1),
    "a page of the ledger": lambda tx: writes.log(tx, 1, 15, 99),
    "notices of a write": lambda tx: cardrows.notices_of(tx, writes.born(tx, given.proposal(tx, message=1))[0]),
    "the question of an answer": lambda tx: outbox.question(tx, CHAT, "77"),
    "writes of a message": lambda tx: writes.of_message(tx, 1),
    "the newest question": lambda tx: turns.newest_question(tx, "a session"),
    "whether a session talks": lambda tx: turns.is_talking(tx, "a session"),
    "turns of a span": lambda tx: turns.count(tx, "a session", 1, 10),
    "whether a title is due": lambda tx: titles.is_due(tx, "a session"),
    "the last list of conversations": lambda tx: outbox.newest_list(tx, CHAT),
    "due reviews": lambda tx: reviews.due(tx, NOW),
    "running reviews": reviews.running,
    "failed reviews": reviews.failed,
    "open reviews": lambda tx: reviews.for_space(tx, None),
    "counted reviews": reviews.counts,
    "whether a chat is incognito": lambda tx: incognito.is_in_use(tx, CHAT),
    "how a plan was drawn last": lambda tx: cardrows.newest_change(tx, 1, "forget_plan_update"),
    "what a chat shows of messages": lambda tx: saidwhere.of_messages(tx, [1, 2]),
    "what was deleted in chats": lambda tx: saidwhere.counts(tx, 1),
}


@pytest.mark.parametrize("name", ASKED_OFTEN)
def test_what_is_asked_often_reads_no_whole_table(db: Database, name: str) -> None:
    """The cost of a turn and of an idle bot must not grow with the years (design.md, section 9)."""
    asked: list[str] = []
    with db.write() as tx:
        tx.connection.set_trace_callback(asked.append)
        ASKED_OFTEN[name](tx)
        tx.connection.set_trace_callback(None)
        plans = [row["detail"] for sql in asked for row in tx.rows(f"EXPLAIN QUERY PLAN {sql}")]

    assert plans
    assert [step for step in plans if step.startswith("SCAN ") and _is_table(step)] == []


@pytest.mark.parametrize(
    ("ask", "index"),
    [
        (lambda tx: undoing.due(tx, "memory"), "writes_undo_due"),
        (lambda tx: filewrites.live_for(tx, 1, "memory"), "writes_by_status (status=? AND space=?)"),
        (lambda tx: filewrites.waiting_twin(tx, given.proposal(tx)), "writes_by_status (status=? AND space=?)"),
    ],
)
def test_a_write_reads_only_what_is_open(db: Database, ask: Callable[[Transaction], object], index: str) -> None:
    """Not all that was ever undone or written: with ten thousand rows that took longer than the write itself."""
    asked: list[str] = []
    with db.write() as tx:
        tx.connection.set_trace_callback(asked.append)
        ask(tx)
        tx.connection.set_trace_callback(None)
        plan = [row["detail"] for row in tx.rows(f"EXPLAIN QUERY PLAN {asked[-1]}")]

    assert any(index in step for step in plan), plan


def _is_table(step: str) -> bool:
    """A scan of a partial index reads only what is open; json_each and our own WITH are no tables."""
    return not any(word in step for word in (" USING ", "json_each", "heads", "VIRTUAL", "CONSTANT"))
