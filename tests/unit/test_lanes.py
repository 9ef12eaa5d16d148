"""Lanes that were left waiting by the last end are taken up beside those of people who write now."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime

from gateway.chat import Chat
from gateway.conversation.lanes import TAKEN_UP_AT_ONCE, Kind, Lanes
from gateway.records import Message, Role

NOW = datetime(2026, 11, 30, 9, tzinfo=UTC)
EARLY, LATE = Chat("telegram", "early"), Chat("telegram", "late")
MANY = [Chat("telegram", str(number)) for number in range(100)]


class Desk:
    """Where messages wait, one in each chat, and are handled once the door is open."""

    def __init__(self, *chats: Chat) -> None:
        self.waiting = {chat: _message(chat) for chat in chats}
        self.begun: list[Chat] = []
        self.door = asyncio.Event()

    async def next_waiting(self, chat: Chat, _: tuple[Role, ...]) -> Message | None:
        return self.waiting.get(chat)

    async def handle(self, message: Message) -> None:
        self.begun.append(message.chat)
        if message.chat is not LATE:
            await self.door.wait()
        del self.waiting[message.chat]

    async def give_up(self, message: Message, error: BaseException) -> None:
        raise AssertionError(f"{message.chat} was given up") from error


@asynccontextmanager
async def running(desk: Desk) -> AsyncIterator[Lanes]:
    lanes = Lanes(desk.next_waiting, desk.handle, desk.give_up)
    task = asyncio.create_task(lanes.run())
    await asyncio.sleep(0)
    yield lanes
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


async def _a_while() -> None:
    """All that can go on without anything from outside goes on."""
    for _ in range(50):
        await asyncio.sleep(0)


async def test_a_backlog_does_not_hold_up_who_writes_now() -> None:
    """A thousand chats waited while the bot was away; the one who says hello now is answered at once."""
    desk = Desk(*MANY, LATE)
    async with running(desk) as lanes:
        for chat in MANY:
            lanes.take_up(chat, Kind.TALK)
        lanes.wake(LATE, Kind.TALK)
        await _a_while()

        assert LATE not in desk.waiting
        assert desk.begun == [*MANY[:TAKEN_UP_AT_ONCE], LATE]


async def test_a_backlog_is_worked_off_to_its_end() -> None:
    """Quiet means that nothing of it waits any more; a chat that wrote again meanwhile is not held up by it."""
    desk = Desk(EARLY, *MANY)
    async with running(desk) as lanes:
        for chat in (*MANY, EARLY):
            lanes.take_up(chat, Kind.TALK)
        lanes.wake(EARLY, Kind.TALK)
        await _a_while()
        desk.door.set()
        await lanes.until_quiet()

        assert desk.waiting == {}
        assert desk.begun.count(EARLY) == 1


async def test_a_backlog_that_came_before_the_start_is_taken_up_by_it() -> None:
    """Nothing is lost between reading what waits and running."""
    desk = Desk(*MANY)
    desk.door.set()
    lanes = Lanes(desk.next_waiting, desk.handle, desk.give_up)
    for chat in MANY:
        lanes.take_up(chat, Kind.TALK)
    task = asyncio.create_task(lanes.run())
    await asyncio.sleep(0)
    await lanes.until_quiet()
    task.cancel()

    assert desk.waiting == {}


def _message(chat: Chat) -> Message:
    return Message(1, 1, chat, "telegram:1", Role.USER, "hello", (), NOW)
