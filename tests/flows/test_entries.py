"""What each may do at every door: a stranger, an allowed person (in a group: a member), the owner.

On both platforms. The tables are the contract (design.md 7.1, promise 6). Whatever the outcome, nobody but the
owner in private ever sees the owner's memory, and a stranger in private reaches no model.
"""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from gateway.records import Status
from tests.bot import ANNA, BEN, MALLORY
from tests.doors import EVERYBODY, Discord, Place, World, world

PRIVATE, GROUP, ELSEWHERE = Place.PRIVATE, Place.GROUP, Place.ELSEWHERE
CANARY = "The canary is yellow"

OUTCOMES = {
    "I do not know you yet.": "code",
    "I can only read text so far": "unreadable",
    "In a group only my owner may use": "refused",
    "I do not talk in this group yet.": "told",
    "MEMORY (": "memory",
    "Hello from the fake model.": "answered",
}
"""How what is shown begins, and what that is called in the tables."""


@pytest.fixture(params=["telegram", "discord"])
def bot(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[World]:
    """A bot of Anna's, who lets Ben talk and has let in one group."""
    with world(tmp_path, request.param) as made:
        made.configure()
        yield made


async def settle_in(bot: World) -> None:
    """The owner and Ben have talked before, and the owner's memory holds what nobody else may see."""
    await bot.hears(ANNA, "hello")
    await bot.hears(BEN, "hello")
    await bot.after("message", bot.network.remembers, ANNA, CANARY)


class Watch:
    """What a person gets to see in a place from now on."""

    def __init__(self, bot: World, person: int, place: Place) -> None:
        self._bot, self._person, self._place = bot, person, place
        self._seen = len(bot.network.sees(person, place))
        self._asked = len(bot.model.requests)

    def outcome(self) -> str:
        """In the words of the tables."""
        new = self._bot.network.sees(self._person, self._place)[self._seen :]
        requests = self._bot.model.requests[self._asked :]
        mine = self._person == ANNA and self._place is PRIVATE
        assert mine or CANARY not in "".join(new)
        assert mine or all(CANARY not in str(request.json) for request in requests)
        kinds = [next((OUTCOMES[head] for head in OUTCOMES if text.startswith(head)), text) for text in new]
        assert ("answered" in kinds) == bool(requests)
        return kinds[0] if kinds else "silent"


# Who:                                       stranger   allowed     owner
TEXT = {
    PRIVATE: ("code", "answered", "answered"),
    GROUP: ("answered", "answered", "answered"),
    ELSEWHERE: ("silent", "told", "silent"),  # told once, whoever asks
}
UNADDRESSED = {GROUP: ("silent",) * 3, ELSEWHERE: ("silent",) * 3}
MEDIA = {
    PRIVATE: ("code", "unreadable", "unreadable"),
    ELSEWHERE: ("silent", "told", "silent"),
}
COMMAND = {
    PRIVATE: ("code", "memory", "memory"),
    GROUP: ("refused", "refused", "memory"),
    ELSEWHERE: ("silent", "told", "silent"),
}


@pytest.mark.parametrize("place", TEXT)
async def test_text(bot: World, place: Place) -> None:
    """Words, addressed to the bot."""
    async with bot.running():
        await settle_in(bot)
        found = []
        for person in EVERYBODY.values():
            watch = Watch(bot, person, place)
            await bot.hears(person, "what do you know about the bird?", place)
            found.append(watch.outcome())

    assert tuple(found) == TEXT[place]


@pytest.mark.parametrize("place", UNADDRESSED)
async def test_text_for_others(bot: World, place: Place) -> None:
    """Words that people in a group say to each other: not for the bot, whoever says them."""
    async with bot.running():
        await settle_in(bot)
        found = []
        for person in EVERYBODY.values():
            watch = Watch(bot, person, place)
            await bot.after("message", bot.network.says, person, "xyzzy", place, addressed=False)
            found.append(watch.outcome())

    assert tuple(found) == UNADDRESSED[place]
    assert all(b"xyzzy" not in path.read_bytes() for path in bot.home.path.rglob("*") if path.is_file())


@pytest.mark.parametrize("place", MEDIA)
async def test_media(bot: World, place: Place) -> None:
    """A picture without words."""
    async with bot.running():
        await settle_in(bot)
        found = []
        for person in EVERYBODY.values():
            watch = Watch(bot, person, place)
            await bot.after("message", bot.network.shows_a_picture, person, place)
            found.append(watch.outcome())

    assert tuple(found) == MEDIA[place]


@pytest.mark.parametrize("place", COMMAND)
async def test_command(bot: World, place: Place) -> None:
    """`/memory`, typed or as a native slash command: each their own, in a group the owner's, elsewhere none."""
    async with bot.running():
        await settle_in(bot)
        found = []
        for person in EVERYBODY.values():
            watch = Watch(bot, person, place)
            await bot.after("message", bot.network.asks_for_memory, person, place)
            found.append(watch.outcome())

    assert tuple(found) == COMMAND[place]


@pytest.mark.parametrize("place", [PRIVATE, GROUP, ELSEWHERE])
async def test_edit(bot: World, place: Place) -> None:
    """Changing what was said asks no model, whoever does it; a stranger is not even told anything."""
    async with bot.running():
        await settle_in(bot)
        said = {}
        for person in EVERYBODY.values():
            said[person] = await bot.after("message", bot.network.says, person, "hello", place)
        for person in EVERYBODY.values():
            watch, asked = Watch(bot, person, place), len(bot.model.requests)
            await bot.after("edit", bot.network.edits, person, said[person], "what about the bird?", place)
            outcome = watch.outcome()
            assert len(bot.model.requests) == asked
            if place is ELSEWHERE or (place is PRIVATE and person == MALLORY):
                assert outcome == "silent"


async def test_button(bot: World) -> None:
    """The owner's card, pressed by anybody: only the owner's press counts."""
    bot.configure(more="memory: {write_approval: true}")
    async with bot.running():
        await settle_in(bot)
        bot.model.calls("memory", action="add", content="The rent is due", target="memory")
        bot.model.answers("May I?")
        await bot.hears(ANNA, "The rent is due")
        refused = ("This is not for you to decide.", Status.STAGED)
        expected = (refused, refused, ("", Status.APPLIED))
        for person, (toast, status) in zip(EVERYBODY.values(), expected, strict=True):
            press = await bot.after("tap", bot.network.presses, person, "Approve", ANNA)
            await bot.network.wait_for(partial(toasted, bot, press, toast))
            assert bot.ledger()[-1].status is status


def toasted(bot: World, press: str, toast: str) -> bool:
    return bot.network.toast(press) == toast


async def test_autocompletion(tmp_path: Path) -> None:
    """What is offered behind `/memory approve` holds words of what waits: to those who may decide it, there."""
    with world(tmp_path, "discord") as bot:
        bot.configure(more="memory: {write_approval: true}")
        network = bot.network
        assert isinstance(network, Discord)
        async with bot.running():
            await bot.hears(ANNA, "hello")
            await bot.hears(BEN, "hello")
            for person, place in ((ANNA, PRIVATE), (BEN, PRIVATE), (ANNA, GROUP)):
                bot.model.calls("memory", action="add", content=f"The rent of {person} {place}", target="memory")
                bot.model.answers("May I?")
                await bot.hears(person, f"The rent of {person} {place}", place)
            mine, bens, groups = (str(write.id) for write in bot.ledger())

            async def offered(person: int, place: Place) -> list[str]:
                channel = None if place is PRIVATE else int(network.group(place).partition(":")[2])
                typed = network.server.types(person, "memory", "approve", "ids", "", channel=channel)
                told = network.server.interactions[typed]
                await network.wait_for(lambda: told.choices is not None)
                return [value for _, value in told.choices or ()]

            found = {
                place: tuple([await offered(person, place) for person in EVERYBODY.values()])
                for place in (PRIVATE, GROUP, ELSEWHERE)
            }

    assert found == {
        PRIVATE: ([], [bens], [mine, bens, groups]),
        GROUP: ([], [], [groups]),
        ELSEWHERE: ([], [], []),
    }


async def test_what_was_said_while_the_bot_was_away(bot: World) -> None:
    """It is met as if it came now. Of somebody it never met, Discord does not tell."""
    async with bot.running():
        await settle_in(bot)
    for person in EVERYBODY.values():
        bot.network.says(person, "what do you know about the bird?", PRIVATE, heard=False)
    telegram = bot.network.name == "telegram"
    async with bot.running():
        await bot.network.wait_for(lambda: bot.receiver.taken["message"] == (3 if telegram else 2))
        await bot.gateway.settled()

    shown = [bot.network.sees(person, PRIVATE)[-1] for person in EVERYBODY.values() if person != MALLORY]
    assert shown == ["Hello from the fake model."] * 2
    assert all(CANARY not in text for text in bot.network.sees(MALLORY, PRIVATE) + bot.network.sees(BEN, PRIVATE))
    assert bool(bot.network.sees(MALLORY, PRIVATE)) == telegram


async def test_what_waited_of_somebody_who_was_taken_out_meanwhile(bot: World) -> None:
    """Kept and not answered before the restart: nobody reads an answer who may not talk any more."""
    async with bot.running():
        await settle_in(bot)
        gate = bot.model.holds("Late.")
        bot.network.says(BEN, "hello?", PRIVATE)
        await gate.reached()
        bot.gateway.drain_seconds = 0.0
    shown, asked = bot.network.sees(BEN, PRIVATE), len(bot.model.requests)
    gate.open()
    bot.configure(allowed=())
    async with bot.running():
        await bot.hears(ANNA, "hello")
        await bot.gateway.settled()

    assert bot.network.sees(BEN, PRIVATE) == shown
    assert len(bot.model.requests) == asked + 1
