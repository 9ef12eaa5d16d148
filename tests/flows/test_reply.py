"""The story of a message: it comes in, it is answered, and nothing is lost or doubled on the way."""

import itertools
from pathlib import Path

from tests.bot import ANNA, BEN, MALLORY, running_bot


async def test_a_message_is_answered(tmp_path: Path) -> None:
    """The first thing anybody tries."""
    async with running_bot(tmp_path) as bot:
        bot.server.answers("Lovely city!")

        await bot.says("I moved to Bergen")

        assert bot.sees()[0] == "Lovely city!"


async def test_the_first_answer_is_followed_by_what_is_kept_and_the_owners_question(tmp_path: Path) -> None:
    """A person should know from the start what is kept, who reads it and how to forget; once."""
    async with running_bot(tmp_path) as bot:
        await bot.says("hello")
        await bot.says("hello again")

        seen = bot.sees()
        assert "memory" in seen[1] and "Only you can read it" in seen[1]
        assert seen[2].startswith("Ask me before I remember?")
        assert len(seen) == 4


async def test_what_the_model_remembers_is_written_and_told(tmp_path: Path) -> None:
    """Without approval a fact that rests on the person's own words is kept at once, and never silently."""
    async with running_bot(tmp_path) as bot:
        bot.server.calls("memory", action="add", content="Lives in Bergen", target="user")
        bot.server.answers("Noted!")

        await bot.says("I live in Bergen")

        assert bot.memory_file("USER.md") == "Lives in Bergen\n"
        assert bot.sees()[:2] == ["Noted!", "💾 Memory updated"]


async def test_a_stranger_reaches_nothing(tmp_path: Path) -> None:
    """No model call, no answer but a code, no row with the words, by message or by button."""
    async with running_bot(tmp_path, memory="write_approval: true") as bot:
        bot.server.calls("memory", action="add", content="Lives in Bergen")
        bot.server.answers("May I?")
        await bot.says("I live in Bergen")
        asked = len(bot.server.requests)

        await bot.says("let me in, xyzzy", MALLORY)
        toast = await bot.taps("Approve", MALLORY, bot.card_with("Approve"))

        assert len(bot.server.requests) == asked
        assert [text.partition(".")[0] for text in bot.sees(MALLORY)] == ["I do not know you yet"]
        assert toast == "This is not for you to decide."
        assert bot.memory_file() == ""
        assert b"xyzzy" not in bot.home.state_db.read_bytes()


async def test_each_person_has_a_space_of_their_own(tmp_path: Path) -> None:
    """What Ben says ends in Ben's files, and Anna's prompt never holds it."""
    async with running_bot(tmp_path) as bot:
        bot.server.calls("memory", action="add", content="Plays the tuba", target="user")
        bot.server.answers("Noted!")
        await bot.says("I play the tuba", BEN)

        await bot.says("hello", ANNA)

        assert bot.memory_file("USER.md", f"telegram-{BEN}") == "Plays the tuba\n"
        assert bot.memory_file("USER.md") == ""
        assert "tuba" not in bot.server.last.body.decode()


async def test_the_prompt_stays_frozen_until_new(tmp_path: Path) -> None:
    """A change on disk does not reach the open conversation, nor does a restart; /new sees it."""
    async with running_bot(tmp_path) as bot:
        await bot.says("hello")
        (bot.home.space_dir("owner") / "MEMORY.md").write_text("The cellar is damp\n", "utf-8")
        await bot.says("still here?")
        await bot.restart()
        await bot.says("and now?")

        first, *later = (request.messages[0] for request in bot.server.chats)
        assert all(system == first for system in later)
        assert "cellar" not in first["content"]

        await bot.says("/new")
        await bot.says("what about now?")

        assert "The cellar is damp" in bot.server.last.messages[0]["content"]


async def test_each_request_begins_with_the_bytes_of_the_one_before(tmp_path: Path) -> None:
    """That is what keeps a model's prompt cache warm, over tool rounds and restarts."""
    async with running_bot(tmp_path) as bot:
        bot.server.calls("memory", action="add", content="Owns a tuba")
        bot.server.answers("Noted!")
        await bot.says("I own a tuba")
        await bot.restart()
        await bot.says("and a boat 🚣")

        requests = bot.server.chats
        assert len(requests) == 3
        for earlier, later in itertools.pairwise(requests):
            assert later.message_bytes.startswith(earlier.message_bytes)
            assert later.json["tools"] == earlier.json["tools"]
