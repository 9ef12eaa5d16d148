"""Which messages of a chat a forget can delete there, and asking for it.

What platforms allow: Telegram lets a bot delete, for 48 hours, its own messages and what people write to it in
private. On Discord a bot deletes its own at any age, and others' only where it may manage messages, never in
private. In groups it is tried; how it went is counted (`store.saidwhere`) and stands on the receipt.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from gateway.records import Forget, NewOutgoing
from gateway.store import outbox, saidwhere
from gateway.store.saidwhere import InChat
from gateway.store.transaction import Reader, Transaction

TELEGRAM_LETS_DELETE = timedelta(hours=48)
AT_ONCE = 20
"""So many in one row: each is a call of its own, and other rows of the chat wait for it."""


@dataclass(frozen=True, slots=True)
class Reach:
    """The messages that can be deleted, or at least tried; and those that people must see to."""

    can: tuple[InChat, ...]
    cannot: tuple[InChat, ...]


def reach(rd: Reader, messages: Sequence[int], notices: Sequence[int], now: datetime) -> Reach:
    """Of these messages, and of these notices that said what was written."""
    said = saidwhere.of_messages(rd, messages)
    found = list(dict.fromkeys((*said, *saidwhere.of_outgoing(rd, notices))))
    can = tuple(one for one in found if _may_be_deleted(one, now))
    return Reach(can, tuple(one for one in found if one not in can))


def _may_be_deleted(one: InChat, now: datetime) -> bool:
    if one.chat.platform == "telegram":
        return now - one.at < TELEGRAM_LETS_DELETE
    return one.ours or not one.private


def put(tx: Transaction, forget: Forget, messages: Sequence[InChat], now: datetime) -> None:
    """Have them deleted, once each."""
    by_chat: dict[object, list[InChat]] = defaultdict(list)
    for one in messages:
        by_chat[one.chat].append(one)
    number = 0
    for found in by_chat.values():
        for at in range(0, len(found), AT_ONCE):
            number += 1
            outbox.put(
                tx,
                NewOutgoing(
                    dedupe=f"forget-{forget.id}-delete-{number}",
                    kind=saidwhere.DELETES,
                    chat=found[0].chat,
                    space=forget.space,
                    created_at=now,
                    values={"forget": forget.id, "messages": [one.platform_id for one in found[at : at + AT_ONCE]]},
                ),
            )
