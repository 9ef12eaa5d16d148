"""The driver of flow tests: a whole gateway in this process, on real parts.

Real SQLite files and memory files in a temporary home, the real Telegram adapter against the loopback Bot API,
the real model client against the loopback model server. Reviews run when a test says so.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar

from gateway import app, llm
from gateway.clock import SystemClock
from gateway.home import Home
from gateway.platforms.gates import OPEN
from gateway.platforms.telegram import TelegramPlatform
from gateway.ports import Clock, Model, Platform
from gateway.records import Write
from gateway.store import outbox, writes
from tests.fakes.model import ModelServer
from tests.fakes.telegram import FakeTelegram, Shown
from workers import burst, runtime

T = TypeVar("T")

ANNA = 123
"""The owner."""
BEN = 456
"""Allowed to talk."""
MALLORY = 666
"""Nobody knows her."""


class NoQueue:
    """A doorbell that nobody hears: tests run jobs by hand (`Bot.run_jobs`)."""

    def put(self, job: object) -> bool:
        return False


class Bot:
    """One bot and the people around it."""

    def __init__(self, path: Path, telegram: FakeTelegram, server: ModelServer, clock: Clock | None = None) -> None:
        self.home = Home(path / "home")
        self.telegram = telegram
        self.server = server
        self.clock = clock or SystemClock()
        self.core: app.Core
        self.gateway: app.Gateway
        self._running: asyncio.Task[None] | None = None
        self._ready = asyncio.Event()

    def configure(self, **sections: str) -> None:
        """Write config.yaml: each section as YAML text of its body, e.g. memory="write_approval: true"."""
        body = {
            "model": f"{{provider: openai, name: fake-1, base_url: '{self.server.url}'}}",
            "access": f"{{owners: ['telegram:{ANNA}'], allowed: ['telegram:{BEN}']}}",
            **{name: f"{{{text}}}" for name, text in sections.items()},
        }
        self.home.path.mkdir(mode=0o700, exist_ok=True)
        self.home.config.write_text("".join(f"{name}: {text}\n" for name, text in body.items()), "utf-8")

    async def start(self) -> None:
        """Start the gateway; returns when it receives."""
        if not self.home.config.exists():
            self.configure()
        self.core = app.open_core(self.home, self.clock)
        model: Model = llm.build(self.core.loaded.settings.chat_model())
        self.gateway = app.Gateway(self.core, model, NoQueue(), self.platforms())
        self._ready.clear()
        self._running = asyncio.create_task(self._run())
        await asyncio.wait_for(self._ready.wait(), 20)

    def platforms(self) -> dict[str, Platform]:
        """Where people talk to it."""
        telegram = TelegramPlatform(
            self.telegram.token, self.telegram.url, self.clock, rates=OPEN, poll_seconds=1, pause_seconds=0.01
        )
        return {telegram.name: telegram}

    async def stop(self) -> None:
        """End the gateway in order."""
        if self._running is not None:
            self._running.cancel()
            await asyncio.wait((self._running,))
            self._running = None
            self.core.close()

    async def restart(self) -> None:
        """Stop and start on the same home."""
        await self.stop()
        await self.start()

    async def _run(self) -> None:
        async with self.gateway.running():
            await self.gateway.receive(lambda _: self._ready.set())

    # -- people ----------------------------------------------------------------------------------------

    async def says(self, text: str, person: int = ANNA) -> None:
        """A person writes; returns when everything that follows has been said."""
        self.telegram.says(person, text)
        await self.settles()

    async def taps(self, label: str, person: int = ANNA, card: Shown | None = None) -> str:
        """A person taps a button, of the newest card that has it unless one is given; returns the toast."""
        card = card or self.card_with(label)
        tap = self.telegram.taps(person, card, label, chat=card.chat)
        await self.settles()
        # Acknowledged beside the polling loop, perhaps after everything else.
        await self.telegram.wait_for(lambda: tap in self.telegram.toasts)
        return self.telegram.toasts[tap]

    async def presses(self, card: Shown, label: str, *, data_of: Shown | None = None) -> str:
        """Anna presses a button that a card had once, whatever the card shows by now; returns the toast.

        With `data_of`: what the button of that card carries, on this card.
        """
        data = next(data for row in (data_of or card).buttons for name, data in row if name == label)
        shown = next(one for one in self.telegram.messages_of(card.chat) if one["message_id"] == card.message_id)
        tap = self.telegram.press(ANNA, shown, data)
        await self.settles()
        await self.telegram.wait_for(lambda: tap in self.telegram.toasts)
        return self.telegram.toasts[tap]

    async def settles(self) -> None:
        """Wait until all updates are confirmed, all messages answered and everything said."""
        await self.telegram.wait_for(lambda: not self.telegram.unconfirmed)
        await self.gateway.settled()

    async def run_jobs(self) -> None:
        """Run every review that is due, as a worker does, and let what they have to say be said."""

        def work() -> None:
            burst.work_off(self.home, self.core.db, self.core.clock, lambda job: runtime.run(self.home, job))

        await asyncio.to_thread(work)
        self.gateway.delivery.wake()
        await self.gateway.settled()

    # -- looking ---------------------------------------------------------------------------------------

    def sees(self, person: int = ANNA) -> list[str]:
        """The texts that this person's chat shows of the bot, oldest first, as last changed."""
        return [shown.text for shown in self.telegram.screen(person)]

    def card_with(self, label: str, person: int = ANNA) -> Shown:
        """The newest message of the bot with this button."""
        return next(shown for shown in reversed(self.telegram.screen(person)) if label in shown.labels)

    def memory_file(self, name: str = "MEMORY.md", space: str = "owner") -> str:
        """What a memory file holds; "" when it is not there."""
        path = self.home.space_dir(space) / name
        return path.read_text("utf-8") if path.exists() else ""

    def ledger(self) -> list[Write]:
        """All rows of the ledger, oldest first."""
        with self.core.db.read() as rd:
            return sorted(writes.log(rd, None, 1000), key=lambda write: write.id)

    def outbox_is_empty(self) -> bool:
        with self.core.db.read() as rd:
            return not outbox.waiting(rd, ("telegram",), self.core.clock.now())

    async def until(self, predicate: Callable[[], T], seconds: float = 20.0) -> T:
        """Wait for a condition; returns what it returned."""
        return await self.telegram.wait_for(predicate, seconds)


@asynccontextmanager
async def running_bot(path: Path, **sections: str) -> AsyncIterator[Bot]:
    """A started bot with its fakes; `sections` as in Bot.configure."""
    with FakeTelegram() as telegram, ModelServer() as server:
        bot = Bot(path, telegram, server)
        bot.configure(**sections)
        await bot.start()
        try:
            yield bot
        finally:
            await bot.stop()
