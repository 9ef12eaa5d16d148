"""Turns as wholes: which one is the newest, which are being answered, how many there are."""

from gateway.chat import Chat
from gateway.records import Message
from gateway.store.messagerows import message_of, place_of
from gateway.store.transaction import Reader


def newest_question(rd: Reader, session: str) -> Message | None:
    """The question of the newest turn of a session that was not taken back."""
    row = rd.row(
        """
        SELECT * FROM messages WHERE session = ? AND role = 'user' AND turn > 0
         ORDER BY turn DESC, id DESC LIMIT 1
        """,
        (session,),
    )
    return None if row is None else message_of(row)


def not_begun(rd: Reader, chat: Chat, before: int) -> list[Message]:
    """What was said in a chat before this command and waits for its turn, in order.

    Asked again by a `/retry` before it, it counts as said then, though its row is younger.
    """
    rows = rd.rows(
        """
        SELECT * FROM messages
         WHERE platform = :platform AND chat = :chat AND thread = :thread AND turn = 0
           AND (id < :before OR platform_id GLOB 'retry:*')
           AND done IS NULL AND role IN ('user', 'command', 'tap') AND role = 'user'
         ORDER BY id
        """,
        {**place_of(chat), "before": before},
    )
    return [message_of(row) for row in rows]


def is_talking(rd: Reader, session: str) -> bool:
    """Whether something that was said in a session, or for it, is not answered yet."""
    row = rd.row("SELECT 1 FROM messages WHERE session = ? AND role = 'user' AND done IS NULL LIMIT 1", (session,))
    return row is not None


def count(rd: Reader, session: str, first: int, last: int) -> int:
    """How many turns of a session from `first` up to `last` there are: not those that were taken back."""
    row = rd.row(
        """
        SELECT count(DISTINCT turn) AS turns FROM messages
         WHERE session = :session AND turn BETWEEN :first AND :last AND role = 'user'
        """,
        {"session": session, "first": first, "last": last},
    )
    return 0 if row is None else int(row["turns"])
