"""Taking back what was said last, and asking it again."""

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest

from gateway import failpoints
from gateway.chat import Chat
from gateway.memory import clearing
from gateway.records import Message, Review, Status
from gateway.store import messages, reviews, search, sessions
from tests.bot import ANNA, BEN, Bot, running_bot
from tests.fakes.model import is_review
from tests.flows.test_approval import ASK
from tests.flows.test_resets import EACH, GROUP, OPEN, tells

CHAT = Chat("telegram", str(ANNA))
DONE = "✓ Taken back: what was said last, and all that was done to answer it."


async def talk(bot: Bot, said: str, answer: str, person: int = ANNA) -> None:
    bot.server.answers(answer)
    await bot.says(said, person)


def transcript(bot: Bot, chat: Chat = CHAT) -> list[Message]:
    with bot.core.db.read() as rd:
        session = sessions.current(rd, chat)
        return [] if session is None else messages.of_session(rd, session.id)


def said(bot: Bot) -> list[str]:
    return [row.text for row in transcript(bot)]


def found(bot: Bot, text: str) -> int:
    with bot.core.db.read() as rd:
        return search.find(rd, transcript(bot)[0].space if transcript(bot) else 1, text, 5, search.Limits()).matches


def all_reviews(bot: Bot) -> list[Review]:
    with bot.core.db.read() as rd:
        ids = [(row["session"], row["turn"]) for row in rd.rows("SELECT session, turn FROM reviews ORDER BY turn")]
        return [reviews.get(rd, *id) for id in ids]


def asked(bot: Bot) -> list[str]:
    """What the last request of a turn had of the person."""
    return [row["content"].split("] ", 1)[-1] for row in bot.server.chats[-1].messages if row["role"] == "user"]


# -- /undo --------------------------------------------------------------------------------------------------


async def test_the_last_turn_leaves_transcript_search_and_requests(tmp_path: Path) -> None:
    """What was a slip of the tongue is not there any more, for nobody; what came before it is, byte for byte."""
    async with running_bot(tmp_path) as bot:
        await talk(bot, "The key is under the blue pot", "Good to know.")
        await talk(bot, "The code is walrus", "I see.")
        assert found(bot, "walrus") == 1

        await bot.says("/undo")

        assert bot.sees()[-1] == DONE
        assert said(bot) == ["The key is under the blue pot", "Good to know."]
        assert found(bot, "walrus") == 0
        before = bot.server.chats[0]
        await talk(bot, "Where is it?", "Under the pot.")
        assert bot.server.chats[-1].message_bytes.startswith(before.message_bytes)
        assert "walrus" not in bot.server.chats[-1].body.decode()


async def test_again_and_again_until_nothing_is_left(tmp_path: Path) -> None:
    """Each /undo takes the turn before; then it says that there is nothing, and the conversation goes on."""
    async with running_bot(tmp_path) as bot:
        await talk(bot, "one", "1")
        await talk(bot, "two", "2")
        await bot.says("/undo")
        await bot.says("/undo")
        assert said(bot) == []

        await bot.says("/undo")

        assert bot.sees()[-1] == "There is nothing in this conversation to take back."
        await bot.says("/retry")
        assert bot.sees()[-1] == "There is nothing in this conversation to ask again."
        await talk(bot, "three", "3")
        assert said(bot) == ["three", "3"]


async def test_a_message_taken_back_is_not_answered_when_it_comes_again(tmp_path: Path) -> None:
    """Platforms hand over what they are not sure about, and gaps are read again (promise 1)."""
    async with running_bot(tmp_path) as bot:
        await talk(bot, "The code is walrus", "I see.")
        await bot.says("/undo")
        requests = len(bot.server.requests)

        told = next(one for one in bot.telegram.messages_of(ANNA) if one.get("text") == "The code is walrus")
        bot.telegram.update(message=told)
        await bot.settles()

        assert len(bot.server.requests) == requests
        assert said(bot) == []


async def test_no_word_of_it_stays_in_the_database(tmp_path: Path) -> None:
    """Not in a row that was kept to know it again, and, once the index is swept, not in its pages."""
    from gateway.store import search_upkeep

    async with running_bot(tmp_path) as bot:
        await talk(bot, "The code is xylographica", "I see.")
        await bot.says("/undo")
        await asyncio.to_thread(search_upkeep.keep, bot.core.db, bot.core.clock.now())

        await bot.stop()

        assert b"xylographica" not in bot.home.state_db.read_bytes()
        await bot.start()


