"""Outbox rows about writes: the card that shows a staged one, and what becomes of it. The words are `notices`'.

A card that was not delivered yet is updated, too: its update waits behind it in the outbox.
"""

from datetime import datetime

from gateway.chat import Chat
from gateway.records import NewOutgoing, Write
from gateway.store import outbox
from gateway.store.transaction import Transaction


def show(tx: Transaction, write: Write, chat: Chat, reply_to: str, at: datetime) -> None:
    """Show a staged write on a card with buttons, once. `values` says which drawing of it this is."""
    review = (write.session, write.review_turn) if write.review_turn is not None else None
    outbox.put(
        tx,
        NewOutgoing(
            dedupe=_card(write.id),
            kind="card",
            chat=chat,
            space=write.space,
            created_at=at,
            message=write.message,
            write=write.id,
            review=review,
            values={"redrawn": write.redrawn},
            reply_to=reply_to,
        ),
    )


def update(tx: Transaction, write: Write, word: str, at: datetime) -> bool:
    """Put a change of every card of this write into the outbox; `word` says to what. False: it has no card."""
    cards = outbox.cards_of(tx, write.id)
    for place, card in enumerate(cards):
        outbox.put(
            tx,
            NewOutgoing(
                dedupe=f"write-{write.id}-{word}" + (f"-{card.id}" if place else ""),
                kind="card_update",
                chat=card.chat,
                space=write.space,
                created_at=at,
                write=write.id,
                edits=card.id,
                values={"redrawn": write.redrawn},
            ),
        )
    return bool(cards)


def say_failed(tx: Transaction, write: Write, chat: Chat, at: datetime) -> None:
    """Say that a write without a card failed after all, on a card that offers to propose it again."""
    outbox.put(
        tx,
        NewOutgoing(
            dedupe=f"write-{write.id}-failed",
            kind="card",
            chat=chat,
            space=write.space,
            created_at=at,
            message=write.message,
            write=write.id,
        ),
    )


def say_set_aside(tx: Transaction, write: Write, chat: Chat, file: str, copy: str, at: datetime) -> None:
    """Say that a write took bytes away which only a copy of the file still holds."""
    outbox.put(
        tx,
        NewOutgoing(
            dedupe=f"write-{write.id}-set-aside",
            kind="warning",
            chat=chat,
            space=write.space,
            created_at=at,
            values={"key": "memory.set_aside", "file": file, "copy": copy},
        ),
    )


def _card(write: int) -> str:
    return f"write-{write}-card"
