"""Waiting for the rest of what was cut: a long paste, an album. What belongs together is `joining`.

Silence means that all is there only while we hear: after a start or an outage the rest may still wait at the
platform, and half a paste must not get an answer of its own.
"""

import asyncio
from collections.abc import Callable

from gateway.chat import Chat
from gateway.conversation import joining
from gateway.records import Message
from gateway.store.db import Database

Hears = Callable[[Chat], bool]
"""Whether all that was said in a chat so far has reached us, as far as can be known."""

MOST_DEAF_LOOKS = 120
"""How long we wait for a platform to be heard again: a minute. Then what has come is answered."""


async def until_whole(db: Database, message: Message, hears: Hears) -> None:
    """Give the chat a moment to hand over the rest."""
    come, in_vain, looks, deaf = 0, 0, 0, 0
    while joining.may_go_on(message) and looks < joining.MOST_LOOKS:
        found = await asyncio.to_thread(_pieces, db, message)
        if found is None or in_vain == joining.looks(message):
            return
        if hears(message.chat) or deaf == MOST_DEAF_LOOKS:
            come, in_vain, looks = found, in_vain + 1 if found == come else 1, looks + 1
        else:
            come, in_vain, deaf = found, 0, deaf + 1
        await asyncio.sleep(joining.LOOK_SECONDS)


def _pieces(db: Database, message: Message) -> int | None:
    """How many further pieces of a message have come; None when no more can come."""
    with db.read() as rd:
        rest = joining.pieces(rd, message)
    return len(rest) if joining.may_go_on(rest[-1] if rest else message) else None
