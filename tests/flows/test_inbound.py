"""What is said in pieces, changed, interrupted or too much: nothing of it is lost, and each gets one answer."""

from pathlib import Path

import pytest

from tests.bot import ANNA, Bot, running_bot

LONG = "a long line of text " * 200
PHOTO = [{"file_id": "p", "file_unique_id": "p", "width": 1, "height": 1}]


def _asked(bot: Bot) -> list[str]:
    """What each request to the model ended with, without the time before it."""
    return [str(request.messages[-1]["content"]).partition("] ")[2] for request in bot.server.chats]


async def test_a_long_paste_is_answered_once_as_a_whole(tmp_path: Path) -> None:
    """Apps cut a paste into messages; an answer to each of them would answer fragments."""
    async with running_bot(tmp_path) as bot:
        bot.telegram.says(ANNA, LONG)
        bot.telegram.says(ANNA, "and this is its end")
        await bot.settles()

        assert _asked(bot) == [f"{LONG}\nand this is its end"]


async def test_a_long_message_alone_is_answered(tmp_path: Path) -> None:
    """It may be the first piece of several, but it need not be."""
    async with running_bot(tmp_path) as bot:
        bot.server.answers("That was long.")
        await bot.says(LONG)

        assert bot.sees()[0] == "That was long."


async def test_an_album_gets_one_answer(tmp_path: Path) -> None:
    """Three photos and a caption are one thing said, and the model is told that it cannot see them."""
    async with running_bot(tmp_path) as bot:
        bot.telegram.sends_album(ANNA, "holiday", ["", "this is Bergen", ""])
        await bot.settles()

        assert _asked(bot) == ["(attached, and not readable for you: 3 x photo)\nthis is Bergen"]


async def test_an_album_without_a_word_is_declined_once(tmp_path: Path) -> None:
    """Ten pictures must not bring ten excuses."""
    async with running_bot(tmp_path) as bot:
        bot.telegram.sends_album(ANNA, "holiday", ["", "", ""])
        await bot.settles()

        assert [text for text in bot.sees() if "only read text" in text] == bot.sees()
        assert (len(bot.sees()), _asked(bot)) == (1, [])


async def test_a_message_that_waits_is_answered_as_it_was_last_changed(tmp_path: Path) -> None:
    """Who corrects a typo before we looked wants the correction answered."""
    async with running_bot(tmp_path) as bot:
        gate = bot.server.holds("first answer")
        bot.telegram.says(ANNA, "one")
        await gate.reached()
        second = bot.telegram.says(ANNA, "tow")
        await bot.telegram.wait_for(lambda: not bot.telegram.unconfirmed)
        bot.telegram.edits(ANNA, second, "two")
        await bot.telegram.wait_for(lambda: not bot.telegram.unconfirmed)
        gate.open()
        await bot.settles()

        assert _asked(bot) == ["one", "two"]
        assert not [text for text in bot.sees() if "before you changed it" in text]


async def test_a_change_after_the_answer_changes_nothing_and_is_told_once(tmp_path: Path) -> None:
    """Silence would let the person believe that it counts."""
    async with running_bot(tmp_path) as bot:
        said = bot.telegram.says(ANNA, "I live in Oslo")
        await bot.settles()
        bot.telegram.edits(ANNA, said, "I live in Bergen")
        bot.telegram.edits(ANNA, said, "I live in Bergen!")
        await bot.settles()

        assert _asked(bot) == ["I live in Oslo"]
        assert len([text for text in bot.sees() if "before you changed it" in text]) == 1


async def test_a_preview_of_a_link_is_no_change(tmp_path: Path) -> None:
    """Platforms call it an edit when they have looked at a link."""
    async with running_bot(tmp_path) as bot:
        said = bot.telegram.says(ANNA, "see example.org")
        await bot.settles()
        bot.telegram.edits(ANNA, said, "see example.org")
        await bot.settles()

        assert not [text for text in bot.sees() if "before you changed it" in text]


async def test_a_command_that_is_changed_never_runs_again(tmp_path: Path) -> None:
    """`/remember` with another text would remember both."""
    async with running_bot(tmp_path) as bot:
        said = bot.telegram.says(ANNA, "/remember The key is under the mat")
        await bot.settles()
        bot.telegram.edits(ANNA, said, "/remember The key is in the shed")
        await bot.settles()

        assert bot.memory_file() == "The key is under the mat\n"


async def test_words_that_are_changed_into_a_command_do_not_become_one(tmp_path: Path) -> None:
    """The order of what was said is the order of what is done."""
    async with running_bot(tmp_path) as bot:
        gate = bot.server.holds("first answer")
        bot.telegram.says(ANNA, "one")
        await gate.reached()
        second = bot.telegram.says(ANNA, "two")
        await bot.telegram.wait_for(lambda: not bot.telegram.unconfirmed)
        bot.telegram.edits(ANNA, second, "/remember this")
        await bot.telegram.wait_for(lambda: not bot.telegram.unconfirmed)
        gate.open()
        await bot.settles()

        assert _asked(bot) == ["one", "two"]
        assert bot.memory_file() == ""


@pytest.mark.parametrize("said", [["one", "two"], ["one", "two", "three"]])
async def test_with_interrupt_the_newest_message_is_answered_with_all_before_it(
    tmp_path: Path, said: list[str]
) -> None:
    """Who goes on typing wants one answer to all of it, not a queue of stale ones."""
    async with running_bot(tmp_path, session="busy: interrupt") as bot:
        await bot.says("hello")
        gates = []
        for text in said[:-1]:
            gates.append(bot.server.holds("too early"))
            bot.telegram.says(ANNA, text)
            await gates[-1].reached()
        bot.server.answers("an answer to all")
        bot.telegram.says(ANNA, said[-1])
        await bot.telegram.wait_for(lambda: "an answer to all" in bot.sees())
        for gate in gates:
            gate.open()
        await bot.settles()

        last = [str(message["content"]).partition("] ")[2] for message in bot.server.chats[-1].messages]
        assert last[-len(said) :] == said
        assert "too early" not in bot.sees()


async def test_an_interrupted_turn_is_not_taken_up_again(tmp_path: Path) -> None:
    """After a restart the person would get the answer they had talked over."""
    async with running_bot(tmp_path, session="busy: interrupt") as bot:
        await bot.says("hello")
        gate = bot.server.holds("too early")
        bot.telegram.says(ANNA, "one")
        await gate.reached()
        bot.telegram.says(ANNA, "two")
        await bot.settles()
        gate.open()
        asked = len(bot.server.chats)
        await bot.restart()
        await bot.settles()

        assert len(bot.server.chats) == asked


async def test_stop_ends_all_pieces_of_a_long_paste(tmp_path: Path) -> None:
    """What is left of a stopped message must not be answered as if it were one."""
    async with running_bot(tmp_path) as bot:
        rest = LONG.replace("long", "tall")
        bot.server.holds("Never said.", when=lambda asked: "long line" in str(asked) and "tall line" in str(asked))
        bot.telegram.says(ANNA, LONG)
        bot.telegram.says(ANNA, rest)
        bot.telegram.says(ANNA, "/stop")
        await bot.settles()

        assert _asked(bot) in ([], [f"{LONG}\n{rest}"])
        assert bot.sees() == ["✓ Stopped."]