async def test_a_running_turn_ends_unsaid_and_leaves_nothing(tmp_path: Path) -> None:
    """As with /stop, and with everything its tools had done by then."""
    async with running_bot(tmp_path) as bot:
        await talk(bot, "one", "1")
        bot.server.calls("session_search", query="one")
        gate = bot.server.holds("too late")
        bot.telegram.says(ANNA, "two")
        await gate.reached()

        bot.telegram.says(ANNA, "/undo")
        await bot.until(lambda: DONE in bot.sees())
        gate.open()
        await bot.settles()

        assert said(bot) == ["one", "1"]
        assert "too late" not in bot.sees()
        await talk(bot, "three", "3")
        assert said(bot) == ["one", "1", "three", "3"]


async def test_what_a_tool_does_while_its_turn_is_taken_back_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its result joins no transcript; what it wrote is in force, and that is said (7.7)."""
    reached, go_on = threading.Event(), threading.Event()

    def reach(name: str) -> None:
        if name == "turn.tools_run":
            reached.set()
            assert go_on.wait(20)

    async with running_bot(tmp_path) as bot:
        monkeypatch.setattr(failpoints, "reach", reach)
        bot.server.calls("memory", action="add", content="Lives in Bergen", target="memory")
        bot.telegram.says(ANNA, "I live in Bergen")
        await bot.until(reached.is_set)
        bot.telegram.says(ANNA, "/undo")
        await bot.until(lambda: rows_left(bot) == [])
        go_on.set()
        await bot.settles()

        assert rows_left(bot) == []
        assert bot.memory_file() == "Lives in Bergen\n"
        assert any('1 add to MEMORY: "Lives in Bergen" (in force)' in text for text in bot.sees())


def rows_left(bot: Bot) -> list[str]:
    with bot.core.db.read() as rd:
        return [row["role"] for row in rd.rows("SELECT role FROM messages WHERE session <> ''")]


async def test_what_waits_for_its_turn_is_what_was_said_last(tmp_path: Path) -> None:
    """The turn that runs goes on: nobody took that back."""
    async with running_bot(tmp_path) as bot:
        gate = bot.server.holds("1")
        bot.telegram.says(ANNA, "one")
        await gate.reached()
        bot.telegram.says(ANNA, "two, and walrus")
        bot.telegram.says(ANNA, "/undo")
        await bot.until(lambda: DONE in bot.sees())
        gate.open()
        await bot.settles()

        assert said(bot) == ["one", "1"]
        assert len(bot.server.chats) == 1


async def test_an_undelivered_answer_is_not_said_any_more(tmp_path: Path) -> None:
    """It would answer something that nobody said."""
    async with running_bot(tmp_path) as bot:
        bot.telegram.fail("sendMessage", 429, retry_after=1)
        bot.server.answers("a belated answer")
        bot.telegram.says(ANNA, "one")
        await bot.until(lambda: len(transcript(bot)) == 2)
        bot.telegram.says(ANNA, "/undo")

        await bot.until(lambda: DONE in bot.sees())
        await bot.settles()
        assert "a belated answer" not in bot.sees()


async def test_the_writes_that_rest_on_it_are_named_and_taken_back_with_a_tap(tmp_path: Path) -> None:
    """Memory is not changed behind anybody's back, and one tap is enough to change it."""
    async with running_bot(tmp_path) as bot:
        bot.server.calls("memory", action="add", content="Lives in Bergen", target="memory")
        await talk(bot, "I live in Bergen", "Noted.")

        await bot.says("/undo")

        shown = bot.card_with("Undo")
        assert shown.text.splitlines() == [
            DONE,
            "One change of what I remember rests on it and stays, unless you take it back:",
            '1 add to MEMORY: "Lives in Bergen" (in force)',
            "One by one: /memory undo ID, or /memory reject ID for what waits.",
        ]
        assert bot.memory_file() == "Lives in Bergen\n"

        await bot.taps("Undo", card=shown)

        assert bot.memory_file() == ""
        now = next(one for one in bot.telegram.screen(ANNA) if one.message_id == shown.message_id)
        assert '1 add to MEMORY: "Lives in Bergen" (taken back)' in now.text
        assert now.labels == ()


