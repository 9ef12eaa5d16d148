"""/undo, /retry, /resume and /title where they are given otherwise: as slash commands, and in a terminal."""

import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from gateway.chat import TERMINAL_OWNER, Chat, How, IncomingMessage, Piece
from gateway.memory import clearing
from gateway.store import messages, sessions
from tests.bot import ANNA, BEN, MALLORY, running_bot
from tests.doors import Discord, Place, World, world
from tests.fakes.model import ModelServer
from tests.processes import Machine, machine, until

DONE = "✓ Taken back: what was said last, and all that was done to answer it."


def sees(world: World) -> list[str]:
    return world.network.sees(ANNA, Place.PRIVATE)


async def test_on_discord_they_are_slash_commands_with_a_button(tmp_path: Path) -> None:
    """Said openly, not for one person's eyes: the conversation is everybody's who reads it."""
    with world(tmp_path, "discord") as discord:
        discord.configure()
        network = discord.network
        assert isinstance(network, Discord)
        async with discord.running():
            discord.model.calls("memory", action="add", content="Lives in Bergen", target="memory")
            discord.model.answers("Noted.")
            await discord.hears(ANNA, "I live in Bergen")

            await discord.after("message", network.server.gives, ANNA, "undo")
            assert sees(discord)[-1].startswith(DONE)
            await discord.after("tap", network.presses, ANNA, "Undo", ANNA)
            assert "(taken back)" in sees(discord)[-1] or any("(taken back)" in text for text in sees(discord))
            assert [row.undone_by for row in discord.ledger()] == [f"discord:{ANNA}"]

            discord.model.answers("A trout.")
            await discord.hears(ANNA, "Name a bird")
            discord.model.answers("A wren.")
            await discord.after("message", network.server.gives, ANNA, "retry")
            assert sees(discord)[-1] == "A wren."
            await discord.after("message", network.server.gives, ANNA, "title", text="On birds")
            await discord.after("message", network.server.gives, ANNA, "resume", text="birds")
            assert sees(discord)[-1] == "You are in this conversation already."


async def test_what_may_be_resumed_is_offered_while_it_is_typed(tmp_path: Path) -> None:
    """To whoever may take it up there, by its title; to others nothing."""
    with world(tmp_path, "discord") as discord:
        discord.configure()
        network = discord.network
        assert isinstance(network, Discord)

        async def offered(person: int, typed: str) -> list[str]:
            asked = network.server.interactions[network.server.types(person, "resume", "", "text", typed)]
            await network.wait_for(lambda: asked.choices is not None)
            return [name for name, _ in asked.choices or ()]

        async with discord.running():
            await discord.hears(ANNA, "Tell me about pots")
            await discord.after("message", network.server.gives, ANNA, "title", text="On pots")
            await discord.after("message", network.server.gives, ANNA, "new")
            await discord.hears(ANNA, "Tell me about boats")
            await discord.hears(BEN, "hello")

            assert await offered(ANNA, "") == ["Tell me about boats", "On pots"]
            assert await offered(ANNA, "ＰＯＴ") == ["On pots"]
            assert await offered(BEN, "") == ["hello"]
            assert await offered(MALLORY, "") == []


async def test_a_terminal_goes_on_after_its_conversation_was_deleted(tmp_path: Path) -> None:
    """It was told to resume one that somebody deletes meanwhile: a new one begins."""
    async with running_bot(tmp_path) as bot:
        await bot.says("hello")
        with bot.core.db.read() as rd:
            session = sessions.current(rd, Chat("telegram", str(ANNA)))
        assert session is not None
        clearing.delete(bot.core.db, bot.core.home, session.id)
        chat = Chat("terminal", "1")

        said = IncomingMessage(
            chat=chat,
            person=TERMINAL_OWNER,
            id="1",
            at=bot.core.clock.now(),
            pieces=(Piece(How.OWN, TERMINAL_OWNER.key, "still there?"),),
            private=True,
            session=session.id,
        )
        await bot.gateway.intake.message(said)
        await bot.gateway.lanes.until_quiet()

        with bot.core.db.read() as rd:
            anew = sessions.current(rd, chat)
            assert anew is not None
            assert [row.text for row in messages.of_session(rd, anew.id)] == [
                "still there?",
                "Hello from the fake model.",
            ]


