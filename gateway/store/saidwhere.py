"""Which messages of a chat show what was said: what a forget offers to delete there."""

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from gateway.chat import Chat
from gateway.store.encoding import time_of
from gateway.store.transaction import Reader, Transaction

DELETES = "forget_delete"
"""The kind of an outbox row that deletes messages of a chat; its values name the forget and the messages."""


@dataclass(frozen=True, slots=True)
class InChat:
    """One message as a chat shows it."""

    chat: Chat
    platform_id: str
    ours: bool
    private: bool
    """Whether nobody else reads along there."""
    at: datetime


def of_messages(rd: Reader, ids: Sequence[int]) -> list[InChat]:
    """The messages in which a chat shows these: people's own, and every part of our answers."""
    named = {"ids": json.dumps(list(ids))}
    theirs = rd.rows(
        f"""
        SELECT messages.platform, messages.chat, messages.thread, platform_id, at, 0 AS ours, {_PRIVATE}
          FROM messages {_CHATS.format(table="messages")}
         WHERE messages.id IN (SELECT value FROM json_each(:ids)) AND role IN ('user', 'command')
           AND platform_id <> '' AND platform_id NOT GLOB '*:*'
         ORDER BY messages.id
        """,
        named,
    )
    ours = rd.rows(
        f"""
        SELECT outbox.platform, outbox.chat, outbox.thread, chunks.platform_id, chunks.delivered_at AS at,
               1 AS ours, {_PRIVATE}
          FROM messages JOIN outbox ON outbox.dedupe = 'reply-' || messages.answers
          JOIN chunks ON chunks.outgoing = outbox.id {_CHATS.format(table="outbox")}
         WHERE messages.id IN (SELECT value FROM json_each(:ids)) AND messages.role = 'assistant'
           AND chunks.platform_id <> '' AND chunks.delivered_at IS NOT NULL
         ORDER BY outbox.id, chunks.position
        """,
        named,
    )
    return [_in_chat(row) for row in (*theirs, *ours) if row["platform"] != "terminal"]


def of_outgoing(rd: Reader, ids: Sequence[int]) -> list[InChat]:
    """The messages in which a chat shows these things that we said."""
    rows = rd.rows(
        f"""
        SELECT outbox.platform, outbox.chat, outbox.thread, chunks.platform_id, chunks.delivered_at AS at,
               1 AS ours, {_PRIVATE}
          FROM outbox JOIN chunks ON chunks.outgoing = outbox.id {_CHATS.format(table="outbox")}
         WHERE outbox.id IN (SELECT value FROM json_each(?))
           AND chunks.platform_id <> '' AND chunks.delivered_at IS NOT NULL
         ORDER BY outbox.id, chunks.position
        """,
        (json.dumps(list(ids)),),
    )
    return [_in_chat(row) for row in rows if row["platform"] != "terminal"]


_PRIVATE = "coalesce(chats.private, 1) AS private"
_CHATS = "LEFT JOIN chats ON chats.platform = {table}.platform AND chats.id = {table}.chat"


def deleted(tx: Transaction, outgoing: int, count: int) -> None:
    """So many of the messages that a row names are not there any more."""
    tx.execute(
        """UPDATE outbox SET "values" = json_set("values", '$.deleted', :count) WHERE id = :id""",
        {"id": outgoing, "count": count},
    )


def counts(rd: Reader, forget: int) -> Mapping[str, int]:
    """Of the messages that a forget was to delete in chats, how many are `deleted`, `kept` and still `waiting`."""
    rows = rd.rows(
        f"""
        SELECT status, json_array_length("values", '$.messages') AS named,
               coalesce(json_extract("values", '$.deleted'), 0) AS deleted
          FROM outbox WHERE kind = '{DELETES}' AND json_extract("values", '$.forget') = ?
        """,
        (forget,),
    )
    found = {"deleted": 0, "kept": 0, "waiting": 0}
    for row in rows:
        found["deleted"] += row["deleted"]
        found["waiting" if row["status"] == "waiting" else "kept"] += row["named"] - row["deleted"]
    return found


def _in_chat(row: sqlite3.Row) -> InChat:
    return InChat(
        chat=Chat(row["platform"], row["chat"], row["thread"]),
        platform_id=row["platform_id"],
        ours=bool(row["ours"]),
        private=bool(row["private"]),
        at=time_of(row["at"]),
    )