async def test_what_still_waits_for_a_yes_is_rejected_with_the_same_tap(tmp_path: Path) -> None:
    """A staged write of a turn that is gone is not to be approved by mistake."""
    async with running_bot(tmp_path, memory=ASK) as bot:
        bot.server.calls("memory", action="add", content="Lives in Bergen", target="memory")
        await talk(bot, "I live in Bergen", "I will ask you.")
        await bot.says("/undo")
        shown = bot.card_with("Undo")
        assert '"Lives in Bergen" (waits)' in shown.text

        await bot.taps("Undo", card=shown)

        assert [row.status for row in bot.ledger()] == [Status.REJECTED]
        assert bot.memory_file() == ""


async def test_where_others_read_along_only_the_numbers_are_named(tmp_path: Path) -> None:
    """The words of the ledger are for who decides, in private."""
    group = -100200
    access = f"owners: ['telegram:{ANNA}'], groups: {{allowed: ['telegram:{group}']}}"
    async with running_bot(tmp_path, access=access) as bot:
        bot.server.calls("memory", action="add", content="The gate code is 77", target="memory")
        bot.server.answers("Noted.")
        bot.telegram.says(ANNA, f"@{bot.telegram.username} The gate code is 77", chat=group)
        await bot.settles()
        bot.telegram.says(ANNA, f"/undo@{bot.telegram.username}", chat=group)
        await bot.settles()

        last = bot.telegram.screen(group)[-1]
        assert "\n1 (in force)\n" in last.text
        assert last.labels == ()
        assert "77" not in last.text


async def test_nobody_takes_back_what_others_said(tmp_path: Path) -> None:
    """Each has a session of their own (promise 6)."""
    async with running_bot(tmp_path) as bot:
        await talk(bot, "one", "1")
        await bot.says("/undo", BEN)
        assert bot.sees(BEN)[-1] == "There is nothing in this conversation to take back."
        assert said(bot) == ["one", "1"]


async def test_changing_what_was_taken_back_is_not_passed_over(tmp_path: Path) -> None:
    """Somebody who takes a slip back and then corrects it waits for an answer to the correction."""
    async with running_bot(tmp_path) as bot:
        bot.server.answers("In Norway.")
        slip = bot.telegram.says(ANNA, "Where is Begren?")
        await bot.settles()
        await bot.says("/undo")

        for _ in range(2):
            bot.telegram.edits(ANNA, slip, "Where is Bergen?")
            await bot.settles()

        assert [text for text in bot.sees() if text.startswith("I have read this")] == [
            "I have read this as it was before you changed it. Please say it again if it matters."
        ]
        assert said(bot) == []


async def test_in_a_group_of_single_conversations_only_ones_own_words_are_taken_back(tmp_path: Path) -> None:
    """What another member said a moment ago waits in the same chat, and is nobody else's to take back."""
    async with running_bot(tmp_path, access=OPEN, session=EACH) as bot:
        await tells(bot, "I am Anna")
        await tells(bot, "I am Ben", BEN)
        gate = bot.server.holds("to Anna")
        bot.telegram.says(ANNA, f"@{bot.telegram.username} and I like walrus", chat=GROUP)
        await gate.reached()
        bot.server.answers("to Ben")
        bot.telegram.says(BEN, f"@{bot.telegram.username} and I like trains", chat=GROUP)
        bot.telegram.says(ANNA, "/undo", chat=GROUP)
        await bot.until(lambda: any(text.startswith("✓ Taken back") for text in bot.sees(GROUP)))
        gate.open()
        await bot.settles()

        assert "to Anna" not in bot.sees(GROUP)
        assert "to Ben" in bot.sees(GROUP)


# -- reviews ------------------------------------------------------------------------------------------------


async def test_a_turn_taken_back_is_not_reviewed_and_does_not_count(tmp_path: Path) -> None:
    """The interval counts what is there, and the review does not see it (promise 3)."""
    async with running_bot(tmp_path, memory="nudge_interval: 3") as bot:
        await talk(bot, "one", "1")
        await talk(bot, "walrus", "?")
        await bot.says("/undo")
        await talk(bot, "two", "2")
        assert all_reviews(bot) == []
        await talk(bot, "three", "3")

        (review,) = all_reviews(bot)
        assert (review.first_turn, review.turn) == (1, 4)
        bot.server.answers("Nothing.", when=is_review)
        await bot.run_jobs()
        (request,) = bot.server.reviews
        assert "walrus" not in request.body.decode()
        assert request.message_bytes.startswith(bot.server.chats[-1].message_bytes)


