"""Pieces of one message that a platform hands over one by one: a long paste that an app cut, an album.

Each piece is kept at once, as a message of its own. Before the turn of the first one begins, its chat is given a
moment to hand over the rest; then all of them become one message, in the commit that begins the turn.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from gateway.chat import How, IncomingMessage, Piece
from gateway.records import Message
from gateway.store import messages, unanswered
from gateway.store.transaction import Reader, Transaction

LOOK_SECONDS = 0.5
"""How often we look whether more has come."""
MOST_LOOKS = 20
PASTE_SECONDS, ALBUM_SECONDS = 1.0, 2.0
"""How long a chat must have been silent before what it said is whole. The parts of an album are uploaded first."""
CUT_FROM_UNITS: Mapping[str, int] = {"telegram": 3500, "discord": 1700}
"""From this many UTF-16 units on it may be the first part of a longer one; apps cut at 4,096 and at 2,000, or just
before."""
CLOSE = timedelta(seconds=2)
"""How far apart the parts of one paste are sent at most. Platforms tell whole seconds."""


def may_go_on(message: Message) -> bool:
    """Whether another piece may belong to this one."""
    if message.turn or message.done is not None:
        return False
    return bool(message.album) or _is_long(message)


def looks(message: Message) -> int:
    """How often we must find nothing new before the message is whole."""
    return round((ALBUM_SECONDS if message.album else PASTE_SECONDS) / LOOK_SECONDS)


def is_piece(rd: Reader, message: IncomingMessage) -> bool:
    """Whether this belongs to what its person has said just now and nobody has begun to answer.

    In a group only the first piece calls us by name: the others belong to a message that addresses us.
    """
    before = unanswered.newest_of(rd, message.chat, message.person.key)
    if before is None or not may_go_on(before):
        return False
    own = all(piece.how is How.OWN for piece in message.pieces)
    return _continues(before, message.album, message.at, own=own)


def is_rest_of_album(rd: Reader, message: Message) -> bool:
    """Whether a part of an album comes when the others have been answered, or are just being."""
    return bool(message.album) and messages.has_earlier_of_album(rd, message)


def pieces(rd: Reader, head: Message) -> list[Message]:
    """The further pieces of a waiting message that have come so far, in order."""
    if not may_go_on(head):
        return []
    found: list[Message] = []
    for later in unanswered.behind(rd, head):
        if not _continues(found[-1] if found else head, later.album, later.at, own=not later.pieces):
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


def _continues(piece: Message, album: str, at: datetime, *, own: bool) -> bool:
    """Whether what was said then, in that album, goes on with this piece; `own`: all of it the person's words."""
    if piece.album or album:
        return piece.album == album
    return own and _is_long(piece) and timedelta(0) <= at - piece.at <= CLOSE


def _is_long(message: Message) -> bool:
    """All the person's own, or in answer to something, and about as long as an app lets a message be."""
    most = CUT_FROM_UNITS.get(message.chat.platform)
    said = said_by(message)
    if most is None or any(piece.how not in (How.OWN, How.QUOTED) for piece in said):
        return False
    own = words_of([piece for piece in said if piece.how is How.OWN])
    return len(own.encode("utf-16-le")) // 2 >= most
