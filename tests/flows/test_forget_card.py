"""`/forget` in a chat: the plan, the tap, the receipt; and everything that may come in between."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from gateway.chat import Chat
from gateway.memory.forgetting import Forgetting
from gateway.records import Forget
from gateway.store import forgets, unanswered
from tests import processes
from tests.bot import ANNA, BEN, MALLORY, Bot, running_bot
from tests.doors import Discord, Place, Telegram, World, world
from tests.fakes.model import ModelServer
from tests.fakes.telegram import FakeTelegram, Shown

FACT = "Keeps her bees in Lysekil"
BOTH = pytest.mark.parametrize("name", ["telegram", "discord"])


@asynccontextmanager
async def remembering(path: Path, *texts: str, **sections: str) -> AsyncIterator[Bot]:
    """A bot that remembers this, and whose person has said it."""
    async with running_bot(path, **sections) as bot:
        remember(bot, *(texts or (FACT,)))
        yield bot


def remember(bot: Bot | World, *texts: str) -> None:
    path = bot.home.memory_file("owner", "memory")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n§\n".join(texts) + "\n", "utf-8")


def forgotten(bot: Bot | World) -> list[Forget]:
    with bot.core.db.read() as rd:
        return forgets.listed(rd, None)


async def test_a_plan_is_shown_and_one_tap_forgets(tmp_path: Path) -> None:
    """Nothing goes before it was seen where it is; afterwards nothing in the chat's cards or the home says it."""
    async with remembering(tmp_path) as bot:
        await bot.says("I keep my bees in Lysekil")
        await bot.says("/forget bees in Lysekil")
        plan = bot.card_with("Forget")
        assert "I found it in 4 places" in plan.text
        assert "Entries: 1\n☑ 1 Keeps her bees in Lysekil" in plan.text
        assert "Proposed and past changes: 1\n☑ 2 Keeps her bees in Lysekil" in plan.text  # the hand edit
        assert "Messages: 1\n☑ 3 I keep my bees in Lysekil" in plan.text
        assert "Prompts of conversations: 1" in plan.text
        assert plan.labels[:2] == ("Forget", "Cancel")
        assert bot.memory_file() == f"{FACT}\n"

        await bot.taps("Forget")

        assert bot.memory_file() == ""
        assert bot.sees()[-2] == "✓ Forgotten (receipt 1)."
        receipt = bot.sees()[-1]
        assert "Erased: Entries: 1" in receipt
        assert "Messages: 1" in receipt
        assert "every byte of my home and of Redis was read; it is nowhere" in receipt
        assert not any("Lysekil" in text for text in bot.sees() if text.startswith("✓"))
        await bot.stop()
        assert b"Lysekil" not in b"".join(path.read_bytes() for path in files(bot))


async def test_what_is_left_out_by_number_stays(tmp_path: Path) -> None:
    """Forgetting a name is not forgetting every line that has it."""
    async with remembering(tmp_path, "Has a boat in Lysekil", "Knows Per of Lysekil") as bot:
        await bot.says("/forget Lysekil")
        plan = bot.card_with("Forget")
        bot.telegram.says(ANNA, "2", reply_to=plan)
        await bot.settles()
        assert "☑ 1 Has a boat in Lysekil\n☐ 2 Knows Per of Lysekil" in bot.card_with("Forget").text

        await bot.taps("Forget")

        assert bot.memory_file() == "Knows Per of Lysekil\n"
        assert "Left out by you: 1" in bot.sees()[-1]


async def test_choosing_asks_where_there_are_no_dialogs(tmp_path: Path) -> None:
    """A phone shows the question with the keyboard open; a second answer takes back what the first left out."""
    async with remembering(tmp_path, "Has a boat in Lysekil", "Knows Per of Lysekil") as bot:
        await bot.says("/forget Lysekil")
        for expected in ("☐ 1", "☑ 1"):
            await bot.taps("Choose…")
            asked = bot.telegram.screen(ANNA)[-1]
            assert asked.text.startswith("Which? Answer with numbers")
            bot.telegram.says(ANNA, "１", reply_to=asked)
            await bot.settles()
            assert expected in bot.card_with("Forget").text

        bot.telegram.says(ANNA, "the first one please", reply_to=bot.card_with("Forget"))
        await bot.settles()
        assert bot.sees()[-1] == "I take numbers and letters as the card shows them: 2 3, 4-6, a."
        bot.telegram.says(ANNA, "7", reply_to=bot.card_with("Forget"))
        await bot.settles()
        assert bot.sees()[-1] == "I take numbers and letters as the card shows them: 2 3, 4-6, a."


