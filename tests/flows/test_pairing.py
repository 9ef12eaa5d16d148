"""Pairing: a stranger is told a code, the owner says yes or no, and what a yes and its end do to spaces."""

import re
from datetime import timedelta
from pathlib import Path

import pytest

from gateway.chat import IncomingMessage, Person
from gateway.conversation import pairing
from gateway.conversation.access import Standing
from gateway.conversation.letting_in import Door
from gateway.store import pairings, people, reviews, sessions
from tests.bot import ANNA, BEN, MALLORY, Bot, running_bot
from tests.store.given import StillClock

CODE = re.compile(r"\b[A-Z2-9]{8}\b")
PAUL = 777


def code_told(bot: Bot, person: int = MALLORY) -> str:
    """The code that a stranger was told last."""
    found = CODE.findall(" ".join(bot.sees(person)))
    return str(found[-1]) if found else ""


def standing(bot: Bot, person: int) -> Standing:
    with bot.core.db.read() as rd:
        return bot.gateway.intake.access.standing(rd, Person("telegram", str(person)))


def space(bot: Bot, person: int) -> str:
    with bot.core.db.write() as tx:
        access = bot.gateway.intake.access
        return access.space_of(tx, Person("telegram", str(person)), bot.core.clock.now()).name


async def lets_in(bot: Bot, person: int = MALLORY, behind: str = "") -> None:
    await bot.says("hello", person)
    await bot.says(f"/pair approve {code_told(bot, person)}{behind}")


async def test_a_stranger_asks_and_is_let_in_with_one_tap(tmp_path: Path) -> None:
    """Nobody edits a file to let a friend in; the stranger's words are neither kept nor shown."""
    async with running_bot(tmp_path) as bot:
        await bot.says("hello")
        await bot.says("let me in, xyzzy", MALLORY)

        code = code_told(bot)
        assert bot.sees(MALLORY) == [
            f"I do not know you yet. My owner can let you in with this code: {code}. It is valid for an hour."
        ]
        card = bot.card_with("Allow")
        assert card.text.startswith(f"👋 telegram:{MALLORY} asks to talk to me. Code: {code} (until ")
        assert card.labels == ("Allow", "Ignore") and not card.silent

        await bot.taps("Allow")

        assert f"✓ telegram:{MALLORY} may talk to me now." in bot.sees()[-1]
        assert bot.sees(MALLORY)[1] == "✓ You are let in: you may talk to me now."
        assert any("the owner can read it" in text for text in bot.sees(MALLORY))

        await bot.says("hello", MALLORY)

        assert bot.sees(MALLORY)[-1] == "Hello from the fake model."
        await bot.stop()
        assert b"xyzzy" not in b"".join(path.read_bytes() for path in bot.home.path.rglob("*") if path.is_file())
        await bot.start()


async def test_asking_again_within_the_hour_is_the_same_question(tmp_path: Path) -> None:
    """The same code, no second card, and after some times silence."""
    async with running_bot(tmp_path) as bot:
        await bot.says("hello")
        cards = len(bot.sees())
        for _ in range(8):
            await bot.says("hello?", MALLORY)

        assert len(bot.sees(MALLORY)) == 5
        assert len(set(bot.sees(MALLORY))) == 1
        assert len(bot.sees()) == cards + 1


async def test_whoever_is_ignored_meets_silence(tmp_path: Path) -> None:
    """For as long as the code would have lived; and the owner is not asked twice a day about the same account."""
    clock = StillClock()
    async with running_bot(tmp_path) as bot:
        bot.clock = clock
        await bot.restart()
        await bot.says("hello")
        await bot.says("hello", MALLORY)
        await bot.taps("Ignore")
        assert bot.sees()[-1] == (
            f"✗ telegram:{MALLORY} is ignored. /pair approve telegram:{MALLORY} takes it back."
        )
        shown = len(bot.sees())

        await bot.says("please", MALLORY)
        assert len(bot.sees(MALLORY)) == 1

        clock.at += timedelta(minutes=61)
        await bot.says("please", MALLORY)

        assert len(bot.sees(MALLORY)) == 2
        assert len(bot.sees()) == shown
        assert standing(bot, MALLORY) is Standing.STRANGER


