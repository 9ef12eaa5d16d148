"""One approval as people see it, on each platform in each language: docs/screens.md.

    python -m tests.screens            prints it
    python -m tests.screens --write    writes docs/screens.md

A whole gateway runs against the loopback platforms, and what these showed is written down: texts with their formats
as Markdown, buttons in brackets. A test holds docs/screens.md to what is recorded now.
"""

import asyncio
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from gateway import words
from gateway.chat import Chat
from gateway.platforms.discord import DiscordPlatform
from gateway.ports import Platform
from gateway.store import messages
from tests.bot import ANNA, Bot
from tests.fakes.discord import FakeDiscord
from tests.fakes.model import ModelServer, is_review
from tests.fakes.telegram import FakeTelegram, Shown
from tests.store.given import NINE, StillClock

PAGE = Path(__file__).parents[1] / "docs" / "screens.md"

INTRODUCTION = """# One approval, as people see it

Recorded from the loopback platforms by `python -m tests.screens --write`; a test fails when this page is out of
date. Formats are shown as they appear, buttons in brackets. The bot remembers that Anna lives in Oslo, and asks
before it changes its memory.
"""

_MARKS = {"bold": "**", "strikethrough": "~~", "code": "`", "italic": "_"}


@dataclass(frozen=True)
class Story:
    """What is said, in one language."""

    title: str
    known: str
    says: str
    answer: str
    changed: str
    noticed: str
    """What the review finds, in the words of `because`."""
    because: str


STORIES = {
    "en": Story(
        title="English",
        known="Lives in Oslo with a cat and a tuba",
        says="I moved to Bergen last week. It rains every day, and I love it!",
        answer="How lovely! I would like to remember that.",
        changed="Lives in Bergen with a cat and a tuba",
        noticed="Likes rain",
        because="It rains every day, and I love it!",
    ),
    "ja": Story(
        title="日本語",
        known="猫とチューバと一緒にオスロに住んでいる",
        says="先週ベルゲンに引っ越しました。毎日雨ですが、大好きです！",
        answer="すてきですね。覚えておいてもいいですか。",
        changed="猫とチューバと一緒にベルゲンに住んでいる",
        noticed="雨が好き",
        because="毎日雨ですが、大好きです！",
    ),
}


@dataclass(frozen=True)
class Bubble:
    """One message of the bot on a screen."""

    id: int
    text: str
    rows: tuple[tuple[str, ...], ...]


class Phone(Protocol):
    """Anna's app on one platform."""

    name: str

    async def says(self, text: str) -> None: ...

    async def taps(self, label: str) -> str:
        """Tap the newest button with this label; returns the toast."""
        ...

    def screen(self) -> list[Bubble]: ...


# -- the two platforms ---------------------------------------------------------------------------------------


@dataclass
class TelegramPhone:
    """The chat with the bot in Telegram."""

    bot: Bot
    name: str = "Telegram"

    async def says(self, text: str) -> None:
        await self.bot.says(text)

    async def taps(self, label: str) -> str:
        return await self.bot.taps(label)

    def screen(self) -> list[Bubble]:
        return [
            Bubble(one.message_id, _as_markdown(one), _labels(one.buttons))
            for one in self.bot.telegram.screen(ANNA)
        ]


class BotOnDiscord(Bot):
    """The same bot, reached through Discord."""

    discord: FakeDiscord

    def platforms(self) -> dict[str, Platform]:
        fake = self.discord
        discord = DiscordPlatform(fake.token, fake.url, fake.gateway_url, self.clock, pause_seconds=0.01)
        return {discord.name: discord}


@dataclass
class DiscordPhone:
    """The direct messages with the bot in Discord."""

    bot: BotOnDiscord
    name: str = "Discord"

    async def says(self, text: str) -> None:
        discord = self.bot.discord
        said = discord.says(ANNA, text)
        await discord.wait_for(lambda: self._is_done(str(said)))
        await self.bot.gateway.settled()

    async def taps(self, label: str) -> str:
        discord = self.bot.discord
        shown = next(bubble for bubble in reversed(self.screen()) if any(label in row for row in bubble.rows))
        press = discord.interactions[discord.taps(ANNA, shown.id, label)]
        await discord.wait_for(lambda: press.acknowledged and self._is_done(f"tap:{press.id}"))
        await self.bot.gateway.settled()
        return "".join(press.toasts)

    def screen(self) -> list[Bubble]:
        shown = self.bot.discord.screen(self.bot.discord.dm(ANNA))
        return [Bubble(one.message_id, one.text, _labels(one.buttons)) for one in shown]

    def _is_done(self, platform_id: str) -> bool:
        chat = Chat("discord", str(self.bot.discord.dm(ANNA)))
        with self.bot.core.db.read() as rd:
            kept = messages.of_platform(rd, chat, platform_id)
        return kept is not None and kept.done is not None


def _labels(rows: Sequence[Sequence[tuple[str, str]]]) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(label for label, _ in row) for row in rows)