async def test_other_words_for_the_same_are_shown_and_taken_along_by_letter(tmp_path: Path) -> None:
    """The entry says it otherwise than the person did: it is not forgotten unasked, and not overlooked."""
    async with remembering(tmp_path, "Bees: Lysekil, since 2019") as bot:
        await bot.says("I keep bees in Lysekil")
        await bot.says("/forget I keep bees in Lysekil")
        plan = bot.card_with("Forget")
        assert "Nearly the same in other words, not taken along yet:\n☐ a Bees: Lysekil, since 2019" in plan.text

        bot.telegram.says(ANNA, "A", reply_to=plan)
        await bot.settles()
        assert "☑ 1 Bees: Lysekil, since 2019" in bot.card_with("Forget").text
        await bot.taps("Forget")

        assert bot.memory_file() == ""


async def test_without_a_mark_it_may_be_learnt_again(tmp_path: Path) -> None:
    """Whoever does not want even a mark in the home says so on the card."""
    async with remembering(tmp_path) as bot:
        await bot.says("/forget bees in Lysekil")
        await bot.taps("No mark")
        assert "I leave no mark: I may learn it again." in bot.card_with("Forget").text
        await bot.taps("Forget")

        assert [one.marks for one in forgotten(bot)] == [False]
        await bot.says(f"/remember {FACT}")
        assert bot.memory_file() == f"{FACT}\n"


async def test_cancelled_it_leaves_no_word(tmp_path: Path) -> None:
    """The plan itself is a copy of what somebody wants gone."""
    async with remembering(tmp_path) as bot:
        await bot.says("/forget bees in Lysekil")
        plan = bot.card_with("Forget")
        await bot.taps("Cancel")

        assert bot.sees()[-1] == "Cancelled: nothing was forgotten."
        assert bot.memory_file() == f"{FACT}\n"
        assert await bot.presses(plan, "Forget") == "That was cancelled."
        assert forgotten(bot) == []
        with bot.core.db.read() as rd:
            assert forgets.passages(rd, 1) == ()


async def test_tapped_twice_it_is_forgotten_once(tmp_path: Path) -> None:
    """Phones repeat taps."""
    async with remembering(tmp_path) as bot:
        await bot.says("/forget bees in Lysekil")
        plan = bot.card_with("Forget")
        await bot.taps("Forget")

        assert await bot.presses(plan, "Forget") == "That is forgotten already."
        assert len(forgotten(bot)) == 1
        assert sum(text.startswith("✓ Forgotten") for text in bot.sees()) == 2


async def test_a_plan_whose_words_came_again_is_shown_again(tmp_path: Path) -> None:
    """A yes covers what was seen; what is new is seen before it goes."""
    async with remembering(tmp_path) as bot:
        await bot.says("/forget Lysekil")
        remember(bot, FACT, "Has a boat in Lysekil")
        await bot.taps("Forget")

        again = bot.card_with("Forget")
        assert again.text.startswith("⚠️ Something has changed since you saw this.")
        assert "☑ 2 Has a boat in Lysekil" in again.text
        assert FACT in bot.memory_file()
        await bot.taps("Forget")
        assert bot.memory_file() == ""


async def test_a_plan_that_waited_too_long_says_so(tmp_path: Path) -> None:
    """Its words are not kept for a yes that never comes."""
    async with remembering(tmp_path) as bot:
        await bot.says("/forget bees in Lysekil")
        plan = bot.card_with("Forget")
        later = _Later(bot)
        assert later.forgetting.expire() == 1
        bot.gateway.delivery.wake()
        await bot.settles()

        assert bot.sees()[-1].startswith("This waited too long and was dropped")
        assert await bot.presses(plan, "Forget") == "That waited too long. Say /forget again."
        assert bot.memory_file() == f"{FACT}\n"


