"""FakeDiscord as the contract of all platforms sees it, and what the tests of the adapter share."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from gateway.chat import (
    Button,
    Chat,
    CommandOption,
    CommandSpec,
    IncomingMessage,
    OutgoingMessage,
    Person,
)
from gateway.platforms import discord_markup, text
from gateway.platforms.discord import DiscordPlatform
from tests.contract.platform import ScriptedReceiver, WallClock, running
from tests.fakes.discord import (
    SEND,
    TOKEN,
    FakeDiscord,
    Shown,
)

T = TypeVar("T")

ADA, BEN = 123, 456


class DiscordNetwork:
    """FakeDiscord as the contract sees it."""

    longest = 2000
    person = Person("discord", str(ADA))

    def __init__(self, server: FakeDiscord) -> None:
        self.server = server
        self.channel = server.dm(ADA)
        self.chat = Chat("discord", str(self.channel))

    def platform(self) -> DiscordPlatform:
        return build(self.server)

    def says(self, words: str) -> str:
        return str(self.server.says(ADA, words))

    def taps(self, message_id: str, label: str) -> str:
        return str(self.server.taps(ADA, int(message_id), label))

    def toast(self, tap: str) -> str | None:
        press = self.server.interactions[int(tap)]
        return None if not press.acknowledged else "".join(press.toasts)

    def screen(self) -> list[tuple[str, tuple[str, ...]]]:
        return [(one.text, one.labels) for one in self.server.screen(self.channel)]

    def sends(self) -> int:
        return len(self.server.sent)

    def measure(self, markdown: str) -> int:
        return text.utf16_length(discord_markup.shown(markdown))

    def keeps(self) -> str:
        return str(self.server.says(ADA, "mine"))

    def files(self) -> list[tuple[str, bytes]]:
        return self.server.files

    def refuse_token(self) -> None:
        self.server.token = "another"

    def be_busy_once(self, after: float) -> None:
        self.server.fail(SEND, 429, retry_after=after)

    def break_down_once(self) -> None:
        self.server.fail(SEND, 500)

    def close_chat(self) -> None:
        self.server.closes(self.channel)

    def deliver_nonsense(self) -> None:
        self.server.happen("MESSAGE_CREATE", {"content": "no id, no channel, no author"})
        self.server.happen("SOMETHING_NEW", {"x": 1})
        self.server.happen("INTERACTION_CREATE", ["not", "an", "object"])

    async def wait_for(self, predicate: Callable[[], T]) -> T:
        return await self.server.wait_for(predicate)


def build(discord: FakeDiscord, **options: Any) -> DiscordPlatform:
    """The adapter as app builds it, with pauses short enough for a test."""
    defaults: dict[str, Any] = {"clock": WallClock(), "pause_seconds": 0.01}
    return DiscordPlatform(TOKEN, discord.url, discord.gateway_url, **(defaults | options))


COMMANDS = (
    CommandSpec(
        "memory",
        {"en": "What I remember", "ja": "覚えていること"},
        parts=(
            CommandSpec("pending", {"en": "What waits", "ja": "承認待ち"}),
            CommandSpec(
                "approve",
                {"en": "Say yes", "ja": "承認する"},
                (CommandOption("ids", {"en": "Which", "ja": "番号"}, required=True, completes=True),),
            ),
        ),
    ),
    CommandSpec("remember", {"en": "Remember this"}, (CommandOption("text", {"en": "What"}, required=True),)),
    CommandSpec("help", {"en": "What I can do", "ja": "使い方"}, private=False),
)

CHANNEL, THREAD = 7_001, 7_002


async def received(discord: FakeDiscord, **said: Any) -> IncomingMessage:
    """What the receiver gets when Ada says this."""
    receiver = ScriptedReceiver()
    async with running(build(discord), receiver):
        message = str(discord.says(ADA, **said))
        await discord.wait_for(lambda: [one for one in receiver.messages if one.id == message])
    return receiver.messages[-1]


async def shown(discord: FakeDiscord, message: OutgoingMessage) -> Shown:
    """What the chat sees of this message."""
    platform = build(discord)
    async with running(platform, ScriptedReceiver()):
        await platform.send(message)
    return discord.sent[-1]


def in_dm(discord: FakeDiscord, words: str, **more: Any) -> OutgoingMessage:
    return OutgoingMessage(Chat("discord", str(discord.dm(ADA))), words, **more)


class Talking:
    """A bot with a menu, and a receiver that keeps what comes."""

    def __init__(self, discord: FakeDiscord, **receiver: Any) -> None:
        self.discord = discord
        self.receiver = ScriptedReceiver(**receiver)
        self.platform = build(discord, commands=COMMANDS)

    @asynccontextmanager
    async def __call__(self) -> AsyncIterator[None]:
        async with running(self.platform, self.receiver):
            await self.discord.wait_for(lambda: self.discord.commands)
            yield

    async def message(self) -> IncomingMessage:
        await self.discord.wait_for(lambda: self.receiver.messages)
        return self.receiver.messages[-1]

    async def answers(self, message: IncomingMessage, words: str, *, goes_on: bool = False) -> str:
        return await self.platform.send(OutgoingMessage(message.chat, words, via=message.via, goes_on=goes_on))


CARD = ((Button("Approve", "approve:17:x"), Button("Edit", "edit:17:x", asks=True)),)


async def calls(discord: FakeDiscord, name: str, count: int) -> None:
    """Wait until there have been this many calls."""
    await discord.wait_for(lambda: len(discord.called(name)) >= count)


async def reconnects(discord: FakeDiscord) -> None:
    """The connection is closed, and the session goes on."""
    before = discord.sessions.resumed
    discord.closes_socket(4000)
    await discord.wait_for(lambda: discord.sessions.resumed > before)


def first_of_each(receiver: ScriptedReceiver) -> list[str]:
    """The words in the order in which they were first handed over; the receiver drops what it has."""
    return list({one.id: one.own_text for one in receiver.messages}.values())


class SteppedClock:
    """Time that moves when told to."""

    def __init__(self) -> None:
        self._now = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)

    def now(self) -> datetime:
        return self._now

    def step(self, by: timedelta) -> None:
        self._now += by
