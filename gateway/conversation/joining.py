"""Pieces of one message that a platform hands over one by one: a long paste that an app cut, an album.

Each piece is kept at once, as a message of its own. Before the turn of the first one begins, its chat is given a
moment to hand over the rest; then all of them become one message, in the commit that begins the turn.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

from gateway.chat import How, Piece
from gateway.records import Message
from gateway.store import messages
from gateway.store.transaction import Reader, Transaction

MOMENT_SECONDS = 1.0
"""How long a chat must have been silent before what it said is whole."""
MOST_MOMENTS = 10
CUT_FROM_UNITS = 3500
"""From this many UTF-16 units on it may be the first part of a longer one; apps cut at 4,096 or just before."""
CLOSE = timedelta(seconds=2)
"""How far apart the parts of one paste are sent at most. Platforms tell whole seconds."""


def may_go_on(message: Message) -> bool:
    """Whether another piece may belong to this one."""
    if message.turn or message.done is not None:
        return False
    return bool(message.album) or _is_long(message)


def pieces(rd: Reader, head: Message) -> list[Message]:
    """The further pieces of a waiting message that have come so far, in order."""
    if not may_go_on(head):
        return []
    found: list[Message] = []
    for later in messages.waiting_behind(rd, head):
        if not _continues(found[-1] if found else head, later):
            break
        found.append(later)
    return found


def join(tx: Transaction, head: Message, at: datetime) -> Message:
    """The whole message, its pieces joined to it."""
    rest = pieces(tx, head)
    if not rest:
        return head
    messages.join(tx, head, rest, *_whole((head, *rest)), at)
    return messages.get(tx, head.id)


def words_of(said: Sequence[Piece]) -> str:
    """The words in some pieces, one under the other."""
    return "\n".join(piece.text for piece in said if piece.how is not How.ATTACHED)


def said_by(message: Message) -> tuple[Piece, ...]:
    """The pieces of a message, also of one that is all its person's own."""
    return message.pieces or ((Piece(How.OWN, message.person, message.text),) if message.text else ())


def _whole(parts: Sequence[Message]) -> tuple[str, tuple[Piece, ...]]:
    said = tuple(piece for part in parts for piece in said_by(part))
    return words_of(said), () if all(piece.how is How.OWN for piece in said) else said


def _continues(piece: Message, later: Message) -> bool:
    if piece.album or later.album:
        return piece.album == later.album
    is_close = timedelta(0) <= later.at - piece.at <= CLOSE
    return is_close and _is_long(piece) and not later.pieces


def _is_long(message: Message) -> bool:
    """All the person's own, and about as long as an app lets a message be."""
    return not message.pieces and len(message.text.encode("utf-16-le")) // 2 >= CUT_FROM_UNITS