class _Later:
    """The same bot two days on."""

    def __init__(self, bot: Bot) -> None:
        self._clock = bot.core.clock
        core = bot.core
        self.forgetting = Forgetting(core.db, core.home, self, core.loaded.settings, core.memory)

    def now(self):  # type: ignore[no-untyped-def]
        from datetime import timedelta

        return self._clock.now() + timedelta(days=2)


async def test_nothing_is_asked_where_nothing_is_found(tmp_path: Path) -> None:
    """A card with nothing on it would be a riddle. The person's own files are named."""
    async with remembering(tmp_path) as bot:
        bot.home.soul.write_text("You live in Kungshamn.\n", "utf-8")
        await bot.says("/forget Mariestad")
        assert bot.sees()[-1].startswith("I find that nowhere.")
        await bot.says("/forget Kungshamn")
        assert bot.sees()[-1] == ("I have that nowhere but in your own files, which only you change: SOUL.md.")
        await bot.says("/forget")
        assert bot.sees()[-1].startswith("Say what: /forget TEXT.")
        await bot.says("/forget a")
        assert bot.sees()[-1].startswith("That is too little to look for")


async def test_an_allowed_person_forgets_in_their_own_space(tmp_path: Path) -> None:
    """Nobody forgets for others, and nobody hears of what is theirs."""
    async with remembering(tmp_path) as bot:
        await bot.says("I keep bees in Lysekil, too", BEN)
        await bot.says("/forget bees in Lysekil", BEN)
        plan = bot.card_with("Forget", BEN)
        assert "one place" in plan.text
        assert "spaces of others" not in plan.text
        await bot.taps("Forget", BEN, bot.card_with("Forget", BEN))

        assert bot.memory_file() == f"{FACT}\n"
        assert [one.by for one in forgotten(bot)] == [f"telegram:{BEN}"]
        await bot.says("/receipts")
        assert bot.sees()[-1].startswith("1 · ")
        await bot.says("/receipts 1", BEN)
        assert "space telegram-456" in bot.sees(BEN)[-1]


async def test_a_strangers_forget_reaches_nothing(tmp_path: Path) -> None:
    """Not even a look: whether something is found is a word about somebody."""
    async with remembering(tmp_path) as bot:
        await bot.says("/forget bees in Lysekil", MALLORY)
        assert not any("found" in text for text in bot.sees(MALLORY))
        assert forgotten(bot) == []


async def test_the_request_leaves_nothing(tmp_path: Path) -> None:
    """Not the command, not the plan, not the tap."""
    async with remembering(tmp_path) as bot:
        await bot.says("/forget bees in Lysekil")
        await bot.taps("Forget")
        with bot.core.db.read() as rd:
            rows = rd.rows("SELECT text FROM messages WHERE role IN ('command', 'tap')")
            values = rd.rows('SELECT "values" FROM outbox')
        assert {row["text"] for row in rows} == {""}
        assert not any("Lysekil" in row["values"] for row in values)


async def test_what_the_chat_shows_is_deleted_there_when_asked(tmp_path: Path) -> None:
    """In private Telegram lets a bot delete its own messages and the person's, for 48 hours."""
    async with remembering(tmp_path) as bot:
        bot.server.answers("Bees in Lysekil, how lovely!")
        await bot.says("I keep my bees in Lysekil")
        await bot.says("/forget bees in Lysekil")
        assert "In the chat 3 messages show it; they stay there." in bot.card_with("Forget").text
        await bot.taps("Delete in the chat, too")
        assert "they are deleted there, too." in bot.card_with("Forget").text

        await bot.taps("Forget")

        texts = [str(message.get("text")) for message in bot.telegram.messages_of(ANNA)]
        assert not any("Lysekil" in text for text in texts)
        assert "Deleted in the chat: 3" in bot.sees()[-1]


async def test_what_cannot_be_deleted_is_counted(tmp_path: Path) -> None:
    """A receipt does not claim what the platform refused."""
    async with remembering(tmp_path) as bot:
        said = bot.telegram.says(ANNA, "I keep my bees in Lysekil")
        await bot.settles()
        await bot.says("/forget bees in Lysekil")
        await bot.taps("Delete in the chat, too")
        bot.telegram.grows_old(ANNA, said)

        await bot.taps("Forget")

        assert "Deleted in the chat: 1" in bot.sees()[-1]
        assert "Could not be deleted in the chat: 1" in bot.sees()[-1]


