"""Which turns begin, and which wait."""

import asyncio
from collections.abc import Iterator
from itertools import count

import pytest

from gateway.chat import Chat
from gateway.conversation.beginning import AT_ONCE, REMEMBERED, Beginnings


def chat(number: int) -> Chat:
    return Chat("telegram", str(number))


FLOOD = [chat(1000 + number) for number in range(50)]
ADA = chat(1)


class Beginners:
    """Turns that begin, or wait for it."""

    def __init__(self) -> None:
        self.beginnings = Beginnings()
        self.begun: list[Chat] = []
        self._begins: dict[Chat, asyncio.Event] = {}
        self._tasks: dict[Chat, asyncio.Task[None]] = {}

    async def come(self, *chats: Chat) -> None:
        for one in chats:
            self._begins[one] = asyncio.Event()
            self._tasks[one] = asyncio.create_task(self._begin(one))
            await settled()

    async def _begin(self, one: Chat) -> None:
        async with self.beginnings.one(one):
            self.begun.append(one)
            await self._begins[one].wait()

    async def have_begun(self, *chats: Chat) -> None:
        for one in chats:
            self._begins[one].set()
            await settled()

    async def are_cancelled(self, *chats: Chat) -> None:
        for one in chats:
            self._tasks[one].cancel()
        await settled()

    def leave(self) -> None:
        for task in self._tasks.values():
            task.cancel()


async def settled() -> None:
    """Until every task that could run has run."""
    for _ in range(5):
        await asyncio.sleep(0)


@pytest.fixture
def turns() -> Iterator[Beginners]:
    turns = Beginners()
    yield turns
    turns.leave()


async def test_a_few_turns_begin_at_once(turns: Beginners) -> None:
    """Fifty that read their transcripts at the same time hold up everything else."""
    await turns.come(*FLOOD)
    assert turns.begun == FLOOD[:AT_ONCE]

    await turns.have_begun(FLOOD[0])
    assert turns.begun == FLOOD[: AT_ONCE + 1]


async def test_the_chat_that_was_quiet_longest_begins_first(turns: Beginners) -> None:
    """Somebody who asks one thing in the middle of a flood does not wait for all of it."""
    await turns.come(*FLOOD)
    await turns.have_begun(*FLOOD)
    await turns.come(*FLOOD, ADA)
    await turns.have_begun(FLOOD[0], FLOOD[1])

    assert turns.begun[50 + AT_ONCE :] == [ADA, FLOOD[AT_ONCE]]


async def test_new_chats_keep_nobody_waiting_for_ever(turns: Beginners) -> None:
    """A chat that waits while a thousand others begin counts like one that never began."""
    numbers = count(5000)
    await turns.come(ADA)
    await turns.have_begun(ADA)
    first = [chat(next(numbers)) for _ in range(AT_ONCE)]
    await turns.come(*first, ADA)
    beginning = first
    for _ in range(REMEMBERED):
        newest = [chat(next(numbers)) for _ in beginning]
        await turns.come(*newest)
        await turns.have_begun(*beginning)
        beginning = newest
        if ADA in turns.begun[1:]:
            break

    assert ADA in turns.begun[1:]


async def test_a_turn_that_is_ended_while_it_waits_gives_its_place_to_the_next(turns: Beginners) -> None:
    """`/stop` must not use up what another chat needs, whether or not the place was given already."""
    await turns.come(*FLOOD[: AT_ONCE + 2])
    await turns.are_cancelled(FLOOD[AT_ONCE])
    turns._begins[FLOOD[0]].set()
    await turns.have_begun(FLOOD[1])

    assert turns.begun == [*FLOOD[:AT_ONCE], FLOOD[AT_ONCE + 1]]


async def test_a_place_given_to_a_turn_that_is_ended_in_that_moment_is_free_again(turns: Beginners) -> None:
    """The place must not be lost, or one day nobody begins."""
    ended = FLOOD[AT_ONCE]
    await turns.come(*FLOOD[: AT_ONCE + 2])
    turns._begins[FLOOD[0]].set()
    asyncio.get_running_loop().call_soon(
        turns._tasks[ended].cancel
    )  # after the place was given, before it is taken
    await settled()

    assert turns.begun == [*FLOOD[:AT_ONCE], FLOOD[AT_ONCE + 1]]
    assert turns._tasks[ended].cancelled()


async def test_what_is_remembered_of_chats_has_a_bound(turns: Beginners) -> None:
    """A bot that talks to many must not grow for ever."""
    for number in range(REMEMBERED + 10):
        async with turns.beginnings.one(chat(number)):
            pass

    assert len(turns.beginnings._begun) == REMEMBERED
