"""Lines of channels: the order in which things are handed over."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from gateway.errors import TryLater
from gateway.platforms.discord_lines import Lines, until_kept


class Done:
    """What was done, in order."""

    def __init__(self) -> None:
        self.so_far: list[str] = []

    def work(self, name: str) -> Callable[[], Awaitable[None]]:
        async def do() -> None:
            await asyncio.sleep(0)
            self.so_far.append(name)

        return do


async def test_what_is_held_back_comes_behind_what_has_to_be_read_first() -> None:
    """A gap is older than anything that came after it."""
    done = Done()
    async with asyncio.TaskGroup() as tasks:
        lines = Lines(tasks)
        lines.put("5", done.work("before the connection broke"))
        lines.hold()
        lines.put("5", done.work("now"))
        lines.release([("5", done.work("in the gap"))])

    assert done.so_far == ["before the connection broke", "in the gap", "now"]


async def test_two_gaps_at_once_are_both_read_before_anything_new() -> None:
    """A session that ends while the first gap is still being looked for makes a second one."""
    done = Done()
    async with asyncio.TaskGroup() as tasks:
        lines = Lines(tasks)
        lines.hold()
        lines.put("5", done.work("between"))
        lines.hold()
        lines.put("5", done.work("now"))
        lines.release([("5", done.work("first gap"))])
        await asyncio.sleep(0)
        lines.release([("5", done.work("second gap"))])

    assert done.so_far == ["first gap", "second gap", "between", "now"]


async def test_what_breaks_does_not_stop_its_line(caplog: pytest.LogCaptureFixture) -> None:
    """One bad message must not make its channel deaf, and is not silently left out."""
    done = Done()

    async def bad() -> None:
        raise KeyError("author")

    async with asyncio.TaskGroup() as tasks:
        lines = Lines(tasks)
        lines.put("5", bad)
        lines.put("5", done.work("good"))

    assert done.so_far == ["good"]
    assert caplog.messages == ["discord.message_skipped"]


async def test_a_receiver_that_breaks_is_tried_thrice_and_one_that_is_busy_for_ever(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A full disk ends some day; a bug does not end by itself."""
    tries = 0

    async def give() -> None:
        nonlocal tries
        tries += 1
        if tries < 6:
            raise TryLater("the disk is full", after=0.0)
        raise ZeroDivisionError

    await until_kept(give)

    assert tries == 8
    assert caplog.messages.count("discord.given_up") == 1