async def test_codes_end_and_are_bounded(tmp_path: Path) -> None:
    """An hour each, three a day for one account; a crowd of strangers cannot fill the owner's screen."""
    clock = StillClock()
    async with running_bot(tmp_path) as bot:
        bot.clock = clock
        await bot.restart()
        await bot.says("hello")
        for _ in range(5):
            await bot.says("hello", MALLORY)
            clock.at += timedelta(minutes=61)
        codes = [CODE.findall(text)[0] for text in bot.sees(MALLORY)]
        assert len(set(codes)) == len(codes) == 3

        await bot.says(f"/pair approve {codes[0]}")
        assert bot.sees()[-1] == "This code was decided or has run out."

        for person in range(1000, 1000 + pairing.MOST_OPEN + 5):
            bot.telegram.says(person, "hello")
        await bot.settles()
        told = [person for person in range(1000, 1000 + pairing.MOST_OPEN + 5) if bot.sees(person)]
        assert len(told) == pairing.MOST_OPEN

        code = bot.gateway.intake.access.new_owner_code(clock.now()).code
        await bot.says(f"/start {code}", PAUL)
        assert standing(bot, PAUL) is Standing.OWNER


async def test_without_pairing_there_is_silence(tmp_path: Path) -> None:
    """`pairing: false`: not even that somebody wrote is kept."""
    async with running_bot(tmp_path, access=f"owners: ['telegram:{ANNA}'], pairing: false") as bot:
        await bot.says("hello")
        shown = len(bot.sees())
        await bot.says("hello", MALLORY)

        assert bot.sees(MALLORY) == []
        assert len(bot.sees()) == shown
        with bot.core.db.read() as rd:
            assert pairing.known(rd, bot.gateway.intake.access, bot.core.clock.now())[0].role == "owner"


async def test_wrong_owner_codes_of_a_stranger_cost_only_that_stranger(tmp_path: Path) -> None:
    """And their own pairing code sent back is no guess."""
    async with running_bot(tmp_path) as bot:
        await bot.says("hello", MALLORY)
        await bot.says(f"/start {code_told(bot)}", MALLORY)
        assert len(set(bot.sees(MALLORY))) == 1

        owner_code = bot.gateway.intake.access.new_owner_code(bot.core.clock.now()).code
        for number in range(6):
            await bot.says(f"/start WRONGCO{number}", MALLORY)
        await bot.says("hello", PAUL)
        await bot.says(f"/start {owner_code}", PAUL)

        assert standing(bot, PAUL) is Standing.OWNER
        assert standing(bot, MALLORY) is Standing.STRANGER


async def test_the_card_of_somebody_who_asked_first_waits_for_the_owner(tmp_path: Path) -> None:
    """The owner's first private message brings what could not be shown before."""
    async with running_bot(tmp_path) as bot:
        await bot.says("hello", MALLORY)
        await bot.says("hello")

        assert f"telegram:{MALLORY}" in bot.card_with("Allow").text


@pytest.mark.parametrize("person", [BEN, MALLORY])
async def test_nobody_but_the_owner_lets_anybody_in(tmp_path: Path, person: int) -> None:
    """Neither by a command nor by a button that was copied."""
    async with running_bot(tmp_path) as bot:
        await bot.says("hello")
        await bot.says("hello", PAUL)
        code = code_told(bot, PAUL)
        card = bot.card_with("Allow")
        message = next(each for each in bot.telegram.messages_of(ANNA) if each["message_id"] == card.message_id)

        await bot.says(f"/pair approve {code}", person)
        tap = bot.telegram.press(person, message, dict(card.buttons[0])["Allow"])
        await bot.until(lambda: tap in bot.telegram.toasts)
        await bot.settles()

        assert bot.telegram.toasts[tap] == "This is not for you to decide."
        assert standing(bot, PAUL) is Standing.STRANGER


async def test_the_owner_opens_a_link_with_the_code(tmp_path: Path) -> None:
    """`/start CODE` of the owner is a yes, too."""
    async with running_bot(tmp_path) as bot:
        await bot.says("hello", MALLORY)
        await bot.says(f"/start {code_told(bot).lower()}")

        assert bot.sees()[-1].startswith(f"✓ telegram:{MALLORY} is let in.")
        assert standing(bot, MALLORY) is Standing.ALLOWED


async def test_the_list_says_who_asks_and_who_is_let_in(tmp_path: Path) -> None:
    """With what can be done about it."""
    async with running_bot(tmp_path) as bot:
        await lets_in(bot, PAUL)
        await bot.says("hello", MALLORY)
        await bot.says("/pair")

        assert bot.sees()[-1].splitlines() == [
            f"telegram:{MALLORY} asks: /pair approve {code_told(bot)}",
            f"telegram:{PAUL}: may talk (telegram-{PAUL})",
            f"telegram:{ANNA}: owner (config.yaml)",
            f"telegram:{BEN}: may talk (–; config.yaml)",
            "/pair approve CODE [as NAME] · /pair revoke PLATFORM:ID · /pair code",
        ]


