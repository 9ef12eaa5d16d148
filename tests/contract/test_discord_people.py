"""What people do on Discord: they write, give commands, press buttons and answer dialogs."""

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from gateway.chat import (
    Chat,
    Dialog,
    How,
    IncomingMessage,
    OutgoingMessage,
    Person,
    Piece,
    Suggestion,
)
from gateway.errors import TryLater, WayClosed
from tests.contract.discord_network import (
    ADA,
    BEN,
    CARD,
    CHANNEL,
    COMMANDS,
    THREAD,
    Talking,
    build,
    calls,
    in_dm,
    received,
    reconnects,
)
from tests.contract.platform import ScriptedReceiver, running
from tests.fakes.discord import (
    ACKNOWLEDGE,
    BOT_ID,
    FOLLOW_UP,
    GET_COMMANDS,
    GUILD,
    SEND,
    SET_COMMANDS,
    WITHDRAW,
    FakeDiscord,
)
from tests.fakes.discord import CHANNEL as CHANNEL_CALL


@pytest.fixture
def discord() -> Iterator[FakeDiscord]:
    """A Discord on loopback; misusing its API fails the test."""
    with FakeDiscord() as server:
        yield server


class TestReading:
    """A message becomes pieces with their authors, in the place where it was said."""

    async def test_in_a_server_only_its_name_or_an_answer_calls_the_bot(self, discord: FakeDiscord) -> None:
        """People talk among themselves; a role that the bot has is not its name."""
        discord.add_channel(CHANNEL)
        receiver, platform = ScriptedReceiver(), build(discord)
        async with running(platform, receiver):
            answer = await platform.send(OutgoingMessage(Chat("discord", str(CHANNEL)), "Hello all"))
            said = [
                discord.says(ADA, "lovely weather", channel=CHANNEL),
                discord.says(ADA, f"<@{BOT_ID}> and you?", channel=CHANNEL, mentions=(BOT_ID,)),
                discord.says(ADA, f"so <@{BEN}> says", channel=CHANNEL, mentions=(BEN,)),
                discord.says(ADA, "<@&77> all", channel=CHANNEL, mention_roles=["77"]),
                discord.says(ADA, "what?", channel=CHANNEL, reply_to=int(answer)),
            ]
            await discord.wait_for(lambda: len(receiver.messages) == len(said))

        assert [one.addressed for one in receiver.messages] == [False, True, False, False, True]
        assert [one.private for one in receiver.messages] == [False] * 5
        assert [one.server for one in receiver.messages] == [str(GUILD)] * 5
        assert receiver.said()[1:3] == ["and you?", "so @person456 says"]
        assert receiver.messages[4].pieces == (
            Piece(How.QUOTED, f"discord:{BOT_ID}", "Hello all"),
            Piece(How.OWN, "discord:123", "what?"),
        )
        assert receiver.messages[0].speaker == "Person 123"

    async def test_forwarded_words_are_nobodys_own(self, discord: FakeDiscord) -> None:
        """Whoever forwards "I live in Rome" does not live there."""
        message = await received(
            discord,
            message_reference={"type": 1, "message_id": "1", "channel_id": "2"},
            message_snapshots=[{"message": {"content": "I live in Rome", "attachments": [], "type": 0}}],
        )

        assert message.pieces == (Piece(How.FORWARDED, "", "I live in Rome"),)
        assert message.own_text == ""

    async def test_what_cannot_be_read_is_named(self, discord: FakeDiscord) -> None:
        """A picture with words under it: the words count, the picture is told."""
        message = await received(
            discord,
            text="Look",
            attachments=[
                {"id": "1", "filename": "a.png", "content_type": "image/png"},
                {"id": "2", "filename": "b.zip", "content_type": "application/zip"},
            ],
            sticker_items=[{"id": "3", "name": "wave", "format_type": 1}],
        )

        assert message.pieces == (
            Piece(How.OWN, "discord:123", "Look"),
            *(Piece(How.ATTACHED, "discord:123", kind) for kind in ("photo", "document", "sticker")),
        )

    async def test_bots_webhooks_and_notes_are_not_for_us(self, discord: FakeDiscord) -> None:
        """Two bots that answer each other never stop."""
        receiver = ScriptedReceiver()
        async with running(build(discord), receiver):
            discord.says(BOT_ID, "I am a bot", channel=discord.dm(ADA))
            discord.says(ADA, "by a webhook", webhook_id="5")
            discord.says(ADA, "pinned a message", type=6)
            discord.says(ADA, "started a thread", type=21)
            discord.says(ADA, "in a group", channel_type=3)
            discord.says(ADA, "it is me")
            await discord.wait_for(lambda: receiver.messages)

        assert receiver.said() == ["it is me"]

    @pytest.mark.parametrize("announced", [True, False])
    async def test_a_thread_belongs_to_its_channel(self, discord: FakeDiscord, announced: bool) -> None:
        """A thread has a session of its own and its channel's space; one that we did not hear of is asked for."""
        discord.add_channel(CHANNEL)
        discord.add_thread(THREAD, CHANNEL, announced=announced)
        receiver, platform = ScriptedReceiver(), build(discord)
        async with running(platform, receiver):
            discord.says(ADA, "in the thread", channel=THREAD)
            discord.says(ADA, "still there", channel=THREAD)
            await discord.wait_for(lambda: len(receiver.messages) == 2)
            await platform.send(OutgoingMessage(receiver.messages[0].chat, "here, too"))

        assert [one.chat for one in receiver.messages] == [Chat("discord", str(CHANNEL), str(THREAD))] * 2
        assert [one.text for one in discord.screen(THREAD)] == ["here, too"]
        assert len(discord.called(CHANNEL_CALL)) == (0 if announced else 1)

    @pytest.mark.parametrize(
        "trouble",
        [
            lambda server: server.fail(CHANNEL_CALL, 429, retry_after=0.05, times=2),
            lambda server: server.drop(CHANNEL_CALL),
            lambda server: server.fail(CHANNEL_CALL, 502, body=b"<html>"),
        ],
        ids=["429", "hang-up", "502"],
    )
    async def test_what_is_said_waits_until_it_is_known_where(
        self, discord: FakeDiscord, trouble: Callable[[FakeDiscord], None]
    ) -> None:
        """Words of a thread must not end up in its channel's session because Discord was slow."""
        discord.add_channel(CHANNEL)
        discord.add_thread(THREAD, CHANNEL, announced=False)
        trouble(discord)
        receiver = ScriptedReceiver()
        async with running(build(discord), receiver):
            discord.says(ADA, "one", channel=THREAD)
            discord.says(ADA, "two", channel=THREAD)
            await discord.wait_for(lambda: len(receiver.messages) == 2)

        assert receiver.said() == ["one", "two"]
        assert {one.chat for one in receiver.messages} == {Chat("discord", str(CHANNEL), str(THREAD))}

    async def test_an_edit_is_told_and_a_preview_is_not(self, discord: FakeDiscord) -> None:
        """Discord reports a message as changed when it adds a preview to a link."""
        receiver = ScriptedReceiver()
        async with running(build(discord), receiver):
            link, typo = discord.says(ADA, "https://example.org"), discord.says(ADA, "I live in Olso")
            discord.shows_preview(ADA, link)
            discord.edits(ADA, typo, "I live in Oslo")
            await discord.wait_for(lambda: receiver.edits)

        assert [(one.id, one.own_text) for one in receiver.edits] == [(str(typo), "I live in Oslo")]

    async def test_messages_without_words_are_reported_once(
        self, discord: FakeDiscord, caplog: pytest.LogCaptureFixture
    ) -> None:
        """Without the intent, messages arrive empty, and the bot would look deaf without a reason."""
        receiver = ScriptedReceiver()
        async with running(build(discord), receiver):
            discord.says(ADA)
            discord.says(ADA)
            discord.says(ADA, "words")
            await discord.wait_for(lambda: receiver.messages)

        assert receiver.said() == ["words"]
        assert caplog.messages.count("discord.message_without_content") == 1

    async def test_a_message_that_waits_holds_up_its_own_channel_only(self, discord: FakeDiscord) -> None:
        """While one chat's words cannot be kept, the others' must not wait."""
        discord.add_channel(CHANNEL)

        class Stubborn(ScriptedReceiver):
            stuck = True

            async def message(self, message: IncomingMessage) -> bool:
                if message.own_text == "first" and self.stuck:
                    raise TryLater("not now", after=0.01)
                return await super().message(message)

        receiver = Stubborn()
        async with running(build(discord), receiver):
            discord.says(ADA, "first")
            discord.says(ADA, "second")
            discord.says(BEN, "elsewhere", channel=CHANNEL)
            await discord.wait_for(lambda: receiver.said() == ["elsewhere"])
            receiver.stuck = False
            await discord.wait_for(lambda: len(receiver.messages) == 3)

        assert receiver.said() == ["elsewhere", "first", "second"]


