"""Transcripts: what was said is kept once, in order, and as the model saw it."""

import sqlite3

import pytest

from gateway.chat import Chat, How, Piece
from gateway.errors import NotFound
from gateway.records import Done, Message, Role, ToolCall
from gateway.store import messages, search, sessions, unanswered
from gateway.store.db import Database
from tests.store import given
from tests.store.given import CHAT, NINE

SESSION = "20261130_090007_57bbf6"


def test_a_message_comes_back_as_it_was_kept(db: Database) -> None:
    """Nothing of what a platform handed over may be lost on the way."""
    pieces = (Piece(How.OWN, "telegram:123", "look:"), Piece(How.FORWARDED, "", "buy now"))
    with db.write() as tx:
        id = given.keep(tx, "look:\nbuy now", pieces=pieces, platform_id="77")

    with db.read() as rd:
        assert messages.get(rd, id) == Message(
            id=1 << 32 | 1,
            space=1,
            chat=CHAT,
            person="telegram:123",
            role=Role.USER,
            text="look:\nbuy now",
            pieces=pieces,
            at=NINE,
            as_sent="look:\nbuy now",
            platform_id="77",
        )


def test_ids_count_within_their_space(db: Database) -> None:
    """A space is a range of ids: that is how a search stays in it."""
    with db.write() as tx:
        other = given.space(tx, "telegram-5")
        ids = [given.keep(tx, "one"), given.keep(tx, "two", space=other), given.keep(tx, "three")]
        spaces = [messages.get(tx, id).space for id in ids]

    assert (spaces, [id & 0xFFFFFFFF for id in ids]) == ([2, 1, 2], [1, 1, 2])


def test_a_gap_begins_behind_the_last_message_or_slash_command(db: Database) -> None:
    """Somebody who has only given commands so far is known; a tap is kept out of turn and says nothing."""
    commands_only, threads = Chat("discord", "5"), Chat("discord", "6", "7")
    with db.write() as tx:
        for chat, id in (
            (commands_only, "interaction:40"),
            (commands_only, "tap:90"),
            (threads, "interaction:9"),
            (threads, "41"),
            (Chat("discord", "8"), "tap:91"),
            (CHAT, "99"),
        ):
            given.keep(tx, "x", chat=chat, platform_id=id)

        assert messages.newest_of_platform(tx, "discord") == {commands_only: "40", threads: "41"}


def test_a_redelivered_message_is_kept_once(db: Database, other: Database) -> None:
    """Telegram hands a batch over again whenever it is not sure that we have it."""
    with db.write() as tx:
        given.space(tx)

    def receive(database: Database) -> int | None:
        with database.write() as tx:
            return messages.keep(tx, given.said(tx, "I moved to Bergen", platform_id="77"))

    kept = given.at_once(lambda: receive(db), lambda: receive(other), lambda: receive(db), lambda: receive(other))

    with db.read() as rd:
        assert [id for id in kept if id] == [row[0] for row in rd.rows("SELECT id FROM messages")]
        assert messages.is_kept(rd, CHAT, "77")
        assert not messages.is_kept(rd, Chat("telegram", "5"), "77")


def test_a_callback_and_a_message_with_the_same_number_are_two(db: Database) -> None:
    """Ids are unique within a chat of a platform, and threads belong to their chat."""
    with db.write() as tx:
        first = messages.keep(tx, given.said(tx, "hi", platform_id="77"))
        elsewhere = messages.keep(tx, given.said(tx, "hi", platform_id="77", chat=Chat("discord", "123")))
        thread = messages.keep(tx, given.said(tx, "hi", platform_id="77", chat=Chat("telegram", "123", "9")))

    assert first is not None and elsewhere is not None
    assert thread is None


def test_what_waits_is_taken_oldest_first(db: Database) -> None:
    """After a restart as before it."""
    with db.write() as tx:
        first = given.keep(tx, "one")
        second = given.keep(tx, "two")
        command = given.keep(tx, "/status", role=Role.COMMAND)
        given.keep(tx, "elsewhere", chat=Chat("telegram", "5"), at=given.after(minutes=-5))

        waiting = unanswered.oldest(tx, CHAT, (Role.USER,))
        assert waiting is not None and waiting.id == first
        assert unanswered.count(tx, CHAT) == 2
        assert unanswered.chats(tx) == [
            (Chat("telegram", "5"), Role.USER),
            (CHAT, Role.USER),
            (CHAT, Role.COMMAND),
        ]

        messages.finish(tx, first, Done.ANSWERED, NINE)
        waiting = unanswered.oldest(tx, CHAT, (Role.USER,))
        assert waiting is not None and waiting.id == second
        waiting = unanswered.oldest(tx, CHAT, (Role.COMMAND, Role.TAP))
        assert waiting is not None and waiting.id == command
        assert unanswered.oldest(tx, CHAT, (Role.TAP,)) is None


def test_a_message_is_finished_once(db: Database, other: Database) -> None:
    """An answer and a /stop that cross: one of them is what happened."""
    with db.write() as tx:
        id = given.keep(tx, "one")

    def finish(database: Database, how: Done) -> bool:
        with database.write() as tx:
            return messages.finish(tx, id, how, NINE)

    won = given.at_once(lambda: finish(db, Done.ANSWERED), lambda: finish(other, Done.STOPPED))

    with db.read() as rd:
        assert sorted(won) == [False, True]
        assert messages.get(rd, id).done is (Done.ANSWERED if won[0] else Done.STOPPED)