async def test_a_no_is_listed_and_can_be_taken_back(tmp_path: Path) -> None:
    """A thumb slips, a phone comes back: who was told no, when, and what lets them in again."""
    clock = StillClock()
    async with running_bot(tmp_path) as bot:
        bot.clock = clock
        await bot.restart()
        await lets_in(bot, PAUL)
        await bot.says(f"/pair revoke telegram:{PAUL}")
        await bot.says("hello", MALLORY)
        await bot.taps("Ignore")
        await bot.says("/pair")

        when = f"{clock.at.astimezone(bot.core.loaded.settings.zone()):%Y-%m-%d %H:%M}"
        assert sorted(bot.sees()[-1].splitlines()[2:-1]) == [
            f"telegram:{MALLORY}: ignored ({when}). /pair approve telegram:{MALLORY} lets them in.",
            f"telegram:{PAUL}: taken out ({when}). /pair approve telegram:{PAUL} lets them in again.",
        ]

        await bot.says(f"/pair approve telegram:{MALLORY}")
        await bot.says(f"/pair approve telegram:{PAUL}")
        await bot.says("/pair")

        assert standing(bot, MALLORY) is standing(bot, PAUL) is Standing.ALLOWED
        assert "✓ You are let in: you may talk to me now." in bot.sees(MALLORY)
        assert space(bot, PAUL) == f"telegram-{PAUL}-2"
        assert "ignored" not in bot.sees()[-1] and "taken out" not in bot.sees()[-1]
        with bot.core.db.read() as rd:
            assert (pairings.ignored(rd), people.revoked(rd)) == ([], [])


async def test_only_a_no_is_taken_back_that_was_said(tmp_path: Path) -> None:
    """An account that nobody has heard of is no typing error away from being let in."""
    async with running_bot(tmp_path) as bot:
        await bot.says(f"/pair approve telegram:{MALLORY}")

        assert bot.sees()[-1] == f"telegram:{MALLORY} is not let in."
        assert standing(bot, MALLORY) is Standing.STRANGER


async def test_the_card_opens_the_profile_of_who_asks(tmp_path: Path) -> None:
    """A number says nothing to the owner, and a name is not ours to keep: the app shows who that is."""
    async with running_bot(tmp_path) as bot:
        await bot.says("hello")
        await bot.says("hello", MALLORY)

        assert bot.card_with("Allow").entities == (("text_link", len("👋") + 2, len(f"telegram:{MALLORY}")),)


# -- spaces -------------------------------------------------------------------------------------------------


async def test_a_second_account_joins_a_person(tmp_path: Path) -> None:
    """One person, one memory, whichever account they write from."""
    async with running_bot(tmp_path) as bot:
        await lets_in(bot, MALLORY)
        await bot.says("/remember The canary is yellow", MALLORY)
        await lets_in(bot, PAUL, f" as telegram-{MALLORY}")
        await bot.says("/memory", PAUL)

        assert "The canary is yellow" in bot.sees(PAUL)[-1]
        assert space(bot, PAUL) == f"telegram-{MALLORY}"
        with bot.core.db.read() as rd:
            accounts = bot.gateway.intake.access.accounts(rd, Person("telegram", str(PAUL)))
        assert accounts == (f"telegram:{PAUL}", f"telegram:{MALLORY}")


async def test_an_account_that_joins_leaves_its_space_as_it_is(tmp_path: Path) -> None:
    """What was said so far stays where it was said, closed; the conversation ends with it."""
    async with running_bot(tmp_path) as bot:
        await lets_in(bot, MALLORY)
        await bot.says("/remember The canary is yellow", MALLORY)
        await bot.says("hello", MALLORY)
        await bot.says(f"/pair approve telegram:{MALLORY} as owner")
        await bot.says("/memory", MALLORY)
        await bot.says("hello again", MALLORY)

        assert standing(bot, MALLORY) is Standing.OWNER
        assert "canary" not in bot.sees(MALLORY)[-2]
        last = bot.server.requests[-1].messages
        assert len(last) == 2 and "canary" not in str(last[0]["content"])
        assert bot.memory_file(space=f"telegram-{MALLORY}") == "The canary is yellow\n"
        with bot.core.db.read() as rd:
            assert [each.name for each in people.closed_spaces(rd)] == [f"telegram-{MALLORY}"]


@pytest.mark.parametrize("name", ["nobody", "telegram-group-100200"])
async def test_nobody_joins_what_is_no_person(tmp_path: Path, name: str) -> None:
    """A group's memory is not a person's, and a name with a slip of the pen makes no new one."""
    async with running_bot(tmp_path) as bot:
        with bot.core.db.write() as tx:
            people.ensure_space(tx, "telegram-group-100200", "group", "telegram:-100200", bot.core.clock.now())
        await lets_in(bot, MALLORY, f" as {name}")

        assert standing(bot, MALLORY) is Standing.STRANGER
        with bot.core.db.read() as rd:
            assert len(people.spaces(rd)) == 2