async def test_a_review_that_looks_at_it_thinks_in_vain(tmp_path: Path) -> None:
    """Its claim is void: what it proposes of the turn that is gone is never written."""
    async with running_bot(tmp_path, memory="nudge_interval: 1") as bot:
        await talk(bot, "I live in Bergen", "Nice.")
        gate = bot.server.holds("", when=is_review)
        bot.server.calls("memory", action="add", content="Lives in Bergen", target="memory", when=is_review)
        work = asyncio.create_task(bot.run_jobs())
        await gate.reached()

        await bot.says("/undo")
        gate.open()
        await work

        assert bot.ledger() == []
        assert bot.memory_file() == ""
        assert [(one.status, one.reason) for one in all_reviews(bot)] == [("done", "undone")]


async def test_what_a_review_made_of_it_is_named_too(tmp_path: Path) -> None:
    """The turn was seen already; then its writes are offered."""
    async with running_bot(tmp_path, memory="nudge_interval: 1") as bot:
        await talk(bot, "I live in Bergen", "Nice.")
        bot.server.calls(
            "memory",
            action="add",
            content="Lives in Bergen",
            target="user",
            evidence="I live in Bergen",
            when=is_review,
        )
        bot.server.answers("Done.", when=is_review)
        await bot.run_jobs()
        assert [row.status for row in bot.ledger()] == [Status.APPLIED]

        await bot.says("/undo")

        assert '1 [auto] add to USER: "Lives in Bergen" (in force)' in bot.sees()[-1]


async def test_a_review_with_no_turn_left_asks_no_model(tmp_path: Path) -> None:
    """The tail of a session whose only turn was taken back is not worth a call."""
    async with running_bot(tmp_path) as bot:
        await talk(bot, "one", "1")
        await bot.says("/undo")
        await bot.says("/new")
        await bot.run_jobs()

        assert all_reviews(bot) == []
        assert bot.server.reviews == ()


# -- /retry -------------------------------------------------------------------------------------------------


async def test_the_same_question_is_asked_anew(tmp_path: Path) -> None:
    """The first answer is gone, the question stands once, the second answer is said."""
    async with running_bot(tmp_path) as bot:
        await talk(bot, "zero", "0")
        await talk(bot, "Name a bird", "A trout.")
        bot.server.answers("A wren.")

        await bot.says("/retry")

        assert bot.sees()[-2:] == ["✓ Once more:", "A wren."]
        assert said(bot) == ["zero", "0", "Name a bird", "A wren."]
        assert "trout" not in bot.server.chats[-1].body.decode()
        assert len(bot.server.chats) == 3


async def test_a_retried_turn_may_write_again_and_the_first_write_is_offered(tmp_path: Path) -> None:
    """What it wrote first stays until somebody takes it back; it rests on the same words, now said anew."""
    async with running_bot(tmp_path) as bot:
        bot.server.calls("memory", action="add", content="Lives in Bergen", target="memory")
        await talk(bot, "I live in Bergen and like tea", "Noted.")
        bot.server.calls("memory", action="add", content="Likes tea", target="memory")
        bot.server.answers("Noted better.")

        await bot.says("/retry")

        first, second = bot.ledger()
        assert bot.memory_file() == "Lives in Bergen\n§\nLikes tea\n"
        assert [first.status, second.status] == [Status.APPLIED, Status.APPLIED]
        assert first.evidence.message == second.evidence.message == transcript(bot)[0].id
        assert any('1 add to MEMORY: "Lives in Bergen" (in force)' in text for text in bot.sees())


async def test_a_running_turn_is_asked_again_once(tmp_path: Path) -> None:
    """It hangs; the person loses patience."""
    async with running_bot(tmp_path) as bot:
        gate = bot.server.holds("too late")
        bot.telegram.says(ANNA, "one")
        await gate.reached()
        bot.server.answers("1")
        bot.telegram.says(ANNA, "/retry")
        await bot.until(lambda: "1" in bot.sees())
        gate.open()
        await bot.settles()

        assert said(bot) == ["one", "1"]
        assert "too late" not in bot.sees()


async def test_what_waits_is_not_asked_twice(tmp_path: Path) -> None:
    """It will be answered anyway."""
    async with running_bot(tmp_path) as bot:
        gate = bot.server.holds("1")
        bot.telegram.says(ANNA, "one")
        await gate.reached()
        bot.telegram.says(ANNA, "two")
        bot.telegram.says(ANNA, "/retry")
        await bot.until(lambda: "What you said last is still waiting to be answered." in bot.sees())
        bot.server.answers("2")
        gate.open()
        await bot.settles()

        assert said(bot) == ["one", "1", "two", "2"]


