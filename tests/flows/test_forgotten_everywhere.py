"""Two phrases that went through every door of a bot, one `/forget` each, and what is left of them: nothing.

The home is that of `crash.everywhere`, which the long form kills (`python -m tests.crash.forgetting`).
"""

import asyncio
import json
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from gateway import cli
from gateway.home import Home
from gateway.memory import backup
from gateway.store import forgets
from tests.bot import ANNA, Bot
from tests.crash import everywhere
from tests.fakes.model import ModelServer
from tests.fakes.telegram import FakeTelegram
from tests.store.canaries import ENGLISH, JAPANESE

NO_DOOR = ["former_prompts.tools", "searched_sessions.words", "sessions.tools"]
"""What nobody can put a word of a passage into: names of tools, and what is only looked up in titles."""

PLACES = (
    "backups/2",
    "backups/state-v",
    "exports/",
    "memories/MEMORY.md",
    "memories/MEMORY.md.bak",
    "memories/USER.md",
    "run/terminal-history",
    "skills/.archive",
    "skills/birds",
    "state.db",
)


@asynccontextmanager
async def planted(path: Path) -> AsyncIterator[Bot]:
    """The bot of that home, running."""
    with FakeTelegram() as telegram, ModelServer() as server:
        await asyncio.to_thread(everywhere.plant, path, telegram, server)
        server.otherwise = "I see."
        server.forget_script()
        bot = Bot(path, telegram, server)
        await bot.start()
        try:
            yield bot
        finally:
            await bot.stop()


async def forget(bot: Bot, text: str) -> None:
    """As a person does it."""
    await bot.says(f"/forget {text}")
    await bot.taps("Forget")
    await bot.until(lambda: "Erased:" in bot.sees()[-1])


async def test_they_went_through_every_door(tmp_path: Path) -> None:
    """A new column that may hold words must get a door here, or a forget proves nothing about it."""
    with FakeTelegram() as telegram, ModelServer() as server:
        home = await asyncio.to_thread(everywhere.plant, tmp_path, telegram, server)

    assert everywhere.columns_without(home) == NO_DOOR
    found = everywhere.hits(home.path)
    assert [place for place in PLACES if not any(path.startswith(place) for path in found)] == []


async def test_no_byte_of_them_is_left_and_every_other_byte_is(tmp_path: Path) -> None:
    """Promise 5, as a person has it: two commands, two taps."""
    async with planted(tmp_path) as bot:
        before = everywhere.others(bot.home)
        session = open_session(bot.home)

        await forget(bot, ENGLISH)
        await forget(bot, JAPANESE)

        assert [holding.text for holding in bot.telegram.screen(ANNA) if is_ours_to_change(holding.text)] == []
        await bot.says("What do you know of me?")
        asked = bot.server.chats[-1]
        assert not everywhere.holds(asked.body)
        assert is_well_formed(asked.messages)
        assert len(asked.messages) > 10
        assert open_session(bot.home) == session
        with bot.core.db.read() as rd:
            receipts = forgets.listed(rd, None)
        await bot.stop()
        after = everywhere.others(bot.home)
        assert [name for name in before if after.get(name) != before[name]] == []
        assert everywhere.hits(bot.home.path) == []
        assert [receipt.verified["clean"] for receipt in receipts] == [True, True]


async def test_a_copy_from_before_brings_nothing_back(tmp_path: Path) -> None:
    """It lay on another disk. Whoever takes it back hears that it is kept; the next request has nothing of it."""
    async with planted(tmp_path) as bot:
        kept = backup.listed(bot.home)[-1]
        elsewhere = Path(shutil.copytree(kept.path, tmp_path / kept.name))
        await forget(bot, ENGLISH)
        await forget(bot, JAPANESE)
        await bot.stop()

        restored = await asyncio.to_thread(
            cli.main, ["--home", str(bot.home.path), "backup", "restore", str(elsewhere), "--yes"]
        )

        assert restored == 0
        assert everywhere.hits(bot.home.path) == []
        await bot.start()
        await bot.says("What do you know of me?")
        asked = bot.server.chats[-1]
        assert not everywhere.holds(asked.body)
        assert is_well_formed(asked.messages)
        assert "Likes short answers" in asked.messages[0]["content"]


def is_ours_to_change(text: str) -> bool:
    """Cards and plans of ours that still show it; what was answered is the network's own copy."""
    return everywhere.holds(text.encode()) and ("May I" in text or "I found it" in text)


def open_session(home: Home) -> list[tuple[Any, ...]]:
    """Any: what SQLite gives."""
    return everywhere.rows(home, "SELECT id FROM sessions WHERE ended_at IS NULL AND chat = '123'")


def is_well_formed(messages: list[dict[str, Any]]) -> bool:
    """Whether each call has its result, right behind it, and JSON for arguments. Any: a request as it was sent."""
    waiting: list[str] = []
    for message in messages:
        if message["role"] == "tool":
            assert message["tool_call_id"] == waiting.pop(0), message
            continue
        assert waiting == [], message
        for call in message.get("tool_calls", ()):
            assert isinstance(json.loads(call["function"]["arguments"]), dict)
            waiting.append(call["id"])
    return not waiting
