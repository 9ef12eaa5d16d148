"""A card waits, and meanwhile its person joins another, or goes and comes again: the words stay where they were."""

from datetime import timedelta
from pathlib import Path

from gateway.records import Status
from tests.bot import ANNA, MALLORY, Bot, running_bot
from tests.flows.test_pairing import PAUL, lets_in
from tests.store.given import StillClock

ASK = "write_approval: true"


async def has_a_card(bot: Bot, person: int) -> None:
    """The model wants to remember something of this person, and the card waits in their chat."""
    bot.server.calls("memory", action="add", content="The canary is yellow")
    bot.server.answers("May I?")
    await bot.says("My canary is yellow", person)


async def test_a_phone_that_changed_hands_cannot_decide_what_waited(tmp_path: Path) -> None:
    """Let in again it is somebody else: the old card is still on the screen, its button has no power."""
    clock = StillClock()
    async with running_bot(tmp_path, memory=ASK) as bot:
        bot.clock = clock
        await bot.restart()
        await lets_in(bot, MALLORY)
        await has_a_card(bot, MALLORY)
        card = bot.card_with("Approve", MALLORY)
        await bot.says(f"/pair revoke telegram:{MALLORY}")
        clock.at += timedelta(minutes=61)
        await lets_in(bot, MALLORY)

        await bot.taps("Approve", MALLORY, card)
        await bot.says("/memory approve all", MALLORY)
        await bot.says(f"/memory approve {bot.ledger()[0].id}", MALLORY)
        await bot.says(f"/memory edit {bot.ledger()[0].id} The canary is mine", MALLORY)
        await bot.says("/memory pending", MALLORY)

        assert bot.ledger()[0].status is Status.STAGED
        assert bot.ledger()[0].operations[0].content == "The canary is yellow"
        assert "canary is" not in bot.sees(MALLORY)[-1]
        assert [bot.memory_file(space=f"telegram-{MALLORY}{end}") for end in ("", "-2")] == ["", ""]

        await bot.says(f"/memory approve {bot.ledger()[0].id}")
        assert bot.ledger()[0].status is Status.APPLIED
        assert bot.memory_file(space=f"telegram-{MALLORY}") == "The canary is yellow\n"


async def test_a_card_of_an_account_that_joined_decides_for_the_space_it_was_made_in(tmp_path: Path) -> None:
    """What waited in the former space is never written into the person's."""
    async with running_bot(tmp_path, memory=ASK) as bot:
        await lets_in(bot, PAUL)
        await lets_in(bot, MALLORY)
        await has_a_card(bot, MALLORY)
        card = bot.card_with("Approve", MALLORY)
        await bot.says(f"/pair approve telegram:{MALLORY} as telegram-{PAUL}")

        await bot.taps("Approve", MALLORY, card)

        assert bot.memory_file(space=f"telegram-{PAUL}") == ""
        assert bot.ledger()[0].space_name == f"telegram-{MALLORY}"
        assert bot.ledger()[0].status is Status.STAGED  # the former space is closed: the owner decides for it

        await bot.says("/memory pending", PAUL)
        assert "canary" not in bot.sees(PAUL)[-1]
        await bot.says("/memory approve all", ANNA)
        assert bot.memory_file(space=f"telegram-{PAUL}") == ""