async def test_asking_again_twice_asks_the_same_question(tmp_path: Path) -> None:
    """An impatient thumb must not take back the turn before."""
    async with running_bot(tmp_path) as bot:
        await talk(bot, "one", "1")
        await talk(bot, "two", "2")
        bot.server.otherwise = "2 again"
        bot.telegram.says(ANNA, "/retry")
        bot.telegram.says(ANNA, "/retry")
        await bot.settles()

        assert said(bot) == ["one", "1", "two", "2 again"]


async def test_what_was_asked_again_a_moment_ago_is_what_was_said_last(tmp_path: Path) -> None:
    """Its row is younger than the command that takes it back."""
    async with running_bot(tmp_path) as bot:
        await talk(bot, "one", "1")
        await talk(bot, "two", "2")
        bot.telegram.says(ANNA, "/retry")
        bot.telegram.says(ANNA, "/undo")
        await bot.settles()

        assert said(bot) == ["one", "1"]


async def test_asking_again_counts_as_a_turn_of_the_day(tmp_path: Path) -> None:
    """Else the owner's bound on others would be none; nor does taking back give one back."""
    access = f"owners: ['telegram:{ANNA}'], allowed: ['telegram:{BEN}'], daily_turns: 2"
    async with running_bot(tmp_path, access=access) as bot:
        await talk(bot, "one", "1", BEN)
        await bot.says("/retry", BEN)
        await bot.says("/retry", BEN)
        assert bot.sees(BEN)[-1].startswith("You have used your 2 messages for today.")
        await bot.says("/undo", BEN)
        await bot.says("two", BEN)
        assert bot.sees(BEN)[-1].startswith("You have used your 2 messages for today.")
        assert len(bot.server.chats) == 2


async def test_a_conversation_deleted_under_its_review(tmp_path: Path) -> None:
    """PI-144: the review ends at its next call, and nothing of it is written."""
    async with running_bot(tmp_path, memory="nudge_interval: 1") as bot:
        await talk(bot, "I live in Bergen", "Nice.")
        gate = bot.server.holds("", when=is_review)
        work = asyncio.create_task(bot.run_jobs())
        await gate.reached()
        with bot.core.db.read() as rd:
            session = sessions.current(rd, CHAT)
        assert session is not None

        clearing.delete(bot.core.db, bot.core.home, session.id)
        gate.open()
        await work

        assert (bot.ledger(), bot.memory_file(), len(bot.server.reviews)) == ([], "", 1)
        await talk(bot, "hello again", "Hello.")
        assert said(bot) == ["hello again", "Hello."]


class Killed(BaseException):
    """As if the process had been killed here."""


@pytest.mark.parametrize("command", ["/undo", "/retry"])
async def test_a_kill_right_after_the_commit_doubles_nothing(
    tmp_path: Path, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command is done with its own commit: started again, it is not done again; the question is asked once."""
    reached: list[str] = []

    def reach(name: str) -> None:
        if name == "command.done" and not reached:
            reached.append(name)
            raise Killed

    async with running_bot(tmp_path) as bot:
        await talk(bot, "one", "1")
        await talk(bot, "two", "2")
        monkeypatch.setattr(failpoints, "reach", reach)
        bot.server.answers("2 again")
        bot.telegram.says(ANNA, command)
        await bot.until(lambda: reached)
        await bot.restart()
        await bot.settles()

        again = ["two", "2 again"] if command == "/retry" else []
        await bot.until(lambda: said(bot) == ["one", "1", *again])
        await bot.settles()
        assert sum(text.startswith("✓") for text in bot.sees()) == 1


async def test_a_model_that_refuses_the_conversation_is_helped_by_undo(tmp_path: Path) -> None:
    """PI-118: one pasted text poisons every later request; taking it back heals the conversation."""

    def poisoned(request: dict[str, Any]) -> bool:
        return any("POISON" in str(row.get("content")) for row in request["messages"])

    async with running_bot(tmp_path) as bot:
        await talk(bot, "The key is under the blue pot", "Good.")
        bot.server.fails(403, times=2, when=poisoned)
        await bot.says("POISON")
        await bot.says("and now?")
        await bot.says("/undo")
        await bot.says("/undo")

        await talk(bot, "Where is the key?", "Under the pot.")

        assert bot.sees()[-1] == "Under the pot."
        assert asked(bot) == ["The key is under the blue pot", "Where is the key?"]