async def test_everything_is_asked_twice_and_goes(tmp_path: Path) -> None:
    """A whole space: memory, conversations, settings, and that its person may talk."""
    async with remembering(tmp_path) as bot:
        await bot.says("I like the sea", BEN)
        await bot.says("/memory approval on", BEN)
        await bot.says("/forget everything", BEN)
        first = bot.card_with("Forget", BEN)
        assert first.text.startswith("🧽 Forget everything in the space telegram-456?")
        assert "Conversations: 1" in first.text
        await bot.taps("Forget", BEN, bot.card_with("Forget", BEN))
        assert bot.card_with("Erase everything", BEN).text.startswith("⚠️ Really everything")
        assert forgotten(bot) == []

        await bot.taps("Erase everything", BEN, bot.card_with("Erase everything", BEN))

        assert [one.kind for one in forgotten(bot)] == ["everything"]
        assert any(text.startswith("✓ Forgotten (receipt 1).") for text in bot.sees(BEN))
        assert bot.memory_file() == f"{FACT}\n"
        with bot.core.db.read() as rd:
            assert unanswered.oldest(rd, Chat("telegram", str(BEN)), ()) is None
            left = rd.rows("SELECT text FROM messages WHERE person = ?", (f"telegram:{BEN}",))
        assert {row["text"] for row in left} <= {""}


async def test_a_kill_after_the_yes_is_made_up_for(tmp_path: Path) -> None:
    """The yes is committed; whoever starts next goes on."""
    async with remembering(tmp_path) as bot:
        await bot.says("/forget bees in Lysekil")
        core = bot.core
        with core.db.write() as tx:
            assert core.forgetting.begin(tx, 1, f"telegram:{ANNA}")
        await bot.restart()

        await bot.until(lambda: any(text.startswith("✓ Forgotten (receipt 1).\n") for text in bot.sees()))
        assert bot.memory_file() == ""


async def test_in_japanese(tmp_path: Path) -> None:
    """Every sentence of it."""
    async with remembering(tmp_path, "リューセシルで蜂を飼っている") as bot:
        await bot.says("/language ja")
        await bot.says("/forget 蜂を飼って")
        plan = bot.card_with("忘れる")
        assert plan.text.startswith(
            "🧽 忘れますか？ 1か所で見つかりました：\n項目 1件\n☑ 1 リューセシルで蜂を飼っている"
        )
        await bot.taps("忘れる")
        assert bot.memory_file() == ""
        assert bot.sees()[-1].startswith("✓ 忘れました（記録 1）。")
        await bot.says("/receipts")
        assert "項目 1件" in bot.sees()[-1]


# -- on both platforms ---------------------------------------------------------------------------------------


@BOTH
async def test_on_both_platforms_a_plan_is_seen_chosen_from_and_done(tmp_path: Path, name: str) -> None:
    """The same words and buttons everywhere."""
    with world(tmp_path, name) as bot:
        bot.configure()
        async with bot.running():
            remember(bot, "Has a boat in Lysekil", "Knows Per of Lysekil")
            await gives_forget(bot, "Lysekil")
            await chooses(bot, "2")
            assert "☐ 2 Knows Per of Lysekil" in last_plan(bot)
            await bot.after("tap", bot.network.presses, ANNA, "Forget", ANNA)

            assert bot.home.memory_file("owner", "memory").read_text() == "Knows Per of Lysekil\n"
            assert any("Left out by you: 1" in text for text in bot.network.sees(ANNA, Place.PRIVATE))


@BOTH
async def test_what_a_group_is_to_forget_is_shown_to_the_owner_alone(tmp_path: Path, name: str) -> None:
    """The words of a plan are not for whoever reads along."""
    with world(tmp_path, name) as bot:
        bot.configure()
        async with bot.running():
            await bot.hears(ANNA, "hello")
            await bot.hears(BEN, "I keep bees in Lysekil", Place.GROUP)
            await gives_forget(bot, "bees in Lysekil", Place.GROUP)
            assert "I keep bees in Lysekil" in last_plan(bot)
            assert not any("bees in Lysekil" in text for text in bot.network.sees(ANNA, Place.GROUP)[1:])
            await bot.after("tap", bot.network.presses, ANNA, "Forget", ANNA)

            assert any(text == "✓ Forgotten (receipt 1)." for text in bot.network.sees(ANNA, Place.GROUP))
            await bot.after("message", bot.network.says, BEN, "/forget bees", Place.GROUP, addressed=False)
            assert len(forgotten(bot)) == 1


