"""The Discord adapter over real sockets: the contract of all platforms, sending, the websocket, gaps."""

import random
from collections.abc import Callable, Iterator
from datetime import timedelta

import pytest

from gateway.chat import (
    Chat,
)
from gateway.errors import Broken, ChatGone, ConfigError, PlatformBusy
from tests.contract.discord_network import (
    ADA,
    BEN,
    CARD,
    CHANNEL,
    THREAD,
    DiscordNetwork,
    SteppedClock,
    Talking,
    build,
    calls,
    first_of_each,
    in_dm,
    shown,
)
from tests.contract.platform import PlatformContract, ScriptedReceiver, running
from tests.fakes.discord import (
    BOT_ID,
    CHANGE,
    FIRST_ANSWER,
    GUILD,
    HISTORY,
    SEND,
    TOKEN,
    FakeDiscord,
)


@pytest.fixture
def discord() -> Iterator[FakeDiscord]:
    """A Discord on loopback; misusing its API fails the test."""
    with FakeDiscord() as server:
        yield server


@pytest.fixture
def network(discord: FakeDiscord) -> DiscordNetwork:
    return DiscordNetwork(discord)


class TestContract(PlatformContract):
    """Discord passes what every platform must."""


class TestSending:
    """What is sent arrives once, pings nobody and says what went wrong."""

    async def test_it_answers_quietly_and_pings_nobody(self, discord: FakeDiscord) -> None:
        """The fake refuses a message that could ping anybody."""
        asked = discord.says(ADA, "hello?")
        message = await shown(discord, in_dm(discord, "@everyone <@123>", reply_to=str(asked), silent=True))

        assert (message.text, message.reply_to, message.silent) == ("@everyone <@123>", asked, True)

    async def test_an_answer_to_what_is_gone_is_sent_all_the_same(self, discord: FakeDiscord) -> None:
        """People delete their questions."""
        message = await shown(discord, in_dm(discord, "Here it is", reply_to="42"))

        assert (message.text, message.reply_to) == ("Here it is", None)

    async def test_where_replies_are_refused_it_is_said_without(self, discord: FakeDiscord) -> None:
        """Discord refuses replies where the bot may not read what was said."""
        asked = discord.says(ADA, "hello?")
        discord.fail(SEND, 400, code=160002)
        message = await shown(discord, in_dm(discord, "Here it is", reply_to=str(asked)))

        assert (message.text, message.reply_to) == ("Here it is", None)

    @pytest.mark.parametrize(
        ("trouble", "after", "everywhere", "unsure"),
        [
            (lambda server: server.fail(SEND, 429, retry_after=0.3), 0.3, False, False),
            (lambda server: server.fail(SEND, 429, retry_after=4000), 4000, False, False),
            (lambda server: server.fail(SEND, 429, retry_after=7, everywhere=True), 7, True, False),
            (lambda server: server.fail(SEND, 500), 1, False, True),
            (lambda server: server.fail(SEND, 502, body=b"<html>"), 1, False, True),
            (lambda server: server.fail(SEND, 200, body=b'{"half'), 1, False, True),
            (lambda server: server.drop(SEND), 1, False, True),
            (lambda server: server.drop_after_accept(SEND), 1, False, True),
            (lambda server: server.fail(SEND, 401), 60, False, False),
        ],
        ids=["429", "429-long", "429-global", "500", "502", "half", "hang-up", "lost-answer", "401"],
    )
    async def test_trouble_says_when_to_try_again_and_the_chunk_is_seen_once(
        self,
        discord: FakeDiscord,
        trouble: Callable[[FakeDiscord], None],
        after: float,
        everywhere: bool,
        unsure: bool,
    ) -> None:
        """Nothing is lost, and the nonce keeps what had arrived from being seen twice."""
        platform, chunk = build(discord), in_dm(discord, "hello", nonce="1842-3")
        async with running(platform, ScriptedReceiver()):
            trouble(discord)
            with pytest.raises(PlatformBusy) as busy:
                await platform.send(chunk)
            again = await platform.send(chunk)

        assert (busy.value.after, busy.value.everywhere, busy.value.unsure) == (after, everywhere, unsure)
        assert TOKEN not in str(busy.value)
        assert [(str(one.message_id), one.text) for one in discord.sent] == [(again, "hello")]

    async def test_an_unanswered_call_ends(self, discord: FakeDiscord, monkeypatch: pytest.MonkeyPatch) -> None:
        """A half-open connection raises nothing by itself."""
        monkeypatch.setattr("gateway.platforms.discord_http.ANSWER_SECONDS", 0.2)
        platform = build(discord)
        async with running(platform, ScriptedReceiver()):
            discord.hang(SEND)
            with pytest.raises(PlatformBusy) as busy:
                await platform.send(in_dm(discord, "hello", nonce="1-0"))

        assert busy.value.unsure

    @pytest.mark.parametrize(
        ("status", "code", "error"),
        [(403, 50013, ChatGone), (404, 10003, ChatGone), (400, 50035, Broken)],
    )
    async def test_what_will_not_change_is_not_tried_again(
        self, discord: FakeDiscord, status: int, code: int, error: type[Exception]
    ) -> None:
        """Missing permissions, a deleted channel, a call that is wrong."""
        platform = build(discord)
        async with running(platform, ScriptedReceiver()):
            discord.fail(SEND, status, code=code)
            with pytest.raises(error) as raised:
                await platform.send(in_dm(discord, "hello"))

        assert "words of Discord" not in str(raised.value)
        assert len(discord.called(SEND)) == 1

    @pytest.mark.parametrize(("status", "code", "after"), [(429, 0, 2.5), (500, 0, 1.0)], ids=["429", "500"])
    async def test_changes_meet_the_same_trouble(
        self, discord: FakeDiscord, status: int, code: int, after: float
    ) -> None:
        """A decided card that did not change is tried again."""
        platform = build(discord)
        async with running(platform, ScriptedReceiver()):
            sent = await platform.send(in_dm(discord, "Keep?", buttons=CARD))
            discord.fail(CHANGE, status, code=code, retry_after=after if status == 429 else None)
            with pytest.raises(PlatformBusy) as busy:
                await platform.send(in_dm(discord, "Kept", edits=sent))
            await platform.send(in_dm(discord, "Kept", edits=sent))

        assert busy.value.after == after
        assert [(one.text, one.labels) for one in discord.screen(discord.dm(ADA))] == [("Kept", ())]

    async def test_a_change_of_a_deleted_message_is_left_out(self, discord: FakeDiscord) -> None:
        """Nobody can see it any more; it is no reason to give the chat up."""
        platform = build(discord)
        async with running(platform, ScriptedReceiver()):
            sent = await platform.send(in_dm(discord, "Keep?"))
            discord.deletes(discord.dm(ADA), int(sent))
            assert await platform.send(in_dm(discord, "Kept", edits=sent)) == sent

    @pytest.mark.parametrize(
        ("trouble", "unsure"),
        [
            (lambda server: server.fail(FIRST_ANSWER, 429, retry_after=3), False),
            (lambda server: server.fail(FIRST_ANSWER, 503), True),
            (lambda server: server.drop_after_accept(FIRST_ANSWER), True),
        ],
        ids=["429", "503", "lost-answer"],
    )
    async def test_trouble_on_an_interactions_way(
        self, discord: FakeDiscord, trouble: Callable[[FakeDiscord], None], unsure: bool
    ) -> None:
        """There are no nonces on it; the answer takes the place of "… is thinking" again, and is seen once."""
        bot = Talking(discord)
        async with bot():
            discord.gives(ADA, "help")
            message = await bot.message()
            trouble(discord)
            with pytest.raises(PlatformBusy) as busy:
                await bot.answers(message, "Here:")
            await bot.answers(message, "Here:")

        assert busy.value.unsure is unsure
        assert [one.text for one in discord.screen(discord.dm(ADA))] == ["Here:"]

    async def test_the_limits_that_discord_tells_are_kept(self, discord: FakeDiscord) -> None:
        """Its headers say how many messages a channel takes; waiting for them is better than being refused."""
        discord.world.bucket = (2, 0.2)
        platform = build(discord)
        async with running(platform, ScriptedReceiver()):
            for number in range(6):
                await platform.send(in_dm(discord, f"{number}"))

        assert [one.text for one in discord.sent] == ["0", "1", "2", "3", "4", "5"]
        assert discord.called(SEND)[-1].at - discord.called(SEND)[0].at >= 0.4

    async def test_before_it_is_connected_it_asks_to_come_again(self, discord: FakeDiscord) -> None:
        """What waits from before a restart is sent once Discord answers."""
        with pytest.raises(PlatformBusy):
            await build(discord).send(in_dm(discord, "hello"))

    async def test_what_shows_nothing_is_no_error(self, discord: FakeDiscord) -> None:
        """Discord refuses blank messages, also those made of invisible characters."""
        assert (await shown(discord, in_dm(discord, "\u200b \u2800"))).text == "…"

    async def test_another_home_does_not_repeat_the_first_ones_nonces(self, discord: FakeDiscord) -> None:
        """A new home counts from 1 again; its first words must not be taken for a repeat."""
        platform = build(discord)
        async with running(platform, ScriptedReceiver()):
            await platform.send(in_dm(discord, "Welcome", nonce="1-0"))
            await platform.send(in_dm(discord, "Hello again", nonce="1-0"))

        assert [one.text for one in discord.sent] == ["Welcome", "Hello again"]
        assert all(len(one.nonce) <= 25 for one in discord.sent)


