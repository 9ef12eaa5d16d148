"""How the loopback Telegram calls a webhook: as many updates at once as it allows, each until it is taken."""

import asyncio
from typing import TYPE_CHECKING, Any

from aiohttp import ClientError, ClientSession

if TYPE_CHECKING:
    from tests.fakes.telegram import FakeTelegram

PAUSE_SECONDS = 0.01
"""Telegram's own pauses are longer."""


async def call(telegram: "FakeTelegram") -> None:
    """Until cancelled."""
    async with ClientSession() as session:
        while True:
            at_once = telegram.pending[: telegram.webhook.get("max_connections", 40)] if telegram.webhook else []
            # Side by side nobody knows which is first: the worst case is the other way round.
            await asyncio.gather(*(_post(telegram, session, update) for update in reversed(at_once)))
            await asyncio.sleep(PAUSE_SECONDS)


async def _post(telegram: "FakeTelegram", session: ClientSession, update: dict[str, Any]) -> None:
    headers = {"X-Telegram-Bot-Api-Secret-Token": telegram.webhook.get("secret_token", "")}
    try:
        async with session.post(telegram.webhook.get("url", ""), json=update, headers=headers) as answer:
            status = answer.status
    except ClientError:
        status = 0
    telegram.confirm(update, status)
