"""The driver of the table of entries: one bot on one platform, and everybody who might try to come in.

What people do is said once for both platforms; `Telegram` and `Discord` here know how it is done on each. A
receiver in between counts what was handed over, so that silence is told from slowness.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Any, ParamSpec, Protocol, TypeVar

from gateway import app, llm
from gateway.chat import Chat, Dialog, IncomingMessage, Person, Suggestion, Tap
from gateway.clock import SystemClock
from gateway.conversation import commands
from gateway.conversation.intake import Intake
from gateway.home import Home
from gateway.platforms.discord import DiscordPlatform
from gateway.platforms.gates import OPEN
from gateway.platforms.telegram import TelegramPlatform
from gateway.ports import Clock, Platform
from gateway.records import Write
from gateway.store import writes
from tests.bot import ANNA, BEN, MALLORY, NoQueue
from tests.fakes.discord import BOT_ID, TOKEN, FakeDiscord
from tests.fakes.model import ModelServer
from tests.fakes.telegram import FakeTelegram

T = TypeVar("T")
Given = ParamSpec("Given")

EVERYBODY = {"stranger": MALLORY, "allowed": BEN, "owner": ANNA}
PHOTO = [{"file_id": "a", "file_unique_id": "b", "width": 1, "height": 1}]


class Place(StrEnum):
    """Where something is said."""

    PRIVATE = "private"
    GROUP = "group"
    ELSEWHERE = "elsewhere"
    """A group that is not on the list."""


class Network(Protocol):
    """A loopback chat network, and what people do there."""

    name: str

    def platform(self, clock: Clock) -> Platform: ...

    def group(self, place: Place) -> str:
        """As `access.groups.allowed` names it."""
        ...

    def says(self, person: int, words: str, place: Place, *, addressed: bool = True, heard: bool = True) -> int: ...

    def shows_a_picture(self, person: int, place: Place) -> None: ...

    def edits(self, person: int, message: int, words: str, place: Place) -> None: ...

    def asks_for_memory(self, person: int, place: Place) -> None:
        """`/memory`, as it is given there."""
        ...

    def remembers(self, person: int, words: str) -> None:
        """`/remember words`, in private."""
        ...

    def presses(self, person: int, label: str, owner: int) -> str:
        """A person presses a button in the owner's chat; the id of the press."""
        ...

    def toast(self, press: str) -> str | None: ...

    def sees(self, person: int, place: Place) -> list[str]: ...

    def is_out_of_reach(self) -> None:
        """A starting bot says hello and gets no answer for more than two seconds."""
        ...

    async def wait_for(self, predicate: Callable[[], T], timeout: float = 10.0) -> T: ...  # noqa: ASYNC109


class Telegram:
    """How it is done on Telegram."""

    name = "telegram"
    _GROUPS: Mapping[Place, int] = {Place.GROUP: -100200, Place.ELSEWHERE: -100300}

    def __init__(self, server: FakeTelegram) -> None:
        self.server = server
        self.wait_for = server.wait_for

    def platform(self, clock: Clock) -> Platform:
        return TelegramPlatform(
            self.server.token, self.server.url, clock, rates=OPEN, poll_seconds=1, pause_seconds=0.01
        )

    def is_out_of_reach(self) -> None:
        self.server.fail("getMe", 502, times=8)  # each pause is twice the one before

    def group(self, place: Place) -> str:
        return f"telegram:{self._GROUPS[place]}"

    def says(self, person: int, words: str, place: Place, *, addressed: bool = True, heard: bool = True) -> int:
        call = f"@{self.server.username} " if addressed and place is not Place.PRIVATE else ""
        return self.server.says(person, call + words, chat=self._GROUPS.get(place))

    def shows_a_picture(self, person: int, place: Place) -> None:
        name = f"@{self.server.username}"
        marked = [{"type": "mention", "offset": 0, "length": len(name)}]
        called: dict[str, Any] = {} if place is Place.PRIVATE else {"caption": name, "caption_entities": marked}
        self.server.says(person, photo=PHOTO, chat=self._GROUPS.get(place), **called)

    def edits(self, person: int, message: int, words: str, place: Place) -> None:
        self.server.edits(person, message, words, chat=self._GROUPS.get(place))

    def asks_for_memory(self, person: int, place: Place) -> None:
        self.server.says(person, "/memory", chat=self._GROUPS.get(place))

    def remembers(self, person: int, words: str) -> None:
        self.server.says(person, f"/remember {words}")

    def presses(self, person: int, label: str, owner: int) -> str:
        card = next(shown for shown in reversed(self.server.screen(owner)) if label in shown.labels)
        return self.server.taps(person, card, label, chat=owner)

    def toast(self, press: str) -> str | None:
        return self.server.toasts.get(press)

    def sees(self, person: int, place: Place) -> list[str]:
        return [shown.text for shown in self.server.screen(self._GROUPS.get(place, person))]