def _as_markdown(shown: Shown) -> str:
    """A text with its entities as marks, from the last to the first."""
    units = shown.text.encode("utf-16-le")
    for kind, offset, length in sorted(shown.entities, key=lambda entity: -entity[1]):
        mark = _MARKS.get(kind, "").encode("utf-16-le")
        start, end = offset * 2, (offset + length) * 2
        units = units[:start] + mark + units[start:end] + mark + units[end:]
    return units.decode("utf-16-le")


# -- the recorder --------------------------------------------------------------------------------------------


@dataclass
class Recorder:
    """Writes down what happens on one phone."""

    phone: Phone
    lines: list[str] = field(default_factory=list)
    _known: dict[int, Bubble] = field(default_factory=dict)

    async def unrecorded(self, text: str) -> None:
        await self.phone.says(text)
        self._known = {bubble.id: bubble for bubble in self.phone.screen()}

    async def says(self, text: str) -> None:
        self.lines += ["", f"**Anna:** {text}"]
        await self.phone.says(text)

    async def taps(self, label: str) -> None:
        self.lines += ["", f"*Anna taps* [{label}]"]
        if toast := await self.phone.taps(label):
            self.lines += ["", f"*({toast})*"]

    def look(self) -> None:
        """What is new on the screen, and what changed on it."""
        for bubble in self.phone.screen():
            if self._known.get(bubble.id) != bubble:
                changed = " *(changed)*" if bubble.id in self._known else ""
                self.lines += ["", f"**hikae:**{changed}", "", *_quoted(bubble)]
                self._known[bubble.id] = bubble


def _quoted(bubble: Bubble) -> Iterator[str]:
    """The text and the buttons as a quote whose lines stay lines."""
    buttons = [" ".join(f"[{label}]" for label in row) for row in bubble.rows]
    text = [line or "\u00a0" for line in bubble.text.split("\n")]
    for line in (*text, *buttons):
        yield f"> {line}  "


async def _record(phone: Phone, bot: Bot, language: str) -> list[str]:
    """One approval: a change proposed in the conversation, another by the review after it; a yes and a no."""
    story, recorder = STORIES[language], Recorder(phone)
    label = {name: words.text(f"button.{name}", language) for name in ("approve", "reject", "use_now")}
    memory = bot.home.space_dir("owner") / "USER.md"
    memory.parent.mkdir(parents=True, exist_ok=True)
    memory.write_text(story.known + "\n", "utf-8")
    await recorder.unrecorded(f"/language {language}")
    await recorder.unrecorded("...")

    bot.server.calls("memory", action="replace", target="user", old_text=story.known[:6], content=story.changed)
    bot.server.answers(story.answer)
    await recorder.says(story.says)
    bot.server.calls(
        "memory", when=is_review, action="add", target="user", content=story.noticed, evidence=story.because
    )
    await bot.run_jobs()
    recorder.look()
    for name in ("reject", "approve", "use_now"):
        await recorder.taps(label[name])
        recorder.look()
    return [f"\n## {phone.name}, {story.title}", *recorder.lines]


async def record(folder: Path) -> str:
    """The whole page."""
    lines: list[str] = []
    for language in STORIES:
        lines += await _on_telegram(folder / f"telegram-{language}", language)
    for language in STORIES:
        lines += await _on_discord(folder / f"discord-{language}", language)
    return INTRODUCTION + "\n".join(lines) + "\n"


async def _on_telegram(folder: Path, language: str) -> list[str]:
    with FakeTelegram() as telegram, ModelServer() as server:
        bot = Bot(folder, telegram, server, StillClock(NINE))
        return await _run(bot, TelegramPhone(bot), language)


async def _on_discord(folder: Path, language: str) -> list[str]:
    with ExitStack() as stack:
        telegram, server = stack.enter_context(FakeTelegram()), stack.enter_context(ModelServer())
        bot = BotOnDiscord(folder, telegram, server, StillClock(NINE))
        bot.discord = stack.enter_context(FakeDiscord())
        bot.discord.dm(ANNA)
        return await _run(bot, DiscordPhone(bot), language)


async def _run(bot: Bot, phone: Phone, language: str) -> list[str]:
    bot.home.path.mkdir(parents=True, mode=0o700)
    bot.configure(
        access=f"owners: ['telegram:{ANNA}', 'discord:{ANNA}']",
        memory="write_approval: true, nudge_interval: 2, pending_ttl_days: 0, user_char_limit: 120",
        display=f"language: {language}",
        session="timezone: Europe/Oslo",
    )
    await bot.start()
    try:
        return await _record(phone, bot, language)
    finally:
        await bot.stop()


def main(arguments: Sequence[str]) -> None:
    """Record, and print or write."""
    with tempfile.TemporaryDirectory() as folder:
        page = asyncio.run(record(Path(folder)))
    if "--write" in arguments:
        PAGE.write_text(page, "utf-8")
    else:
        print(page, end="")


if __name__ == "__main__":
    main(sys.argv[1:])
