"""Forgetting while people talk: open sessions, running turns, reviews and tools that began before."""

import asyncio
import json
from pathlib import Path

from gateway.chat import OutgoingMessage
from gateway.memory.forgetting import Scope
from gateway.store import forgets, people, reviews, sessions
from tests.bot import ANNA, Bot, running_bot
from tests.fakes.model import is_chat, is_review

FACT = "Keeps her bees in Lysekil"


async def test_an_open_session_answers_without_what_was_forgotten(tmp_path: Path) -> None:
    """Its frozen prompt held the entry, its transcript the words: a new prompt, a neutral mark, nothing else."""
    async with running_bot(tmp_path) as bot:
        remember(bot, FACT, "Likes short answers")
        await bot.says("I keep my bees in Lysekil, do you know it?")
        assert "bees in Lysekil" in bot.server.chats[-1].body.decode()

        await forget(bot, FACT, "bees in Lysekil")
        await bot.says("So what do you know of me?")

        asked = bot.server.chats[-1]
        assert "Lysekil" not in asked.body.decode()
        assert "Likes short answers" in asked.messages[0]["content"]
        assert "I keep my (forgotten), do you know it?" in asked.messages[1]["content"]
        assert [message["role"] for message in asked.messages] == ["system", "user", "assistant", "user"]


async def test_the_session_keeps_its_new_prompt(tmp_path: Path) -> None:
    """Promise 4 holds again from the next turn on."""
    async with running_bot(tmp_path) as bot:
        remember(bot, FACT)
        await bot.says("hello")
        await forget(bot, FACT)
        await bot.says("hello again")
        again = bot.server.chats[-1]

        await bot.restart()
        remember(bot, "Likes short answers")
        await bot.says("and again")

        assert bot.server.chats[-1].message_bytes.startswith(again.message_bytes)


async def test_status_says_why_a_session_was_frozen_again(tmp_path: Path) -> None:
    """Promise 4 names the three things that change a prompt; whoever sees it change is told which it was."""
    async with running_bot(tmp_path) as bot:
        remember(bot, FACT)
        await bot.says("hello")
        await forget(bot, FACT)

        await bot.says("/status")
        assert "it begins its next turn with memory as it is then" in bot.sees()[-1]
        await bot.says("hello again")
        await bot.says("/status")
        assert "since" in bot.sees()[-1] and "it has memory as it was then" in bot.sees()[-1]


async def test_the_card_of_a_forgotten_write_loses_its_words(tmp_path: Path) -> None:
    """What waits for a yes is shown in the chat with all its words; so is what was approved."""
    async with running_bot(tmp_path, memory="write_approval: true") as bot:
        for text in ("Keeps bees in Lysekil", "Has a boat in Lysekil"):
            bot.server.calls("memory", action="add", content=text)
            bot.server.answers("May I?")
            await bot.says(text)
        await bot.taps("Approve")
        assert any("Keeps bees in Lysekil" in text for text in bot.sees())

        await forget(bot, "bees in Lysekil", "boat in Lysekil", "Lysekil")
        await bot.settles()

        assert [text for text in bot.sees() if text == "What this proposed was forgotten."] == [
            "What this proposed was forgotten.",
            "What this proposed was forgotten.",
        ]
        await bot.says("/memory undo 2")
        assert bot.sees()[-1] == "Write 2 cannot be taken back: what it said was forgotten."
        await bot.says("/memory log")
        assert "Lysekil" not in bot.sees()[-1]


async def test_a_turn_that_began_before_is_thought_again(tmp_path: Path) -> None:
    """What the model says on the old transcript may hold the words: it is never kept nor said."""
    async with running_bot(tmp_path) as bot:
        remember(bot, FACT)
        await bot.says("hello")
        gate = bot.server.holds("You keep your bees in Lysekil!", when=is_chat)
        bot.telegram.says(ANNA, "Where are my bees?")
        await gate.reached()

        forgetting = asyncio.create_task(forget(bot, FACT, "bees in Lysekil"))
        await bot.until(lambda: begun(bot))
        gate.open()
        await forgetting
        bot.server.answers("I do not know.")
        await bot.until(lambda: "I do not know." in bot.sees() or bot.server.otherwise in bot.sees()[1:])

        assert not any("Lysekil" in text for text in bot.sees())
        await bot.settles()
        await bot.stop()
        assert b"Lysekil" not in bot.home.state_db.read_bytes()


