"""What once broke the way of a message, a command, a tap or a delivery; each of these stays mended."""

import asyncio
import contextlib
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from gateway.conversation import delivery, tools
from gateway.conversation.commands import memory as memory_commands
from gateway.conversation.commands import parse
from gateway.errors import Broken, StoreBusy
from gateway.records import Outgoing, Role
from gateway.store import messages
from gateway.store.db import Database, Transaction
from tests.bot import ANNA, BEN, MALLORY, Bot, running_bot
from tests.fakes.model import ModelServer
from tests.fakes.telegram import FakeTelegram

ASK = "write_approval: true"
FROM_MALLORY = {
    "type": "user",
    "date": 1_796_000_000,
    "sender_user": {"id": MALLORY, "is_bot": False, "first_name": "Mallory"},
}


class SteppedClock:
    """The real time, as much off as a test says."""

    def __init__(self) -> None:
        self.off = timedelta(0)

    def now(self) -> datetime:
        return datetime.now(UTC) + self.off


def rows(bot: Bot, sql: str) -> list[tuple[Any, ...]]:
    with bot.core.db.read() as rd:
        return [tuple(row) for row in rd.rows(sql)]


# -- commands --------------------------------------------------------------------------------------------


async def test_quoted_words_are_never_a_command(tmp_path: Path) -> None:
    """Anna answers /help to what Mallory wrote: Mallory's /remember must not be carried out in Anna's name."""
    async with running_bot(tmp_path) as bot:
        trap = bot.telegram.says(ANNA, "/remember I owe Mallory 100 euro", forward_origin=FROM_MALLORY)
        await bot.settles()

        bot.telegram.says(ANNA, "/help", reply_to=trap)
        await bot.settles()

        assert bot.memory_file() == ""
        assert bot.ledger() == []
        assert bot.sees()[-1].startswith("/start — ")


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("/memory pending", ("memory", "pending")),
        ("/memory\u3000pending", ("memory", "pending")),
        ("/memory\tpending", ("memory", "pending")),
        ("/memory\r\npending", ("memory", "pending")),
        ("/remember one\ntwo", ("remember", "one\ntwo")),
        ("/RESET", ("new", "")),
        ("/", None),
        ("/ memory", None),
        ("/usr/bin", None),
        ("/\nmemory", None),
    ],
)
def test_any_white_space_ends_the_name_of_a_command(text: str, command: tuple[str, str] | None) -> None:
    """Phones send line breaks, Japanese keyboards a wide blank; a command must not reach the model for that."""
    assert parse(text) == command


async def test_words_behind_new_belong_to_the_new_conversation(tmp_path: Path) -> None:
    """Both were said before either was done, e.g. while the bot was down: the order is the person's."""
    async with running_bot(tmp_path) as bot:
        for number in range(3):
            await bot.says(f"old {number}")
            await bot.gateway.lanes.drain(5)
            bot.telegram.says(ANNA, "/new")
            bot.telegram.says(ANNA, f"fresh {number}")
            await bot.until(lambda: not bot.telegram.unconfirmed)
            await bot.restart()
            await bot.settles()

            said = [message["content"] for message in bot.server.last.messages[1:]]
            assert len(said) == 1
            assert said[0].endswith(f"fresh {number}")


async def test_stop_ends_what_was_said_before_it_and_nothing_else(tmp_path: Path) -> None:
    """Also where the turn had not begun yet; what was said after it is answered."""
    async with running_bot(tmp_path) as bot:
        await bot.gateway.lanes.drain(5)
        for text in ("never mind", "/stop", "hello"):
            bot.telegram.says(ANNA, text)
        await bot.until(lambda: not bot.telegram.unconfirmed)
        await bot.restart()
        await bot.settles()

        assert rows(bot, "SELECT text, done FROM messages WHERE role = 'user' ORDER BY id") == [
            ("never mind", "stopped"),
            ("hello", "answered"),
        ]


