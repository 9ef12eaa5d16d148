"""Receiving from Telegram over real sockets: the contract of all platforms, and what is Telegram's own."""

import asyncio
import logging
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from gateway.chat import Button, Chat, How, IncomingMessage, OutgoingMessage, Piece
from gateway.errors import PlatformBusy, StoreBusy
from tests.contract.platform import PlatformContract, ScriptedReceiver, running
from tests.contract.telegram_network import (
    ADA,
    ADAS_CHAT,
    BEN,
    GROUP,
    TelegramNetwork,
    build,
    more_polls,
    received,
)
from tests.fakes.telegram import BOT_ID, BOT_NAME, PHOTO, TOKEN, FakeTelegram


@pytest.fixture
def telegram() -> Iterator[FakeTelegram]:
    """A Telegram on loopback; misusing its API fails the test."""
    with FakeTelegram() as server:
        yield server


@pytest.fixture
def network(telegram: FakeTelegram) -> TelegramNetwork:
    return TelegramNetwork(telegram)


class TestContract(PlatformContract):
    """Telegram passes what every platform must."""


class TestConfirming:
    """The offset moves past what was kept, and nothing else."""

    async def test_pending_updates_are_handed_over_at_start(self, telegram: FakeTelegram) -> None:
        """What people wrote while the bot was away is answered, not dropped."""
        for words in ("one", "two", "three"):
            telegram.says(ADA, words)
        receiver = ScriptedReceiver()

        async with running(build(telegram), receiver):
            await telegram.wait_for(lambda: not telegram.unconfirmed)

        assert receiver.said() == ["one", "two", "three"]
        assert "offset" not in telegram.called("getUpdates")[0].parameters
        assert telegram.called("deleteWebhook")[0].parameters["drop_pending_updates"] == "false"

    async def test_nothing_behind_a_refused_update_is_confirmed(self, telegram: FakeTelegram) -> None:
        """While the disk is full, everything from the first refused word on stays at Telegram."""
        kept, refused = "kept", "refused"
        telegram.says(ADA, kept)
        receiver = ScriptedReceiver()
        async with running(build(telegram), receiver):
            await telegram.wait_for(lambda: not telegram.unconfirmed)
            receiver.refusals = 10**6
            telegram.says(ADA, refused)
            telegram.says(ADA, "behind it")
            await telegram.wait_for(lambda: len(receiver.refused) >= 3)
            assert len(telegram.unconfirmed) == 2
            assert len(set(receiver.refused)) == 1
            receiver.refusals = 0
            await telegram.wait_for(lambda: not telegram.unconfirmed)

        assert receiver.said() == [kept, refused, "behind it"]

    async def test_a_chat_that_cannot_be_kept_holds_up_no_other(self, telegram: FakeTelegram) -> None:
        """A flood in one chat must not keep the words of a quiet one at Telegram."""

        class Waiting(ScriptedReceiver):
            async def message(self, message: IncomingMessage) -> bool:
                if message.person.id == str(ADA):
                    await let_go.wait()
                return await super().message(message)

        let_go = asyncio.Event()
        receiver = Waiting()
        for person, words in ((ADA, "one"), (ADA, "two"), (BEN, "quiet")):
            telegram.says(person, words)

        async with running(build(telegram), receiver):
            await telegram.wait_for(lambda: receiver.said() == ["quiet"])
            assert len(telegram.unconfirmed) == 3
            let_go.set()
            await telegram.wait_for(lambda: not telegram.unconfirmed)

        assert receiver.said() == ["quiet", "one", "two"]

    async def test_what_was_kept_behind_a_refused_update_is_not_confirmed_before_it(
        self, telegram: FakeTelegram
    ) -> None:
        """Telegram confirms everything below an offset: a later word of another chat must not move it past this."""

        class RefusingAda(ScriptedReceiver):
            async def message(self, message: IncomingMessage) -> bool:
                if message.person.id == str(ADA) and len(self.refused) < 3:
                    self.refused.append(message.id)
                    raise StoreBusy("full", after=0.0)
                return await super().message(message)

        receiver = RefusingAda()
        telegram.says(ADA, "refused")
        telegram.says(BEN, "behind it")

        async with running(build(telegram), receiver):
            await telegram.wait_for(lambda: not telegram.unconfirmed)

        assert len(receiver.refused) == 3
        assert "refused" in receiver.said()

    async def test_a_restart_is_given_what_was_not_confirmed(self, telegram: FakeTelegram) -> None:
        """A kill between keeping and confirming brings the update again, under the same message id."""

        class KilledAfterKeeping(ScriptedReceiver):
            async def message(self, message: IncomingMessage) -> bool:
                await super().message(message)
                await asyncio.Event().wait()
                return True

        killed, again = KilledAfterKeeping(), ScriptedReceiver()
        async with running(build(telegram), killed):
            telegram.says(ADA, "hello")
            await telegram.wait_for(lambda: killed.messages)
        async with running(build(telegram), again):
            await telegram.wait_for(lambda: not telegram.unconfirmed)

        assert again.messages == killed.messages

    async def test_a_receiver_with_a_bug_does_not_block_the_chat_for_ever(
        self, telegram: FakeTelegram, caplog: pytest.LogCaptureFixture
    ) -> None:
        """An update on which our own code breaks is tried thrice, then it is given up, loudly."""

        class Buggy(ScriptedReceiver):
            async def message(self, message: IncomingMessage) -> bool:
                if message.own_text == "poison":
                    self.refused.append(message.id)
                    raise ZeroDivisionError("poison")
                return await super().message(message)

        receiver = Buggy()
        async with running(build(telegram), receiver):
            telegram.says(ADA, "poison")
            telegram.says(ADA, "and on")
            await telegram.wait_for(lambda: receiver.messages)

        assert len(receiver.refused) == 3
        assert "telegram.update_given_up" in caplog.messages

    async def test_an_offset_is_forgotten_after_a_quiet_day(self, telegram: FakeTelegram) -> None:
        """Telegram may number anew after a quiet week, below an offset that we still hold."""
        clock = SteppedClock()
        receiver = ScriptedReceiver()
        async with running(build(telegram, clock=clock, poll_seconds=1), receiver):
            telegram.says(ADA, "before the holidays")
            await telegram.wait_for(lambda: not telegram.unconfirmed)
            clock.step(timedelta(days=8))
            await more_polls(telegram, 2)
            telegram.number_anew(17)
            telegram.says(ADA, "back again")
            await telegram.wait_for(lambda: len(receiver.messages) == 2)

        assert receiver.said() == ["before the holidays", "back again"]