async def test_a_call_that_was_committed_before_writes_nothing(tmp_path: Path) -> None:
    """Between a call and its result everything may be forgotten: the words must not enter the file after it."""
    async with running_bot(tmp_path) as bot:
        bot.server.calls("memory", action="add", content="Knows Mallory of Lysekil", target="memory")
        gate = bot.server.holds("Noted.", when=lambda asked: asked["messages"][-1]["role"] == "tool")
        bot.telegram.says(ANNA, "I know Mallory of Lysekil")
        await gate.reached()
        assert bot.memory_file() == "Knows Mallory of Lysekil\n"

        await forget(bot, "Mallory of Lysekil")
        gate.open()
        await bot.settles()

        assert bot.memory_file() == ""
        asked = bot.server.chats[-1]
        assert "Lysekil" not in asked.body.decode()
        assert json.loads(asked.messages[2]["tool_calls"][0]["function"]["arguments"])["content"] == (
            "Knows (forgotten)"
        )


async def test_a_review_in_flight_commits_nothing(tmp_path: Path) -> None:
    """It has read what is being forgotten. It is done again, on what is left."""
    async with running_bot(tmp_path, memory="nudge_interval: 1") as bot:
        await bot.says("I keep my bees in Lysekil")
        bot.server.calls("memory", when=is_review, action="add", content=FACT, evidence="I keep my bees in Lysekil")
        gate = bot.server.holds("Done.", when=is_review)
        working = asyncio.create_task(bot.run_jobs())
        await gate.reached()

        await forget(bot, "bees in Lysekil")
        gate.open()
        await working

        assert (bot.memory_file(), [write.status for write in bot.ledger()]) == ("", [])
        await bot.run_jobs()
        with bot.core.db.read() as rd:
            assert reviews.counts(rd) == {"due": 0, "running": 0, "failed": 0}
        assert "Lysekil" not in bot.server.reviews[-1].body.decode()


async def test_a_review_whose_prompt_is_gone_still_looks_back(tmp_path: Path) -> None:
    """The turns are to be reviewed all the same; only the prompt that told them is no more."""
    async with running_bot(tmp_path, memory="nudge_interval: 1") as bot:
        remember(bot, FACT)
        await bot.says("I like green tea")
        await forget(bot, FACT)
        bot.server.calls(
            "memory", when=is_review, action="add", content="Likes green tea", evidence="I like green tea"
        )

        await bot.run_jobs()

        assert bot.memory_file() == "Likes green tea\n"
        assert "Lysekil" not in bot.server.reviews[-1].body.decode()


async def test_the_frozen_snapshot_answers_until_it_is_forgotten(tmp_path: Path) -> None:
    """Taking the entry out of the file by hand is no forget: the open session still knows it, and that is right."""
    async with running_bot(tmp_path) as bot:
        remember(bot, FACT)
        await bot.says("Where are my bees?")
        bot.home.memory_file("owner", "memory").write_text("")
        await bot.restart()

        await bot.says("And now?")
        assert "bees in Lysekil" in bot.server.chats[-1].messages[0]["content"]
        await bot.says("/new")
        await bot.says("And in a new session?")
        assert "Lysekil" not in bot.server.chats[-1].body.decode()
        first = oldest_session(bot)

        await forget(bot, FACT)
        await bot.says("/search Lysekil")
        assert not any("Keeps her bees" in text for text in bot.sees())
        await bot.says(f"/resume {first}")
        await bot.says("And now?")
        assert "Lysekil" not in bot.server.chats[-1].messages[0]["content"]