async def test_a_write_that_stop_comes_too_late_for_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The tool was already at work; nothing may change silently, and no further call is carried out."""
    started, go = threading.Event(), threading.Event()
    run = tools.Toolbox.run

    def slowly(self: tools.Toolbox, *call: Any) -> str:
        started.set()
        go.wait(10)
        return run(self, *call)

    monkeypatch.setattr(tools.Toolbox, "run", slowly)
    async with running_bot(tmp_path) as bot:
        calls = [("memory", {"action": "add", "content": fact}) for fact in ("Owns a tuba", "Plays jazz")]
        bot.server.calls_many(*calls)
        bot.telegram.says(ANNA, "Owns a tuba, Plays jazz")
        await asyncio.to_thread(started.wait, 10)

        bot.telegram.says(ANNA, "/stop")
        await bot.until(lambda: "✓ Stopped." in bot.sees())
        go.set()
        await bot.settles()

        assert bot.memory_file() == "Owns a tuba\n"
        assert bot.sees() == ["✓ Stopped.", "💾 Memory updated"]
        assert len(bot.server.requests) == 1


async def test_the_words_of_a_command_that_broke_are_erased_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The apology is its answer; after that nothing of it is kept."""

    def breaks(*_: object) -> None:
        raise Broken("a test")

    monkeypatch.setattr(memory_commands, "Proposal", breaks)
    async with running_bot(tmp_path) as bot:
        await bot.says("/remember xyzzy")

        assert bot.sees()[0].startswith("Something went wrong on my side.")
        assert rows(bot, "SELECT text, done FROM messages") == [("", "failed")]


async def test_an_account_that_becomes_the_owners_leaves_its_conversation(tmp_path: Path) -> None:
    """What Ben said as Ben stays in Ben's space; as Anna's second phone he starts anew, with her memory."""
    async with running_bot(tmp_path) as bot:
        await bot.says("hello, I am Ben", BEN)
        bot.configure(access=f"owners: ['telegram:{ANNA}', 'telegram:{BEN}']")
        await bot.restart()

        await bot.says("me again", BEN)

        assert "I am Ben" not in bot.server.last.body.decode()
        mixed = (
            "SELECT count(*) FROM messages JOIN sessions ON sessions.id = session WHERE space <> messages.id >> 32"
        )
        assert rows(bot, mixed) == [(0,)]


# -- taps and what is turned away ------------------------------------------------------------------------


async def test_a_tap_that_cannot_be_done_is_answered(tmp_path: Path) -> None:
    """The store was switched off since: a button that does nothing, without a word, is broken."""
    async with running_bot(tmp_path, memory=ASK) as bot:
        bot.server.calls("memory", action="add", content="Lives in Bergen", target="user")
        bot.server.answers("May I?")
        await bot.says("I live in Bergen")
        bot.configure(memory="user_profile_enabled: false")
        await bot.restart()
        before = len(bot.sees())

        await bot.taps("Approve")

        assert len(bot.sees()) == before + 1
        assert "off" in bot.sees()[-1]


@pytest.mark.parametrize("action", ["approve\n", "publish", "", "APPROVE"])
async def test_an_action_that_no_button_has_is_refused_at_the_door(tmp_path: Path, action: str) -> None:
    """Whoever writes their own client can send any data with a button's token."""
    async with running_bot(tmp_path) as bot:
        await bot.says("hello")
        card = bot.card_with("Ask first")
        _, _, rest = card.buttons[0][0][1].partition(":")
        shown = {"message_id": card.message_id, "chat": {"id": ANNA, "type": "private"}, "date": 1_796_000_000}

        tap = bot.telegram.press(ANNA, shown, f"{action}:{rest}")
        await bot.until(lambda: tap in bot.telegram.toasts)
        await bot.settles()

        assert bot.telegram.toasts[tap] == "This button does not work any more."
        assert rows(bot, "SELECT count(*) FROM messages WHERE role = 'tap'") == [(0,)]


async def test_what_was_turned_away_stays_turned_away(tmp_path: Path) -> None:
    """Its person was told that it is not kept; the same message handed over again must not be answered."""
    with FakeTelegram() as telegram, ModelServer() as server:
        bot = Bot(tmp_path, telegram, server)
        bot.configure()
        await bot.start()
        gate = server.holds("busy")
        for number in range(33):
            telegram.says(ANNA, f"message {number}")
        await bot.until(lambda: not telegram.unconfirmed)
        gate.open()
        await bot.settles()

        telegram.update(message=telegram._messages[ANNA, 33])
        await bot.settles()

        assert rows(bot, "SELECT count(*) FROM messages WHERE role = 'user'") == [(32,)]
        assert sum("32" in text for text in bot.sees()) == 1
        await bot.stop()


# -- delivery and the database ---------------------------------------------------------------------------


class FullDisk(threading.Event):
    """Set while the disk is full; counts the commits that it refused."""

    refusals = 0


