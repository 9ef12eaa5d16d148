"""`/incognito`: memory is read, none is written, and when it ends nothing of it is left."""

import asyncio
import json
from datetime import timedelta
from pathlib import Path

import pytest

from gateway.chat import TERMINAL_OWNER, Chat
from gateway.conversation import access
from gateway.memory import backup, incognito
from gateway.records import Role
from gateway.store import messages, outbox, people, reviews, sessions, usage
from tests.bot import ANNA, Bot, running_bot
from tests.doors import Discord, Place, world
from tests.fakes.model import is_title

SECRET = "I dream of Lysekil"


def remember(bot: Bot, text: str) -> None:
    path = bot.home.memory_file("owner", "memory")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{text}\n", "utf-8")


async def leaves_no_trace(bot: Bot) -> None:
    """Neither a row nor a byte."""
    with bot.core.db.read() as rd:
        assert rd.rows("SELECT id FROM sessions WHERE incognito = 1") == []
        assert not any("Lysekil" in row["text"] for row in rd.rows("SELECT text FROM messages"))
    bot.gateway.housekeeping.tidy()
    await bot.stop()
    for path in bot.home.path.rglob("*"):
        if path.is_file():
            assert b"Lysekil" not in path.read_bytes(), path


async def test_it_reads_memory_and_leaves_nothing(tmp_path: Path) -> None:
    """Said at its start and at its end."""
    async with running_bot(tmp_path) as bot:
        remember(bot, "Likes green tea")
        await bot.says("/incognito")
        assert bot.sees()[-1].startswith("🕶 Incognito: I read my memory here and write none.")
        bot.server.answers("Lysekil is lovely.")
        await bot.says(SECRET)
        assert "Likes green tea" in bot.server.chats[-1].messages[0]["content"]
        bot.server.answers("You dream of it.")
        await bot.says("What do I dream of?")
        assert SECRET in bot.server.chats[-1].body.decode()

        await bot.says("/new")

        assert bot.sees()[-2:] == [
            "🕶 The incognito conversation is over. Nothing of it was kept.",
            "✓ A new conversation begins with your next message.",
        ]
        await bot.says("hello again")
        assert "Lysekil" not in bot.server.chats[-1].body.decode()
        await leaves_no_trace(bot)


async def test_the_memory_tool_is_off_in_it(tmp_path: Path) -> None:
    """The model is told, the person is told, and `/remember` does not either."""
    async with running_bot(tmp_path) as bot:
        await bot.says("/incognito")
        bot.server.calls("memory", action="add", content="Dreams of Lysekil")
        bot.server.answers("I cannot.")
        await bot.says("Remember that I dream of Lysekil")
        result = json.loads(bot.server.chats[-1].messages[-1]["content"])
        assert (result["success"], "incognito" in result["error"]) == (False, True)
        assert "🕶 Not remembered: this conversation is incognito. /new ends it." in bot.sees()
        assert not any("could not be made" in text for text in bot.sees())
        bot.server.answers("OK.")
        await bot.says("Remember that I dream of Lysekil")
        assert bot.sees()[-1] == "🕶 Not remembered: this conversation is incognito. /new ends it."
        await bot.says("/remember Dreams of Lysekil")
        assert bot.sees()[-1] == "This conversation is incognito: I write nothing down. /new ends it."

        assert (bot.memory_file(), bot.ledger()) == ("", [])


async def test_it_is_in_no_list_search_title_or_review(tmp_path: Path) -> None:
    """Also while it is open."""
    async with running_bot(tmp_path, memory="nudge_interval: 1") as bot:
        await bot.says("/incognito")
        for _ in range(3):
            await bot.says(SECRET)
        with bot.core.db.read() as rd:
            (found,) = rd.rows("SELECT id FROM sessions WHERE incognito = 1")
            assert reviews.counts(rd) == {"due": 0, "running": 0, "failed": 0}
            assert sessions.recent(rd, None, 10) == []
            assert rd.rows("SELECT * FROM message_places") == []
            assert not [row for row in rd.rows("SELECT title FROM sessions") if row["title"]]
        assert not any(is_title(json.loads(asked.body)) for asked in bot.server.requests)
        await bot.says("/refine")
        assert bot.sees()[-1].startswith("This conversation is incognito")
        await bot.says("/search Lysekil")
        assert "dream" not in bot.sees()[-1]
        await bot.says("/sessions")
        assert found["id"] not in bot.sees()[-1]
        await bot.says("/status")
        assert "🕶 Incognito: nothing of it is remembered" in bot.sees()[-1]
        await bot.says("/new")
        await bot.says(f"/resume {found['id']}")
        assert bot.sees()[-1] == "There is no such conversation here. /sessions shows them."


async def test_a_kill_in_it_leaves_nothing_in_the_end(tmp_path: Path) -> None:
    """It goes on after a restart, and goes when it ends: by `/new`, or after a day of silence."""
    async with running_bot(tmp_path) as bot:
        await bot.says("/incognito")
        await bot.says(SECRET)
        await bot.restart()
        await bot.says("And still?")
        assert SECRET in bot.server.chats[-1].body.decode()

        now = bot.core.clock.now()
        assert incognito.end_abandoned(bot.core.db, bot.core.home, now) == 0
        assert incognito.end_abandoned(bot.core.db, bot.core.home, now + timedelta(hours=25)) == 1
        bot.gateway.delivery.wake()
        await bot.settles()
        assert bot.sees()[-1] == "🕶 The incognito conversation is over. Nothing of it was kept."
        await leaves_no_trace(bot)


