"""What was said and is not done yet: the messages, commands and taps that wait in each chat, oldest first."""

import json
from collections.abc import Collection, Sequence
from datetime import datetime
from itertools import takewhile

from gateway.chat import Chat
from gateway.records import Message, Role
from gateway.store.encoding import strings_text, time_text
from gateway.store.messagerows import message_of, place_of
from gateway.store.transaction import Reader, Transaction


def oldest(rd: Reader, chat: Chat, roles: Sequence[Role], but: Collection[int] = ()) -> Message | None:
    """The oldest message of a chat, in one of these roles, that is not done; `but` are left out."""
    row = rd.row(
        """
        SELECT * FROM messages
         WHERE platform = :platform AND chat = :chat AND thread = :thread
           AND done IS NULL AND role IN ('user', 'command', 'tap')
           AND role IN (SELECT value FROM json_each(:roles)) AND id NOT IN (SELECT value FROM json_each(:but))
         ORDER BY id
         LIMIT 1
        """,
        {**place_of(chat), "roles": strings_text(roles), "but": json.dumps(list(but))},
    )
    return None if row is None else message_of(row)


def chats(rd: Reader) -> list[tuple[Chat, Role]]:
    """Where something waits and in which role, oldest first: what a start has to take up again."""
    rows = rd.rows(
        """
        SELECT platform, chat, thread, role FROM messages
         WHERE done IS NULL AND role IN ('user', 'command', 'tap')
         GROUP BY platform, chat, thread, role
         ORDER BY min(at), min(id)
        """
    )
    return [(Chat(row["platform"], row["chat"], row["thread"]), Role(row["role"])) for row in rows]


def count(rd: Reader, chat: Chat) -> int:
    """How many user messages of a chat have no answer yet, the one being answered included."""
    row = rd.row(
        """
        SELECT count(*) AS waiting FROM messages
         WHERE platform = :platform AND chat = :chat AND thread = :thread
           AND done IS NULL AND role IN ('user', 'command', 'tap') AND role = 'user'
        """,
        place_of(chat),
    )
    return 0 if row is None else int(row["waiting"])


def behind(rd: Reader, head: Message) -> list[Message]:
    """What the same person has said in the same place after a waiting message, up to their next command."""
    rows = rd.rows(
        """
        SELECT * FROM messages
         WHERE platform = :platform AND chat = :chat AND thread = :thread AND id > :id AND person = :person
           AND done IS NULL AND role IN ('user', 'command', 'tap') AND role IN ('user', 'command') AND turn = 0
         ORDER BY id
         LIMIT 100
        """,
        {**place_of(head.chat), "id": head.id, "person": head.person},
    )
    found = (message_of(row) for row in rows)
    return list(takewhile(lambda message: message.role is Role.USER, found))


def newest_of(rd: Reader, chat: Chat, person: str) -> Message | None:
    """What a person has said last in a chat of what is not done there."""
    row = rd.row(
        """
        SELECT * FROM messages
         WHERE platform = :platform AND chat = :chat AND thread = :thread AND person = :person
           AND done IS NULL AND role IN ('user', 'command', 'tap') AND role = 'user'
         ORDER BY id DESC
         LIMIT 1
        """,
        {**place_of(chat), "person": person},
    )
    return None if row is None else message_of(row)


def stop_all_of(tx: Transaction, person: str, at: datetime) -> None:
    """Nothing that this account has said and that waits is answered any more."""
    tx.execute(
        """
        UPDATE messages SET done = 'stopped', done_at = :at
         WHERE person = :person AND done IS NULL AND role IN ('user', 'command', 'tap')
        """,
        {"person": person, "at": time_text(at)},
    )
