"""Edit before approve: what waits may be said otherwise, and waits on; on Telegram, on Discord, at the terminal."""

import json
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from gateway import words
from gateway.chat import How, IncomingMessage, Person, Piece
from gateway.conversation import editing, questions
from gateway.conversation.commands import ledger
from gateway.home import Home
from gateway.records import Message, Role, Status, Write
from gateway.store import messages
from gateway.store.db import Database
from tests.bot import ANNA, BEN, Bot, running_bot
from tests.doors import Discord, World, world
from tests.fakes.discord_world import Shown as OnDiscord
from tests.fakes.telegram import Shown
from tests.flows.test_approval import ASK, proposes
from tests.processes import Machine
from tests.store import given
from tests.store.given import NINE, StillClock


async def asked(bot: Bot) -> Shown:
    """The model proposes something, Anna taps Edit and is asked what it shall say."""
    await proposes(bot, "Lives in Bergen", "I live in Bergen")
    await bot.taps("Edit")
    return bot.telegram.screen(ANNA)[-1]


async def answers(bot: Bot, question: Shown, text: str, person: int = ANNA) -> int:
    """A person answers that very message."""
    id = bot.telegram.says(person, text, reply_to=question.message_id)
    await bot.settles()
    return id


# -- Telegram -----------------------------------------------------------------------------------------------


async def test_the_answer_to_the_question_is_the_new_text(tmp_path: Path) -> None:
    """It waits on, the card shows it, and the yes is to it; who edited what stays known."""
    async with running_bot(tmp_path, memory=ASK) as bot:
        question = await asked(bot)
        assert question.text.startswith("✏️ What shall 1 say? Answer this message with the new text.")
        assert question.text.endswith('"Lives in Bergen"')

        await answers(bot, question, "Lives in Bergen, Norway")

        (row,) = bot.ledger()
        assert (row.status, row.operations[0].content) == (Status.STAGED, "Lives in Bergen, Norway")
        assert (row.original[0].content, row.edited_by) == ("Lives in Bergen", f"telegram:{ANNA}")
        cards = [shown for shown in bot.telegram.screen(ANNA) if "Approve" in shown.labels]
        assert ["Lives in Bergen, Norway" in card.text for card in cards] == [True, True]
        assert cards[-1] == bot.telegram.screen(ANNA)[-1]
        assert bot.memory_file() == ""

        await bot.taps("Approve", card=cards[-1])

        assert bot.memory_file() == "Lives in Bergen, Norway\n"
        assert not [shown for shown in bot.telegram.screen(ANNA) if "Approve" in shown.labels]
        await bot.says("/memory why Norway")
        assert 'first it was "Lives in Bergen"' in bot.sees()[-1]


async def test_an_edit_that_comes_a_moment_after_the_decision_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It never says that a write waits which nobody waits for."""
    async with running_bot(tmp_path, memory=ASK) as bot:
        await proposes(bot, "Lives in Bergen", "I live in Bergen")
        look = ledger.refuse_uneditable

        def decided_right_after(write: Write) -> Write:
            look(write)
            bot.core.memory.reject(write.id, "discord:9")
            return write

        monkeypatch.setattr(ledger, "refuse_uneditable", decided_right_after)
        await bot.says("/memory edit 1 Lives in Oslo")
        assert bot.sees()[-1] == words.text("edit.decided", "en", id=1)
        assert bot.ledger()[0].operations[0].content == "Lives in Bergen"


async def test_the_question_opens_an_answer_at_once(tmp_path: Path) -> None:
    """The person has only to type."""
    async with running_bot(tmp_path, memory=ASK) as bot:
        question = await asked(bot)
        sent = bot.telegram.called("sendMessage")[-1]
        assert question.text.startswith("✏️")
        assert json.loads(sent.parameters["reply_markup"]) == {"force_reply": True}


async def test_anything_else_said_meanwhile_is_said(tmp_path: Path) -> None:
    """A question does not swallow what is not its answer."""
    async with running_bot(tmp_path, memory=ASK) as bot:
        await asked(bot)
        bot.server.answers("It rains.")
        await bot.says("What is the weather?")
        assert bot.sees()[-1] == "It rains."
        card = bot.card_with("Approve")
        bot.server.answers("It still rains.")
        await answers(bot, card, "And now?")
        assert bot.sees()[-1] == "It still rains."
        assert bot.ledger()[0].operations[0].content == "Lives in Bergen"


async def test_an_answer_after_the_decision_is_said_like_anything_else(tmp_path: Path) -> None:
    """The question ended with it; what was approved is not changed behind the person's back."""
    async with running_bot(tmp_path, memory=ASK) as bot:
        question = await asked(bot)
        await bot.taps("Approve")
        bot.server.answers("Norway, I see.")
        await answers(bot, question, "Lives in Norway")
        assert bot.sees()[-1] == "Norway, I see."
        assert bot.memory_file() == "Lives in Bergen\n"