async def test_ended_while_it_is_answered_it_leaves_nothing(tmp_path: Path) -> None:
    """The running turn ends unsaid, and its late answer is not kept."""
    async with running_bot(tmp_path) as bot:
        await bot.says("/incognito")
        gate = bot.server.holds("Lysekil!", when=lambda asked: SECRET in json.dumps(asked))
        bot.telegram.says(ANNA, SECRET)
        await gate.reached()
        bot.telegram.says(ANNA, "/new")
        await bot.until(lambda: bot.sees()[-1].startswith("✓ A new conversation"))
        gate.open()
        await bot.settles()

        assert "Lysekil!" not in bot.sees()
        await leaves_no_trace(bot)


async def test_what_was_said_before_stays_as_it_is(tmp_path: Path) -> None:
    """Going incognito ends the conversation before like `/new` does: it may be taken up again."""
    async with running_bot(tmp_path) as bot:
        await bot.says("I like boats")
        with bot.core.db.read() as rd:
            (before,) = sessions.recent(rd, None, 10)
        await bot.says("/incognito")
        await bot.says(SECRET)
        await bot.says(f"/resume {before.id}")
        await bot.says("What do I like?")
        asked = bot.server.chats[-1].body.decode()
        assert ("I like boats" in asked, "Lysekil" in asked) == (True, False)
        await leaves_no_trace(bot)


async def test_a_backup_made_meanwhile_has_nothing_of_it(tmp_path: Path) -> None:
    """It would outlive the conversation, and a restore would bring it back."""
    async with running_bot(tmp_path) as bot:
        await bot.says("I like boats")
        await bot.says("/incognito")
        await bot.says(SECRET)
        core = bot.core
        made = await asyncio.to_thread(backup.create, core.db, core.home, core.clock, 7)

        assert sorted(path.name for path in made.path.iterdir() if path.name.startswith("state")) == ["state.db"]
        kept = (made.path / "state.db").read_bytes()
        assert (b"I like boats" in kept, b"Lysekil" in kept) == (True, False)
        assert backup.verify(core.home, made, core.clock).spaces == 1
        await bot.says("And still?")
        assert SECRET in bot.server.chats[-1].body.decode()


async def test_usage_keeps_its_numbers_without_the_session(tmp_path: Path) -> None:
    """What was paid is paid."""
    async with running_bot(tmp_path) as bot:
        await bot.says("/incognito")
        await bot.says(SECRET)
        with bot.core.db.read() as rd:
            (session,) = [row["id"] for row in rd.rows("SELECT id FROM sessions")]
            assert usage.of_session(rd, session) != []
        await bot.says("/new")
        with bot.core.db.read() as rd:
            assert usage.of_session(rd, session) == []
            assert len(rd.rows("SELECT * FROM usage")) >= 1


def test_a_terminal_that_is_gone_takes_its_session_with_it(tmp_path: Path) -> None:
    """`hikae chat` was killed: nobody ends its conversation any more."""
    from gateway import app
    from gateway.home import Home

    core = app.open_core(Home(tmp_path / "home"))
    services = app.services_of(core, "none")
    chat, now = Chat("terminal", "abc"), core.clock.now()
    with core.db.write() as tx:
        space = access.owner_space(tx, now)
        session = services.freezer.open(tx, chat, space, now, incognito=True)
        id = messages.keep(
            tx,
            messages.NewMessage(
                space=space.id, chat=chat, person=TERMINAL_OWNER.key, role=Role.USER, text=SECRET, at=now
            ),
        )
        assert id is not None
        messages.begin(tx, id, session.id, sessions.begin_turn(tx, session.id, now), 1, "", None)

    assert incognito.end_abandoned(core.db, core.home, now) == 1

    with core.db.read() as rd:
        assert sessions.find(rd, session.id) is None
        assert messages.get(rd, id).text == ""
        assert outbox.by_dedupe(rd, f"incognito-{session.id}-ended") is not None
        assert people.space(rd, space.id) == space
    core.close()


@pytest.mark.parametrize("name", ["telegram", "discord"])
async def test_on_both_platforms(tmp_path: Path, name: str) -> None:
    """As a command on the one, as a slash command on the other."""
    with world(tmp_path, name) as bot:
        bot.configure()
        async with bot.running():
            network = bot.network
            for command in ("incognito", "new"):
                if isinstance(network, Discord):
                    await network.wait_for(lambda: network.server.commands)
                    await bot.after("message", network.server.gives, ANNA, command)
                else:
                    await bot.hears(ANNA, f"/{command}")
                await bot.hears(ANNA, SECRET)
            seen = bot.network.sees(ANNA, Place.PRIVATE)
            assert sum(text.startswith("🕶") for text in seen) == 2
            with bot.core.db.read() as rd:
                assert len(sessions.recent(rd, None, 10)) == 1
