"""Who gets in, how one becomes the owner, and what is too much."""

from datetime import timedelta
from pathlib import Path

from gateway.chat import Chat
from gateway.store import outbox
from tests.bot import ANNA, BEN, MALLORY, Bot, running_bot

NOBODY = "owners: [], allowed: []"
WRONG_CODE = (
    "This code does not work, or does not work any more. hikae pair code on the bot's machine makes a new one."
)
PHOTO = [{"file_id": "a", "file_unique_id": "b", "width": 1, "height": 1}]


def code_of(bot: Bot) -> str:
    """A fresh owner code, as `hikae pair code` makes it."""
    access = bot.gateway.intake.access
    return access.new_owner_code(bot.core.clock.now()).code


async def test_the_code_makes_its_sender_the_owner_once(tmp_path: Path) -> None:
    """The first owner of a bot comes in by the code, and nobody after them by the same."""
    async with running_bot(tmp_path, access=NOBODY) as bot:
        code = code_of(bot)
        await bot.says(f"/start {code.lower()}", MALLORY)
        await bot.says("hello", MALLORY)

        assert bot.sees(MALLORY)[0] == "✓ You are the owner of this bot now."
        assert any("Only you can read it" in text for text in bot.sees(MALLORY))
        assert "Hello from the fake model." in bot.sees(MALLORY)

        await bot.says(f"/start {code}", BEN)

        assert bot.sees(BEN) == [WRONG_CODE]


async def test_whoever_becomes_the_owner_is_not_asked_about_themselves(tmp_path: Path) -> None:
    """Most say hello before they have read of the code, and so asked to be let in."""
    async with running_bot(tmp_path, access=NOBODY) as bot:
        await bot.says("hello", MALLORY)
        await bot.says(f"/start {code_of(bot)}", MALLORY)
        await bot.says("hello", MALLORY)

        assert "✓ You are the owner of this bot now." in bot.sees(MALLORY)
        assert not any("asks to talk" in text for text in bot.sees(MALLORY))
        await bot.says("/pair", MALLORY)
        assert "asks" not in bot.sees(MALLORY)[-1]
        assert len(bot.server.requests) == 1


async def test_five_wrong_codes_shut_the_account_out_and_leave_the_code_valid(tmp_path: Path) -> None:
    """Guessing is hopeless, and a stranger who guesses cannot lock the owner out."""
    async with running_bot(tmp_path, access=NOBODY) as bot:
        code = code_of(bot)
        for guess in ("AAAAAAA1", "BBBBBBB2", "CCCCCCC3", "DDDDDDD4", "EEEEEEE5"):
            await bot.says(f"/start {guess}", MALLORY)
        await bot.says(f"/start {code}", MALLORY)

        assert len(bot.sees(MALLORY)) == 5

        await bot.says(f"/start {code}", ANNA)

        assert any("Only you can read it" in text for text in bot.sees(ANNA))


async def test_a_code_ends_after_an_hour(tmp_path: Path) -> None:
    """A code on an old screenshot is worth nothing."""
    async with running_bot(tmp_path, access=NOBODY) as bot:
        access = bot.gateway.intake.access
        code = access.new_owner_code(bot.core.clock.now() - timedelta(minutes=61)).code

        await bot.says(f"/start {code}", ANNA)

        assert bot.sees() == [WRONG_CODE]


async def test_what_a_stranger_says_is_neither_kept_nor_answered(tmp_path: Path) -> None:
    """No model, no command; not even the wrong code's words stay."""
    async with running_bot(tmp_path) as bot:
        for text in ("hello xyzzy", "/memory", "/start", "/help xyzzy", "/start XYZZYXYZZY"):
            await bot.says(text, MALLORY)
        bot.telegram.says(MALLORY, photo=PHOTO, caption="xyzzy")
        await bot.settles()
        await bot.stop()

        kept = b"".join(path.read_bytes().lower() for path in bot.home.path.rglob("*") if path.is_file())
        assert b"xyzzy" not in kept
        await bot.start()
        assert bot.server.requests == ()


async def test_the_daily_bound_is_for_people_who_are_not_the_owner(tmp_path: Path) -> None:
    """A guest cannot spend the owner's tokens without end, and is told."""
    access = f"owners: ['telegram:{ANNA}'], allowed: ['telegram:{BEN}'], daily_turns: 2"
    async with running_bot(tmp_path, access=access) as bot:
        for number in range(3):
            await bot.says(f"ben {number}", BEN)
            await bot.says(f"anna {number}", ANNA)

        asked = [request.messages[-1]["content"] for request in bot.server.requests]
        assert [text.rpartition("] ")[2] for text in asked] == ["ben 0", "anna 0", "ben 1", "anna 1", "anna 2"]
        assert bot.sees(BEN)[-1].startswith("You have used your 2 messages for today.")


async def test_what_comes_when_32_wait_is_refused_visibly(tmp_path: Path) -> None:
    """Nothing is dropped in silence: either it is kept and answered, or the chat is told."""
    async with running_bot(tmp_path) as bot:
        gate = bot.server.holds("the first answer")
        bot.telegram.says(ANNA, "message 0")
        await gate.reached()
        for number in range(1, 34):
            bot.telegram.says(ANNA, f"message {number}")
        await bot.telegram.wait_for(lambda: not bot.telegram.unconfirmed, 20)
        gate.open()
        await bot.settles()

        refused = [text for text in bot.sees() if text.startswith("That is too much at once")]
        assert len(refused) == 2
        assert len(bot.server.requests) == 32


async def test_what_cannot_be_read_is_answered_politely(tmp_path: Path) -> None:
    """A picture without words reaches no model, and is not met with silence."""
    async with running_bot(tmp_path) as bot:
        bot.telegram.says(ANNA, photo=PHOTO)
        await bot.settles()

        assert bot.sees() == [
            "I can only read text so far: no pictures, voice messages or files. Please write it to me."
        ]


async def test_a_person_taken_out_of_the_settings_is_out(tmp_path: Path) -> None:
    """Standing from config.yaml is never copied into the database."""
    async with running_bot(tmp_path) as bot:
        await bot.says("hello", BEN)
        bot.configure(access=f"owners: ['telegram:{ANNA}']")
        await bot.restart()
        await bot.says("hello again", BEN)

        assert len(bot.server.requests) == 1


async def test_somebody_taken_out_of_the_settings_hears_nothing_of_what_still_waited(tmp_path: Path) -> None:
    """Their memory, an answer and a notice were on their way when the owner took them out."""
    async with running_bot(tmp_path) as bot:
        await bot.says("hello", BEN)
        before = bot.sees(BEN)
        bot.telegram.fail("sendMessage", 500, times=2)
        bot.telegram.says(BEN, "/memory")
        await bot.until(lambda: not bot.telegram.unconfirmed)
        await bot.stop()
        bot.telegram.recover()
        bot.configure(access="owners: ['telegram:123']")
        await bot.start()
        await bot.until(lambda: not _waits_for(bot, BEN))

        assert bot.sees(BEN) == before


def _waits_for(bot: Bot, person: int) -> bool:
    with bot.core.db.read() as rd:
        return outbox.something_waits(rd, Chat("telegram", str(person)))


async def test_the_owner_hears_that_another_account_has_become_theirs(tmp_path: Path) -> None:
    """A code that somebody else found would otherwise open everything without a word."""
    async with running_bot(tmp_path) as bot:
        await bot.says("hello")
        await bot.says(f"/start {code_of(bot)}", MALLORY)

        told = [text for text in bot.sees() if "is now an account of yours" in text]
        assert len(told) == 1
        assert f"/pair revoke telegram:{MALLORY}" in told[0]