class TestMenu:
    """Slash commands are ours; Discord counts how often they are changed."""

    async def test_it_is_sent_once_and_again_only_when_it_changed(self, discord: FakeDiscord) -> None:
        """200 changes a day are allowed; a bot that sends its menu at each start runs out of them."""
        for commands, expected in ((COMMANDS, 1), (COMMANDS, 1), (COMMANDS[1:], 2), (COMMANDS[1:], 2)):
            looks = len(discord.called(GET_COMMANDS))
            async with running(build(discord, commands=commands), ScriptedReceiver()):
                await calls(discord, GET_COMMANDS, looks + 1)
                await calls(discord, SET_COMMANDS, expected)
                for _ in range(2):
                    await reconnects(discord)
            assert len(discord.called(SET_COMMANDS)) == expected
        assert len(discord.called(GET_COMMANDS)) == 4

    async def test_it_has_both_languages_and_the_bare_command_as_show(self, discord: FakeDiscord) -> None:
        """Discord cannot have `/memory` beside `/memory pending`."""
        async with running(build(discord, commands=COMMANDS), ScriptedReceiver()):
            await discord.wait_for(lambda: discord.commands)

        memory = discord.commands[0]
        assert [part["name"] for part in memory["options"]] == ["show", "pending", "approve"]
        assert (memory["description"], memory["description_localizations"]) == (
            "What I remember",
            {"ja": "覚えていること"},
        )
        assert memory["options"][2]["options"][0]["autocomplete"] is True

    @pytest.mark.parametrize(
        "trouble",
        [
            lambda server: server.fail(SET_COMMANDS, 429, retry_after=0.05),
            lambda server: server.drop(GET_COMMANDS),
            lambda server: server.drop_after_accept(SET_COMMANDS),
        ],
        ids=["429", "hang-up", "lost-answer"],
    )
    async def test_trouble_with_it_is_overcome(
        self, discord: FakeDiscord, trouble: Callable[[FakeDiscord], None]
    ) -> None:
        """Commands that vanished come back by themselves."""
        trouble(discord)
        async with running(build(discord, commands=COMMANDS), ScriptedReceiver()):
            await discord.wait_for(lambda: discord.commands)

        assert len(discord.commands) == len(COMMANDS)

    async def test_without_the_permission_for_it_the_bot_still_talks(
        self, discord: FakeDiscord, caplog: pytest.LogCaptureFixture
    ) -> None:
        """Whoever invites the bot may leave its commands out; they can be written, too."""
        discord.fail(SET_COMMANDS, 403, code=50001)
        receiver = ScriptedReceiver()
        async with running(build(discord, commands=COMMANDS), receiver):
            discord.says(ADA, "/memory pending")
            await discord.wait_for(lambda: receiver.messages and "discord.commands_not_set" in caplog.messages)

        assert receiver.said() == ["/memory pending"]


