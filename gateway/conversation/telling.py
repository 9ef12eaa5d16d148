"""Puts what a turn did to memory into the outbox: one notice, and a card for each write that waits.

However the turn ended. Put behind its reply, so that the reply is read first.
"""

from datetime import datetime

from gateway.memory import cards
from gateway.records import Message, NewOutgoing, Status
from gateway.settings import Settings
from gateway.store import outbox, writes
from gateway.store.db import Transaction


def put(
    tx: Transaction,
    settings: Settings,
    message: Message,
    now: datetime,
    *,
    unsaved: bool = False,
    unheeded: str = "",
) -> None:
    """Tell of the writes of a user message's turn. `unsaved`: its last memory call failed; `unheeded`: what to say
    when there is no write at all, where one was asked for or claimed."""
    made = writes.of_message(tx, message.id)
    unheeded = "" if made else unheeded
    if unsaved or unheeded or any(write.status is not Status.STAGED for write in made):
        outbox.put(
            tx,
            NewOutgoing(
                dedupe=f"turn-{message.id}",
                kind="notice",
                chat=message.chat,
                space=message.space,
                created_at=now,
                message=message.id,
                values={"unsaved": unsaved} | ({"unheeded": unheeded} if unheeded else {}),
            ),
        )
    cards.ask(tx, settings, [write for write in made if write.status is Status.STAGED], message.chat, now)
