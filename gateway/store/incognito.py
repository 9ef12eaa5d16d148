"""Which sessions are incognito. What that means is `memory.incognito`."""

from gateway.chat import Chat
from gateway.records import Session
from gateway.store import sessions
from gateway.store.encoding import clean
from gateway.store.transaction import Reader


def every(rd: Reader) -> list[Session]:
    """All of them, oldest first: only open ones are there."""
    rows = rd.rows("SELECT id FROM sessions WHERE incognito = 1 ORDER BY id")
    return [sessions.get(rd, row["id"]) for row in rows]


def is_one(rd: Reader, session: str) -> bool:
    row = rd.row("SELECT 1 FROM sessions WHERE id = ? AND incognito = 1", (clean(session),))
    return row is not None


def is_in_use(rd: Reader, chat: Chat) -> bool:
    """Whether what is said in a chat and thread now is said incognito."""
    row = rd.row(
        """
        SELECT 1 FROM sessions
         WHERE platform = :platform AND chat = :chat AND thread = :thread AND ended_at IS NULL AND incognito = 1
         LIMIT 1
        """,
        {"platform": chat.platform, "chat": chat.id, "thread": chat.thread},
    )
    return row is not None