class TestCommands:
    """A slash command is a message; its answer goes back the way it came, and no other."""

    async def test_it_arrives_as_its_words(self, discord: FakeDiscord) -> None:
        """The same words on every platform, with who, where and in which language."""
        discord.add_channel(CHANNEL)
        discord.add_thread(THREAD, CHANNEL)
        bot = Talking(discord)
        async with bot():
            given = [
                discord.gives(ADA, "memory", "approve", ids="17 18"),
                discord.gives(ADA, "memory", "show", channel=THREAD, locale="ja"),
                discord.gives(ADA, "remember", text="I live in\nBergen"),
            ]
            await discord.wait_for(lambda: len(bot.receiver.messages) == 3)

        by_id = {one.id: one for one in bot.receiver.messages}
        first, second, third = (by_id[f"interaction:{number}"] for number in given)
        assert (first.own_text, second.own_text) == ("/memory approve 17 18", "/memory")
        assert third.own_text == "/remember I live in\nBergen"
        assert (first.private, first.server, first.language) == (True, "", "en-US")
        assert (second.private, second.server, second.language) == (False, str(GUILD), "ja")
        assert second.chat == Chat("discord", str(CHANNEL), str(THREAD))
        assert all(one.addressed and one.person == Person("discord", "123") for one in by_id.values())

    async def test_a_private_answer_is_seen_by_the_person_only(self, discord: FakeDiscord) -> None:
        """Every part of it, not only the first, and every change of it."""
        discord.add_channel(CHANNEL)
        bot = Talking(discord)
        async with bot():
            discord.gives(ADA, "memory", "pending", channel=CHANNEL)
            message = await bot.message()
            first = await bot.answers(message, "One waits:")
            await bot.answers(message, "17", goes_on=True)
            change = OutgoingMessage(message.chat, "None waits.", edits=first, via=message.via)
            assert await bot.platform.send(change) == first

        assert [(one.text, one.ephemeral) for one in discord.screen(CHANNEL)] == [
            ("None waits.", True),
            ("17", True),
        ]
        assert not discord.called(SEND)

    async def test_an_answer_that_is_sent_again_is_seen_once(self, discord: FakeDiscord) -> None:
        """After a kill nobody knows whether it arrived, and Discord drops no repeats there."""
        discord.add_channel(CHANNEL)
        bot = Talking(discord)
        async with bot():
            discord.gives(ADA, "memory", "pending", channel=CHANNEL)
            message = await bot.message()
            sent = await bot.answers(message, "None waits.")
            assert await bot.answers(message, "None waits.") == sent

        assert [(one.text, one.ephemeral) for one in discord.screen(CHANNEL)] == [("None waits.", True)]

    async def test_whoever_dismissed_that_the_bot_is_thinking_is_answered_all_the_same(
        self, discord: FakeDiscord
    ) -> None:
        """There is then nothing whose place the answer could take, and it stays private."""
        discord.add_channel(CHANNEL)
        bot = Talking(discord)
        async with bot():
            given = discord.gives(ADA, "memory", "pending", channel=CHANNEL)
            message = await bot.message()
            discord.interactions[given].thinking = False
            await bot.answers(message, "None waits.")

        assert [(one.text, one.ephemeral) for one in discord.screen(CHANNEL)] == [("None waits.", True)]

    async def test_a_command_to_which_nothing_is_said_leaves_nobody_thinking(self, discord: FakeDiscord) -> None:
        """A stranger's, for one: Discord would show "… is thinking" for a quarter of an hour."""

        class Deaf(ScriptedReceiver):
            async def message(self, message: IncomingMessage) -> bool:
                await super().message(message)
                return False

        bot = Talking(discord)
        bot.receiver = Deaf()
        async with bot():
            given = discord.gives(ADA, "help")
            await calls(discord, WITHDRAW, 1)
            discord.lets_run_out(discord.gives(ADA, "help"))
            await discord.wait_for(lambda: len(bot.receiver.messages) == 2)
            discord.gives(ADA, "help")
            await calls(discord, WITHDRAW, 2)

        assert not discord.interactions[given].thinking
        assert discord.sent == []

    @pytest.mark.parametrize(("name", "where"), [("help", CHANNEL), ("help", None), ("remember", None)])
    async def test_other_answers_are_seen_by_all(self, discord: FakeDiscord, name: str, where: int | None) -> None:
        """What is not private, and what is said in a direct message, stays in the chat."""
        discord.add_channel(CHANNEL)
        bot = Talking(discord)
        async with bot():
            discord.gives(ADA, name, channel=where)
            await bot.answers(await bot.message(), "Here:")

        assert [(one.text, one.ephemeral) for one in discord.sent] == [("Here:", False)]

    async def test_an_answer_that_comes_too_late_goes_nowhere(self, discord: FakeDiscord) -> None:
        """A private answer must never appear in the channel."""
        discord.add_channel(CHANNEL)
        bot = Talking(discord)
        async with bot():
            given = discord.gives(ADA, "memory", "pending", channel=CHANNEL)
            message = await bot.message()
            discord.lets_run_out(given)
            with pytest.raises(WayClosed):
                await bot.answers(message, "One waits:")
            with pytest.raises(WayClosed):
                await bot.platform.send(OutgoingMessage(message.chat, "x", edits="1", via=message.via))

        assert discord.sent == []

    @pytest.mark.parametrize(("name", "part", "where"), [("help", "", CHANNEL), ("memory", "pending", None)])
    async def test_what_all_there_may_read_is_said_in_the_chat_when_it_comes_too_late(
        self, discord: FakeDiscord, name: str, part: str, where: int | None
    ) -> None:
        """After a night of trouble the answer to a command in a direct message is still an answer."""
        discord.add_channel(CHANNEL)
        bot = Talking(discord)
        async with bot():
            given = discord.gives(ADA, name, part, channel=where)
            message = await bot.message()
            discord.lets_run_out(given)
            await bot.answers(message, "Here:")

        assert [(one.text, one.channel) for one in discord.sent] == [("Here:", where or discord.dm(ADA))]

    @pytest.mark.parametrize("where", [CHANNEL, None])
    async def test_a_command_counts_even_if_discord_did_not_hear_us(
        self, discord: FakeDiscord, where: int | None
    ) -> None:
        """ "Unknown interaction" on a slow network; in a direct message it is then answered in the chat."""
        discord.add_channel(CHANNEL)
        discord.fail(ACKNOWLEDGE, 404, code=10062)
        bot = Talking(discord)
        async with bot():
            discord.gives(ADA, "memory", "pending", channel=where)
            message = await bot.message()
            if where is None:
                await bot.answers(message, "None.")
            else:
                with pytest.raises(WayClosed):
                    await bot.answers(message, "None.")

        assert message.own_text == "/memory pending"
        assert [one.text for one in discord.sent] == (["None."] if where is None else [])

    async def test_it_keeps_its_place_among_the_messages(self, discord: FakeDiscord) -> None:
        """`/new` ends what was said before it, not what comes after."""
        bot = Talking(discord)
        async with bot():
            discord.says(ADA, "before")
            discord.gives(ADA, "help")
            discord.says(ADA, "after")
            await discord.wait_for(lambda: len(bot.receiver.messages) == 3)

        assert bot.receiver.said() == ["before", "/help", "after"]

    async def test_pending_ids_are_suggested(self, discord: FakeDiscord) -> None:
        """Nobody remembers that it was 17."""
        bot = Talking(discord, suggestions=[Suggestion("17 Lives in Bergen" + "!" * 100, "17")])
        async with bot():
            asked = discord.types(ADA, "memory", "approve", "ids", "1")
            choices = await discord.wait_for(lambda: discord.interactions[asked].choices)

        assert bot.receiver.typed == [(Person("discord", "123"), "memory approve", "1")]
        assert choices == [("17 Lives in Bergen" + "!" * 81 + "…", "17")]

    async def test_suggestions_that_take_too_long_are_none(
        self, discord: FakeDiscord, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Discord waits 3 seconds; then it says that the bot is broken."""
        monkeypatch.setattr("gateway.platforms.discord_interactions.ANSWER_SECONDS", 0.05)

        class Slow(ScriptedReceiver):
            async def suggest(self, *_: Any) -> Any:
                await asyncio.Event().wait()

        bot = Talking(discord)
        bot.receiver = Slow()
        async with bot():
            asked = discord.types(ADA, "memory", "approve", "ids", "1")
            await discord.wait_for(lambda: discord.interactions[asked].acknowledged)

        assert discord.interactions[asked].choices == []


class TestButtons:
    """Everything that a press needs is in the button."""

    async def test_a_card_outlives_a_restart(self, discord: FakeDiscord) -> None:
        """The card of yesterday is pressed today."""
        platform = build(discord)
        async with running(platform, ScriptedReceiver()):
            card = await platform.send(in_dm(discord, "Remember it?", buttons=CARD))
        receiver = ScriptedReceiver()
        async with running(build(discord), receiver):
            press = discord.taps(ADA, int(card), "Approve")
            await discord.wait_for(lambda: discord.interactions[press].acknowledged and receiver.taps)

        assert [(one.id, one.data, one.message_id) for one in receiver.taps] == [(str(press), "approve:17:x", card)]
        assert discord.interactions[press].toasts == []

    async def test_edit_opens_a_dialog_and_its_answer_is_a_tap(self, discord: FakeDiscord) -> None:
        """The field holds the words as they are; what is typed comes back with the same data."""
        receiver, platform = (
            ScriptedReceiver(question=Dialog("Edit 17", "New text", "Lives in Bergen")),
            build(discord),
        )
        async with running(platform, receiver):
            card = await platform.send(in_dm(discord, "Remember it?", buttons=CARD))
            press = discord.taps(ADA, int(card), "Edit")
            dialog = await discord.wait_for(lambda: discord.interactions[press].dialog or {})
        receiver.toast = "Changed"
        async with running(build(discord), receiver):
            answer = discord.submits(ADA, press, "Lives in Oslo\nsince May")
            await discord.wait_for(lambda: discord.interactions[answer].toasts)

        assert (dialog["title"], dialog["components"][0]["component"]["value"]) == (
            "Edit 17",
            "Lives in Bergen",
        )
        assert [one.data for one in receiver.asked] == ["edit:17:x"]
        (tap,) = receiver.taps
        assert (tap.id, tap.data, tap.message_id, tap.text) == (
            str(answer),
            "edit:17:x",
            card,
            "Lives in Oslo\nsince May",
        )
        assert discord.interactions[answer].toasts == ["Changed"]

    async def test_a_dialog_that_may_not_open_says_why(self, discord: FakeDiscord) -> None:
        """The write was decided meanwhile, or the person may not decide."""
        receiver, platform = ScriptedReceiver(question="Already approved."), build(discord)
        async with running(platform, receiver):
            card = await platform.send(in_dm(discord, "Remember it?", buttons=CARD))
            press = discord.taps(ADA, int(card), "Edit")
            await discord.wait_for(lambda: discord.interactions[press].acknowledged)

        assert discord.interactions[press].toasts == ["Already approved."]
        assert discord.interactions[press].private
        assert receiver.taps == []

    async def test_a_press_in_a_server_is_answered_to_the_person_only(self, discord: FakeDiscord) -> None:
        """ "Only the owner decides" is nobody else's business."""
        discord.add_channel(CHANNEL)
        receiver, platform = ScriptedReceiver(toast="Only the owner decides."), build(discord)
        async with running(platform, receiver):
            card = await platform.send(OutgoingMessage(Chat("discord", str(CHANNEL)), "One waits", CARD))
            press = discord.taps(BEN, int(card), "Approve", channel=CHANNEL)
            await discord.wait_for(lambda: discord.interactions[press].toasts)

        (toast,) = discord.called(FOLLOW_UP)
        assert toast.body["flags"] == 64
        assert receiver.taps[0].person == Person("discord", "456")

    @pytest.mark.parametrize(
        "trouble",
        [
            lambda server: server.fail(ACKNOWLEDGE, 404, code=10062),
            lambda server: server.fail(ACKNOWLEDGE, 500),
            lambda server: server.drop(ACKNOWLEDGE),
            lambda server: server.drop_after_accept(ACKNOWLEDGE),
            lambda server: server.fail(FOLLOW_UP, 403),
            lambda server: server.fail(FOLLOW_UP, 429, retry_after=60),
        ],
        ids=["too-late", "500", "hang-up", "lost-answer", "toast-403", "toast-429"],
    )
    async def test_a_press_counts_once_whatever_becomes_of_its_answer(
        self, discord: FakeDiscord, trouble: Callable[[FakeDiscord], None]
    ) -> None:
        """The spinner may turn; the decision is made."""
        receiver, platform = ScriptedReceiver(toast="Remembered"), build(discord)
        async with running(platform, receiver):
            card = await platform.send(in_dm(discord, "Remember it?", buttons=CARD))
            trouble(discord)
            discord.taps(ADA, int(card), "Approve")
            await discord.wait_for(lambda: receiver.taps)
            discord.says(ADA, "and on")
            await discord.wait_for(lambda: receiver.messages)

        assert len(receiver.taps) == 1

    async def test_a_press_that_could_not_be_kept_is_handed_over_again(self, discord: FakeDiscord) -> None:
        """Discord does not send it twice."""
        receiver, platform = ScriptedReceiver(refusals=2, toast="Remembered"), build(discord)
        async with running(platform, receiver):
            card = await platform.send(in_dm(discord, "Remember it?", buttons=CARD))
            press = discord.taps(ADA, int(card), "Approve")
            await discord.wait_for(lambda: discord.interactions[press].toasts)

        assert [one.id for one in receiver.taps] == [str(press)]

    async def test_many_presses_at_once_are_all_heard(self, discord: FakeDiscord) -> None:
        """Twenty within a moment, while messages come, too."""
        receiver, platform = ScriptedReceiver(), build(discord)
        async with running(platform, receiver):
            card = await platform.send(in_dm(discord, "Remember it?", buttons=CARD))
            presses = [discord.taps(ADA, int(card), "Approve") for _ in range(20)]
            await discord.wait_for(lambda: all(discord.interactions[one].acknowledged for one in presses))
            await discord.wait_for(lambda: len(receiver.taps) == 20)

        assert {one.id for one in receiver.taps} == set(map(str, presses))
