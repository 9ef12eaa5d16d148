"""A lane at rest may be handed the one message that waits; nothing that is kept meanwhile is left lying."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime

from gateway.chat import Chat
from gateway.conversation.lanes import Kind, Lanes
from gateway.errors import TryLater
from gateway.records import Message, Role

CHAT = Chat("telegram", "123")
FIRST = Message(1, 1, CHAT, "telegram:1", Role.USER, "hello", (), datetime(2026, 11, 30, 9, tzinfo=UTC))
SECOND = replace(FIRST, id=2, text="are you there?")


class Desk:
    """Where messages wait; handling one waits for the door, and may be refused for now."""

    def __init__(self, *waiting: Message) -> None:
        self.waiting = deque(waiting)
        self.looks = 0
        self.refusals = 0
        self.door = asyncio.Event()
        self.handled: list[int] = []

    async def next_waiting(self, chat: Chat, _: tuple[Role, ...]) -> Message | None:
        self.looks += 1
        return self.waiting[0] if self.waiting else None

    async def handle(self, message: Message) -> None:
        await self.door.wait()
        if self.refusals:
            self.refusals -= 1
            raise TryLater("the disk is full", after=0.0)
        self.waiting.remove(message)
        self.handled.append(message.id)

    async def give_up(self, message: Message, error: BaseException) -> None:
        raise AssertionError("given up") from error


@asynccontextmanager
async def running(desk: Desk) -> AsyncIterator[Lanes]:
    lanes = Lanes(desk.next_waiting, desk.handle, desk.give_up)
    task = asyncio.create_task(lanes.run())
    await asyncio.sleep(0)
    yield lanes
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


async def test_what_is_handed_over_is_handled_without_a_look() -> None:
    """Each look is a way to another thread and back, in every turn."""
    desk = Desk(FIRST)
    desk.door.set()
    async with running(desk) as lanes:
        lanes.wake(CHAT, Kind.TALK, FIRST)
        await lanes.until_quiet()

    assert (desk.handled, desk.looks) == ([1], 0)


async def test_what_is_kept_while_it_is_handled_is_found() -> None:
    """A message that waits for the next one to come is as good as lost."""
    desk = Desk(FIRST)
    async with running(desk) as lanes:
        lanes.wake(CHAT, Kind.TALK, FIRST)
        await asyncio.sleep(0)
        desk.waiting.append(SECOND)
        lanes.wake(CHAT, Kind.TALK)
        desk.door.set()
        await lanes.until_quiet()

    assert desk.handled == [1, 2]


async def test_a_second_one_that_is_handed_over_to_a_busy_lane_waits_its_turn() -> None:
    """Two turns of one chat at once would overtake each other."""
    desk = Desk(FIRST, SECOND)
    async with running(desk) as lanes:
        lanes.wake(CHAT, Kind.TALK, FIRST)
        lanes.wake(CHAT, Kind.TALK, SECOND)
        desk.door.set()
        await lanes.until_quiet()

    assert desk.handled == [1, 2]


async def test_what_could_not_be_done_yet_is_taken_up_again() -> None:
    """A full disk at the wrong moment must cost nobody an answer."""
    desk = Desk(FIRST)
    desk.refusals = 2
    desk.door.set()
    async with running(desk) as lanes:
        lanes.wake(CHAT, Kind.TALK, FIRST)
        await lanes.until_quiet()

    assert desk.handled == [1]