def test_a_question_is_answered_once(db: Database) -> None:
    """Two processes that answer one question must not both be in the transcript."""
    with db.write() as tx:
        question = given.keep(tx, "one")
        given.keep(tx, "Hello!", role=Role.ASSISTANT, answers=question)

    with pytest.raises(sqlite3.IntegrityError), db.write() as tx:
        given.keep(tx, "Hello again!", role=Role.ASSISTANT, answers=question)


def test_a_transcript_is_in_order_and_as_sent(db: Database) -> None:
    """The prefix of every request must be byte for byte the one the model knows."""
    call = ToolCall("call_1", "memory", '{"content": "Bor i Tromsø"}')
    with db.write() as tx:
        given.session(tx)
        late = given.keep(tx, "and you?")
        first = given.keep(tx, "I moved to Tromsø")
        for turn, id in enumerate((first, late), 1):
            messages.begin(tx, id, SESSION, turn, 1, f"[0{turn}:00] ", None)
        of_first = {"session": SESSION, "turn": 1, "generation": 1, "person": ""}
        given.keep(tx, "", role=Role.ASSISTANT, tool_calls=(call,), round=1, **of_first)
        given.keep(tx, "{}", role=Role.TOOL, tool_call_id="call_1", tool_name="memory", round=1, **of_first)
        given.keep(tx, "Nice!", role=Role.ASSISTANT, round=2, answers=first, **of_first)
        given.keep(tx, "/status", role=Role.COMMAND)

    with db.read() as rd:
        whole = messages.of_session(rd, SESSION)
        assert [message.as_sent for message in whole] == [
            "[01:00] I moved to Tromsø",
            "",
            "{}",
            "Nice!",
            "[02:00] and you?",
        ]
        assert whole[1].tool_calls == (call,)
        assert messages.of_session(rd, SESSION, up_to_turn=1) == messages.of_turn(rd, SESSION, 1) == whole[:4]


def test_what_the_model_saw_is_kept_where_it_differs(db: Database) -> None:
    """Recalled text is sent and never said."""
    with db.write() as tx:
        given.session(tx)
        id = given.keep(tx, "hi")
        messages.begin(tx, id, SESSION, 1, 1, "[09:00] ", "[09:00] hi\n(recalled: Bergen)")

        assert (messages.get(tx, id).text, messages.get(tx, id).as_sent) == ("hi", "[09:00] hi\n(recalled: Bergen)")


def test_a_command_forgets_its_words_and_a_transcript_does_not(db: Database) -> None:
    """`/forget my address` must not be the place where the address stays."""
    with db.write() as tx:
        command = given.keep(tx, "/forget Storgata 5", role=Role.COMMAND, platform_id="77")
        question = given.keep(tx, "I live in Storgata 5")
        for id in (command, question):
            messages.erase_words(tx, id)

        assert [messages.get(tx, id).text for id in (command, question)] == ["", "I live in Storgata 5"]
        assert messages.is_kept(tx, CHAT, "77")


def test_only_transcripts_are_searchable(db: Database) -> None:
    """A command is nobody's memory."""
    with db.write() as tx:
        space = given.space(tx)
        user = given.keep(tx, "Bergen?")
        answer = given.keep(tx, "Bergen!", role=Role.ASSISTANT)
        given.keep(tx, "/remember Bergen", role=Role.COMMAND)

        assert {hit.message for hit in search.find(tx, space, "bergen", 10).hits} == {answer, user}


def test_turns_of_a_person_are_counted_over_their_accounts(db: Database) -> None:
    """`daily_turns` is per person."""
    with db.write() as tx:
        given.keep(tx, "yesterday", at=given.after(days=-1))
        given.keep(tx, "one")
        given.keep(tx, "two", person="discord:9", chat=Chat("discord", "9"))
        given.keep(tx, "somebody else", person="telegram:5")
        given.keep(tx, "/status", role=Role.COMMAND)

        assert messages.user_turns_since(tx, ["telegram:123", "discord:9"], given.after(hours=-1)) == 2


def test_text_that_utf8_cannot_hold_is_kept_as_far_as_it_can(db: Database) -> None:
    """Half an emoji in an update must not make it come again for ever."""
    with db.write() as tx:
        id = given.keep(tx, "ok \ud83d\ude00 broken \ud83d end", pieces=(Piece(How.OWN, "", "\udc00"),))

        assert messages.get(tx, id).text == "ok 😀 broken � end"
        assert messages.get(tx, id).pieces == (Piece(How.OWN, "", "�"),)


def test_what_is_not_there_is_not_found(db: Database) -> None:
    """An id may come from a person."""
    with db.read() as rd:
        with pytest.raises(NotFound, match="no message 412"):
            messages.get(rd, 412)
        with pytest.raises(NotFound):
            sessions.get(rd, "20260101_000000_000000")


def test_a_space_that_is_not_there_keeps_nothing(db: Database) -> None:
    """Every row belongs to a space."""
    with pytest.raises(NotFound), db.write() as tx:
        messages.keep(tx, given.said(tx, "hi", space=99))
