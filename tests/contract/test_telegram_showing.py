"""Showing things on Telegram over real sockets: formats, topics, errors, and trouble with every call."""

import asyncio
import time
from collections.abc import Callable, Iterator
from itertools import pairwise

import pytest

from gateway.chat import Button, Chat, CommandSpec, OutgoingMessage
from gateway.errors import Broken, ChatGone, ChatMoved, PlatformBusy
from gateway.platforms.gates import OPEN, Limit, Rates
from gateway.platforms.telegram import TelegramPlatform
from tests.contract.platform import ScriptedReceiver, WallClock, running
from tests.contract.telegram_network import ADA, ADAS_CHAT, BEN, GROUP, build, more_polls, shown
from tests.fakes.telegram import TOKEN, FakeTelegram


@pytest.fixture
def telegram() -> Iterator[FakeTelegram]:
    """A Telegram on loopback; misusing its API fails the test."""
    with FakeTelegram() as server:
        yield server


class TestShowing:
    """What is sent looks as meant, or at least arrives."""

    async def test_formats_become_entities(self, telegram: FakeTelegram) -> None:
        """Entities cannot be broken by a stray sign, as Telegram's own markup can."""
        seen = await shown(telegram, OutgoingMessage(ADAS_CHAT, "**bold 🏔** and `C:\\Users\\n`, a < b"))

        assert seen.text == "bold 🏔 and C:\\Users\\n, a < b"
        assert seen.entities == (("bold", 0, 7), ("code", 12, 10))

    async def test_refused_formats_are_left_out(self, telegram: FakeTelegram) -> None:
        """Better plain than never."""
        telegram.fail("sendMessage", 400, description="Bad Request: can't parse entities: at 7")
        seen = await shown(telegram, OutgoingMessage(ADAS_CHAT, "**bold** & 1 < 2"))

        assert (seen.text, seen.entities) == ("bold & 1 < 2", ())

    async def test_replies_silence_and_buttons(self, telegram: FakeTelegram) -> None:
        """Link previews would pull strangers' pages into the chat: they are off."""
        asked = telegram.says(ADA, "hello")
        rows = ((Button("Approve", "a:1:t"), Button("Reject", "r:1:t")), (Button("Edit", "e:1:t"),))
        seen = await shown(telegram, OutgoingMessage(ADAS_CHAT, "hi", rows, reply_to=str(asked), silent=True))

        assert (seen.reply_to, seen.silent, seen.labels) == (asked, True, ("Approve", "Reject", "Edit"))
        assert telegram.called("sendMessage")[0].parameters["link_preview_options"] == '{"is_disabled": true}'

    async def test_a_deleted_question_is_answered_without_reply(self, telegram: FakeTelegram) -> None:
        """The answer matters more than the arrow."""
        seen = await shown(telegram, OutgoingMessage(ADAS_CHAT, "here", reply_to="99"))
        assert (seen.text, seen.reply_to) == ("here", None)

    @pytest.mark.parametrize(("thread", "expected"), [("", None), ("1", None), ("7", 7)])
    async def test_a_topic_is_answered_in_the_topic(
        self, telegram: FakeTelegram, thread: str, expected: int | None
    ) -> None:
        """General has the number 1, and Telegram refuses just that."""
        telegram.has_topic(GROUP, 7)
        seen = await shown(telegram, OutgoingMessage(Chat("telegram", str(GROUP), thread), "here"))
        assert seen.thread == expected

    async def test_a_change_of_a_deleted_message_is_left_out(self, telegram: FakeTelegram) -> None:
        """Whoever deleted a card does not want its outcome as a new message."""
        telegram.knows(ADA)
        platform = build(telegram)
        async with running(platform, ScriptedReceiver()):
            assert await platform.send(OutgoingMessage(ADAS_CHAT, "✓", edits="99")) == "99"
        assert telegram.sent == []

    @pytest.mark.parametrize(
        ("status", "description", "expected"),
        [
            (400, "Bad Request: chat not found", ChatGone),
            (403, "Forbidden: bot was kicked from the group chat", ChatGone),
            (400, "Bad Request: group chat was upgraded to a supergroup chat", ChatGone),
            (400, "Bad Request: message thread not found", ChatGone),
            (401, "Unauthorized", PlatformBusy),
            (502, "Bad Gateway", PlatformBusy),
            (400, "Bad Request: message is too long", Broken),
        ],
    )
    async def test_telegrams_errors_become_ours(
        self, telegram: FakeTelegram, status: int, description: str, expected: type[Exception]
    ) -> None:
        """Each says what its catcher can do; none quotes Telegram, whose texts hold words and tokens."""
        telegram.knows(ADA)
        platform = build(telegram)
        async with running(platform, ScriptedReceiver()):
            telegram.fail("sendMessage", status, description=f"{description} {TOKEN}")
            with pytest.raises(expected) as error:
                await platform.send(OutgoingMessage(ADAS_CHAT, "hello"))

        assert TOKEN not in str(error.value)
        assert error.value.__cause__ is None
        assert error.value.__suppress_context__

    async def test_a_lost_answer_means_again_later(self, telegram: FakeTelegram) -> None:
        """Nobody knows whether the chat saw it; delivery sends it again (design.md, promise 5)."""
        telegram.knows(ADA)
        platform = build(telegram)
        async with running(platform, ScriptedReceiver()):
            telegram.drop_after_accept("sendMessage")
            with pytest.raises(PlatformBusy):
                await platform.send(OutgoingMessage(ADAS_CHAT, "hello"))

        assert len(telegram.sent) == 1

    async def test_a_deleted_topic_is_a_place_that_is_gone(self, telegram: FakeTelegram) -> None:
        """What was meant for a few must not land in front of all."""
        telegram.knows(GROUP)
        platform = build(telegram)
        async with running(platform, ScriptedReceiver()):
            with pytest.raises(ChatGone):
                await platform.send(OutgoingMessage(Chat("telegram", str(GROUP), "7"), "psst"))

        assert telegram.sent == []

    async def test_a_topic_that_telegram_passes_over_is_noticed(
        self, telegram: FakeTelegram, caplog: pytest.LogCaptureFixture
    ) -> None:
        """In a private chat a topic that is gone raises no error: only the answer tells."""
        seen = await shown(telegram, OutgoingMessage(Chat("telegram", str(ADA), "7"), "here"))

        assert seen.thread is None
        assert "telegram.topic_passed_over" in caplog.messages

    async def test_a_moved_group_says_where_it_is(self, telegram: FakeTelegram) -> None:
        """The answer follows the group instead of being lost."""
        telegram.migrates(GROUP, -1_009, by=ADA)
        platform = build(telegram)
        async with running(platform, ScriptedReceiver()):
            with pytest.raises(ChatMoved) as moved:
                await platform.send(OutgoingMessage(Chat("telegram", str(GROUP)), "hello"))
            await platform.send(OutgoingMessage(Chat("telegram", moved.value.to), "hello"))

        assert [(one.chat, one.text) for one in telegram.sent] == [(-1_009, "hello")]

    async def test_typing_is_shown_in_the_topic(self, telegram: FakeTelegram) -> None:
        """So that people know that somebody is thinking."""
        telegram.has_topic(GROUP, 7)
        telegram.knows(GROUP)
        platform = build(telegram)
        async with running(platform, ScriptedReceiver()):
            await platform.typing(Chat("telegram", str(GROUP), "7"))

        assert telegram.called("sendChatAction")[0].parameters["message_thread_id"] == "7"
        assert telegram.typing == [GROUP]

    async def test_typing_is_shown_in_general(self, telegram: FakeTelegram) -> None:
        """There "typing" needs the number that every other call refuses; without it nobody sees it."""
        telegram.has_topic(GROUP, 7)
        receiver, platform = ScriptedReceiver(), build(telegram)
        async with running(platform, receiver):
            telegram.says(ADA, "/hi", chat=GROUP)
            await telegram.wait_for(lambda: receiver.messages)
            await platform.typing(Chat("telegram", str(GROUP)))
            await platform.send(OutgoingMessage(Chat("telegram", str(GROUP)), "here"))

        assert telegram.typing == [GROUP]
        assert [one.thread for one in telegram.sent] == [None]

    async def test_the_menu_is_in_the_language_of_whoever_looks(self, telegram: FakeTelegram) -> None:
        """Set when it differs: setting it at every start would be flood for nothing."""
        menu = [
            CommandSpec("memory", {"en": "What I remember", "ja": "覚えていること"}),
            CommandSpec("help", {"en": "h" * 300, "ja": "使い方"}),
        ]
        for _ in range(2):
            async with running(build(telegram, commands=menu), ScriptedReceiver()):
                await more_polls(telegram, 1)

        assert telegram.menus[""] == [("memory", "What I remember"), ("help", "h" * 255 + "…")]
        assert telegram.menus["ja"] == [("memory", "覚えていること"), ("help", "使い方")]
        assert len(telegram.called("setMyCommands")) == 2