async def gives_forget(bot: World, text: str, place: Place = Place.PRIVATE) -> None:
    network = bot.network
    if isinstance(network, Discord):
        channel = None if place is Place.PRIVATE else 7001
        await network.wait_for(lambda: network.server.commands)
        await bot.after("message", network.server.gives, ANNA, "forget", channel=channel, text=text)
    else:
        await bot.after("message", network.says, ANNA, f"/forget {text}", place, addressed=False)


async def chooses(bot: World, text: str) -> None:
    network = bot.network
    if isinstance(network, Discord):
        pressed = int(network.presses(ANNA, "Choose…", ANNA))
        await network.wait_for(lambda: network.server.interactions[pressed].dialog)
        await bot.after("tap", network.server.submits, ANNA, pressed, text)
        return
    assert isinstance(network, Telegram)
    card = next(shown for shown in reversed(network.server.screen(ANNA)) if "Forget" in shown.labels)
    await bot.after("message", network.server.says, ANNA, text, reply_to=card)


def last_plan(bot: World) -> str:
    return next(text for text in reversed(bot.network.sees(ANNA, Place.PRIVATE)) if "🧽" in text)


def files(bot: Bot) -> list[Path]:
    return [path for path in bot.home.path.rglob("*") if path.is_file()]


# -- asked of the model --------------------------------------------------------------------------------------


async def test_asked_of_the_model_it_is_offered_and_not_done(tmp_path: Path) -> None:
    """The model may take an entry out; forgetting everywhere needs the person's yes."""
    async with remembering(tmp_path) as bot:
        await bot.says("My bees in Lysekil are well")
        bot.server.answers("Of course.")
        await bot.says("Please forget about my bees in Lysekil.")

        plan = bot.card_with("Forget")
        assert bot.sees()[-2] == "Of course."
        assert "☑ 1 Keeps her bees in Lysekil" in plan.text
        assert "Please forget about" not in plan.text
        assert FACT in bot.memory_file()
        await bot.taps("Forget")
        assert bot.memory_file() == ""
        with bot.core.db.read() as rd:
            texts = {row["text"] for row in rd.rows("SELECT text FROM messages WHERE role = 'user'")}
        assert texts == {"My (forgotten) are well", "(forgotten)"}


async def test_the_entry_that_the_model_takes_out_is_part_of_the_plan(tmp_path: Path) -> None:
    """It is the same fact in other words: else the receipt says "nowhere", and a search finds it."""
    async with remembering(tmp_path, "Lives in Bergen") as bot:
        await bot.says("Where is it that I live?")
        bot.server.calls("memory", action="remove", target="memory", old_text="Lives in Bergen")
        bot.server.answers("Removed.")
        await bot.says("forget that I live in Bergen")
        await bot.taps("Forget")

        assert any(text.startswith("✓ Forgotten") for text in bot.sees())
        await bot.says("/search Bergen")
        assert bot.sees()[-1] == "Nothing found."
        await bot.stop()
        assert b"Lives in Bergen" not in b"".join(path.read_bytes() for path in files(bot))


async def test_an_answer_that_says_it_again_is_part_of_the_plan(tmp_path: Path) -> None:
    """It is there by the time the card is: one tap is enough all the same."""
    async with remembering(tmp_path) as bot:
        bot.server.answers("I forget the bees in Lysekil then.")
        await bot.says("Forget the bees in Lysekil")
        await bot.taps("Forget")
        assert len(forgotten(bot)) == 1


async def test_what_was_left_out_is_not_called_nowhere(tmp_path: Path) -> None:
    """Whoever searches for it finds it, and would not believe the next receipt."""
    async with remembering(tmp_path, "Has a boat in Lysekil", "Knows Per of Lysekil") as bot:
        await bot.says("/forget Lysekil")
        bot.telegram.says(ANNA, "2", reply_to=bot.card_with("Forget"))
        await bot.settles()
        await bot.taps("Forget")

        assert "it is nowhere but where you left it" in bot.sees()[-1]


