"""Delivery on a real database, to a platform that a test scripts: what is sent, in which order, after trouble."""

import asyncio
from collections import defaultdict, deque
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import timedelta

import pytest

from gateway.chat import Chat, OutgoingMessage
from gateway.conversation.delivery import Delivery
from gateway.conversation.notices import Rendered
from gateway.errors import ChatGone, ChatMoved, GatewayError, PlatformBusy, WayClosed
from gateway.ports import PlatformHealth, Receiver
from gateway.records import NewOutgoing, Outgoing
from gateway.store import outbox, saidwhere
from gateway.store.db import Database
from tests.store import given
from tests.store.given import NINE, StillClock

ANNA, BEN = Chat("telegram", "1"), Chat("telegram", "2")
TOPIC = Chat("telegram", "1", "7")


class ScriptedPlatform:
    """Takes what it is given, except where a test says what goes wrong next."""

    name = "telegram"

    def __init__(self) -> None:
        self.sent: list[tuple[Chat, str]] = []
        self.trouble: dict[str, deque[GatewayError]] = defaultdict(deque)
        """By chat id: what the next sends there meet."""
        self.deleted: list[str] = []

    def serves(self, chat: Chat) -> bool:
        return True

    async def delete(self, chat: Chat, message_ids: Sequence[str]) -> Sequence[str]:
        self.deleted += message_ids
        return message_ids

    async def send(self, message: OutgoingMessage) -> str:
        if self.trouble[message.chat.id]:
            raise self.trouble[message.chat.id].popleft()
        self.sent.append((message.chat, message.text))
        return str(len(self.sent))

    def chunks(self, text: str) -> tuple[str, ...]:
        return tuple(text.split("|"))

    async def run(self, receiver: Receiver, ready: Callable[[], None]) -> None: ...
    async def typing(self, chat: Chat) -> None: ...
    async def close(self) -> None: ...

    def health(self) -> PlatformHealth:
        return PlatformHealth("ok")


@pytest.fixture
def platform() -> ScriptedPlatform:
    return ScriptedPlatform()


@asynccontextmanager
async def delivering(db: Database, platform: ScriptedPlatform, clock: StillClock) -> AsyncIterator[Delivery]:
    """A delivery that runs while the block does; a row says its own dedupe key."""
    delivery = Delivery(db, {"telegram": platform}, lambda row: Rendered(row.dedupe), clock)
    task = asyncio.create_task(delivery.run())
    try:
        yield delivery
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


def _put(db: Database, words: str, chat: Chat = ANNA, via: str = "") -> int:
    with db.write() as tx:
        id = outbox.put(tx, NewOutgoing(words, "reply", chat, given.space(tx), NINE, via=via))
    assert id is not None
    return id


def _row(db: Database, id: int) -> Outgoing:
    with db.read() as rd:
        return outbox.get(rd, id)


async def test_a_failure_in_the_second_part_does_not_repeat_the_first(
    db: Database, platform: ScriptedPlatform, clock: StillClock
) -> None:
    """A long answer that arrives twice is worse than one that arrives late."""
    id = _put(db, "one|two|three")
    failing = _failing_at(platform, 2, PlatformBusy("busy", after=5))
    async with delivering(db, failing, clock) as delivery:
        await delivery.until_quiet()
        assert [text for _, text in platform.sent] == ["one"]
        clock.at += timedelta(seconds=6)
        delivery.wake()
        await delivery.until_quiet()

    assert [text for _, text in platform.sent] == ["one", "two", "three"]
    assert _row(db, id).status == "delivered"


async def test_a_chat_that_must_wait_holds_up_all_its_threads_and_nobody_else(
    db: Database, platform: ScriptedPlatform, clock: StillClock
) -> None:
    """Calling again in another topic of the same group would make the ban longer."""
    platform.trouble["1"].append(PlatformBusy("flood", after=60))
    _put(db, "to anna")
    async with delivering(db, platform, clock) as delivery:
        await delivery.until_quiet()
        _put(db, "in a topic", TOPIC)
        _put(db, "to ben", BEN)
        delivery.wake()
        await delivery.until_quiet()
        assert platform.sent == [(BEN, "to ben")]

        clock.at += timedelta(seconds=61)
        delivery.wake()
        await delivery.until_quiet()

    assert sorted(text for _, text in platform.sent[1:]) == ["in a topic", "to anna"]


async def test_a_pause_everywhere_holds_up_everybody_and_survives_a_restart(
    db: Database, platform: ScriptedPlatform, clock: StillClock
) -> None:
    """A bot that forgets at a restart that it was told to wait is banned for longer."""
    platform.trouble["1"].append(PlatformBusy("flood", after=60, everywhere=True))
    _put(db, "to anna")
    async with delivering(db, platform, clock) as delivery:
        await delivery.until_quiet()
    _put(db, "to ben", BEN)

    async with delivering(db, platform, clock) as delivery:
        await delivery.until_quiet()
        assert platform.sent == []
        clock.at += timedelta(seconds=61)
        delivery.wake()
        await delivery.until_quiet()

    assert sorted(text for _, text in platform.sent) == ["to anna", "to ben"]