@contextlib.contextmanager
def a_full_disk(monkeypatch: pytest.MonkeyPatch) -> Iterator[FullDisk]:
    """While the event is set, nothing can be committed."""
    full, write = FullDisk(), Database.write

    def refusing(self: Database) -> contextlib.AbstractContextManager[Transaction]:
        if full.is_set():
            full.refusals += 1
            raise StoreBusy("state.db: the disk is full. Nothing was changed.", after=0.05)
        return write(self)

    monkeypatch.setattr(Database, "write", refusing)
    yield full
    full.clear()


async def test_what_was_sent_while_the_disk_was_full_is_not_sent_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its mark waits; the bot lives on, and nobody gets the same message a thousand times."""
    async with running_bot(tmp_path) as bot:
        await bot.says("hello")
        mark = delivery.Delivery._mark
        with a_full_disk(monkeypatch) as full:

            def fills_up(self: delivery.Delivery, *what: Any) -> None:
                if bot.telegram.sent[-1].text == "the answer" and not tried:
                    full.set()
                tried.append(1)
                mark(self, *what)

            tried: list[int] = []
            monkeypatch.setattr(delivery.Delivery, "_mark", fills_up)
            bot.server.answers("the answer")
            bot.telegram.says(ANNA, "and now?")
            await bot.until(lambda: len(tried) > 3)
            full.clear()
            await bot.settles()

        assert bot.sees().count("the answer") == 1
        assert bot.outbox_is_empty()


async def test_an_answer_that_cannot_be_committed_is_not_asked_for_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk must not cost a call of the model each second."""
    async with running_bot(tmp_path) as bot:
        with a_full_disk(monkeypatch) as full:
            gate = bot.server.holds("the answer")
            bot.telegram.says(ANNA, "think hard")
            await gate.reached()
            full.set()
            gate.open()
            await bot.until(lambda: full.refusals > 5)
            full.clear()
            await bot.settles()

        assert bot.sees()[0] == "the answer"
        assert len(bot.server.requests) == 1


async def test_a_clock_that_is_put_back_holds_nothing_up(tmp_path: Path) -> None:
    """A machine that thought it was 2037: what it had to say then is said now, not in 2037."""
    with FakeTelegram() as telegram, ModelServer() as server:
        clock = SteppedClock()
        bot = Bot(tmp_path, telegram, server, clock)
        bot.configure()
        await bot.start()
        clock.off = timedelta(days=4000)
        telegram.fail("sendMessage", 500)
        telegram.says(ANNA, "hello")
        await bot.until(lambda: telegram.called("sendMessage"))

        clock.off = timedelta(0)
        await bot.until(lambda: len(bot.sees()) == 3)

        assert bot.sees()[0] == "Hello from the fake model."
        await bot.stop()


async def test_one_row_that_cannot_be_said_does_not_silence_its_chat(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is given up after a few tries, the chat is told, and what comes after it is said."""
    monkeypatch.setattr(delivery, "ERROR_WAIT_SECONDS", 0.0)
    async with running_bot(tmp_path) as bot:
        await bot.says("hello")
        before = len(bot.sees())
        bot.telegram.fail(
            "sendMessage", 400, description="Bad Request: SOMETHING_NEW", times=delivery.TRIES_PER_ROW
        )

        await bot.says("say something Telegram refuses")
        await bot.says("and now?")

        apology, answer = bot.sees()[before:]
        assert apology.startswith("Something went wrong on my side.")
        assert answer == "Hello from the fake model."


async def test_a_turn_that_ends_while_the_bot_ends_is_still_said(tmp_path: Path) -> None:
    """SIGTERM lets a running turn end; its answer must go out before the connection is closed."""
    async with running_bot(tmp_path) as bot:
        gate = bot.server.holds("just in time")
        bot.telegram.says(ANNA, "think hard")
        await gate.reached()

        stopping = asyncio.create_task(bot.stop())
        await asyncio.sleep(0.1)
        gate.open()
        await stopping

        assert bot.sees()[0] == "just in time"
        await bot.start()


async def test_not_even_an_apology_that_fails_ends_the_bot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """One damaged row must not take everybody's bot down, at each start again."""
    keep = messages.erase_words

    def breaks(tx: Transaction, id: int) -> None:
        if messages.get(tx, id).role is Role.USER:
            raise Broken("a test")
        keep(tx, id)

    def renders_not(*_: object) -> Outgoing:
        raise Broken("a test")

    async with running_bot(tmp_path) as bot:
        monkeypatch.setattr(messages, "erase_words", breaks)
        monkeypatch.setattr(bot.gateway.lanes, "_handle", renders_not)
        bot.telegram.says(ANNA, "hello")
        await bot.until(lambda: "lane.broken" in caplog.messages)

        assert bot._running is not None
        assert not bot._running.done()