async def test_what_is_nowhere_is_not_offered(tmp_path: Path) -> None:
    """Then the usual sentence stands: nothing was changed."""
    async with remembering(tmp_path) as bot:
        bot.server.answers("OK.")
        await bot.says("Forget that I like Mariestad")
        assert any(text.startswith("⚠️ Memory was not changed") for text in bot.sees())
        assert not any("🧽" in text for text in bot.sees())


@BOTH
async def test_a_group_member_is_offered_nothing(tmp_path: Path, name: str) -> None:
    """What a group remembers is the owner's to forget."""
    with world(tmp_path, name) as bot:
        bot.configure()
        async with bot.running():
            await bot.hears(ANNA, "hello")
            await bot.hears(BEN, "The bees in Lysekil are well", Place.GROUP)
            await bot.hears(BEN, "forget the bees in Lysekil", Place.GROUP)
            assert not any("🧽" in text for text in bot.network.sees(ANNA, Place.PRIVATE))
            await bot.hears(ANNA, "forget the bees in Lysekil", Place.GROUP)
            assert any("🧽" in text for text in bot.network.sees(ANNA, Place.PRIVATE))
            assert not any("🧽" in text for text in bot.network.sees(ANNA, Place.GROUP))


# -- /export -------------------------------------------------------------------------------------------------


@BOTH
async def test_everything_that_is_kept_comes_in_a_file(tmp_path: Path, name: str) -> None:
    """About the person who asks, in their own chat."""
    with world(tmp_path, name) as bot:
        bot.configure()
        async with bot.running():
            remember(bot, FACT)
            await bot.hears(ANNA, "hello")
            await bot.hears(BEN, "I like boats")
            network = bot.network
            if isinstance(network, Discord):
                await network.wait_for(lambda: network.server.commands)
                await bot.after("message", network.server.gives, ANNA, "export")
                ((file, content),) = network.server.files
            else:
                assert isinstance(network, Telegram)
                await bot.hears(ANNA, "/export")
                ((chat, file, content),) = network.server.files
                assert chat == ANNA
            await bot.after("message", network.says, ANNA, "/export", Place.GROUP, addressed=name == "discord")

    found = json.loads(content)
    assert file.startswith("hikae-owner-") and file.endswith(".json")
    assert found["memory"]["memory"] == f"{FACT}\n"
    assert found["conversations"][0]["transcript"][0]["text"] == "hello"
    assert "boats" not in content.decode()
    assert network.sees(ANNA, Place.GROUP)[-1] == "The file comes to your private chat with me."


async def test_another_plan_for_the_same_words_ends_with_the_first(tmp_path: Path) -> None:
    """Its card would go on showing them."""
    async with remembering(tmp_path) as bot:
        await bot.says("/forget bees in Lysekil")
        await bot.says("/forget her bees in Lysekil")
        await bot.taps("Forget", card=bot.telegram.screen(ANNA)[-2])

        assert not any("bees" in text for text in bot.sees())
        assert sum(text.startswith("Cancelled") for text in bot.sees()) == 1


