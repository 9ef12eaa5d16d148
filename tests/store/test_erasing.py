"""Taking messages and sessions away for good."""

import pytest

from gateway.chat import Chat
from gateway.errors import NotFound
from gateway.records import Done, Evidence, Role, Summary, ToolCall, Usage
from gateway.store import (
    erasing,
    messages,
    outbox,
    prompts,
    resting,
    reviews,
    search,
    sessions,
    summaries,
    titles,
    turns,
    usage,
    writes,
)
from gateway.store.db import Database, Transaction
from tests.store import given
from tests.store.given import CHAT, NINE

SESSION = "20261130_090007_57bbf6"


def turn(tx: Transaction, question: str, answer: str, number: int = 0) -> list[int]:
    """A turn with one round of tools; the ids of its rows."""
    number = number or sessions.begin_turn(tx, SESSION, NINE)
    of_it = {"session": SESSION, "turn": number, "generation": 1}
    asked = given.keep(tx, question, platform_id=f"{number}", **of_it)
    call = ToolCall(f"c{number}", "memory", '{"content": "Lives in Bergen"}')
    called = given.keep(tx, "", role=Role.ASSISTANT, person="", round=1, tool_calls=(call,), **of_it)
    result = given.keep(
        tx,
        '{"success": true}',
        role=Role.TOOL,
        person="",
        round=1,
        tool_call_id=call.id,
        tool_name="memory",
        **of_it,
    )
    messages.finish(tx, asked, Done.ANSWERED, NINE)
    said = given.keep(tx, answer, role=Role.ASSISTANT, person="", round=2, answers=asked, **of_it)
    return [asked, called, result, said]


def matches(rd: Transaction, text: str) -> int:
    return search.find(rd, 1, text, 5, search.Limits()).matches


def test_the_rows_of_a_turn_go_and_the_platforms_id_stays(db: Database) -> None:
    """Without a word; the turn is in no transcript and no count, and its id is known when it comes again."""
    with db.write() as tx:
        given.session(tx)
        kept, gone = turn(tx, "The key", "Under the pot"), turn(tx, "The code", "Walrus")

        assert erasing.messages(tx, gone) == 4

        assert [row.id for row in messages.of_session(tx, SESSION)] == kept
        assert messages.keep(tx, given.said(tx, "The code", platform_id="2")) is None
        stub = messages.get(tx, gone[0])
        assert (stub.text, stub.session, stub.turn, stub.erased, stub.done) == ("", "", 0, True, Done.ANSWERED)
        assert turns.count(tx, SESSION, 1, 2) == 1
        newest = turns.newest_question(tx, SESSION)
        assert newest is not None and newest.id == kept[0]
        assert (matches(tx, "walrus"), matches(tx, "code"), matches(tx, "pot")) == (0, 0, 1)
        assert tx.rows("SELECT 1 FROM message_places WHERE id IN (?, ?, ?, ?)", gone) == []
        assert tx.row("SELECT 1 FROM search_state WHERE asked > swept") is not None
        assert erasing.messages(tx, gone) == 0
        assert erasing.messages(tx, []) == 0
        assert tx.rows("PRAGMA foreign_key_check") == []


def test_a_question_may_go_without_its_answer(db: Database) -> None:
    """A passage is forgotten where it stands; the link between the two must not hold it."""
    with db.write() as tx:
        given.session(tx)
        asked, *_, said = turn(tx, "The code", "I see")
        assert erasing.messages(tx, [asked]) == 1
        assert messages.get(tx, said).answers is None


def test_an_answer_that_has_not_arrived_is_not_said(db: Database) -> None:
    """Nor the rest of one that is half said. Cards stay: they are about writes, which stay."""
    with db.write() as tx:
        given.session(tx)
        asked, *_, said = turn(tx, "The code", "Walrus")
        reply = outbox.put(tx, given.to_say(tx, "reply-1", kind="reply", message=said))
        card = outbox.put(tx, given.to_say(tx, "write-1", kind="card", message=asked, write=1))
        assert reply is not None and card is not None
        outbox.keep_chunks(tx, reply, ["Wal", "rus"])
        outbox.chunk_delivered(tx, reply, 0, "77", NINE)

        erasing.messages(tx, [asked, said])

        assert (outbox.get(tx, reply).status, outbox.get(tx, card).status) == ("dropped", "waiting")
        assert [chunk.text for chunk in outbox.chunks(tx, reply)] == ["", ""]


def test_a_session_goes_with_everything_that_is_its_own(db: Database) -> None:
    """Reviews, former prompts, summaries and the index with it; tokens stay counted, without saying whose."""
    with db.write() as tx:
        given.session(tx)
        turn(tx, "The key", "Under the pot")
        turn(tx, "The code", "Walrus")
        sessions.rename(tx, SESSION, "Walrus")
        prompts.refreeze(tx, SESSION, "Another prompt", "[]", NINE)
        reviews.make_due(tx, SESSION, 1, 2, 1, "interval", NINE)
        command = given.keep(tx, "/status", role=Role.COMMAND, session=SESSION, platform_id="c", done=Done.ANSWERED)
        usage.add(tx, Usage("chat", SESSION, 1, "fake-1", 10, 5, 0, NINE))

        erased = erasing.session(tx, SESSION)

        assert (erased.messages, erased.reviews) == (8, 1)
        assert sessions.find(tx, SESSION) is None
        for table in ("reviews", "former_prompts", "searched_sessions", "summaries", "compressions"):
            assert tx.rows(f"SELECT 1 FROM {table} WHERE session = ?", (SESSION,)) == []
        assert matches(tx, "walrus") == 0
        assert messages.get(tx, command).session == ""
        assert [row["input"] + row["output"] for row in tx.rows("SELECT input, output FROM usage")] == [15]
        assert tx.rows("SELECT 1 FROM usage WHERE session <> '' OR job <> ''") == []
        assert tx.rows("PRAGMA foreign_key_check") == []
        with pytest.raises(NotFound):
            erasing.session(tx, SESSION)