async def test_a_question_is_for_one_person(tmp_path: Path) -> None:
    """Ben cannot answer what Anna was asked, and nobody an hour later."""
    async with running_bot(tmp_path, memory=ASK) as bot:
        question = await asked(bot)
        chat = next(one.chat for one in _kept(bot))
        for person, at in ((BEN, bot.clock.now()), (ANNA, bot.clock.now() + timedelta(hours=2))):
            message = IncomingMessage(
                chat=chat, person=_person(person), id=f"9{person}", at=at, answers=str(question.message_id),
                pieces=(Piece(How.OWN, f"telegram:{person}", "Lives in Oslo"),),
            )  # fmt: skip
            with bot.core.db.read() as rd:
                found = questions.answered(rd, bot.gateway.intake.access, message, at)
            assert found is None
        assert bot.ledger()[0].operations[0].content == "Lives in Bergen"


async def test_a_text_that_may_not_be_is_said_and_can_be_said_better(tmp_path: Path) -> None:
    """The scan holds for people's own edits; the question stays open."""
    async with running_bot(tmp_path, memory=ASK) as bot:
        question = await asked(bot)
        await answers(bot, question, "password: hunter2hunter2")
        assert "hunter2" not in bot.sees()[-1]
        assert bot.ledger()[0].operations[0].content == "Lives in Bergen"
        await answers(bot, question, "Lives in Bergen, Norway")
        assert bot.ledger()[0].operations[0].content == "Lives in Bergen, Norway"


async def test_the_words_of_an_answer_are_not_kept(tmp_path: Path) -> None:
    """Like those of a tap: what it was for is in the ledger."""
    async with running_bot(tmp_path, memory=ASK) as bot:
        question = await asked(bot)
        id = await answers(bot, question, "Lives in Bergen, Norway")
        with bot.core.db.read() as rd:
            kept = messages.of_platform(rd, next(one.chat for one in _kept(bot)), str(id))
        assert kept is not None
        assert (kept.role, kept.text) == (Role.TAP, "")


async def test_an_edited_answer_comes_too_late_once_it_is_used(tmp_path: Path) -> None:
    """The card shows what it says; whoever sees the slip edits again."""
    async with running_bot(tmp_path, memory=ASK) as bot:
        question = await asked(bot)
        id = await answers(bot, question, "Lives in Bergne")
        bot.telegram.edits(ANNA, id, "Lives in Bergen!")
        await bot.settles()
        assert bot.sees()[-1].startswith("I have read this as it was before you changed it.")


async def test_edit_by_command(tmp_path: Path) -> None:
    """With the text at once, or asked for it; what cannot be edited says why; a group is no place for it."""
    async with running_bot(tmp_path, memory=ASK) as bot:
        await proposes(bot, "Lives in Bergen", "I live in Bergen")
        await bot.says("/memory edit 1 Lives in Bergen, Norway")
        assert bot.sees()[-1] == '✏️ 1 still waits for your yes and says now: "Lives in Bergen, Norway"'
        await bot.says("/memory edit 1")
        await answers(bot, bot.telegram.screen(ANNA)[-1], "Lives in Norway")
        assert bot.ledger()[0].operations[0].content == "Lives in Norway"
        await bot.says("/memory edit 1 x", BEN)
        assert bot.sees(BEN)[-1].startswith("There is no write 1.")
        await bot.says("/memory edit")
        assert bot.sees()[-1].startswith("Use /memory edit 17")
        await bot.taps("Approve")
        await bot.says("/memory edit 1 y")
        assert bot.sees()[-1].startswith(
            "1 is in force and does not wait any more. /journey edit ID changes an entry"
        )


def test_an_edited_answer_counts_until_it_is_used(tmp_path: Path) -> None:
    """People correct a slip at once."""
    with Database.open(Home(tmp_path / "home"), StillClock()) as db, db.write() as tx:
        id = given.keep(tx, "edit:1:token\nLives in Bergne", role=Role.TAP, platform_id="77")
        message = IncomingMessage(
            chat=given.CHAT, person=Person("telegram", "123"), id="77", at=NINE,
            pieces=(Piece(How.QUOTED, "", "What shall 1 say?"), Piece(How.OWN, "telegram:123", "Lives in Bergen")),
        )  # fmt: skip
        editing.edit(tx, message, NINE)
        assert messages.get(tx, id).text == "edit:1:token\nLives in Bergen"


# -- Discord ------------------------------------------------------------------------------------------------


async def test_on_discord_a_dialog_asks(tmp_path: Path) -> None:
    """With the text as it is; what comes back is checked and shown on the same card."""
    with world(tmp_path, "discord") as one:
        one.configure(more="memory: {write_approval: true}")
        async with one.running():
            network = one.network
            assert isinstance(network, Discord)
            await propose_there(one)
            card = card_there(network)
            assert card.labels == ("Approve", "Reject", "Edit")
            press = network.server.taps(ANNA, card.message_id, "Edit", channel=network.server.dm(ANNA))
            await one.network.wait_for(lambda: network.server.interactions[press].dialog is not None)
            dialog = network.server.interactions[press].dialog
            assert dialog is not None
            assert dialog["title"] == "Another text for 1"
            assert dialog["components"][0]["component"]["value"] == "Lives in Bergen"

            await one.after("tap", network.server.submits, ANNA, press, "Lives in Bergen, Norway")

            assert one.ledger()[0].operations[0].content == "Lives in Bergen, Norway"
            now = card_there(network)
            assert (now.message_id, "Lives in Bergen, Norway" in now.text) == (card.message_id, True)