class Discord:
    """How it is done on Discord."""

    name = "discord"
    _CHANNELS: Mapping[Place, int] = {Place.GROUP: 7001, Place.ELSEWHERE: 7002}

    def __init__(self, server: FakeDiscord) -> None:
        self.server = server
        self.wait_for = server.wait_for
        for channel in self._CHANNELS.values():
            server.add_channel(channel)

    def platform(self, clock: Clock) -> Platform:
        return DiscordPlatform(
            TOKEN, self.server.url, self.server.gateway_url, clock, commands.specs(), pause_seconds=0.01
        )

    def is_out_of_reach(self) -> None:
        self.server.fail("GET /users/@me", 502, times=3)

    def group(self, place: Place) -> str:
        return f"discord:{self._CHANNELS[place]}"

    def says(self, person: int, words: str, place: Place, *, addressed: bool = True, heard: bool = True) -> int:
        called = (BOT_ID,) if addressed and place is not Place.PRIVATE else ()
        channel = self._CHANNELS.get(place)
        return self.server.says(person, words, channel=channel, mentions=called, unheard=not heard)

    def shows_a_picture(self, person: int, place: Place) -> None:
        file = {"id": "1", "filename": "a.png", "size": 1, "url": "http://127.0.0.1/a.png", "proxy_url": ""}
        called = () if place is Place.PRIVATE else (BOT_ID,)
        picture = [{**file, "content_type": "image/png"}]
        self.server.says(person, "", channel=self._CHANNELS.get(place), mentions=called, attachments=picture)

    def edits(self, person: int, message: int, words: str, place: Place) -> None:
        self.server.edits(person, message, words, channel=self._CHANNELS.get(place))

    def asks_for_memory(self, person: int, place: Place) -> None:
        self.server.gives(person, "memory", "show", channel=self._CHANNELS.get(place))

    def remembers(self, person: int, words: str) -> None:
        self.server.gives(person, "remember", text=words)

    def presses(self, person: int, label: str, owner: int) -> str:
        channel = self.server.dm(owner)
        card = next(shown for shown in reversed(self.server.screen(channel)) if label in shown.labels)
        return str(self.server.taps(person, card.message_id, label, channel=channel))

    def toast(self, press: str) -> str | None:
        pressed = self.server.interactions[int(press)]
        return "".join(pressed.toasts) if pressed.acknowledged else None

    def sees(self, person: int, place: Place) -> list[str]:
        return [shown.text for shown in self.server.screen(self._CHANNELS.get(place) or self.server.dm(person))]


class Counted:
    """The bot's receiver, counting what it has taken to the end."""

    def __init__(self, intake: Intake) -> None:
        self._intake = intake
        self.taken: Counter[str] = Counter()

    async def message(self, message: IncomingMessage) -> bool:
        told = await self._intake.message(message)
        self.taken["message"] += 1
        return told

    async def tap(self, tap: Tap) -> str:
        toast = await self._intake.tap(tap)
        self.taken["tap"] += 1
        return toast

    async def edit(self, message: IncomingMessage) -> None:
        await self._intake.edit(message)
        self.taken["edit"] += 1

    async def moved(self, platform: str, from_id: str, to_id: str) -> None:
        await self._intake.moved(platform, from_id, to_id)

    async def dialog(self, tap: Tap) -> Dialog | str:
        return await self._intake.dialog(tap)

    async def suggest(
        self, person: Person, chat: Chat, server: str, command: str, typed: str
    ) -> Sequence[Suggestion]:
        return await self._intake.suggest(person, chat, server, command, typed)

    async def last_kept(self, platform: str) -> Mapping[Chat, str]:
        return await self._intake.last_kept(platform)


class World:
    """One bot, on one network."""

    def __init__(self, path: Path, network: Network, model: ModelServer) -> None:
        self.home = Home(path / "home")
        self.network = network
        self.model = model
        self.core: app.Core
        self.gateway: app.Gateway
        self.receiver: Counted

    def configure(self, allowed: Sequence[int] = (BEN,), more: str = "") -> None:
        """Who may talk; `more` are further lines of config.yaml."""
        name = self.network.name
        keys = ", ".join(f"'{name}:{person}'" for person in allowed)
        groups = f"{{allowed: ['{self.network.group(Place.GROUP)}']}}"
        self.home.path.mkdir(mode=0o700, exist_ok=True)
        self.home.config.write_text(
            f"model: {{provider: openai, name: fake-1, base_url: '{self.model.url}'}}\n"
            f"access: {{owners: ['{name}:{ANNA}'], allowed: [{keys}], groups: {groups}}}\n{more}\n",
            "utf-8",
        )

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """The bot receives while the body runs."""
        self.core = app.open_core(self.home, SystemClock())
        platform = self.network.platform(self.core.clock)
        model = llm.build(self.core.loaded.settings.chat_model())
        self.gateway = app.Gateway(self.core, model, NoQueue(), {self.network.name: platform})
        self.receiver = Counted(self.gateway.intake)
        ready = asyncio.Event()
        try:
            async with self.gateway.running():
                receiving = asyncio.create_task(platform.run(self.receiver, ready.set))
                try:
                    await asyncio.wait_for(ready.wait(), 20)
                    yield
                finally:
                    receiving.cancel()
                    await asyncio.wait((receiving,))
        finally:
            self.core.close()

    async def after(self, kind: str, act: Callable[Given, T], *given: Given.args, **named: Given.kwargs) -> T:
        """Do something, and wait until it was taken and everything that follows has been said."""
        before = self.receiver.taken[kind]
        result = act(*given, **named)
        await self.network.wait_for(lambda: self.receiver.taken[kind] > before)
        await self.gateway.settled()
        return result

    async def hears(self, person: int, words: str, place: Place = Place.PRIVATE) -> None:
        await self.after("message", self.network.says, person, words, place)

    def ledger(self) -> list[Write]:
        with self.core.db.read() as rd:
            return sorted(writes.log(rd, None, 1000), key=lambda write: write.id)


@contextmanager
def world(path: Path, name: str) -> Iterator[World]:
    """A bot that is not started yet, with its fakes, on the network of this name."""
    with ModelServer() as model:
        if name == "telegram":
            with FakeTelegram() as telegram:
                yield World(path, Telegram(telegram), model)
        else:
            with FakeDiscord() as discord:
                yield World(path, Discord(discord), model)