def test_a_summary_goes_with_any_turn_that_it_stands_for(db: Database) -> None:
    """It says in other words what must not be there any more; one of other turns stays."""
    with db.write() as tx:
        given.session(tx)
        ids = [turn(tx, f"question {number}", "answer") for number in range(1, 6)]
        summaries.keep(tx, SESSION, 1, Summary(1, 4, ids[1][0], ids[2][-1], "Two and three."), NINE)

        erasing.messages(tx, ids[4])
        assert summaries.of(tx, SESSION, 1) is not None
        erasing.messages(tx, ids[2])
        assert summaries.of(tx, SESSION, 1) is None


def test_what_rests_on_a_turn_is_found_by_its_words_and_by_who_saw_it(db: Database) -> None:
    """Its own writes, those that quote it, what a review or flush of it wrote; never what is another turn's."""
    with db.write() as tx:
        given.session(tx)
        first, second = turn(tx, "The key", "Pot"), turn(tx, "The code", "Walrus")
        reviews.make_due(tx, SESSION, 1, 1, 1, "interval", NINE)
        reviews.make_due(tx, SESSION, 1, 2, 2, "interval", NINE)
        born = {
            "own": given.proposal(tx, "a", message=second[0], session=SESSION),
            "quotes": given.proposal(tx, "b", session=SESSION, review_turn=1, evidence=_quote(second[0])),
            "seen": given.proposal(tx, "c", session=SESSION, review_turn=2),
            "flushed": given.proposal(tx, "f", session=SESSION, review_turn=-second[-1]),
            "flushed before": given.proposal(tx, "g", session=SESSION, review_turn=-first[-1]),
            "other": given.proposal(tx, "d", session=SESSION, review_turn=1),
            "first": given.proposal(tx, "e", message=first[0], session=SESSION),
        }
        ids = {name: writes.born(tx, new)[0].id for name, new in born.items()}

        found = {one.id for one in resting.on_turn(tx, SESSION, 2, second)}

        assert found == {ids["own"], ids["quotes"], ids["seen"], ids["flushed"]}
        assert len(resting.on_session(tx, SESSION)) == 7
        writes.reject(tx, ids["own"], by="telegram:123", at=NINE, through=None)
        assert ids["own"] not in {one.id for one in resting.on_turn(tx, SESSION, 2, second)}


def _quote(message: int) -> Evidence:
    return Evidence(message, "telegram:123", "The code")


def test_a_review_loses_a_turn_and_its_claim(db: Database) -> None:
    """What is being thought about the turn is void; a review that has other turns is done without it."""
    with db.write() as tx:
        given.session(tx)
        one, two = turn(tx, "one", "1"), turn(tx, "two", "2")
        reviews.make_due(tx, SESSION, 1, 2, 1, "interval", NINE)
        assert reviews.claim(tx, SESSION, 2, "job", given.after(minutes=5), NINE) is not None

        erasing.messages(tx, two)
        reviews.without(tx, SESSION, 2, NINE)
        assert not reviews.finish(tx, SESSION, 2, "job", NINE)
        assert reviews.get(tx, SESSION, 2).status == "due"
        erasing.messages(tx, one)
        reviews.without(tx, SESSION, 1, NINE)
        assert (reviews.get(tx, SESSION, 2).status, reviews.get(tx, SESSION, 2).reason) == ("done", "undone")
        assert reviews.due(tx, NINE) == []


def test_the_model_is_asked_for_a_title_once(db: Database, other: Database) -> None:
    """By whichever process is first; after two answered questions; never where a person gave one."""
    with db.write() as tx:
        given.session(tx)
        turn(tx, "one", "1")
        assert titles.begin(tx, SESSION) is None
        turn(tx, "two", "2")
        assert titles.is_due(tx, SESSION)
    with other.write() as tx:
        assert titles.begin(tx, SESSION) == 2
    with db.write() as tx:
        assert titles.begin(tx, SESSION) is None
        assert not titles.suggest(tx, SESSION, 1, "Late")
        assert titles.suggest(tx, SESSION, 2, "Numbers")
        assert titles.of(tx, SESSION) == ("Numbers", False)
        sessions.rename(tx, SESSION, "Mine")
        titles.take_back(tx, SESSION, 1)
        assert titles.of(tx, SESSION) == ("Mine", True)
        sessions.rename(tx, SESSION, "")
        assert titles.begin(tx, SESSION) == 2


def test_what_waits_for_its_turn_in_a_chat(db: Database) -> None:
    """In order, only what was said before the command, in that chat, and was not begun."""
    with db.write() as tx:
        given.session(tx)
        turn(tx, "one", "1")
        first, second = given.keep(tx, "two"), given.keep(tx, "three")
        given.keep(tx, "elsewhere", chat=Chat("telegram", "9"))
        command = given.keep(tx, "/undo", role=Role.COMMAND)
        given.keep(tx, "four")
        again = given.keep(tx, "five", platform_id="retry:77")  # an earlier command asked it once more

        assert [row.id for row in turns.not_begun(tx, CHAT, command)] == [first, second, again]
        assert not turns.is_talking(tx, SESSION)
