"""The floor: the same libraries in a bare loop, three FULL commits a turn, and nothing else.

PTB's Bot fetches and sends, the model client asks, SQLite commits the message, the answer and the delivery. It
keeps no conversation: each request holds one message, so the floor is lower than what a bot must do.
"""

import asyncio
import sqlite3
import sys
from pathlib import Path

import openai
from telegram import Bot, Message
from telegram.request import HTTPXRequest


class Floor:
    """A bot that answers and keeps nothing else in order."""

    def __init__(self, url: str, path: Path) -> None:
        self.bot = Bot(
            "1:bench",
            base_url=f"{url}/bot",
            request=HTTPXRequest(connection_pool_size=64),
            get_updates_request=HTTPXRequest(connection_pool_size=1),
        )
        self.model = openai.AsyncOpenAI(api_key="none", base_url=f"{url}/v1", max_retries=0)
        self.db = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
        self.db.execute("PRAGMA journal_mode=WAL")
        self.db.execute("PRAGMA synchronous=FULL")
        self.db.execute("CREATE TABLE IF NOT EXISTS said (id INTEGER PRIMARY KEY, chat INTEGER, text TEXT)")
        self.writing = asyncio.Lock()

    async def run(self) -> None:
        await self.bot.initialize()
        offset = 0
        async with asyncio.TaskGroup() as group:
            while True:
                for update in await self.bot.get_updates(offset=offset, timeout=5):
                    offset = update.update_id + 1
                    if update.message is not None:
                        group.create_task(self.turn(update.message))

    async def turn(self, message: Message) -> None:
        chat = message.chat.id
        await self.commit(chat, message.text or "")
        stream = await self.model.chat.completions.create(
            model="bench",
            messages=[{"role": "user", "content": message.text or ""}],
            stream=True,
            stream_options={"include_usage": True},
        )
        answer = ""
        async for event in stream:
            if event.choices:
                answer += event.choices[0].delta.content or ""
        await self.commit(chat, answer)
        await self.bot.send_message(chat, answer)
        await self.commit(chat, "sent")

    async def commit(self, chat: int, text: str) -> None:
        async with self.writing:
            await asyncio.to_thread(self._commit, chat, text)

    def _commit(self, chat: int, text: str) -> None:
        self.db.execute("BEGIN IMMEDIATE")
        self.db.execute("INSERT INTO said (chat, text) VALUES (?, ?)", (chat, text))
        self.db.execute("COMMIT")


if __name__ == "__main__":
    asyncio.run(Floor(sys.argv[1], Path(sys.argv[2])).run())