@pytest.mark.processes
@pytest.mark.parametrize("step", ["tap.acted", "forget.layer.messages", "forget.words_gone", "delivery.deleted"])
def test_killed_in_the_middle_it_is_forgotten_once(tmp_path: Path, step: str) -> None:
    """From the tap to the receipt, whatever is lost in between."""
    with FakeTelegram() as telegram, ModelServer() as model, processes.machine(tmp_path) as one:
        one.configure(
            model=f"provider: openai, name: fake-1, base_url: '{model.url}'", access=f"owners: ['telegram:{ANNA}']"
        )
        known = {"TELEGRAM_BOT_TOKEN": telegram.token, "HIKAE_TELEGRAM_BASE_URL": telegram.url}
        path = one.home.memory_file("owner", "memory")
        running = one.start("gateway", HIKAE_FAILPOINT=step, **known)
        telegram.says(ANNA, "I keep my bees in Lysekil")
        telegram.wait_until(lambda: telegram.screen(ANNA), 30)
        path.write_text(f"{FACT}\n", "utf-8")
        telegram.says(ANNA, "/forget bees in Lysekil")
        card = card_with(telegram, "Forget")
        if step != "tap.acted":  # this very tap would be the one
            telegram.taps(ANNA, card, "Delete in the chat, too")
            card = card_with(telegram, "Leave in the chat")
        telegram.taps(ANNA, card, "Forget")
        running.wait(60)

        one.start("gateway", **known)
        telegram.wait_until(lambda: any("Erased:" in shown.text for shown in telegram.screen(ANNA)), 60)

        assert path.read_text("utf-8") == ""
        said = [shown.text for shown in telegram.screen(ANNA)]
        assert sum("Erased:" in text for text in said) == 1
        assert not any("Lysekil" in text for text in said)
        if step != "tap.acted":
            assert "Deleted in the chat: 2" in next(text for text in said if "Erased:" in text)


def card_with(telegram: FakeTelegram, label: str) -> Shown:
    """Wait for a card with this button."""

    def found() -> list[Shown]:
        return [shown for shown in telegram.screen(ANNA) if label in shown.labels]

    return telegram.wait_until(found, 30)[-1]


async def test_nobody_else_taps_a_plan(tmp_path: Path) -> None:
    """A button is a number: anybody may send it."""
    async with remembering(tmp_path) as bot:
        await bot.says("hello", BEN)
        await bot.says("/forget bees in Lysekil")
        for person in (BEN, MALLORY):
            await bot.taps("Forget", person, bot.card_with("Forget"))
        assert FACT in bot.memory_file()
        assert forgotten(bot) == []


async def test_asked_of_the_model_in_japanese(tmp_path: Path) -> None:
    """The words are found however they are asked for."""
    async with remembering(tmp_path, "リューセシルで蜂を飼っている") as bot:
        await bot.says("/language ja")
        await bot.says("蜂を飼っていることは忘れてください。")
        assert "☑ 1 リューセシルで蜂を飼っている" in bot.card_with("忘れる").text
        await bot.taps("忘れる")
        assert bot.memory_file() == ""


@pytest.mark.processes
def test_from_a_shell_beside_a_running_bot(tmp_path: Path) -> None:
    """Two processes, one home: whoever has the lock erases, and both know that it is done."""
    with FakeTelegram() as telegram, ModelServer() as model, processes.machine(tmp_path) as one:
        one.configure(
            model=f"provider: openai, name: fake-1, base_url: '{model.url}'", access=f"owners: ['telegram:{ANNA}']"
        )
        known = {"TELEGRAM_BOT_TOKEN": telegram.token, "HIKAE_TELEGRAM_BASE_URL": telegram.url}
        one.start("gateway", **known)
        telegram.says(ANNA, "I keep my bees in Lysekil")
        telegram.wait_until(lambda: telegram.screen(ANNA), 30)

        ran = one.run("forget", "bees in Lysekil", "--yes", "--json", **known)

        assert (ran.returncode, json.loads(ran.stdout)["verified"]) == (0, True), ran.stderr
        assert one.run("forget", "--verify", given="bees in Lysekil", **known).returncode == 0
        telegram.says(ANNA, "What do I keep?")
        telegram.wait_until(lambda: len(model.chats) > 1, 30)
        assert b"Lysekil" not in model.chats[-1].body


async def test_notices_that_say_it_are_deleted_too(tmp_path: Path) -> None:
    """At `verbose` a notice repeats the entry. A card changes by itself."""
    async with running_bot(tmp_path, display="memory_notifications: verbose") as bot:
        bot.server.calls("memory", action="add", content=FACT)
        bot.server.answers("Noted.")
        await bot.says("I keep my bees in Lysekil")
        assert any(text.startswith("💾 Memory ➕ Keeps her bees") for text in bot.sees())
        await bot.says("/forget bees in Lysekil")
        await bot.taps("Delete in the chat, too")
        await bot.taps("Forget")

        texts = [str(message.get("text")) for message in bot.telegram.messages_of(ANNA)]
        assert not any("Lysekil" in text for text in texts)
        assert "Deleted in the chat: 3" in bot.sees()[-1]
