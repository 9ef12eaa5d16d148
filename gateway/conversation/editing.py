"""What becomes of a message that its person changes.

Before its turn begins the new words replace the old. Afterwards nothing changes: what was answered stays what was
asked, and the person is told once to say it again. A command never runs again.
"""

from datetime import datetime

from gateway.chat import How, IncomingMessage
from gateway.conversation import commands, joining
from gateway.records import Message, NewOutgoing, Role
from gateway.store import messages, outbox
from gateway.store.transaction import Transaction


def edit(tx: Transaction, message: IncomingMessage, now: datetime) -> None:
    """Take a message as it reads now. One that was never kept is left alone: it was not said to us."""
    kept = messages.of_platform(tx, message.chat, message.id)
    if kept is None or kept.person != message.person.key:
        return
    if kept.role is Role.TAP:
        _edit_answer(tx, kept, message, now)
        return
    if kept.role is not Role.USER:
        return
    if _can_still_change(kept) and commands.parse(message.own_text.strip()) is None:
        pieces = tuple(message.pieces)
        foreign = any(piece.how is not How.OWN for piece in pieces)
        messages.reword(tx, kept, joining.words_of(pieces), pieces if foreign else ())
    elif _says_something_else(kept, message):
        _say_too_late(tx, kept, now)


def _edit_answer(tx: Transaction, kept: Message, message: IncomingMessage, now: datetime) -> None:
    """The answer to a question for a text counts as it reads until it is used."""
    if kept.done is None:
        messages.fix(tx, kept.id, f"{kept.text.partition(chr(10))[0]}\n{message.own_text.strip()}")
    else:
        _say_too_late(tx, kept, now)


def _can_still_change(kept: Message) -> bool:
    return kept.done is None and not kept.erased and not kept.turn and kept.part_of is None


def _says_something_else(kept: Message, message: IncomingMessage) -> bool:
    """Platforms also call it an edit when a link got its preview. Of a piece that was joined the words are gone,
    and of what was taken back: what is asked anew by changing it must not go unheard."""
    return kept.part_of is not None or kept.text != joining.words_of(message.pieces)


def _say_too_late(tx: Transaction, kept: Message, now: datetime) -> None:
    outbox.put(
        tx,
        NewOutgoing(
            dedupe=f"edited-{kept.id}",
            kind="edited_late",
            chat=kept.chat,
            space=kept.space,
            created_at=now,
            reply_to=kept.platform_id,
        ),
    )