class TestTheWebsocket:
    """Connections come and go; what people said does not."""

    @pytest.mark.parametrize("code", [1000, 1001, 1006, 4000, 4001, 4002, 4003, 4005, 4007, 4008, 4009])
    async def test_nothing_is_lost_over_a_closed_connection(self, discord: FakeDiscord, code: int) -> None:
        """Where the session is over, the history has what was said meanwhile."""
        chat = Chat("discord", str(discord.dm(ADA)))
        receiver = ScriptedReceiver()
        async with running(build(discord), receiver):
            first = discord.says(ADA, "before")
            await discord.wait_for(lambda: receiver.messages)
            receiver.kept = {chat: str(first)}
            discord.closes_socket(code)
            said = [f"meanwhile {number}" for number in range(5)]
            for words in said:
                discord.says(ADA, words)
            await discord.wait_for(lambda: len({one.id for one in receiver.messages}) == 6)

        assert first_of_each(receiver) == ["before", *said]

    @pytest.mark.parametrize("resumable", [True, False])
    async def test_an_invalid_session_is_begun_anew(self, discord: FakeDiscord, resumable: bool) -> None:
        """And the gap is read from the history."""
        receiver = ScriptedReceiver()
        async with running(build(discord), receiver):
            first = discord.says(ADA, "before")
            await discord.wait_for(lambda: receiver.messages)
            receiver.kept = {Chat("discord", str(discord.dm(ADA))): str(first)}
            discord.invalidates(resumable=resumable)
            discord.says(ADA, "in the gap", unheard=not resumable)
            await discord.wait_for(lambda: len(receiver.messages) == 2)

        assert receiver.said() == ["before", "in the gap"]
        assert (discord.sessions.identified, discord.sessions.resumed) == ((1, 1) if resumable else (2, 0))

    async def test_it_moves_when_discord_asks_it_to(self, discord: FakeDiscord) -> None:
        """Discord moves its servers about; that is no trouble."""
        receiver = ScriptedReceiver()
        async with running(build(discord), receiver):
            discord.asks_to_reconnect()
            await discord.wait_for(lambda: discord.sessions.resumed)
            discord.says(ADA, "hello")
            await discord.wait_for(lambda: receiver.messages)

        assert discord.sessions.identified == 1

    async def test_a_connection_that_says_nothing_any_more_is_left(self, discord: FakeDiscord) -> None:
        """Half-alive: it takes heartbeats and answers none. One new connection, not an endless chain of them."""
        discord.sessions.heartbeat_seconds = 0.1
        receiver = ScriptedReceiver()
        async with running(build(discord, heartbeat_timeout=0.4), receiver):
            discord.falls_silent()
            discord.says(ADA, "can you hear me?")
            beats = discord.sessions.beats
            await discord.wait_for(lambda: discord.sessions.beats > beats + 1)
            await discord.wait_for(lambda: not discord.sessions.is_connected)
            discord.speaks_again()
            await discord.wait_for(lambda: receiver.messages)

        assert receiver.said() == ["can you hear me?"]
        assert discord.sessions.identified == 1

    async def test_heartbeats_alone_are_a_sign_of_life(self, discord: FakeDiscord) -> None:
        """A quiet bot is a healthy one."""
        discord.sessions.heartbeat_seconds = 0.05
        clock = SteppedClock()
        platform = build(discord, clock=clock)
        async with running(platform, ScriptedReceiver()):
            clock.step(timedelta(minutes=10))
            beats = discord.sessions.beats
            await discord.wait_for(lambda: discord.sessions.beats > beats + 1)
            await discord.wait_for(lambda: platform.health().last_poll_at == clock.now())
            assert platform.health().state == "ok"

    async def test_silence_shows_in_its_health(self, discord: FakeDiscord) -> None:
        """`status` must tell a deaf bot from a quiet one."""
        clock = SteppedClock()
        platform = build(discord, clock=clock)
        async with running(platform, ScriptedReceiver()):
            await discord.wait_for(lambda: platform.health().state == "ok")
            clock.step(timedelta(minutes=10))
            assert platform.health().state == "degraded"
            assert platform.health().account == "hikae"

    @pytest.mark.parametrize(
        ("code", "names"), [(4014, "MESSAGE CONTENT INTENT"), (4013, "MESSAGE CONTENT INTENT"), (4004, "token")]
    )
    async def test_what_only_the_operator_can_mend_is_said_and_not_tried_again(
        self, discord: FakeDiscord, code: int, names: str
    ) -> None:
        """The switch is named; a hundred reconnects with a vague message help nobody."""
        discord.sessions.refusals = [code]
        platform = build(discord)
        with pytest.raises(ConfigError) as refused:
            async with running(platform, ScriptedReceiver()):
                pass

        assert names in str(refused.value)
        assert platform.health().state == "refused"
        assert discord.sessions.identified == 1

    async def test_the_fake_knows_the_switch(self, discord: FakeDiscord) -> None:
        """Discord closes with 4014 where words were asked for and the switch is off."""
        discord.sessions.content_intent = False
        with pytest.raises(ConfigError):
            async with running(build(discord), ScriptedReceiver()):
                pass

    async def test_an_unreachable_discord_at_start_is_waited_for(self, discord: FakeDiscord) -> None:
        """A reboot brings the bot up before the network."""
        discord.drop("GET /users/@me", times=2)
        discord.fail("GET /oauth2/applications/@me", 429, retry_after=0.05)
        discord.sessions.refusals = [1006, 4000]
        receiver = ScriptedReceiver()
        async with running(build(discord), receiver):
            discord.says(ADA, "hello")
            await discord.wait_for(lambda: receiver.messages)

        assert receiver.said() == ["hello"]

    @pytest.mark.parametrize("seed", range(3))
    async def test_nothing_is_lost_whatever_happens_in_whichever_order(
        self, discord: FakeDiscord, seed: int
    ) -> None:
        """A bad evening: connections die, sessions end, events come twice, the disk is full at times."""
        chance, chat = random.Random(seed), Chat("discord", str(discord.dm(ADA)))

        class Remembering(ScriptedReceiver):
            async def last_kept(self, platform: str) -> dict[Chat, str]:
                return {chat: max((one.id for one in self.messages), key=int)} if self.messages else {}

        receiver = Remembering()
        troubles: list[Callable[[], object]] = [
            lambda: discord.closes_socket(chance.choice([1001, 1006, 4000, 4009])),
            lambda: discord.invalidates(resumable=chance.random() < 0.5),
            discord.asks_to_reconnect,
            lambda: discord.says_again(3),
            lambda: setattr(receiver, "refusals", 2),
        ]
        discord.fail(HISTORY, 429, retry_after=0.01, times=3)
        said = [f"number {number}" for number in range(60)]
        async with running(build(discord, pause_seconds=0.001), receiver):
            for words in said:
                discord.says(ADA, words)
                if words == said[0] or chance.random() < 0.1:
                    await discord.wait_for(lambda: receiver.messages and discord.sessions.is_connected)
                if chance.random() < 0.3:
                    chance.choice(troubles)()
            await discord.wait_for(lambda: len({one.id for one in receiver.messages}) == len(said))

        assert first_of_each(receiver) == said

    async def test_a_door_that_is_shut_for_a_moment_costs_no_session(self, discord: FakeDiscord) -> None:
        """A 502 instead of a websocket is no reason to begin anew."""
        receiver = ScriptedReceiver()
        async with running(build(discord), receiver):
            discord.sessions.turns_away = 2
            discord.closes_socket(1006)
            discord.says(ADA, "hello")
            await discord.wait_for(lambda: receiver.messages)

        assert (discord.sessions.identified, discord.sessions.resumed, discord.sessions.turns_away) == (1, 1, 0)

    async def test_an_address_that_is_gone_is_given_up(self, discord: FakeDiscord) -> None:
        """A session is resumed at an address of its own; where that is gone, a new one begins at the common one."""
        discord.sessions.url = "ws://127.0.0.1:9/gw"
        receiver = ScriptedReceiver()
        async with running(build(discord), receiver):
            discord.closes_socket(1006)
            await discord.wait_for(lambda: discord.sessions.identified == 2)
            discord.says(ADA, "hello again")
            await discord.wait_for(lambda: receiver.messages)

        assert receiver.said() == ["hello again"]

    async def test_what_is_replayed_carries_the_same_id(self, discord: FakeDiscord) -> None:
        """The receiver knows what it has by its id; nothing else is needed."""
        receiver = ScriptedReceiver()
        async with running(build(discord), receiver):
            said = discord.says(ADA, "hello")
            await discord.wait_for(lambda: receiver.messages)
            discord.says_again(1)
            await discord.wait_for(lambda: len(receiver.messages) == 2)

        assert {one.id for one in receiver.messages} == {str(said)}


