"""What may happen while something is being forgotten: it is said again, summed up, forgotten twice; no room."""

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest

from gateway.clock import SystemClock
from gateway.memory.forgetting import Scope
from gateway.records import Forget
from gateway.store import forgets, people, restoring
from gateway.store.db import Database
from tests.bot import ANNA, Bot, running_bot
from tests.crash.everywhere import rows
from tests.crash.forgetting import forgetting_of
from tests.crash.test_faults import as_root, fill, mounted
from tests.fakes.model import is_summary
from tests.flows.test_compression import says_much, talking
from tests.processes import machine
from tests.store.given import StillClock

FACT = "Keeps her bees in Lysekil"
PASSAGE = "bees in Lysekil"


async def test_what_is_said_between_the_yes_and_the_end_goes_too(tmp_path: Path) -> None:
    """The same words in a message that came meanwhile would make the receipt untrue."""
    async with running_bot(tmp_path) as bot:
        remember(bot, FACT)
        await bot.says("hello")
        id = await asyncio.to_thread(begin, bot, PASSAGE)
        bot.server.answers("Yes, your bees in Lysekil are well.")
        await bot.says("How are my bees in Lysekil?")

        assert await asyncio.to_thread(bot.core.forgetting.go_on, id)
        await bot.says("And now?")

        assert "Lysekil" not in bot.server.chats[-1].body.decode()
        assert is_clean(receipt(bot, id))
        await bot.stop()
        assert b"Lysekil" not in everything_in(bot.home.path)


async def test_a_summary_that_was_being_written_holds_nothing_of_it(tmp_path: Path) -> None:
    """It is made of what was said before; it would stand for that from now on."""
    async with talking(tmp_path, 5_000) as bot:
        await bot.says("I keep my bees in Lysekil")
        gate = bot.server.holds("Anna keeps her bees in Lysekil.", when=is_summary)
        talk = asyncio.create_task(says_much(bot, 19))
        await gate.reached()

        id = await asyncio.to_thread(begin, bot, PASSAGE)
        assert await asyncio.to_thread(bot.core.forgetting.go_on, id)
        gate.open()
        await talk
        await bot.says("And now?")

        assert "Lysekil" not in bot.server.chats[-1].body.decode()
        await bot.stop()
        assert b"Lysekil" not in everything_in(bot.home.path)


@pytest.mark.parametrize("order", [1, -1])
async def test_two_of_overlapping_words_are_both_done_and_true(tmp_path: Path, order: int) -> None:
    """Somebody taps twice, with a word more. The words of the other request are none of this receipt's."""
    async with running_bot(tmp_path) as bot:
        remember(bot, FACT)
        await bot.says("I keep my bees in Lysekil, you know")
        ids = [await asyncio.to_thread(begin, bot, text) for text in (PASSAGE, f"my {PASSAGE}")]

        for id in ids[::order]:
            assert await asyncio.to_thread(bot.core.forgetting.go_on, id)

        assert [is_clean(receipt(bot, id)) for id in ids] == [True, True]
        await bot.stop()
        assert b"Lysekil" not in everything_in(bot.home.path)


@pytest.mark.parametrize("years", [-1, 1])
async def test_a_clock_that_jumps_ends_nothing_early(tmp_path: Path, years: int) -> None:
    """Plans expire; what somebody said yes to does not."""
    clock = StillClock()
    async with running_bot(tmp_path) as bot:
        remember(bot, FACT)
        await bot.stop()
        bot.clock = clock
        await bot.start()
        id = await asyncio.to_thread(begin, bot, PASSAGE)
        clock.at += timedelta(days=365 * years)

        await bot.restart()
        await bot.until(lambda: receipt(bot, id).status == "done")

        assert is_clean(receipt(bot, id))
        assert bot.memory_file() == ""


@as_root
@pytest.mark.processes
def test_a_full_disk_is_said_and_the_command_given_again_finishes(tmp_path: Path) -> None:
    """What is cut is written beside what it was: that takes room. What was begun stays begun."""
    with mounted(tmp_path / "disk", 8) as disk, machine(disk) as here:
        here.configure()
        file = here.home.memory_file("owner", "memory")
        file.parent.mkdir(parents=True)
        file.write_text(f"{FACT}\n§\n{'Likes tea, and coffee. ' * 400}\n")
        assert here.run("memory", "show").returncode == 0
        with Database.open(here.home, SystemClock()) as db:
            forgetting = forgetting_of(here.home, db)
            with db.write() as tx:
                space = people.ensure_space(tx, "owner", "owner", "", SystemClock().now())
            forgetting.forget(space, Scope((PASSAGE,)), "terminal:owner")
        filler = disk / "filler"
        fill(filler)

        full = here.run("forget", PASSAGE, "--yes")
        assert full.returncode == 1, full
        assert "disk is full" in full.stderr and "Traceback" not in full.stderr
        assert "bees in Lysekil" in file.read_text()
        filler.unlink()
        again = here.run("forget", PASSAGE, "--yes")

        assert again.returncode == 0, again
        assert rows(here.home, "SELECT status FROM forgets WHERE id = 1") == [("done",)]
        assert b"Lysekil" not in everything_in(here.home.path)


@pytest.mark.processes
def test_a_gateway_drops_what_a_killed_restore_was_making_ready(tmp_path: Path) -> None:
    """A whole home of then, which no command of the terminal may touch while a gateway runs."""
    with machine(tmp_path) as here:
        here.configure()
        ready = restoring.scratch(here.home) / "memories" / "MEMORY.md"
        ready.parent.mkdir(parents=True)
        ready.write_text(f"{FACT}\n")

        here.run("gateway")  # it ends: it has nowhere to talk

        assert not restoring.scratch(here.home).exists()


def remember(bot: Bot, *texts: str) -> None:
    path = bot.home.memory_file("owner", "memory")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n§\n".join(texts) + "\n")


def begin(bot: Bot, *texts: str) -> int:
    """A plan with a yes, of which nothing is erased yet."""
    with bot.core.db.write() as tx:
        space = people.ensure_space(tx, "owner", "owner", f"telegram:{ANNA}", bot.core.clock.now())
    return bot.core.forgetting.forget(space, Scope(texts), f"telegram:{ANNA}")


def receipt(bot: Bot, id: int) -> Forget:
    with bot.core.db.read() as rd:
        return forgets.get(rd, id)


def is_clean(one: Forget) -> bool:
    return one.status == "done" and one.verified["clean"] is True


def everything_in(path: Path) -> bytes:
    return b"".join(one.read_bytes() for one in sorted(path.rglob("*")) if one.is_file())
