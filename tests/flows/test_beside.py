"""Nobody is asked, and something is written beside an entry that says otherwise: it is said (design.md 7.6)."""

import json
from pathlib import Path

import pytest

from gateway.records import Status
from tests.bot import Bot, running_bot
from tests.fakes.model import is_review

VERBOSE = "memory_notifications: verbose"


def heard(bot: Bot) -> str:
    """What the memory tool told the model last."""
    told = [json.loads(one["content"]) for one in bot.server.chats[-1].messages if one["role"] == "tool"]
    return str(told[-1]["message"])


def notice(bot: Bot) -> list[str]:
    return next(text for text in reversed(bot.sees()) if text.startswith("💾")).splitlines()


@pytest.mark.parametrize(
    ("display", "line"),
    [
        ("memory_notifications: 'on'", "⚠️ An older entry may say something else: see /memory"),
        (VERBOSE, '⚠️ This older entry may say something else: "Lives in Bergen"'),
    ],
)
async def test_model_and_person_hear_of_the_older_entry(tmp_path: Path, display: str, line: str) -> None:
    """The model can replace it in the same turn, the person can say which is true; nothing is merged."""
    async with running_bot(tmp_path, display=display) as bot:
        await bot.says("/remember Lives in Bergen")
        target = bot.ledger()[0].target.value
        bot.server.calls("memory", action="add", content="Lives in Oslo", target=target)
        bot.server.answers("Noted.")
        await bot.says("I live in Oslo")

        assert f"may contradict this entry of `{target}`: 'Lives in Bergen'" in heard(bot)
        assert notice(bot)[1:] == [line]
        assert [write.status for write in bot.ledger()] == [Status.APPLIED, Status.APPLIED]


async def test_an_entry_that_the_model_then_replaced_is_not_mentioned(tmp_path: Path) -> None:
    """It made good what it was told: the person reads of the change only."""
    async with running_bot(tmp_path) as bot:
        await bot.says("/remember Lives in Bergen")
        target = bot.ledger()[0].target.value
        bot.server.calls("memory", action="add", content="Lives in Oslo", target=target)
        bot.server.calls("memory", action="remove", old_text="Bergen", target=target)
        bot.server.answers("Noted.")
        await bot.says("I live in Oslo")

        assert notice(bot) == ["💾 Memory updated"]


async def test_what_a_review_found_against_an_entry_is_asked_about(tmp_path: Path) -> None:
    """The card asks whether it replaces the older entry; until then the older one stands alone."""
    async with running_bot(tmp_path, memory="nudge_interval: 2") as bot:
        await bot.says("/remember Lives in Bergen")
        target = bot.ledger()[0].target.value
        bot.server.calls(
            "memory", when=is_review, action="add", content="Lives in Oslo", target=target, evidence="moved to Oslo"
        )
        await bot.says("I moved to Oslo")
        await bot.says("Nice here")
        await bot.run_jobs()

        card = bot.card_with("Approve")
        assert 'Replaces "Lives in Bergen"? (it says something other than what you have)' in card.text
        assert card.text.count("it says something other") == 1
        assert [write.status for write in bot.ledger()] == [Status.APPLIED, Status.STAGED]

        await bot.taps("Approve")

        assert bot.ledger()[1].status is Status.APPLIED


async def test_a_review_knows_that_it_waits_already(tmp_path: Path) -> None:
    """A flag for a contradiction is no doubt about the words: they are shown, else they are proposed for ever."""
    async with running_bot(tmp_path, memory="nudge_interval: 1") as bot:
        await bot.says("/remember Lives in Bergen")
        target = bot.ledger()[0].target.value
        bot.server.calls(
            "memory", when=is_review, action="add", content="Lives in Oslo", target=target, evidence="moved to Oslo"
        )
        await bot.says("I moved to Oslo")
        await bot.run_jobs()
        await bot.says("Nice here")
        await bot.run_jobs()

        asked = bot.server.reviews[-1].messages[-1]["content"]
        assert f"do not propose again:\n{target}: Lives in Oslo" in asked


async def test_a_persons_own_word_is_kept_and_the_older_entry_named(tmp_path: Path) -> None:
    """/remember needs no yes; it says what else stands there."""
    async with running_bot(tmp_path) as bot:
        await bot.says("/remember Lives in Bergen")
        await bot.says("/remember Lives in Oslo")

        assert bot.sees()[-1].splitlines()[0].startswith("✓ Remembered.")
        assert bot.sees()[-1].splitlines()[1:] == ['⚠️ This older entry may say something else: "Lives in Bergen"']


@pytest.mark.parametrize("remembered", ["memory", "user"])
async def test_the_other_file_counts_too(tmp_path: Path, remembered: str) -> None:
    """A person says it with /remember, the model files it where it belongs: these are two files."""
    async with running_bot(tmp_path, display=VERBOSE) as bot:
        other = "user" if remembered == "memory" else "memory"
        bot.server.calls("memory", action="add", content="Lives in Bergen", target=remembered)
        bot.server.answers("Noted.")
        await bot.says("I live in Bergen")
        bot.server.calls("memory", action="add", content="Lives in Oslo", target=other)
        bot.server.answers("Noted.")
        await bot.says("I live in Oslo")

        assert f"may contradict this entry of `{remembered}`: 'Lives in Bergen'" in heard(bot)
        assert notice(bot)[1:] == ['⚠️ This older entry may say something else: "Lives in Bergen"']
