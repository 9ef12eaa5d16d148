"""FakeTelegram as the contract of platforms sees it, and how tests of the adapter build it."""

from collections.abc import Callable
from typing import Any, TypeVar

from gateway.chat import Chat, IncomingMessage, OutgoingMessage, Person
from gateway.platforms import telegram_markup, text
from gateway.platforms.gates import OPEN
from gateway.platforms.telegram import TelegramPlatform
from tests.contract.platform import ScriptedReceiver, WallClock, running
from tests.fakes.telegram import TOKEN, FakeTelegram, Shown

T = TypeVar("T")

ADA, BEN = 123, 456
GROUP = -100_200
ADAS_CHAT = Chat("telegram", str(ADA))


class TelegramNetwork:
    """FakeTelegram as the contract sees it."""

    chat = ADAS_CHAT
    person = Person("telegram", str(ADA))
    longest = 4096

    def __init__(self, server: FakeTelegram) -> None:
        self.server = server
        server.knows(ADA)

    def platform(self) -> TelegramPlatform:
        return build(self.server)

    def says(self, words: str) -> str:
        return str(self.server.says(ADA, words))

    def taps(self, message_id: str, label: str) -> str:
        return self.server.taps(ADA, int(message_id), label)

    def toast(self, tap: str) -> str | None:
        return self.server.toasts.get(tap)

    def screen(self) -> list[tuple[str, tuple[str, ...]]]:
        return [(one.text, one.labels) for one in self.server.screen(ADA)]

    def sends(self) -> int:
        return len(self.server.sent)

    def measure(self, markdown: str) -> int:
        return text.utf16_length(telegram_markup.render(markdown).text)

    def keeps(self) -> str:
        said = self.server.says(ADA, "three days ago")
        self.server.grows_old(ADA, said)
        return str(said)

    def files(self) -> list[tuple[str, bytes]]:
        return [(name, content) for _, name, content in self.server.files]

    def refuse_token(self) -> None:
        self.server.token = "1:another"

    def be_busy_once(self, after: float) -> None:
        self.server.fail("sendMessage", 429, retry_after=after)

    def break_down_once(self) -> None:
        self.server.fail("sendMessage", 500)

    def close_chat(self) -> None:
        self.server.blocks(ADA)

    def deliver_nonsense(self) -> None:
        self.server.update(message={"text": "no id, no chat, no date"})
        self.server.update(something_new={"x": 1})

    async def wait_for(self, predicate: Callable[[], T]) -> T:
        return await self.server.wait_for(predicate)


def build(telegram: FakeTelegram, **options: Any) -> TelegramPlatform:
    """The adapter as app builds it, with pauses short enough for a test and its gates open."""
    defaults: dict[str, Any] = {"clock": WallClock(), "rates": OPEN, "poll_seconds": 5, "pause_seconds": 0.01}
    return TelegramPlatform(TOKEN, telegram.url, **(defaults | options))


async def more_polls(telegram: FakeTelegram, count: int) -> None:
    """Wait until this many further polls have begun."""
    wanted = len(telegram.called("getUpdates")) + count
    await telegram.wait_for(lambda: len(telegram.called("getUpdates")) >= wanted)


async def received(telegram: FakeTelegram, **message: Any) -> IncomingMessage:
    """What the receiver gets when Ada says this."""
    receiver = ScriptedReceiver()
    async with running(build(telegram), receiver):
        message_id = str(telegram.says(ADA, **message))
        await telegram.wait_for(lambda: [one for one in receiver.messages if one.id == message_id])
    return receiver.messages[-1]


async def shown(telegram: FakeTelegram, message: OutgoingMessage) -> Shown:
    """What the chat sees of this message."""
    telegram.knows(int(message.chat.id))
    platform = build(telegram)
    async with running(platform, ScriptedReceiver()):
        await platform.send(message)
    return telegram.sent[-1]
