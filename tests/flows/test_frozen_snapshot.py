"""The experiment with the frozen snapshot: ask, take the entry out of the file, ask again, begin anew, search.

Done twice: without a forget the conversation that is open goes on knowing it, and that is right; with one nothing
does. What a model knows is what its request holds.
"""

from pathlib import Path

import pytest

from tests.bot import Bot, running_bot
from tests.flows.test_forgotten_everywhere import forget

FACT = "Keeps her bees in Lysekil"
KNOWS = {
    "without a forget": {"asked": True, "resumed": True, "anew": False, "back in the old one": True, "found": True},
    "with a forget": {"asked": True, "resumed": False, "anew": False, "back in the old one": False, "found": False},
}


@pytest.mark.parametrize("how", KNOWS)
async def test_what_is_still_known_of_an_entry_that_was_taken_out(tmp_path: Path, how: str) -> None:
    """People take a line out of a file and believe that it is forgotten."""
    async with running_bot(tmp_path) as bot:
        file = bot.home.memory_file("owner", "memory")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{FACT}\n§\nLikes tea\n")
        seen = {"asked": await asks(bot, "Where are the bees in Lysekil?")}
        if how == "with a forget":
            await forget(bot, "bees in Lysekil")
        else:
            file.write_text("Likes tea\n")
        await bot.restart()

        seen["resumed"] = await asks(bot, "And now?")
        await bot.says("/new")
        seen["anew"] = await asks(bot, "What do you know?")
        await bot.says("/sessions")
        await bot.says("/resume 2")
        seen["back in the old one"] = await asks(bot, "And here?")
        await bot.says("/search bees")
        seen["found"] = "Lysekil" in bot.sees()[-1]

        assert seen == KNOWS[how]
        assert bot.memory_file() == "Likes tea\n"


async def asks(bot: Bot, question: str) -> bool:
    """Whether the request that was made of a question tells of it."""
    await bot.says(question)
    return b"Lysekil" in bot.server.chats[-1].body