async def test_on_discord_a_dialog_for_what_is_decided_is_a_toast(tmp_path: Path) -> None:
    """Nobody types a text that then changes nothing."""
    with world(tmp_path, "discord") as one:
        one.configure(more="memory: {write_approval: true}")
        async with one.running():
            network = one.network
            assert isinstance(network, Discord)
            await propose_there(one)
            card = card_there(network)
            one.core.memory.reject(1, "terminal:owner")
            press = network.server.taps(ANNA, card.message_id, "Edit", channel=network.server.dm(ANNA))
            await one.network.wait_for(lambda: network.server.interactions[press].acknowledged)
            assert network.server.interactions[press].dialog is None
            assert "rejected already" in "".join(network.server.interactions[press].toasts)


async def test_on_discord_a_command_offers_the_dialog_and_undo_is_one_press(tmp_path: Path) -> None:
    """A slash command can open none, so its answer has the button."""
    with world(tmp_path, "discord") as one:
        one.configure(more="memory: {write_approval: true}")
        async with one.running():
            network = one.network
            assert isinstance(network, Discord)
            await propose_there(one)
            gives = network.server.gives
            command = await one.after("message", lambda: gives(ANNA, "memory", "edit", ids="1"))
            assert network.server.interactions[command].acknowledged
            assert network.server.screen(network.server.dm(ANNA))[-1].labels == ("Edit",)
            one.core.memory.approve(1, f"discord:{ANNA}")
            one.gateway.delivery.wake()
            await one.gateway.settled()
            press = network.presses(ANNA, "Undo", ANNA)
            await one.network.wait_for(lambda: network.toast(press) == "")
            await one.network.wait_for(lambda: one.ledger()[0].status is Status.UNDONE)


def card_there(network: Discord) -> OnDiscord:
    """The card that waits."""
    return next(each for each in network.server.screen(network.server.dm(ANNA)) if "Approve" in each.labels)


async def propose_there(one: World) -> None:
    """The model wants to remember something."""
    one.model.calls("memory", action="add", content="Lives in Bergen", target="memory")
    one.model.answers("May I?")
    await one.hears(ANNA, "I live in Bergen")


# -- the command line ---------------------------------------------------------------------------------------


async def test_the_command_line_opens_an_editor(tmp_path: Path) -> None:
    """What was saved there is the new text; left as it was, nothing changes."""
    async with running_bot(tmp_path, memory=ASK) as bot:
        await proposes(bot, "Lives in Bergen", "I live in Bergen")
        here = Machine(bot.home)
        editor = tmp_path / "editor"
        editor.write_text('#!/bin/sh\nprintf "Lives in Norway\\n" > "$1"\n', "utf-8")
        editor.chmod(0o700)
        done = here.run("memory", "edit", "1", EDITOR=str(editor), VISUAL=str(editor))
        assert (done.returncode, done.stdout) == (
            0,
            '✏️ 1 still waits for your yes and says now: "Lives in Norway"\n',
        )
        assert here.run("memory", "edit", "1", EDITOR="true", VISUAL="true").returncode == 1
        (row,) = bot.ledger()
        assert (row.status, row.operations[0].content, row.edited_by) == (
            Status.STAGED, "Lives in Norway", "terminal:owner",
        )  # fmt: skip


async def test_an_editor_does_not_write_over_what_was_changed_meanwhile(tmp_path: Path) -> None:
    """It may be open for an hour."""
    async with running_bot(tmp_path, memory=ASK) as bot:
        await proposes(bot, "Lives in Bergen", "I live in Bergen")
        here = Machine(bot.home)
        editor = tmp_path / "editor"
        meanwhile = (
            f"{sys.executable} -m tests.unhurried --home {bot.home.path} memory edit 1 Lives in Bergen since May"
        )
        editor.write_text(f'#!/bin/sh\n{meanwhile} || exit 1\nprintf "Lives in Oslo\\n" > "$1"\n', "utf-8")
        editor.chmod(0o700)
        done = here.run("memory", "edit", "1", EDITOR=str(editor), VISUAL=str(editor))

        assert (done.returncode, done.stderr) == (
            1,
            "Somebody else has changed 1 meanwhile. Nothing was done; edit it again to see what it says now.\n",
        )
        assert [row.operations[0].content for row in bot.ledger()] == ["Lives in Bergen since May"]


def _person(person: int) -> Person:
    return Person("telegram", str(person))


def _kept(bot: Bot) -> list[Message]:
    with bot.core.db.read() as rd:
        ids = [row["id"] for row in rd.rows("SELECT id FROM messages WHERE role = 'user' ORDER BY id")]
        return [messages.get(rd, id) for id in ids]
