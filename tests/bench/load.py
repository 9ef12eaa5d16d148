"""What the load server knows: who says what on which platform, what was sent back, what the model was asked."""

import asyncio
import time
from collections import defaultdict
from typing import Any

from aiohttp import web

from tests.bench.server_discord import Discord

ANSWER = "ok"
"""What the model says, unless it echoes."""


class Load:
    """The state of the server."""

    def __init__(self) -> None:
        self.updates: list[dict[str, Any]] = []
        self.next_update = 1
        self.next_message = 1
        self.arrived = asyncio.Event()
        self.polled = asyncio.Event()
        self.sent: dict[int, asyncio.Queue[tuple[float, str]]] = defaultdict(asyncio.Queue)
        self.discord = Discord(self.was_sent)
        self.echoes = False
        """Whether the model answers with the words it was asked, and not with the same word always."""
        self.model_seconds = 0.0
        self.review_seconds = 0.0
        self.asked: dict[str, list[float]] = {"chat": [], "review": [], "title": []}
        """When the model was asked, for which task."""
        self.somebody_asked = asyncio.Event()
        self.review_calls: list[dict[str, Any]] = []
        self.thinking = 0
        self.most_thinking = 0

    def says(self, chat: int, text: str, platform: str = "telegram") -> None:
        """Somebody writes in their private chat with the bot."""
        if platform == "discord":
            self.discord.says(chat, text)
            return
        message = {
            "message_id": self.next_message,
            "date": int(time.time()),
            "chat": {"id": chat, "type": "private", "first_name": "A"},
            "from": {"id": chat, "is_bot": False, "first_name": "A"},
            "text": text,
        }
        self.updates.append({"update_id": self.next_update, "message": message})
        self.next_update += 1
        self.next_message += 1
        self.arrived.set()

    def was_sent(self, chat: int, text: str) -> None:
        """The bot says something in this chat, now."""
        self.sent[chat].put_nowait((time.perf_counter(), text))

    async def next_sent(self, chat: int, patience_seconds: float = 30) -> tuple[float, str]:
        """The next thing this chat is sent, and when that was."""
        return await asyncio.wait_for(self.sent[chat].get(), patience_seconds)

    async def next_answer(self, chat: int) -> float:
        """When the next words of the model come, and not of the bot itself: it welcomes whom it does not know."""
        while True:
            at, text = await self.next_sent(chat)
            if text == ANSWER:
                return at

    def forget_sent(self, chat: int) -> None:
        """What the chat was sent before is not looked at any more."""
        self.sent.pop(chat, None)


LOAD = web.AppKey("load", Load)