FAULTS: dict[str, tuple[Callable[[FakeTelegram, str], None], type[Exception], bool | None]] = {
    "hang-up": (lambda server, method: server.drop(method), PlatformBusy, True),
    "lost-answer": (lambda server, method: server.drop_after_accept(method), PlatformBusy, True),
    "429-short": (lambda server, method: server.fail(method, 429, retry_after=0.02), PlatformBusy, False),
    "429-long": (lambda server, method: server.fail(method, 429, retry_after=900), PlatformBusy, False),
    "500": (lambda server, method: server.fail(method, 500), PlatformBusy, True),
    "502": (lambda server, method: server.fail(method, 502, body=b"<html>"), PlatformBusy, True),
    "half": (lambda server, method: server.fail(method, 200, body=b'{"ok": tr'), PlatformBusy, True),
    "400": (lambda server, method: server.fail(method, 400, description="Bad Request: no"), Broken, None),
    "403": (lambda server, method: server.fail(method, 403, description="Forbidden: bot"), ChatGone, None),
}
"""By name: the trouble, what it becomes, and whether the message may have arrived all the same."""


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("method", ["sendMessage", "editMessageText"])
async def test_trouble_with_a_message_is_told_as_what_it_is(
    telegram: FakeTelegram, method: str, fault: str
) -> None:
    """Whether to send it again, when, and whether it may then be seen twice, is decided from this."""
    arm, expected, unsure = FAULTS[fault]
    telegram.knows(ADA)
    platform = build(telegram)
    async with running(platform, ScriptedReceiver()):
        edits = await platform.send(OutgoingMessage(ADAS_CHAT, "before")) if method == "editMessageText" else ""
        message = OutgoingMessage(ADAS_CHAT, "hello", edits=edits)
        arm(telegram, method)
        with pytest.raises(expected) as error:
            await platform.send(message)
        if fault == "429-long":
            assert isinstance(error.value, PlatformBusy) and error.value.after == 900
            return
        shown_twice = fault == "lost-answer" and not edits
        await telegram.wait_for(lambda: not platform._pauses.left(str(ADA), asyncio_time()).seconds)
        await platform.send(message)

    assert unsure is None or (isinstance(error.value, PlatformBusy) and error.value.unsure is unsure)
    assert [one.text for one in telegram.screen(ADA)] == ["hello"] * (2 if shown_twice else 1)


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("method", ["answerCallbackQuery", "sendChatAction", "getMyCommands", "setMyCommands"])
async def test_trouble_with_what_is_not_a_message_stops_nothing(
    telegram: FakeTelegram, method: str, fault: str
) -> None:
    """A spinner, a "typing" and a menu are niceties: the bot goes on talking without them."""
    telegram.knows(ADA)
    FAULTS[fault][0](telegram, method)
    receiver = ScriptedReceiver()
    platform = build(telegram, commands=[CommandSpec("help", {"en": "All commands"})])
    async with running(platform, receiver):
        telegram.press(ADA, {"chat": {"id": ADA, "type": "private"}, "message_id": 3, "date": 0}, "x")
        await platform.typing(Chat("telegram", str(GROUP)))
        telegram.says(ADA, "hello")
        await telegram.wait_for(lambda: receiver.messages and telegram.called("answerCallbackQuery"))
        await platform.send(OutgoingMessage(ADAS_CHAT, "hello"))

    assert len(receiver.taps) == 1
    assert [one.text for one in telegram.screen(ADA)] == ["hello"]


