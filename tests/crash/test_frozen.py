"""One long session over restarts, with everything that a prompt is made of changing underneath.

Design.md, promise 4: what the model was sent stays as it was, byte for byte, so that its cache serves the next
request, and a review's. `python -m tests.crash --frozen` runs the long form.
"""

import json
from pathlib import Path

from tests.bot import Bot, running_bot
from tests.fakes.model import Recorded, is_review

REQUESTS = 200
"""In the tests; the long form has 1,000."""
RESTARTS = 3
EVERY = 10
"""User turns from one review to the next: the default of `nudge_interval`."""


async def test_the_bytes_of_a_long_session_only_grow(tmp_path: Path) -> None:
    """One system prompt, one list of tools, each request the beginning of the next."""
    assert await frozen_session(tmp_path, REQUESTS) == []


async def frozen_session(path: Path, requests: int) -> list[str]:
    """Talk until the model was asked so often in one session, and look at the bytes; what is wrong with them."""
    seen = Seen()
    async with running_bot(path) as bot:
        _change(bot, 0)
        await bot.restart()
        turn = restarts = 0
        while seen.chats < requests:
            turn += 1
            if turn % 7 == 0:
                bot.server.calls("memory", action="add", content=f"Fact {turn}")
            if turn % (2 * EVERY) == 0:
                arguments = {"action": "add", "target": "user", "content": f"Lives at {turn} 控え street"}
                bot.server.calls("memory", when=is_review, **arguments)
            await bot.says(f"message {turn}: good morning 🚣")
            seen.look(bot, turn)
            # A while after it was due: more has been said by then.
            if turn % EVERY == 3:
                await bot.run_jobs()
                seen.look(bot, turn - 3)
            _touch_files(bot, turn)
            if seen.chats > (restarts + 1) * requests / (RESTARTS + 1):
                restarts += 1
                _change(bot, restarts)
                await bot.restart()
        return [*seen.problems(turn), *([] if restarts == RESTARTS else [f"{restarts} restarts"])]


class Seen:
    """What the model was asked. Each request is looked at once: a thousand that grow are much to read."""

    def __init__(self) -> None:
        self.chats = 0
        self._looked_at = 0
        self._reviews = 0
        self._prompts: set[str] = set()
        self._tools: set[str] = set()
        self._last_of_turn: dict[int, bytes] = {}
        self._before = b"["
        self._wrong: list[str] = []

    def look(self, bot: Bot, turn: int) -> None:
        """Look at what was asked since: requests of this turn, or of the review of the turns up to it."""
        for request in bot.server.requests[self._looked_at :]:
            self._looked_at += 1
            asked = request.json
            self._prompts.add(asked["messages"][0]["content"])
            self._tools.add(json.dumps(asked["tools"]))
            if is_review(asked):
                self._reviews += 1
                self._expect(request, self._last_of_turn[turn], f"the review of turn {turn}")
            else:
                self.chats += 1
                self._expect(request, self._before, f"request {self.chats}, of turn {turn}")
                self._before = self._last_of_turn[turn] = request.message_bytes

    def problems(self, turns: int) -> list[str]:
        counted = {"prompts": len(self._prompts), "lists of tools": len(self._tools)}
        least = (turns - 3) // EVERY
        return [
            *self._wrong,
            *(f"{count} {what}" for what, count in counted.items() if count != 1),
            *([f"{self._reviews} requests of {least} reviews"] if self._reviews < least else []),
        ]

    def _expect(self, request: Recorded, beginning: bytes, what: str) -> None:
        if not request.message_bytes.startswith(beginning):
            self._wrong.append(f"{what} does not begin as it should")


def _touch_files(bot: Bot, turn: int) -> None:
    """A person edits by hand: what a new session would be told is another text each time."""
    bot.home.soul.write_text(f"You are hikae, edition {turn}.", "utf-8")
    bot.home.agents.write_text(f"Rule {turn}: be kind.", "utf-8")
    if turn % 5 == 0:
        (bot.home.path / "memories" / "MEMORY.md").write_text(f"Written by hand after turn {turn}\n", "utf-8")


def _change(bot: Bot, edition: int) -> None:
    """Other settings for the next start; reviews stay on."""
    bot.configure(
        model=f"provider: openai, name: fake-{1 + edition % 2}, base_url: '{bot.server.url}'",
        agent=f"system_message: 'Edition {edition}', disabled_toolsets: [{'memory' if edition == 3 else ''}]",
        memory=f"memory_char_limit: {2000 + edition}, user_profile_enabled: {edition != 2}",
        session=f"timezone: {('Asia/Tokyo', 'UTC', 'Europe/Oslo', 'UTC')[edition]}",
    )