async def test_what_comes_back_is_asked_about_and_kept_only_with_a_yes(tmp_path: Path) -> None:
    """The next review learns it again from what is still said: it must not be silent."""
    async with running_bot(tmp_path) as bot:
        remember(bot, FACT)
        await bot.says("hello")
        await forget(bot, FACT)
        bot.server.calls("memory", action="add", content=f"{FACT}.", target="memory")
        bot.server.answers("May I?")

        await bot.says("I keep bees in Lysekil")

        assert bot.memory_file() == ""
        card = bot.card_with("Keep")
        assert "You asked me to forget something like this on" in card.text
        assert card.labels[:2] == ("Keep", "Leave out")
        await bot.taps("Keep")
        assert bot.memory_file() == f"{FACT}.\n"

        bot.server.calls("memory", action="remove", old_text=FACT)
        bot.server.answers("Gone.")
        await bot.says("take it out")
        await bot.says(f"/remember {FACT}")
        assert bot.memory_file() == f"{FACT}\n"


async def test_a_persons_own_remember_asks_the_same_once(tmp_path: Path) -> None:
    """They may have forgotten that they asked to forget."""
    async with running_bot(tmp_path) as bot:
        remember(bot, FACT)
        await forget(bot, FACT)

        await bot.says(f"/remember {FACT}")
        assert bot.memory_file() == ""
        await bot.taps("Leave out")
        assert bot.memory_file() == ""
        await bot.says("/remember Likes the sea")

        assert bot.memory_file() == "Likes the sea\n"


async def test_a_forget_that_was_begun_is_finished_after_a_restart(tmp_path: Path) -> None:
    """Whoever said yes need not ask again."""
    async with running_bot(tmp_path) as bot:
        remember(bot, FACT)
        await bot.says("hello")
        with bot.core.db.read() as rd:
            space = people.space_named(rd, "owner")
        id = await asyncio.to_thread(bot.core.forgetting.forget, space, Scope((FACT,)), f"telegram:{ANNA}")

        await bot.restart()

        def is_done() -> bool:
            with bot.core.db.read() as rd:
                return forgets.get(rd, id).status == "done"

        await bot.until(is_done)
        assert bot.memory_file() == ""


async def test_what_is_half_said_is_not_said_to_its_end(tmp_path: Path) -> None:
    """A long answer goes out in several messages; those that are still to come are cut, too."""
    async with running_bot(tmp_path) as bot:
        bot.server.answers("\n\n".join((*["Something else."] * 400, "You keep bees in Lysekil.")))
        sent = 0
        platform = bot.gateway.platforms["telegram"]
        send = platform.send

        async def slow(message: OutgoingMessage) -> str:
            nonlocal sent
            id = await send(message)
            sent += 1
            if sent == 1:
                await forget(bot, "bees in Lysekil")
            return id

        platform.send = slow  # type: ignore[method-assign]  # the one moment that no fake network can hold
        await bot.says("Tell me all")
        await bot.until(lambda: any("You keep (forgotten)." in text for text in bot.sees()))

        assert not any("Lysekil" in text for text in bot.sees())


def remember(bot: Bot, *texts: str) -> None:
    path = bot.home.memory_file("owner", "memory")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n§\n".join(texts) + "\n")


async def forget(bot: Bot, *texts: str) -> int:
    """A plan with a yes, and all of it erased."""

    def work() -> int:
        with bot.core.db.write() as tx:
            space = people.ensure_space(tx, "owner", "owner", f"telegram:{ANNA}", bot.core.clock.now())
        forgetting = bot.core.forgetting
        id = forgetting.forget(space, Scope(texts), f"telegram:{ANNA}")
        assert forgetting.go_on(id)
        return id

    return await asyncio.to_thread(work)


def begun(bot: Bot) -> bool:
    with bot.core.db.read() as rd:
        return any(forgets.epoch(rd, space.id) for space in people.spaces(rd))


def oldest_session(bot: Bot) -> str:
    with bot.core.db.read() as rd:
        return sessions.recent(rd, None, 10)[-1].id