async def test_a_message_that_never_left_did_not_arrive() -> None:
    """Nobody is told that something may be there twice when there is no network."""
    platform = TelegramPlatform(TOKEN, "http://127.0.0.1:9", WallClock(), rates=OPEN)
    with pytest.raises(PlatformBusy) as busy:
        await platform.send(OutgoingMessage(ADAS_CHAT, "hello"))
    await platform.close()

    assert not busy.value.unsure


async def test_a_time_out_may_hide_a_message_that_arrived(
    telegram: FakeTelegram, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Telegram took it and never said so."""
    monkeypatch.setattr("gateway.platforms.telegram_api.ANSWER_SECONDS", 0.2)
    telegram.knows(ADA)
    telegram.hang("sendMessage")
    platform = build(telegram)
    async with running(platform, ScriptedReceiver()):
        with pytest.raises(PlatformBusy) as busy:
            await platform.send(OutgoingMessage(ADAS_CHAT, "hello"))

    assert busy.value.unsure


class TestTakingTurns:
    """Nothing is said faster than Telegram allows, nor while it asks for silence."""

    async def test_messages_and_changes_wait_at_the_chats_gate(self, telegram: FakeTelegram) -> None:
        """All that a chat sees is one stream, whoever says it."""
        telegram.knows(ADA)
        telegram.knows(BEN)
        platform = build(telegram, rates=Rates(chat=(Limit(1, 0.2),)))
        async with running(platform, ScriptedReceiver()):
            sent = await platform.send(OutgoingMessage(ADAS_CHAT, "one"))
            await platform.send(OutgoingMessage(ADAS_CHAT, "uno", edits=sent))
            await platform.send(OutgoingMessage(Chat("telegram", str(BEN)), "other"))
            await platform.send(OutgoingMessage(ADAS_CHAT, "two"))

        calls = [call for call in telegram.calls if call.method in ("sendMessage", "editMessageText")]
        times = [call.at for call in calls if call.parameters["chat_id"] == str(ADA)]
        assert all(later - earlier > 0.15 for earlier, later in pairwise(times))
        assert len(times) == 3
        assert calls[2].at - calls[1].at < 0.15

    async def test_typing_takes_no_messages_place(self, telegram: FakeTelegram) -> None:
        """It is left out when it would wait, and a message goes as if it had not been."""
        telegram.knows(ADA)
        platform = build(telegram, rates=Rates(chat=(Limit(1, 60.0),)))
        async with running(platform, ScriptedReceiver()):
            await platform.typing(ADAS_CHAT)
            await asyncio.wait_for(platform.send(OutgoingMessage(ADAS_CHAT, "one")), 5)
            await platform.typing(ADAS_CHAT)

        assert telegram.typing == [ADA]

    async def test_no_call_is_made_in_a_pause(self, telegram: FakeTelegram) -> None:
        """Each one would make the ban longer. Other chats are not meant."""
        telegram.knows(ADA)
        telegram.knows(BEN)
        telegram.fail("sendMessage", 429, retry_after=900)
        platform = build(telegram)
        async with running(platform, ScriptedReceiver()):
            for topic in ("", "7", ""):
                with pytest.raises(PlatformBusy) as busy:
                    await platform.send(OutgoingMessage(Chat("telegram", str(ADA), topic), "hello"))
                await platform.typing(ADAS_CHAT)
                assert 899 < busy.value.after <= 900
                assert not busy.value.everywhere
            await platform.send(OutgoingMessage(Chat("telegram", str(BEN)), "hello"))

        assert len(telegram.called("sendMessage")) == 2
        assert telegram.typing == []

    async def test_three_chats_that_are_told_to_wait_mean_the_bot(self, telegram: FakeTelegram) -> None:
        """Telegram does not say which bound was passed."""
        telegram.fail("sendMessage", 429, retry_after=900, times=3)
        platform = build(telegram)
        everywhere = []
        async with running(platform, ScriptedReceiver()):
            for person in (ADA, BEN, 789, 790):
                with pytest.raises(PlatformBusy) as busy:
                    await platform.send(OutgoingMessage(Chat("telegram", str(person)), "hello"))
                everywhere.append(busy.value.everywhere)

        assert everywhere == [False, False, True, True]
        assert len(telegram.called("sendMessage")) == 3


def asyncio_time() -> float:
    """The time that the adapter counts pauses in, also from another thread."""
    return time.monotonic()


async def test_calls_that_nobody_waits_for_any_more_do_not_use_up_the_connections(telegram: FakeTelegram) -> None:
    """A turn that ends stops showing "typing": cut off in the middle, such calls once left no connection over."""
    platform = build(telegram)
    async with running(platform, ScriptedReceiver()):
        telegram.knows(ADA)
        for round_number in range(60):
            calls = [asyncio.create_task(platform.typing(ADAS_CHAT)) for _ in range(8)]
            for _ in range(round_number % 12):
                await asyncio.sleep(0)
            for call in calls:
                call.cancel()
            await asyncio.wait(calls)

        await asyncio.wait_for(platform.send(OutgoingMessage(ADAS_CHAT, "still here")), 5)

    assert [one.text for one in telegram.screen(ADA)] == ["still here"]