# -- real processes -----------------------------------------------------------------------------------------


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as one:
        yield one


@pytest.fixture
def here(tmp_path: Path, server: ModelServer) -> Iterator[Machine]:
    with machine(tmp_path) as one:
        one.configure(model=f"provider: openai, name: fake-1, base_url: '{server.url}'", memory="nudge_interval: 0")
        yield one


def rows(one: Machine, sql: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(one.home.state_db)) as db:
        return db.execute(sql).fetchall()


def session_of(run: subprocess.CompletedProcess[str]) -> str:
    return run.stderr.rpartition("session: ")[2].strip()


TRANSCRIPT = "SELECT text FROM messages WHERE session <> '' AND role IN ('user', 'assistant') ORDER BY id"


@pytest.mark.processes
def test_in_a_terminal_the_resumed_conversation_is_meant(here: Machine, server: ModelServer) -> None:
    """`--resume` names it; what is taken back is its last turn, whoever said it where."""
    named = session_of(here.run("chat", "-q", "one"))
    server.answers("2")
    server.answers("2 again")

    talk = here.run("chat", "--resume", named, given="two\n/retry\n/title Numbers\n/undo\n/undo\n")

    assert talk.returncode == 0
    assert "2 again" in talk.stdout
    assert rows(here, TRANSCRIPT) == []
    assert rows(here, "SELECT id, title FROM sessions") == [(named, "Numbers")]
    assert session_of(talk) == named


@pytest.mark.processes
@pytest.mark.parametrize(("command", "left"), [("/undo", []), ("/retry", [("one",), ("1 again",)])])
def test_a_kill_9_right_after_the_commit(here: Machine, server: ModelServer, command: str, left: object) -> None:
    """Nothing is lost and nothing doubled: the next process answers what was asked again."""
    server.answers("1")
    first = session_of(here.run("chat", "-q", "one"))
    server.answers("1 again", when=lambda asked: _last(asked).endswith("one"))
    killed = here.start("chat", "-q", command, "--resume", first, HIKAE_FAILPOINT="command.done")
    until(lambda: killed.poll() is not None)

    done = here.run("chat", "-q", "two", "--no-review")

    assert done.returncode == 0
    said = rows(
        here,
        f"SELECT text FROM messages WHERE session = '{first}' AND role IN ('user', 'assistant') ORDER BY turn, id",
    )
    assert said == left
    assert rows(here, "SELECT count(*) FROM messages WHERE done IS NULL AND role IN ('user', 'command')") == [(0,)]


def _last(asked: dict[str, Any]) -> str:
    return str([row["content"] for row in asked["messages"] if row["role"] == "user"][-1])


@pytest.mark.processes
def test_a_kill_9_in_the_middle_of_deleting(here: Machine) -> None:
    """Either conversation is gone whole or there whole, and the rest goes the next time, or with the gateway."""
    ids = [session_of(here.run("chat", "-q", f"number {number}", "--no-review")) for number in (1, 2)]
    killed = here.start("sessions", "delete", *ids, "--yes", HIKAE_FAILPOINT="forget.sessions.one")
    until(lambda: killed.poll() is not None)
    assert rows(here, "SELECT id FROM sessions") == [(ids[1],)]

    done = here.run("sessions", "delete", *ids, "--yes")

    assert (done.returncode, done.stdout) == (1, "✓ Deleted 1 conversation.\n")
    assert rows(here, "SELECT id FROM sessions") == []
    assert rows(here, "SELECT count(*) FROM messages WHERE text LIKE '%number%'") == [(0,)]


@pytest.mark.processes
def test_the_offline_model_gives_no_titles(tmp_path: Path) -> None:
    """It has none to give, and is not asked."""
    with machine(tmp_path) as one:
        one.configure(memory="nudge_interval: 0")
        one.run("chat", given="hello\nI like boats\nand pots\n")
        assert rows(one, "SELECT title, title_turn FROM sessions") == [("", 0)]
