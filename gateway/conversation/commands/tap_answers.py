"""What is said of a tap, in the chat of the row that was tapped: once, however often the tap is done."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from gateway.conversation.commands.call import Services
from gateway.records import Message, NewOutgoing, Outgoing
from gateway.store import outbox


def outgoing(row: Outgoing, message: Message, kind: str, at: datetime) -> NewOutgoing:
    """A row for what the tap kept as `message` says of the tapped `row`."""
    return NewOutgoing(dedupe=f"tap-{message.id}", kind=kind, chat=row.chat, space=row.space, created_at=at)


def answer(
    services: Services,
    row: Outgoing,
    message: Message,
    say: str,
    values: Mapping[str, object] | None = None,
    write: int | None = None,
) -> None:
    """Answer a tap with a sentence of the catalog, or a view."""
    said = outgoing(row, message, "answer", services.clock.now())
    with services.db.write() as tx:
        outbox.put(tx, replace(said, message=message.id, write=write, values={**(values or {}), "say": say}))