class TestGaps:
    """What Discord kept while we were away is read, in order, before what comes now."""

    async def test_the_history_of_known_chats_is_read_at_start(self, discord: FakeDiscord) -> None:
        """Discord does not deliver again; page by page, from the last kept message on."""
        discord.add_channel(CHANNEL)
        discord.add_thread(THREAD, CHANNEL)
        kept = discord.says(ADA, "kept", unheard=True)
        said = [f"while away {number}" for number in range(230)]
        for words in said:
            discord.says(ADA, words, unheard=True)
        discord.says(BOT_ID, "our own", channel=discord.dm(ADA), unheard=True)
        discord.says(BEN, f"<@{BOT_ID}> there?", channel=THREAD, mentions=(BOT_ID,), unheard=True)
        dm, thread = Chat("discord", str(discord.dm(ADA))), Chat("discord", str(CHANNEL), str(THREAD))
        receiver = ScriptedReceiver(kept={dm: str(kept), thread: f"interaction:{kept}"})
        async with running(build(discord), receiver):
            await discord.wait_for(lambda: len(receiver.messages) == 231)

        assert [one.own_text for one in receiver.messages if one.chat == dm] == said
        (there,) = [one for one in receiver.messages if one.chat == thread]
        assert (there.own_text, there.server, there.addressed, there.private) == ("there?", str(GUILD), True, False)

    async def test_what_comes_now_waits_for_the_gap(self, discord: FakeDiscord) -> None:
        """An answer to the second question must not come before the first."""
        kept = discord.says(ADA, "kept", unheard=True)
        discord.says(ADA, "while away", unheard=True)
        discord.fail(HISTORY, 429, retry_after=0.05, times=3)
        receiver = ScriptedReceiver(kept={Chat("discord", str(discord.dm(ADA))): str(kept)})
        async with running(build(discord), receiver):
            now = discord.says(ADA, "now")
            await discord.wait_for(lambda: [one for one in receiver.messages if one.id == str(now)])

        assert first_of_each(receiver) == ["while away", "now"]

    async def test_a_gap_that_cannot_be_kept_yet_is_kept_later(self, discord: FakeDiscord) -> None:
        """A full disk at start costs nobody's words."""
        kept = discord.says(ADA, "kept", unheard=True)
        discord.says(ADA, "one", unheard=True)
        discord.says(ADA, "two", unheard=True)
        chat = Chat("discord", str(discord.dm(ADA)))
        receiver = ScriptedReceiver(kept={chat: str(kept)}, refusals=3)
        async with running(build(discord), receiver):
            await discord.wait_for(lambda: len(receiver.messages) == 2)

        assert receiver.said() == ["one", "two"]

    async def test_where_history_is_closed_the_present_is_still_heard(
        self, discord: FakeDiscord, caplog: pytest.LogCaptureFixture
    ) -> None:
        """Not every server lets the bot read what was said; that is said once."""
        discord.add_channel(CHANNEL)
        kept = discord.says(ADA, "kept", channel=CHANNEL, unheard=True)
        discord.hides_history(CHANNEL)
        receiver = ScriptedReceiver(kept={Chat("discord", str(CHANNEL)): str(kept)})
        async with running(build(discord), receiver):
            await calls(discord, HISTORY, 1)
            for count in (2, 3):
                discord.says(ADA, f"now {count}", channel=CHANNEL)
                await discord.wait_for(lambda: len(receiver.messages) == len(discord.called(HISTORY)))
                discord.invalidates(resumable=False)
                await calls(discord, HISTORY, count)

        assert receiver.said() == ["now 2", "now 3"]
        assert caplog.messages.count("discord.history_closed") == 1

    async def test_of_a_very_long_gap_the_middle_is_left_out(
        self, discord: FakeDiscord, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        """A busy channel after a month must not keep the bot from the present."""
        monkeypatch.setattr("gateway.platforms.discord_gaps.MOST_OF_A_GAP", 200)
        kept = discord.says(ADA, "kept", unheard=True)
        for number in range(450):
            discord.says(ADA, f"{number}", unheard=True)
        receiver = ScriptedReceiver(kept={Chat("discord", str(discord.dm(ADA))): str(kept)})
        async with running(build(discord), receiver):
            await discord.wait_for(lambda: len(receiver.messages) == 300)

        assert receiver.said() == [f"{number}" for number in [*range(100), *range(250, 450)]]
        assert "discord.gap_too_long" in caplog.messages

    async def test_what_was_handed_over_is_not_read_again(self, discord: FakeDiscord) -> None:
        """In a group most messages are for nobody to keep; each new session would read them all again."""
        discord.add_channel(CHANNEL)
        kept = discord.says(ADA, "kept", channel=CHANNEL, unheard=True)
        receiver = ScriptedReceiver(kept={Chat("discord", str(CHANNEL)): str(kept)})
        async with running(build(discord), receiver):
            await calls(discord, HISTORY, 1)
            for words in ("chatter", "more chatter"):
                discord.says(ADA, words, channel=CHANNEL)
            await discord.wait_for(lambda: len(receiver.messages) == 2)
            discord.invalidates(resumable=False)
            discord.says(ADA, "in the gap", channel=CHANNEL, unheard=True)
            await discord.wait_for(lambda: len(receiver.messages) == 3)

        assert receiver.said() == ["chatter", "more chatter", "in the gap"]


async def test_no_log_line_holds_words_or_a_token(discord: FakeDiscord, caplog: pytest.LogCaptureFixture) -> None:
    """Promise 8, with every logger of the SDK listening."""
    caplog.set_level("DEBUG")
    bot = Talking(discord, refusals=1, toast="a secret toast")
    async with bot():
        discord.happen("MESSAGE_CREATE", {"content": "secret nonsense"})
        given = discord.gives(ADA, "remember", text="a secret")
        await bot.answers(await bot.message(), "a secret answer")
        discord.fail(SEND, 429, retry_after=0.2)
        discord.fail(SEND, 400)
        for _ in range(2):
            with pytest.raises((PlatformBusy, Broken)):
                await bot.platform.send(in_dm(discord, "a secret message"))
        discord.says(ADA, "a secret question")
        discord.closes_socket(4000)
        await discord.wait_for(lambda: discord.sessions.resumed and len(bot.receiver.messages) == 2)

    logged = "\n".join(str(record.__dict__) for record in caplog.records)
    assert "secret" not in logged
    assert TOKEN not in logged
    assert discord.interactions[given].token not in logged


async def test_typing_is_shown_and_its_trouble_is_nobodys(discord: FakeDiscord) -> None:
    """It is a nicety."""
    platform, chat = build(discord), Chat("discord", str(discord.dm(ADA)))
    async with running(platform, ScriptedReceiver()):
        await platform.typing(chat)
        discord.fail("POST /channels/{channel_id}/typing", 500)
        await platform.typing(chat)

    assert discord.typing == [discord.dm(ADA)]