async def test_a_clock_that_is_put_back_ends_no_pause_too_late(
    db: Database, platform: ScriptedPlatform, clock: StillClock
) -> None:
    """After a second of pause the chat must not be silent for the hours that the clock was wrong."""
    platform.trouble["1"].append(PlatformBusy("flood", after=60, everywhere=True))
    _put(db, "to anna")
    async with delivering(db, platform, clock) as delivery:
        await delivery.until_quiet()
        clock.at -= timedelta(hours=6)
        delivery.wake()
        await delivery.until_quiet()

    assert platform.sent == [(ANNA, "to anna")]


async def test_a_message_that_may_have_arrived_is_marked(
    db: Database, platform: ScriptedPlatform, clock: StillClock
) -> None:
    """What a person may see twice is known, not guessed."""
    platform.trouble["1"].append(PlatformBusy("no answer", after=1, unsure=True))
    id = _put(db, "hello")
    async with delivering(db, platform, clock) as delivery:
        await delivery.until_quiet()
        clock.at += timedelta(seconds=2)
        delivery.wake()
        await delivery.until_quiet()

    assert platform.sent == [(ANNA, "hello")]
    with db.read() as rd:
        row = rd.row("SELECT text, unsure FROM chunks WHERE outgoing = ?", (id,))
    assert row is not None
    assert (row["text"], row["unsure"]) == ("", 1)


async def test_a_chat_that_is_gone_is_never_tried_again(
    db: Database, platform: ScriptedPlatform, clock: StillClock
) -> None:
    """Whoever blocked the bot wants to hear nothing."""
    platform.trouble["1"].append(ChatGone("blocked"))
    id = _put(db, "hello")
    async with delivering(db, platform, clock) as delivery:
        await delivery.until_quiet()
        delivery.wake()
        await delivery.until_quiet()

    assert (platform.sent, _row(db, id).status) == ([], "gone")


async def test_what_was_to_be_said_in_a_chat_that_moved_is_said_where_it_is_now(
    db: Database, platform: ScriptedPlatform, clock: StillClock
) -> None:
    """A group that became a supergroup gets the answer it waits for."""
    platform.trouble["1"].append(ChatMoved("-1001"))
    _put(db, "one")
    _put(db, "two")
    async with delivering(db, platform, clock) as delivery:
        await delivery.until_quiet()

    assert platform.sent == [(Chat("telegram", "-1001"), "one"), (Chat("telegram", "-1001"), "two")]


async def test_a_private_answer_whose_way_has_closed_is_dropped(
    db: Database, platform: ScriptedPlatform, clock: StillClock
) -> None:
    """Said in the open channel instead, everybody would read it."""
    platform.trouble["1"].append(WayClosed("the token has run out"))
    id = _put(db, "your memory", via="token")
    async with delivering(db, platform, clock) as delivery:
        await delivery.until_quiet()

    assert (platform.sent, _row(db, id).status, _row(db, id).via) == ([], "dropped", "")


async def test_what_is_put_while_a_chat_is_busy_is_said_right_after(
    db: Database, platform: ScriptedPlatform, clock: StillClock
) -> None:
    """Nothing waits for the next look of the clock."""
    _put(db, "first")
    held = _Held(platform)
    async with delivering(db, held, clock) as delivery:
        await held.begun.wait()
        _put(db, "second")
        delivery.wake()
        held.open.set()
        async with asyncio.timeout(0.9):  # well before the next look
            await held.both.wait()

    assert [text for _, text in platform.sent] == ["first", "second"]


class _Held(ScriptedPlatform):
    """Holds the first message until a test lets it go."""

    def __init__(self, behind: ScriptedPlatform) -> None:
        super().__init__()
        self.behind = behind
        self.begun, self.open, self.both = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def send(self, message: OutgoingMessage) -> str:
        self.begun.set()
        await self.open.wait()
        sent = await self.behind.send(message)
        if len(self.behind.sent) == 2:
            self.both.set()
        return sent


class _FailingAt(ScriptedPlatform):
    def __init__(self, behind: ScriptedPlatform, number: int, error: GatewayError) -> None:
        super().__init__()
        self.behind, self.number, self.error = behind, number, error
        self.calls = 0

    async def send(self, message: OutgoingMessage) -> str:
        self.calls += 1
        if self.calls == self.number:
            raise self.error
        return await self.behind.send(message)


def _failing_at(platform: ScriptedPlatform, number: int, error: GatewayError) -> ScriptedPlatform:
    return _FailingAt(platform, number, error)


async def test_what_is_to_be_deleted_is_deleted_and_counted(
    db: Database, platform: ScriptedPlatform, clock: StillClock
) -> None:
    """The receipt says how many really went; nothing is said in the chat."""
    values = {"forget": 7, "messages": ["4", "5"]}
    with db.write() as tx:
        outbox.put(tx, NewOutgoing("d", saidwhere.DELETES, ANNA, given.space(tx), NINE, values=values))
    delivery = Delivery(db, {"telegram": platform}, lambda row: Rendered("", deletes=("4", "5")), clock)
    task = asyncio.create_task(delivery.run())
    await delivery.until_quiet()
    task.cancel()
    await asyncio.wait((task,))

    assert (platform.deleted, platform.sent) == (["4", "5"], [])
    with db.read() as rd:
        assert saidwhere.counts(rd, 7) == {"deleted": 2, "kept": 0, "waiting": 0}
