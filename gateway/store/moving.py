"""A chat that has another id from now on: a Telegram group became a supergroup.

Everything that is still to happen there moves along: its open and ended sessions, what waits to be answered and
what waits to be said. Message ids begin anew in the new chat, so that none of the old ones may be answered or
changed there; a message that moved is known under its old chat's id and its own.
"""

from datetime import datetime

from gateway.chat import Chat
from gateway.store.encoding import time_text
from gateway.store.transaction import Reader, Transaction


def move_chat(tx: Transaction, platform: str, from_id: str, to_id: str, at: datetime) -> None:
    """Let a chat go on under another id, with its space, sessions, messages and outbox. Again: no harm."""
    where = {"platform": platform, "from": from_id, "to": to_id, "at": time_text(at)}
    if from_id == to_id or where_now(tx, Chat(platform, to_id)).id == from_id:
        return  # a circle would lead nowhere
    _move_place(tx, where)
    _move_sessions(tx, where)
    _move_waiting(tx, where)


def where_now(rd: Reader, chat: Chat) -> Chat:
    """The chat as it is known now, with its thread; the same where it never moved."""
    row = rd.row(
        """
        WITH RECURSIVE later (id, steps) AS (
            SELECT :id, 0
            UNION
            SELECT chats.moved_to, steps + 1 FROM later
              JOIN chats ON chats.platform = :platform AND chats.id = later.id
             WHERE chats.moved_to IS NOT NULL AND steps < 16)
        SELECT id FROM later ORDER BY steps DESC LIMIT 1
        """,
        {"platform": chat.platform, "id": chat.id},
    )
    return chat if row is None or row["id"] == chat.id else Chat(chat.platform, row["id"], chat.thread)


def former_ids(rd: Reader, chat: Chat) -> list[str]:
    """The ids under which this chat was known before, newest first."""
    rows = rd.rows(
        """
        WITH RECURSIVE before (id, steps) AS (
            SELECT id, 1 FROM chats WHERE platform = :platform AND moved_to = :id
            UNION
            SELECT chats.id, steps + 1 FROM before JOIN chats
                ON chats.platform = :platform AND chats.moved_to = before.id
             WHERE steps < 16)
        SELECT id FROM before ORDER BY steps
        """,
        {"platform": chat.platform, "id": chat.id},
    )
    return [row["id"] for row in rows]


def moved_id(from_id: str, platform_id: str) -> str:
    """How a message is known that was said before its chat moved: no message of the new chat has such an id."""
    return f"{from_id}:{platform_id}"


def _move_place(tx: Transaction, where: dict[str, str]) -> None:
    """The new chat is what the old one was; an old one that was never used is noted, for its permission."""
    tx.execute(
        """
        INSERT INTO chats (platform, id, private) VALUES (:platform, :from, 0) ON CONFLICT (platform, id) DO NOTHING
        """,
        where,
    )
    tx.execute(
        """
        INSERT INTO chats (platform, id, space, private, person, language, home, server, last_at, refused_at)
        SELECT platform, :to, space, private, person, language, home, server, last_at, refused_at
          FROM chats WHERE platform = :platform AND id = :from
            ON CONFLICT (platform, id) DO UPDATE
           SET space = coalesce(excluded.space, space),
               language = CASE WHEN language = '' THEN excluded.language ELSE language END
        """,
        where,
    )
    tx.execute("UPDATE chats SET moved_to = :to, home = 0 WHERE platform = :platform AND id = :from", where)


def _move_sessions(tx: Transaction, where: dict[str, str]) -> None:
    """The old chat's conversation goes on; one that the new chat had begun meanwhile ends for it."""
    tx.execute(
        """
        UPDATE sessions SET ended_at = :at, end_reason = 'moved'
         WHERE platform = :platform AND chat = :to AND ended_at IS NULL
           AND EXISTS (SELECT 1 FROM sessions AS old
                        WHERE old.platform = :platform AND old.chat = :from AND old.ended_at IS NULL
                          AND old.thread = sessions.thread AND old.member = sessions.member)
        """,
        where,
    )
    tx.execute("UPDATE sessions SET chat = :to WHERE platform = :platform AND chat = :from", where)


def _move_waiting(tx: Transaction, where: dict[str, str]) -> None:
    tx.execute(
        """
        UPDATE messages SET chat = :to, platform_id = :from || ':' || platform_id
         WHERE platform = :platform AND chat = :from AND done IS NULL AND role IN ('user', 'command', 'tap')
        """,
        where,
    )
    tx.execute(
        """
        UPDATE outbox
           SET chat = :to, reply_to = '', attempts = 0,
               edits = CASE WHEN edits IN (SELECT id FROM outbox WHERE status = 'waiting') THEN edits END
         WHERE platform = :platform AND chat = :from AND status = 'waiting'
        """,
        where,
    )
