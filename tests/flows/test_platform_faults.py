"""Faults of comparable bots on chat platforms, tried where no test nearer to the part does it (known-faults.md)."""

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gateway import app, llm
from gateway.clock import SystemClock
from gateway.home import Home
from tests.bot import ANNA, BEN, Bot, NoQueue, running_bot
from tests.doors import Discord, Place, Telegram, World, world
from tests.fakes.discord import FakeDiscord
from tests.fakes.model import ModelServer
from tests.fakes.telegram import FakeTelegram

FULL = {"telegram": ("a long line of text " * 200).strip(), "discord": ("a long line of text " * 99).strip()}
"""As much as an app puts into one message before it cuts."""


@pytest.fixture(params=["telegram", "discord"])
def bot(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[World]:
    """A bot of Anna's, who lets Ben talk and has let in one group."""
    with world(tmp_path, request.param) as made:
        made.configure()
        yield made


def asked(bot: World) -> list[str]:
    """What each request to the model ended with, without the time before it."""
    return [str(request.messages[-1]["content"]).partition("] ")[2] for request in bot.model.chats]


def memory_of(bot: World, space: str) -> str:
    return (bot.home.space_dir(space) / "MEMORY.md").read_text("utf-8")


# -- pieces of one message ---------------------------------------------------------------------------------


async def test_a_long_paste_is_one_turn_however_short_the_platforms_messages_are(bot: World) -> None:
    """Discord cuts at less than half of what Telegram does (PI-327)."""
    full = FULL[bot.network.name]
    async with bot.running():
        for words in (full, full, "its end"):
            bot.network.says(ANNA, words, Place.PRIVATE)
        await bot.network.wait_for(lambda: bot.receiver.taken["message"] == 3)
        await bot.gateway.settled()

    assert asked(bot) == [f"{full}\n{full}\nits end"]


async def test_half_a_paste_gets_no_answer_while_the_platform_is_out_of_reach(bot: World) -> None:
    """Killed after the first piece; the platform holds the second and is not to be reached at the start."""
    full = FULL[bot.network.name]
    async with bot.running():
        await bot.hears(ANNA, "hello")
        bot.gateway.drain_seconds = 0.0
        bot.network.says(ANNA, full, Place.PRIVATE)
        await bot.network.wait_for(lambda: bot.receiver.taken["message"] == 2)
    assert asked(bot) == ["hello"]
    bot.network.is_out_of_reach()
    bot.network.says(ANNA, "its end", Place.PRIVATE)
    async with bot.running():
        await bot.network.wait_for(lambda: bot.receiver.taken["message"] == 1)
        await bot.gateway.settled()

    assert asked(bot) == ["hello", f"{full}\nits end"]


async def test_half_a_paste_waits_for_the_rest_through_an_outage(tmp_path: Path) -> None:
    """The connection is lost between two pieces: that nothing comes is no sign that all is there."""
    async with running_bot(tmp_path) as bot:
        await bot.says("hello")
        under_way = len(bot.telegram.called("getUpdates"))
        bot.telegram.fail("getUpdates", 502, times=8)  # each pause is twice the one before
        bot.telegram.says(ANNA, FULL["telegram"])
        await bot.telegram.wait_for(lambda: len(bot.telegram.called("getUpdates")) > under_way)
        bot.telegram.says(ANNA, "its end")
        await bot.settles()

        said = [str(request.messages[-1]["content"]).partition("] ")[2] for request in bot.server.chats]
        assert said == ["hello", f"{FULL['telegram']}\nits end"]


async def test_in_a_group_all_pieces_of_a_paste_are_for_the_bot_and_nothing_else_is(bot: World) -> None:
    """Only the first piece calls it by name; what others say, or the same person besides, is not for it."""
    full = FULL[bot.network.name]
    async with bot.running():
        await bot.hears(ANNA, "hello", Place.GROUP)
        before = bot.receiver.taken["message"]
        bot.network.says(ANNA, f"please read: {full[20:]}", Place.GROUP)
        bot.network.says(BEN, "xyzzy", Place.GROUP, addressed=False)
        bot.network.says(ANNA, "its end", Place.GROUP, addressed=False)
        await bot.network.wait_for(lambda: bot.receiver.taken["message"] == before + 3)
        await bot.gateway.settled()
        read = asked(bot)[-1]
        gate = bot.model.holds("One moment.")
        bot.network.says(ANNA, "one", Place.GROUP)
        await gate.reached()
        before = bot.receiver.taken["message"]
        bot.network.says(ANNA, "two", Place.GROUP)
        bot.network.says(ANNA, "plugh", Place.GROUP, addressed=False)
        await bot.network.wait_for(lambda: bot.receiver.taken["message"] == before + 2)
        gate.open()
        await bot.gateway.settled()

    assert len(asked(bot)) == 4
    assert "please read" in read and read.endswith("\n  its end")
    kept = b"".join(path.read_bytes() for path in bot.home.path.rglob("*") if path.is_file())
    assert b"xyzzy" not in kept and b"plugh" not in kept


async def test_a_command_that_does_not_call_the_bot_is_no_piece_of_a_paste(bot: World) -> None:
    """Otherwise what one types to another bot right after a long message would be done by this one."""
    async with bot.running():
        await bot.hears(ANNA, "hello", Place.GROUP)
        before = bot.receiver.taken["message"]
        bot.network.says(ANNA, FULL[bot.network.name], Place.GROUP)
        words = "/remember xyzzy" if bot.network.name == "discord" else "/remember@another_bot xyzzy"
        bot.network.says(ANNA, words, Place.GROUP, addressed=False)
        await bot.network.wait_for(lambda: bot.receiver.taken["message"] == before + 2)
        await bot.gateway.settled()

        assert bot.ledger() == []


async def test_parts_of_an_album_that_trickle_in_are_one_turn(tmp_path: Path) -> None:
    """Each is kept, and its turn waits for the next: a slow phone uploads them one by one (PI-294)."""
    async with running_bot(tmp_path) as bot:
        for caption in ("", "our garden", ""):
            bot.telegram.sends_album(ANNA, "holiday", [caption])
            await bot.telegram.wait_for(lambda: not bot.telegram.unconfirmed)
        await bot.settles()

        said = [str(request.messages[-1]["content"]).partition("] ")[2] for request in bot.server.chats]
        assert said == ["(attached, and not readable for you: 3 x photo)\nour garden"]


async def test_a_late_part_of_an_album_brings_no_excuse(tmp_path: Path) -> None:
    """The album was answered; that its third photo cannot be read need not be said (PI-294)."""
    async with running_bot(tmp_path) as bot:
        gate = bot.server.holds("What a garden!")
        bot.telegram.sends_album(ANNA, "holiday", ["our garden", ""])
        await gate.reached()
        bot.telegram.sends_album(ANNA, "holiday", [""])
        await bot.telegram.wait_for(lambda: not bot.telegram.unconfirmed)
        gate.open()
        await bot.settles()
        bot.telegram.sends_album(ANNA, "holiday", ["", ""])
        await bot.settles()

        assert not [text for text in bot.sees() if "only read text" in text]
        assert bot.sees()[0] == "What a garden!"
        assert len(bot.server.chats) == 1


async def test_a_remark_and_what_is_forwarded_after_it_are_all_answered(tmp_path: Path) -> None:
    """They are messages of their own, in order; what was forwarded is nobody's own words (PI-294)."""
    async with running_bot(tmp_path) as bot:
        forwarded: dict[str, Any] = {
            "forward_origin": {"type": "hidden_user", "sender_user_name": "Eve", "date": 1}
        }
        bot.telegram.says(ANNA, "what do you think of this?")
        bot.telegram.says(ANNA, "the first", **forwarded)
        bot.telegram.says(ANNA, "the second", **forwarded)
        await bot.settles()

        ends = [str(request.messages[-1]["content"]).partition("] ")[2] for request in bot.server.chats]
        assert ends[0] == "what do you think of this?"
        assert [end.splitlines()[-1] for end in ends[1:]] == ["| the first", "| the second"]


# -- whose it is -------------------------------------------------------------------------------------------


async def test_a_model_cannot_say_whose_memory_it_writes_or_who_asked(bot: World) -> None:
    """Space, person and origin come from the message that is being answered (PI-064, PI-075)."""
    fake: dict[str, Any] = {"space": "owner", "user_id": f"{bot.network.name}:{ANNA}", "origin": "person"}
    async with bot.running():
        for person in (ANNA, BEN):
            bot.model.calls("memory", action="add", content=f"Number {person}", evidence=f"I am {person}", **fake)
            bot.model.answers("Noted.")
            await bot.hears(person, f"I am {person}")

        assert [str(write.origin) for write in bot.ledger()] == ["foreground", "foreground"]
    assert memory_of(bot, "owner") == f"Number {ANNA}\n"
    assert memory_of(bot, f"{bot.network.name}-{BEN}") == f"Number {BEN}\n"


# -- the right place ---------------------------------------------------------------------------------------


async def test_a_topic_is_a_conversation_of_its_own_and_general_is_one_too(tmp_path: Path) -> None:
    """Each answer comes where it was asked, and no topic knows what was said in another (PI-281, 282, 288, 289)."""
    group = -100200
    access = f"owners: ['telegram:{ANNA}'], groups: {{allowed: ['telegram:{group}']}}"
    async with running_bot(tmp_path, access=access) as bot:
        call = f"@{bot.telegram.username}"
        bot.telegram.has_topic(group, 7)
        bot.telegram.has_topic(group, 8)
        for thread, word in ((7, "apples"), (8, "pears"), (None, "plums")):
            bot.server.answers(f"About {word}.")
            bot.telegram.says(ANNA, f"{call} {word}", chat=group, thread=thread)
            await bot.settles()
        bot.telegram.says(ANNA, f"{call} and now?", chat=group, thread=7)
        await bot.settles()

        shown = [(one.thread, one.text) for one in bot.telegram.screen(group) if one.text.startswith("About")]
        assert shown == [(7, "About apples."), (8, "About pears."), (None, "About plums.")]
        last = str(bot.server.chats[-1].messages)
        assert "apples" in last and "pears" not in last and "plums" not in last


async def test_an_answer_for_a_deleted_topic_lands_nowhere_else_and_the_others_go_on(tmp_path: Path) -> None:
    """What was meant for a few must not be read by all (PI-281, 283)."""
    group = -100200
    access = f"owners: ['telegram:{ANNA}'], groups: {{allowed: ['telegram:{group}']}}"
    async with running_bot(tmp_path, access=access) as bot:
        call = f"@{bot.telegram.username}"
        gate = bot.server.holds("psst")
        bot.telegram.says(ANNA, f"{call} tell us", chat=group, thread=7)
        await gate.reached()
        bot.telegram.loses_topic(group, 7)
        gate.open()
        await bot.settles()
        bot.telegram.says(ANNA, f"{call} hello", chat=group)
        await bot.settles()

        assert "psst" not in bot.sees(group)
        assert bot.sees(group)[-1] == "Hello from the fake model."
        assert bot.outbox_is_empty()


# -- doors that are shut -----------------------------------------------------------------------------------


async def test_a_refused_discord_leaves_telegram_running(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A switch that is off in one portal silences one platform and is named, once (PI-310)."""
    with FakeTelegram() as telegram, FakeDiscord() as discord, ModelServer() as model:
        discord.sessions.content_intent = False
        prepared = Bot(tmp_path, telegram, model)
        prepared.configure()
        core = app.open_core(Home(tmp_path / "home"), SystemClock())
        platforms = [Discord(discord).platform(core.clock), Telegram(telegram).platform(core.clock)]
        gateway = app.Gateway(
            core, llm.build(core.loaded.settings.chat_model()), NoQueue(), {one.name: one for one in platforms}
        )
        try:
            async with gateway.running():
                receiving = asyncio.create_task(gateway.receive(lambda _: None))
                await telegram.wait_for(lambda: platforms[0].health().state == "refused")
                telegram.says(ANNA, "still there?")
                await telegram.wait_for(lambda: telegram.screen(ANNA))
                receiving.cancel()
                await asyncio.wait((receiving,))
        finally:
            core.close()

        assert telegram.screen(ANNA)[0].text == "Hello from the fake model."
        assert capsys.readouterr().err.count("MESSAGE CONTENT INTENT") == 1
        assert discord.sessions.identified == 1


async def test_a_command_is_acknowledged_while_the_database_is_busy(tmp_path: Path) -> None:
    """Discord waits three seconds, a review's commit or a slow disk may take longer (PI-305, PI-313)."""
    with world(tmp_path, "discord") as bot:
        bot.configure()
        network = bot.network
        assert isinstance(network, Discord)
        async with bot.running():
            await bot.hears(ANNA, "hello")
            free = threading.Event()
            held = threading.Event()
            holding = asyncio.create_task(asyncio.to_thread(_hold, bot, held, free))
            await network.wait_for(held.is_set)
            try:
                given = network.server.gives(ANNA, "status")
                await network.wait_for(lambda: network.server.interactions[given].acknowledged)
                before = network.sees(ANNA, Place.PRIVATE)
            finally:
                free.set()
                await holding
            await network.wait_for(lambda: len(network.sees(ANNA, Place.PRIVATE)) > len(before))


def _hold(bot: World, held: threading.Event, free: threading.Event) -> None:
    with bot.core.db.write():
        held.set()
        free.wait(20)