async def test_whoever_is_revoked_is_a_stranger_and_begins_anew_when_let_in_again(tmp_path: Path) -> None:
    """A phone changes hands: the next one who has the account sees nothing of the one before."""
    clock = StillClock()
    async with running_bot(tmp_path) as bot:
        bot.clock = clock
        await bot.restart()
        await lets_in(bot, MALLORY)
        await bot.says("/remember The canary is yellow", MALLORY)
        await bot.says("hello", MALLORY)
        await bot.says(f"/pair revoke telegram:{MALLORY}")
        assert bot.sees()[-1].startswith(f"✓ telegram:{MALLORY} is let in no more.")
        requests = len(bot.server.requests)
        with bot.core.db.read() as rd:
            assert sessions.open_of(rd, f"telegram:{MALLORY}") == []
            assert [review.cause for review in reviews.due(rd, clock.at)] == ["end"]

        clock.at += timedelta(minutes=61)
        await bot.says("/memory", MALLORY)
        assert "canary" not in bot.sees(MALLORY)[-1]
        await lets_in(bot, MALLORY)
        await bot.says("/memory", MALLORY)
        await bot.says("hello", MALLORY)

        assert "canary" not in bot.sees(MALLORY)[-2]
        assert space(bot, MALLORY) == f"telegram-{MALLORY}-2"
        assert len(bot.server.requests) == requests + 1
        assert len(bot.server.requests[-1].messages) == 2
        with bot.core.db.read() as rd:
            assert [each.name for each in people.closed_spaces(rd)] == [f"telegram-{MALLORY}"]


async def test_what_waits_of_somebody_who_is_revoked_is_answered_no_more(tmp_path: Path) -> None:
    """Not even the answer that is being thought about."""
    async with running_bot(tmp_path) as bot:
        await lets_in(bot, MALLORY)
        shown = len(bot.sees(MALLORY))
        gate = bot.server.holds("Late.")
        for text in ("one", "two"):
            bot.telegram.says(MALLORY, text)
        await gate.reached()
        await bot.telegram.wait_for(lambda: not bot.telegram.unconfirmed)
        bot.telegram.says(ANNA, f"/pair revoke telegram:{MALLORY}")
        await bot.until(lambda: "let in no more" in bot.sees()[-1])
        gate.open()
        await bot.settles()

        assert len(bot.sees(MALLORY)) == shown
        assert len(bot.server.requests) == 1


async def test_somebody_who_is_revoked_while_their_message_comes_in_is_a_stranger(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the look at who it is and the commit another process may have taken them out."""
    async with running_bot(tmp_path) as bot:
        await bot.says("hello")
        await lets_in(bot)
        admit, asked = Door.admit, len(bot.server.requests)

        def admit_and_revoke(door: Door, message: IncomingMessage) -> tuple[Standing | None, bool]:
            told = admit(door, message)
            with bot.core.db.write() as tx:
                pairing.revoke(tx, door.access, message.person.key, bot.core.clock.now())
            return told

        monkeypatch.setattr(Door, "admit", admit_and_revoke)
        await bot.says("xyzzy", MALLORY)

        with bot.core.db.read() as rd:
            assert people.open_space_of(rd, f"telegram:{MALLORY}") is None
        assert (len(bot.server.requests), "xyzzy" in "".join(bot.sees(MALLORY))) == (asked, False)


async def test_what_the_settings_grant_only_the_settings_take(tmp_path: Path) -> None:
    """A yes that config.yaml would give again at the next start is no no."""
    async with running_bot(tmp_path) as bot:
        for key in (f"telegram:{BEN}", "telegram:999", "nonsense", f"telegram:{ANNA}"):
            await bot.says(f"/pair revoke {key}")

        assert bot.sees() == [
            f"telegram:{BEN} is named in access.allowed in config.yaml. Take it out there, and start me again.",
            "telegram:999 is not let in.",
            "Say which account, e.g. telegram:123. /pair lists them.",
            "That is the account you write from. hikae pair revoke on the bot's machine takes it out.",
        ]
        assert standing(bot, BEN) is Standing.ALLOWED


async def test_another_account_of_the_owner_comes_in_by_the_owners_code(tmp_path: Path) -> None:
    """`/pair code` is `hikae pair code`, for who has no shell at hand."""
    async with running_bot(tmp_path) as bot:
        await bot.says("/pair code")
        code = CODE.findall(bot.sees()[-1])[0]
        await bot.says("/remember The canary is yellow")
        await bot.says(f"/start {code}", MALLORY)
        await bot.says("/memory", MALLORY)

        assert "The canary is yellow" in bot.sees(MALLORY)[-1]
