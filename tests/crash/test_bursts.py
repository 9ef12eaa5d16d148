"""Bursts: many chats write at once, up to 32 messages each, and every message is answered before they write again.

A message that is stranded until its chat says something more is what this looks for: after each burst its chat
waits. `python -m tests.crash --bursts` runs the long form.
"""

import asyncio
import random
from collections import Counter
from pathlib import Path

from gateway.conversation.intake import MOST_WAITING
from tests.bot import ANNA, Bot, running_bot

TURNS, CHATS = 240, 12
"""In the tests; the long form has 2,000 turns in 40 chats."""
SEED = 20261130
STRANDED_AFTER_SECONDS = 60.0
LOOK_SECONDS = 0.005
A_TURN_SECONDS = 0.05


async def test_bursts_are_answered_to_the_last_message(tmp_path: Path) -> None:
    """Whatever moment a message comes at, none waits for the next one."""
    assert await bursts(tmp_path, TURNS, CHATS, SEED) == []


async def bursts(path: Path, turns: int, chats: int, seed: int) -> list[str]:
    """Let chats write bursts until so many turns are done; what was not answered, or twice, or out of order."""
    people = [ANNA + number for number in range(chats)]
    allowed = ", ".join(f"'telegram:{person}'" for person in people[1:])
    access = f"owners: ['telegram:{ANNA}'], allowed: [{allowed}]"
    async with running_bot(path, access=access, memory="nudge_interval: 0") as bot:
        replies = Replies(bot)
        chance = random.Random(seed)
        shares = [turns // chats + (number < turns % chats) for number in range(chats)]
        async with asyncio.TaskGroup() as group:
            counting = group.create_task(replies.count())
            talkers = [
                group.create_task(_talk(bot, replies, person, share, random.Random(chance.random())))
                for person, share in zip(people, shares, strict=True)
            ]
            await asyncio.wait(talkers)
            counting.cancel()
        stranded = [problem for talker in talkers for problem in talker.result()]
        await bot.settles()
        return [
            *stranded,
            *_wrong_in_transcript(bot, turns),
            *_wrong_on_screen(bot, dict(zip(people, shares, strict=True))),
        ]


class Replies:
    """How many replies each chat has seen."""

    def __init__(self, bot: Bot) -> None:
        self._bot = bot
        self._looked_at = 0
        self._looked = asyncio.Event()
        self.seen: Counter[int] = Counter()

    async def until(self, person: int, count: int) -> None:
        while self.seen[person] < count:
            await self._looked.wait()

    async def count(self) -> None:
        while True:
            for shown in self._bot.telegram.sent[self._looked_at :]:
                self.seen[shown.chat] += shown.text == self._bot.server.otherwise
                self._looked_at += 1
            self._looked.set()
            self._looked = asyncio.Event()
            await asyncio.sleep(LOOK_SECONDS)


async def _talk(bot: Bot, replies: Replies, person: int, share: int, chance: random.Random) -> list[str]:
    """One chat: burst, silence until all of it is answered, next burst.

    The last message of a burst comes when those before it may just be done: the moment at which a lane ends.
    """
    said = 0
    while said < share:
        size = min(chance.choice((2, 2, 2, chance.randint(1, MOST_WAITING))), share - said)
        for number in range(size):
            if number == size - 1:
                await asyncio.sleep(chance.uniform(0, size * A_TURN_SECONDS))
            bot.telegram.says(person, f"message {said}")
            said += 1
        try:
            async with asyncio.timeout(STRANDED_AFTER_SECONDS):
                await replies.until(person, said)
        except TimeoutError:
            return [f"chat {person}: {replies.seen[person]} of {said} messages answered"]
    return []


def _wrong_in_transcript(bot: Bot, turns: int) -> list[str]:
    """Every message kept once, with one answer, in the order in which it was said."""
    with bot.core.db.read() as rd:
        kept = [
            tuple(row) for row in rd.rows("SELECT chat, text, turn FROM messages WHERE role = 'user' ORDER BY id")
        ]
        answered = rd.rows("SELECT count(*) FROM messages WHERE answers IS NOT NULL")[0][0]
    wrong = [f"{chat}: {text} is turn {turn}" for chat, text, turn in kept if text != f"message {turn - 1}"]
    if (len(kept), answered) != (turns, turns):
        wrong.append(f"{turns} said, {len(kept)} kept, {answered} answered")
    return wrong


def _wrong_on_screen(bot: Bot, shares: dict[int, int]) -> list[str]:
    counted = {person: bot.sees(person).count(bot.server.otherwise) for person in shares}
    return [
        f"chat {person} saw {counted[person]} of {share}"
        for person, share in shares.items()
        if counted[person] != share
    ]