class TestTroubleWithPolls:
    """Whatever happens to a poll, the bot hears again, and `status` says how it is."""

    @pytest.mark.parametrize(
        "trouble",
        [
            lambda server: server.fail("getUpdates", 502, body=b"<html>Bad Gateway</html>"),
            lambda server: server.fail("getUpdates", 404, body=b"<html>Not Found</html>"),
            lambda server: server.fail("getUpdates", 200, body=b'{"ok": true, "resu'),
            lambda server: server.fail("getUpdates", 200, body=b'{"ok": true, "result": [{"a": 1}]}'),
            lambda server: server.fail("getUpdates", 200, body=b'["not", "an", "answer"]'),
            lambda server: server.fail("getUpdates", 500),
            lambda server: server.fail("getUpdates", 429, retry_after=0.05),
            lambda server: server.fail("getUpdates", 401, description="Unauthorized"),
            lambda server: server.drop("getUpdates", times=3),
            lambda server: server.drop_after_accept("getUpdates", times=2),
        ],
        ids=["html", "404", "half", "no-id", "list", "500", "429", "401", "hang-up", "lost-answer"],
    )
    async def test_it_goes_on(self, telegram: FakeTelegram, trouble: Callable[[FakeTelegram], None]) -> None:
        """A proxy's page, half a JSON or a dead connection is no reason to become deaf."""
        trouble(telegram)
        receiver, platform = ScriptedReceiver(), build(telegram)
        telegram.says(ADA, "do you hear me?")
        async with running(platform, receiver):
            await telegram.wait_for(lambda: not telegram.unconfirmed)
            await telegram.wait_for(lambda: platform.health().state == "ok")

        assert receiver.said()[0] == "do you hear me?"

    async def test_a_second_poller_is_reported_once_and_survived(
        self, telegram: FakeTelegram, caplog: pytest.LogCaptureFixture
    ) -> None:
        """After a restart Telegram may still hold the old poll for half a minute."""
        telegram.knows(ADA)
        telegram.fail("getUpdates", 409, description="Conflict: terminated", times=10**6)
        receiver, platform = ScriptedReceiver(), build(telegram)
        async with running(platform, receiver):
            await telegram.wait_for(lambda: len(telegram.called("getUpdates")) >= 4)
            assert platform.health().state == "degraded"
            await platform.send(OutgoingMessage(ADAS_CHAT, "sending still works"))
            telegram.recover()
            telegram.says(ADA, "hello")
            await telegram.wait_for(lambda: receiver.messages)
            assert platform.health().state == "ok"

        assert caplog.messages.count("telegram.conflict") == 1

    async def test_conflicts_that_come_and_go_stay_visible(self, telegram: FakeTelegram) -> None:
        """Two gateways with one token take turns; each success must not make it look healthy."""
        platform = build(telegram, poll_seconds=0)
        async with running(platform, ScriptedReceiver()):
            for _ in range(4):
                telegram.fail("getUpdates", 409, description="Conflict")
                await more_polls(telegram, 3)
            assert platform.health().state == "degraded"

    async def test_a_half_open_poll_is_noticed(
        self, telegram: FakeTelegram, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A poll that is accepted and never answered raises no error by itself; there is only the time."""
        monkeypatch.setattr("gateway.platforms.telegram_api.ANSWER_SECONDS", 0.2)
        telegram.hang("getUpdates", times=2)
        receiver = ScriptedReceiver()
        async with running(build(telegram, poll_seconds=0), receiver):
            telegram.says(ADA, "anybody there?")
            await telegram.wait_for(lambda: receiver.messages)

        assert telegram.polls_at_once == 1

    async def test_a_poll_that_drips_is_noticed(
        self, telegram: FakeTelegram, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A byte now and then keeps every time-out of the connection from running out."""
        monkeypatch.setattr("gateway.platforms.telegram_api.ANSWER_SECONDS", 0.1)
        monkeypatch.setattr("gateway.platforms.telegram_api.GRACE_SECONDS", 0.2)
        telegram.drip("getUpdates")
        receiver = ScriptedReceiver()
        async with running(build(telegram, poll_seconds=0), receiver):
            telegram.says(ADA, "anybody there?")
            await telegram.wait_for(lambda: receiver.messages)

        assert receiver.said() == ["anybody there?"]

    async def test_never_two_polls_at_once(self, telegram: FakeTelegram) -> None:
        """A bot that polls twice conflicts with itself."""
        receiver = ScriptedReceiver()
        async with running(build(telegram), receiver):
            for number in range(5):
                telegram.drop("getUpdates")
                telegram.says(ADA, f"{number}")
                await telegram.wait_for(lambda: not telegram.unconfirmed)

        assert telegram.polls_at_once == 1

    async def test_an_unreachable_telegram_at_start_is_waited_for(self, telegram: FakeTelegram) -> None:
        """A reboot brings the bot up before the network."""
        telegram.drop("getMe", times=2)
        telegram.fail("deleteWebhook", 502, body=b"<html>")
        receiver = ScriptedReceiver()
        async with running(build(telegram), receiver):
            telegram.says(ADA, "hello")
            await telegram.wait_for(lambda: receiver.messages)

        assert [message.own_text for message in receiver.messages] == ["hello"]

    async def test_health_comes_from_the_last_answered_poll(self, telegram: FakeTelegram) -> None:
        """A loop that hangs says nothing; its silence must."""
        clock = SteppedClock()
        platform = build(telegram, clock=clock)
        async with running(platform, ScriptedReceiver()):
            await telegram.wait_for(lambda: platform.health().last_poll_at)
            assert platform.health().state == "ok"
            clock.step(timedelta(minutes=5))
            assert platform.health().state == "degraded"


class TestReading:
    """An update becomes pieces with their authors."""

    async def test_a_reply_carries_the_answered_words_and_their_author(self, telegram: FakeTelegram) -> None:
        """ "Do this one" has no meaning without what it answers; and it is not Ada's own."""
        asked = telegram.says(BEN, "Paint it red", chat=GROUP)
        message = await received(telegram, text="/do this", chat=GROUP, reply_to=asked)

        assert message.pieces[0] == Piece(How.QUOTED, "telegram:456", "Paint it red")
        assert message.pieces[1] == Piece(How.OWN, "telegram:123", "/do this")
        assert message.own_text == "/do this"

    async def test_of_a_long_message_only_the_marked_part_is_quoted(self, telegram: FakeTelegram) -> None:
        """Whoever marks a sentence means that sentence."""
        asked = telegram.says(ADA, "Lives in Oslo. Likes tea.")
        message = await received(
            telegram, text="wrong", reply_to=asked, quote={"text": "Likes tea.", "position": 15}
        )

        assert message.pieces[0] == Piece(How.QUOTED, "telegram:123", "Likes tea.")

    async def test_a_quote_from_another_chat_is_somebody_elses_words(self, telegram: FakeTelegram) -> None:
        """It may come from a chat that we never saw."""
        origin = {"type": "user", "date": 1, "sender_user": account(BEN)}
        message = await received(
            telegram,
            text="is that so?",
            external_reply={"origin": origin},
            quote={"text": "The moon is cheese", "position": 0},
        )

        assert message.pieces[0] == Piece(How.QUOTED, "telegram:456", "The moon is cheese")

    @pytest.mark.parametrize(
        ("origin", "author"),
        [
            (
                {"type": "user", "date": 1, "sender_user": {"id": 456, "is_bot": False, "first_name": "B"}},
                "456",
            ),
            ({"type": "hidden_user", "date": 1, "sender_user_name": "Somebody"}, ""),
            (
                {"type": "channel", "date": 1, "message_id": 5, "chat": {"id": -1007, "type": "channel"}},
                "-1007",
            ),
        ],
        ids=["user", "hidden", "channel"],
    )
    async def test_forwarded_words_are_not_the_forwarders_own(
        self, telegram: FakeTelegram, origin: dict[str, Any], author: str
    ) -> None:
        """A forwarded "remember that …" must not become memory, a forwarded /forget no command."""
        message = await received(telegram, text="/forget everything", forward_origin=origin)

        expected = f"telegram:{author}" if author else ""
        assert message.pieces == (Piece(How.FORWARDED, expected, "/forget everything"),)
        assert message.own_text == ""

    async def test_a_caption_is_what_was_said(self, telegram: FakeTelegram) -> None:
        """We cannot see the photo, but we can read what was written under it."""
        assert (await received(telegram, photo=PHOTO, caption="my cat")).own_text == "my cat"

    async def test_a_photo_without_words_says_what_it_is(self, telegram: FakeTelegram) -> None:
        """Silence would look like a broken bot; the conversation can say that it sees no photos."""
        message = await received(telegram, photo=PHOTO)
        assert message.pieces == (Piece(How.ATTACHED, "telegram:123", "photo"),)

    async def test_every_part_of_an_album_is_handed_over(self, telegram: FakeTelegram) -> None:
        """Its caption may stand on any of them: the conversation joins them, and nothing is lost here."""
        receiver = ScriptedReceiver()
        async with running(build(telegram), receiver):
            ids = telegram.sends_album(ADA, "album-1", ["", "the sea", ""])
            telegram.says(ADA, "done")
            await telegram.wait_for(lambda: "done" in receiver.said())

        assert [message.album for message in receiver.messages] == ["album-1"] * 3 + [""]
        assert [message.id for message in receiver.messages[:3]] == [str(number) for number in ids]
        assert receiver.said() == ["", "the sea", "", "done"]

    async def test_an_edit_is_handed_over_as_it_reads_now(self, telegram: FakeTelegram) -> None:
        """The same message, other words; and like every update until it is kept."""
        receiver = ScriptedReceiver()
        async with running(build(telegram), receiver):
            message = telegram.says(ADA, "I live in Oslo")
            await telegram.wait_for(lambda: receiver.messages)
            receiver.refusals = 2
            telegram.edits(ADA, message, "I live in Bergen")
            await telegram.wait_for(lambda: receiver.edits)
            await telegram.wait_for(lambda: not telegram.unconfirmed)

        (edit,) = receiver.edits
        assert (edit.id, edit.own_text, edit.chat) == (str(message), "I live in Bergen", ADAS_CHAT)
        assert receiver.said() == ["I live in Oslo"]
        assert receiver.refused == [str(message)] * 2

    async def test_a_group_that_moves_is_told_and_says_nothing(self, telegram: FakeTelegram) -> None:
        """Everything of the group moves along; that it moved is nobody's words. It is said until it is kept."""
        receiver = ScriptedReceiver(refusals=1)
        async with running(build(telegram), receiver):
            telegram.migrates(GROUP, -1_009, by=ADA)
            telegram.says(ADA, "/status", chat=-1_009)
            await telegram.wait_for(lambda: receiver.messages)

        assert receiver.moves == [("telegram", str(GROUP), "-1009")] * 2
        assert receiver.refused == [str(GROUP)]
        assert receiver.said() == ["/status"]

    async def test_channels_bots_and_service_messages_are_not_for_us(self, telegram: FakeTelegram) -> None:
        """Two bots would answer each other for ever."""
        ours = telegram_message("changed", "77")
        channel = {"id": -1009, "type": "channel", "title": "News"}
        receiver = ScriptedReceiver()
        async with running(build(telegram), receiver):
            telegram.update(channel_post=ours | {"chat": channel})
            telegram.update(edited_channel_post=ours | {"chat": channel, "edit_date": 1_796_000_009})
            telegram.update(edited_message=ours | {"chat": channel, "edit_date": 1_796_000_009})
            telegram.update(message=ours | {"from": account(789) | {"is_bot": True}})
            telegram.says(ADA, chat=GROUP, new_chat_members=[account(BEN)])
            telegram.says(ADA, chat=GROUP, thread=7, forum_topic_created={"name": "Cats", "icon_color": 1})
            telegram.says(ADA, f"@{BOT_NAME} hi", chat=GROUP, sender_chat=channel)
            telegram.says(ADA, "only this")
            await telegram.wait_for(lambda: receiver.messages)

        assert (receiver.said(), receiver.edits) == (["only this"], [])

    @pytest.mark.parametrize(
        ("words", "addressed", "own"),
        [
            ("hello everybody", False, "hello everybody"),
            (f"hi @{BOT_NAME.upper()}, 🏔?", True, f"hi @{BOT_NAME.upper()}, 🏔?"),
            ("write to @hikae_test_bot_2", False, "write to @hikae_test_bot_2"),
            ("/memory", True, "/memory"),
            (f"/memory@{BOT_NAME} pending", True, "/memory pending"),
            ("/memory@another_bot", False, "/memory@another_bot"),
        ],
    )
    async def test_who_is_meant_in_a_group(
        self, telegram: FakeTelegram, words: str, addressed: bool, own: str
    ) -> None:
        """A group's talk that is not for the bot is neither answered nor kept."""
        message = await received(telegram, text=words, chat=GROUP)

        assert (message.addressed, message.private, message.own_text) == (addressed, False, own)

    async def test_an_answer_to_the_bot_is_meant_for_it(self, telegram: FakeTelegram) -> None:
        """Nobody writes the bot's name when answering its question."""
        telegram.knows(GROUP)
        platform, receiver = build(telegram), ScriptedReceiver()
        async with running(platform, receiver):
            asked = await platform.send(OutgoingMessage(Chat("telegram", str(GROUP)), "Which one?"))
            telegram.says(ADA, "the red one", chat=GROUP, reply_to=int(asked))
            await telegram.wait_for(lambda: receiver.messages)

        (message,) = receiver.messages
        assert message.addressed
        assert message.pieces[0] == Piece(How.QUOTED, f"telegram:{BOT_ID}", "Which one?")

    async def test_a_topic_is_a_place_of_its_own_and_a_reply_thread_is_not(self, telegram: FakeTelegram) -> None:
        """Plain groups number their reply threads too; answers to those would be refused."""
        in_topic = await received(telegram, text="/hi", chat=GROUP, thread=7)
        in_thread = await received(telegram, text="/hi", chat=GROUP, message_thread_id=7)
        in_general = await received(telegram, text="/hi", chat=GROUP, thread=1)
        in_private = await received(telegram, text="/hi", thread=5)

        found = [message.chat.thread for message in (in_topic, in_thread, in_general, in_private)]
        assert found == ["7", "", "", "5"]

    async def test_the_language_of_the_person_is_passed_on(self, telegram: FakeTelegram) -> None:
        """So that a first answer is in the right one."""
        assert (await received(telegram, text="こんにちは", language="ja")).language == "ja"

    async def test_half_a_character_is_replaced(self, telegram: FakeTelegram) -> None:
        """A lone surrogate can be in no database."""
        assert (await received(telegram, text="a \ud83d b")).own_text == "a � b"

    async def test_a_tap_in_a_topic_belongs_to_the_topic(self, telegram: FakeTelegram) -> None:
        """What follows from it is said where the card is."""
        telegram.has_topic(GROUP, 7)
        telegram.knows(GROUP)
        topic = Chat("telegram", str(GROUP), "7")
        receiver, platform = ScriptedReceiver(), build(telegram)
        async with running(platform, receiver):
            card = await platform.send(OutgoingMessage(topic, "Keep?", ((Button("Yes", "y"),),)))
            telegram.taps(ADA, int(card), "Yes", chat=GROUP)
            await telegram.wait_for(lambda: receiver.taps)

        assert receiver.taps[0].chat == topic

    async def test_the_name_that_others_see_is_passed_on(self, telegram: FakeTelegram) -> None:
        """In a group the model must know who speaks."""
        assert (await received(telegram, text="/hi", chat=GROUP)).speaker == f"Person {ADA}"

    async def test_a_tap_on_a_message_that_telegram_no_longer_shows_counts(self, telegram: FakeTelegram) -> None:
        """Old cards come as "inaccessible" messages."""
        old = {"chat": {"id": ADA, "type": "private"}, "message_id": 3, "date": 0}
        receiver = ScriptedReceiver()
        async with running(build(telegram), receiver):
            tap = telegram.press(ADA, old, "approve:3:abc")
            await telegram.wait_for(lambda: tap in telegram.toasts)

        (received_tap,) = receiver.taps
        assert (received_tap.chat, received_tap.message_id) == (ADAS_CHAT, "3")

    async def test_a_failed_acknowledgement_is_only_logged(
        self, telegram: FakeTelegram, caplog: pytest.LogCaptureFixture
    ) -> None:
        """Telegram forgets taps after a while; the decision stands."""
        telegram.fail("answerCallbackQuery", 400, description="Bad Request: query is too old")
        receiver = ScriptedReceiver()
        async with running(build(telegram), receiver):
            telegram.press(ADA, {"chat": {"id": ADA, "type": "private"}, "message_id": 3, "date": 0}, "x")
            telegram.says(ADA, "next")
            await telegram.wait_for(lambda: receiver.messages)
            await telegram.wait_for(lambda: "telegram.tap_not_acknowledged" in caplog.messages)

        assert [message.own_text for message in receiver.messages] == ["next"]


async def test_no_log_line_holds_words_or_the_token(
    telegram: FakeTelegram, caplog: pytest.LogCaptureFixture
) -> None:
    """PTB and httpx log what they read and where they read it; what they see is not for a log file."""
    secret = "the-diary-of-ada"
    caplog.set_level(logging.DEBUG)
    logging.getLogger("httpx").setLevel(logging.DEBUG)
    receiver, platform = ScriptedReceiver(), build(telegram)
    telegram.fail("getUpdates", 200, body=f'{{"ok": true, "result": [{{"text": "{secret}"'.encode())
    telegram.fail("getUpdates", 200, body=f'{{"ok": true, "result": [{{"text": "{secret}"}}]}}'.encode())
    async with running(platform, receiver):
        telegram.update(message={"text": secret})
        telegram.says(ADA, secret)
        await telegram.wait_for(lambda: receiver.messages)
        telegram.fail("sendMessage", 500, description=secret)
        with pytest.raises(PlatformBusy):
            await platform.send(OutgoingMessage(ADAS_CHAT, secret))

    assert secret not in caplog.text
    assert TOKEN not in caplog.text


async def test_a_slow_acknowledgement_holds_up_nobody(telegram: FakeTelegram) -> None:
    """Telegram's trouble with one tap must not stop the next message."""
    telegram.hang("answerCallbackQuery")
    receiver = ScriptedReceiver()
    async with running(build(telegram), receiver):
        telegram.press(ADA, {"chat": {"id": ADA, "type": "private"}, "message_id": 3, "date": 0}, "x")
        telegram.says(ADA, "hello")
        await telegram.wait_for(lambda: receiver.messages, 5)

    assert [message.own_text for message in receiver.messages] == ["hello"]
    assert telegram.toasts == {}


class SteppedClock:
    """A clock that moves when told to."""

    def __init__(self) -> None:
        self._now = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)

    def now(self) -> datetime:
        return self._now

    def step(self, by: timedelta) -> None:
        self._now += by


def account(number: int) -> dict[str, Any]:
    return {"id": number, "is_bot": False, "first_name": "Somebody"}


def telegram_message(words: str, message_id: str) -> dict[str, Any]:
    """A message of Ada's as the Bot API writes it."""
    chat = {"id": ADA, "type": "private", "first_name": "Ada"}
    return {
        "message_id": int(message_id),
        "date": 1_796_000_000,
        "chat": chat,
        "from": account(ADA),
        "text": words,
    }
