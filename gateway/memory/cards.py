"""Outbox rows about writes: the card that shows a staged one, and what becomes of it. The words are `notices`'.

Where the words of a write may be read is decided here, for turns, commands and reviews alike (design.md 6.7). A
card that was not delivered yet is updated, too: its update waits behind it in the outbox.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta, tzinfo

from gateway.chat import TERMINAL_OWNER, Chat
from gateway.records import NewOutgoing, Outgoing, Write
from gateway.settings import Settings
from gateway.store import cardrows, outbox, people, writes
from gateway.store.transaction import Reader, Transaction

REMINDED_AFTER = timedelta(days=1)
REMINDERS_FROM_HOUR = 9


def ask(
    tx: Transaction,
    settings: Settings,
    staged: Sequence[Write],
    chat: Chat | None,
    at: datetime,
    reply_to: str = "",
) -> None:
    """Show staged writes on cards, each once. `chat` is where they were made: a group sees only how many."""
    if not staged or chat is None:
        return
    here = people.where_now(tx, chat)
    home = place(tx, settings, here)
    for write in staged:
        if home is not None:
            show(tx, write, home, reply_to if home == here else "", at)
    if home != here and _is_group(tx, here):
        newest = max(write.id for write in staged)
        row = NewOutgoing(
            dedupe=f"write-{newest}-waits",
            kind="waits" if home is not None else "waits_homeless",
            chat=here,
            space=staged[0].space,
            created_at=at,
            values={"count": len(staged)},
        )
        outbox.put(tx, row)


def place(rd: Reader, settings: Settings, chat: Chat) -> Chat | None:
    """Where the words of a write made in a chat are shown: there in private, else the owner's home chat."""
    told = audience(rd, settings, chat)
    if told is not None and not _is_group(rd, told):
        return told
    return people.home_chat(rd, people.owner_keys(rd, settings.access.owners))


def audience(rd: Reader, settings: Settings, chat: Chat) -> Chat | None:
    """Where the people of a chat are told of what became of it; None for somebody who was taken out."""
    here = people.where_now(rd, chat)
    known = people.chat(rd, here)
    if known is None or not known.private or not known.person:
        return here
    named = (*settings.access.owners, *settings.access.allowed, TERMINAL_OWNER.key)
    return here if known.person in named or people.is_let_in(rd, known.person) else None


def show_homeless(tx: Transaction, owner_keys: Sequence[str], at: datetime) -> None:
    """Show the owner, who can be reached now, what groups had to let wait without a card."""
    home = people.home_chat(tx, owner_keys)
    if home is None:
        return
    for write in writes.staged(tx, None):
        if people.space(tx, write.space).kind == "group" and not cardrows.cards_of(tx, write.id):
            show(tx, write, home, "", at)


def _is_group(rd: Reader, chat: Chat) -> bool:
    known = people.chat(rd, chat)
    return known is not None and not known.private


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
    cards = cardrows.cards_of(tx, write.id)
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


def undone(tx: Transaction, write: Write, at: datetime) -> None:
    """Put it on the cards and the notice of a write that it was taken back."""
    update(tx, write, "undone", at)
    for notice in cardrows.notices_of(tx, write):
        outbox.put(
            tx,
            NewOutgoing(
                dedupe=f"write-{write.id}-undone-{notice.id}",
                kind="notice_update",
                chat=notice.chat,
                space=write.space,
                created_at=at,
                message=notice.message,
                review=notice.review,
                edits=notice.id,
            ),
        )


def show_again(tx: Transaction, write: Write, tapped: Outgoing, at: datetime) -> None:
    """Change a card to what is true by now, unless a change of it that says so has arrived or is on its way.

    `tapped` is the card, or the change of it whose button was pressed.
    """
    card = tapped.drawn_on
    newest = cardrows.newest_update(tx, write.id, card)
    if newest is not None and newest.status in ("waiting", "delivered") and _is_true(newest, write):
        return
    outbox.put(
        tx,
        NewOutgoing(
            dedupe=f"write-{write.id}-again-{card}-{newest.id if newest is not None else 0}",
            kind="card_update",
            chat=tapped.chat,
            space=write.space,
            created_at=at,
            write=write.id,
            edits=card,
            values={"redrawn": write.redrawn},
        ),
    )


def show_once_more(tx: Transaction, write: Write, chat: Chat, dedupe: str, at: datetime) -> None:
    """One more card for a staged write, below what was said since the first."""
    outbox.put(
        tx,
        NewOutgoing(
            dedupe=dedupe,
            kind="card",
            chat=chat,
            space=write.space,
            created_at=at,
            message=write.message,
            write=write.id,
            values={"redrawn": write.redrawn},
        ),
    )


def _is_true(update: Outgoing, write: Write) -> bool:
    """Whether this change was put when the write was as it is now."""
    if write.undone_at is not None and update.created_at < write.undone_at:
        return False
    if write.decided_at is not None and update.created_at < write.decided_at:
        return False
    return update.values.get("redrawn") == write.redrawn or bool(update.values.get("in_use"))


def reminders(rd: Reader, now: datetime, zone: tzinfo) -> list[NewOutgoing]:
    """What is to be said now of writes that wait: once a day in each chat with cards, never the words.

    Nobody is woken: the day begins at nine where people live.
    """
    here = now.astimezone(zone)
    if here.hour < REMINDERS_FROM_HOUR:
        return []
    rows = [
        NewOutgoing(
            dedupe=f"reminder-{chat.platform}:{chat.id}-{here:%Y-%m-%d}",
            kind="reminder",
            chat=chat,
            space=space,
            created_at=now,
        )
        for chat, space in cardrows.due_reminders(rd, now - REMINDED_AFTER)
    ]
    return [row for row in rows if outbox.by_dedupe(rd, row.dedupe) is None]


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


def say_overtaken(tx: Transaction, settings: Settings, write: Write, at: datetime) -> None:
    """Tell the owner, whose terminal may have died, that an undo could not be carried out (docs/decisions/0016)."""
    chat = people.home_chat(tx, people.owner_keys(tx, settings.access.owners))
    if chat is None:
        return
    outbox.put(
        tx,
        NewOutgoing(
            dedupe=f"write-{write.id}-overtaken-{at:%Y%m%dT%H%M%S%f}",
            kind="warning",
            chat=chat,
            space=write.space,
            created_at=at,
            values={"key": "undo.overtaken", "id": write.id},
        ),
    )


def _card(write: int) -> str:
    return f"write-{write}-card"
