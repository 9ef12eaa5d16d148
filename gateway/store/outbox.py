"""What is still to be said, as kinds and ids, and what was said where.

A row holds no words: they are rendered when it is first taken, kept as `chunks` while they are being sent,
and erased as they arrive. What a platform calls each message stays, so that a card can be changed later.
Which cards and notices show a write, and how they were drawn last, is `cardrows`.
"""

import secrets
import sqlite3
from collections.abc import Sequence
from datetime import datetime, timedelta

from gateway.chat import Chat
from gateway.errors import NotFound
from gateway.records import Chunk, NewOutgoing, Outgoing
from gateway.store.encoding import clean, strings_text, time_of, time_text, values_of, values_text
from gateway.store.transaction import Reader, Transaction

LONGEST_POSTPONEMENT = timedelta(days=1)


def put(tx: Transaction, new: NewOutgoing) -> int | None:
    """Put something to be said; its id. None: this was put before (the same `dedupe`)."""
    session, review_turn = new.review or (None, None)
    row = tx.row(
        """
        INSERT INTO outbox (dedupe, kind, platform, chat, thread, space, token, message, write, session,
                            review_turn, edits, "values", reply_to, via, due_at, created_at)
        VALUES (:dedupe, :kind, :platform, :chat, :thread, :space, :token, :message, :write, :session,
                :review_turn, :edits, :values, :reply_to, :via, :at, :at)
            ON CONFLICT (dedupe) DO NOTHING
        RETURNING id
        """,
        {
            "dedupe": new.dedupe,
            "kind": new.kind,
            "platform": new.chat.platform,
            "chat": new.chat.id,
            "thread": new.chat.thread,
            "space": new.space,
            "token": secrets.token_urlsafe(9),
            "message": new.message,
            "write": new.write,
            "session": session,
            "review_turn": review_turn,
            "edits": new.edits,
            "values": values_text(new.values),
            # Of a tap, an interaction or a chat that has moved: no message that could be answered here.
            "reply_to": "" if ":" in new.reply_to else new.reply_to,
            "via": new.via,
            "at": time_text(new.created_at),
        },
    )
    return None if row is None else int(row["id"])


def get(rd: Reader, id: int) -> Outgoing:
    """The row with this id. Raises NotFound."""
    found = find(rd, id)
    if found is None:
        raise NotFound("outgoing.unknown", id=id)
    return found


def find(rd: Reader, id: int) -> Outgoing | None:
    """The row with this id, if there is one: an id that a button brings may be anything."""
    row = rd.row("SELECT * FROM outbox WHERE id = ?", (id,)) if 0 < id < 1 << 63 else None
    return None if row is None else outgoing_of(row)


def by_dedupe(rd: Reader, dedupe: str) -> Outgoing | None:
    row = rd.row("SELECT * FROM outbox WHERE dedupe = ?", (dedupe,))
    return None if row is None else outgoing_of(row)


def waiting(rd: Reader, platforms: Sequence[str], now: datetime) -> list[Outgoing]:
    """What to say now on these platforms: the oldest of each chat and thread, oldest first.

    One that is postponed holds up its chat, so that nothing overtakes. One that tells of a write which is
    approved and not applied yet stands aside until it is known how that ended. A clock that is put back holds
    nothing up: what was never postponed is due, and so is what was postponed later than now.
    """
    rows = rd.rows(
        """
        WITH heads AS (
            SELECT min(id) AS id FROM outbox
             WHERE status = 'waiting' AND platform IN (SELECT value FROM json_each(:platforms))
               AND NOT EXISTS (
                   SELECT 1 FROM writes
                    WHERE writes.status = 'approved'
                      AND (writes.id = outbox.write OR writes.message = outbox.message
                           OR writes.session = outbox.session AND writes.review_turn = outbox.review_turn))
             GROUP BY platform, chat, thread)
        SELECT outbox.* FROM heads JOIN outbox ON outbox.id = heads.id
         WHERE attempts = 0 OR due_at <= :now OR postponed_at > :now
         ORDER BY outbox.id
        """,
        {
            "platforms": strings_text(platforms),
            "now": time_text(now),
        },
    )
    return [outgoing_of(row) for row in rows]


def keep_chunks(tx: Transaction, id: int, texts: Sequence[str]) -> None:
    """Keep what a row was rendered to. Once: what was rendered first is what is sent, also after a restart."""
    if chunks(tx, id):
        return
    for position, text in enumerate(texts):
        tx.execute(
            "INSERT INTO chunks (outgoing, position, text) VALUES (:id, :position, :text)",
            {"id": id, "position": position, "text": clean(text)},
        )


def chunks(rd: Reader, outgoing_id: int) -> list[Chunk]:
    """The platform messages of one row, in order; empty until it was rendered."""
    rows = rd.rows("SELECT * FROM chunks WHERE outgoing = ? ORDER BY position", (outgoing_id,))
    return [
        Chunk(row["outgoing"], row["position"], row["text"], row["platform_id"], row["delivered_at"] is not None)
        for row in rows
    ]


def chunk_delivered(tx: Transaction, id: int, position: int, platform_id: str, at: datetime) -> None:
    """One message has arrived: note what the platform calls it, erase its words."""
    tx.execute(
        """
        UPDATE chunks SET text = '', platform_id = :platform_id, delivered_at = :at
         WHERE outgoing = :id AND position = :position
        """,
        {"id": id, "position": position, "platform_id": platform_id, "at": time_text(at)},
    )


def delivered(tx: Transaction, id: int, at: datetime) -> bool:
    """waiting -> delivered: all of it has arrived."""
    return _end(tx, id, "delivered", at)


def drop(tx: Transaction, id: int, at: datetime) -> bool:
    """waiting -> dropped: it is no longer to be said."""
    return _end(tx, id, "dropped", at)


def gone(tx: Transaction, id: int, at: datetime) -> bool:
    """waiting -> gone: the platform will never deliver it."""
    return _end(tx, id, "gone", at)


def postpone(tx: Transaction, id: int, now: datetime, due_at: datetime) -> bool:
    """Try again at `due_at`, at most `LONGEST_POSTPONEMENT` from now."""
    return tx.changed(
        """
        UPDATE outbox SET due_at = :due_at, postponed_at = :now, attempts = attempts + 1
         WHERE id = :id AND status = 'waiting'
        """,
        {"id": id, "due_at": time_text(due_at), "now": time_text(now)},
    )


def chunk_unsure(tx: Transaction, id: int, position: int) -> None:
    """One message may or may not have arrived: it will be sent again, perhaps for the second time."""
    tx.execute(
        "UPDATE chunks SET unsure = unsure + 1 WHERE outgoing = :id AND position = :position",
        {"id": id, "position": position},
    )


def something_waits(rd: Reader, chat: Chat) -> bool:
    """Whether anything is still to be said in this chat and thread."""
    row = rd.row(
        """
        SELECT 1 FROM outbox
         WHERE platform = :platform AND chat = :chat AND thread = :thread AND status = 'waiting'
         LIMIT 1
        """,
        {"platform": chat.platform, "chat": chat.id, "thread": chat.thread},
    )
    return row is not None


def of_forget(rd: Reader, kind: str, forget: int) -> list[Outgoing]:
    """The rows of this kind that show a plan to forget, oldest first."""
    rows = rd.rows(
        f"""
        SELECT * FROM outbox WHERE kind = '{kind}' AND json_extract("values", '$.forget') = ? ORDER BY id
        """,
        (forget,),
    )
    return [outgoing_of(row) for row in rows]


def question(rd: Reader, chat: Chat, message_id: str) -> Outgoing | None:
    """The question for a text that a chat shows as this message.

    An answer may be faster than the mark that says what the platform calls the question: then it is the newest one
    whose message is not known yet, unless the answered message is a known one.
    """
    rows = [row for kind in ("ask_edit", "forget_plan") for row in _asking(rd, chat, kind)]
    rows.sort(key=lambda row: -row["id"])
    surely = next((row for row in rows if row["shown_as"] == message_id), None)
    if surely is not None or not rows:
        return None if surely is None else outgoing_of(surely)
    is_unknown = rows[0]["unsure"] or not rows[0]["shown_as"]
    return outgoing_of(rows[0]) if is_unknown and not _is_shown(rd, chat, message_id) else None


def _asking(rd: Reader, chat: Chat, kind: str) -> list[sqlite3.Row]:
    """The newest messages of a chat that may be answered, of one kind, with what they are shown as."""
    return rd.rows(
        f"""
        SELECT outbox.*, chunks.platform_id AS shown_as, chunks.unsure AS unsure
          FROM outbox LEFT JOIN chunks ON chunks.outgoing = outbox.id
         WHERE outbox.kind = '{kind}' AND outbox.platform = :platform AND outbox.chat = :chat
         ORDER BY outbox.id DESC LIMIT 20
        """,
        {"platform": chat.platform, "chat": chat.id},
    )


def _is_shown(rd: Reader, chat: Chat, message_id: str) -> bool:
    """Whether another message of ours, or one that we have, is known by this id."""
    row = rd.row(
        """
        SELECT 1 FROM messages WHERE platform = :platform AND chat = :chat AND platform_id = :id
         UNION ALL
        SELECT 1 FROM chunks JOIN outbox ON outbox.id = chunks.outgoing
         WHERE chunks.platform_id = :id AND outbox.platform = :platform AND outbox.chat = :chat
        """,
        {"platform": chat.platform, "chat": chat.id, "id": message_id},
    )
    return row is not None


def newest_list(rd: Reader, chat: Chat) -> Outgoing | None:
    """The list of conversations that this chat and thread was shown last."""
    row = rd.row(
        """
        SELECT * FROM outbox
         WHERE kind = 'session_list' AND platform = :platform AND chat = :chat AND thread = :thread
         ORDER BY id DESC LIMIT 1
        """,
        {"platform": chat.platform, "chat": chat.id, "thread": chat.thread},
    )
    return None if row is None else outgoing_of(row)


def message_of(rd: Reader, row: Outgoing) -> str:
    """What the platform calls the message with this row's buttons; "" while that is not, or not surely, known."""
    part = rd.row(
        "SELECT platform_id, unsure FROM chunks WHERE outgoing = ? AND delivered_at IS NOT NULL "
        "ORDER BY position DESC LIMIT 1",
        (row.drawn_on,),
    )
    return "" if part is None or part["unsure"] else str(part["platform_id"])


def adopt(tx: Transaction, platform: str, from_chats: Sequence[str], to: Chat) -> int:
    """Let another chat say what waits for chats that are gone (one-shot runs). How many rows that were."""
    return tx.execute(
        """
        UPDATE outbox SET platform = :to_platform, chat = :to_chat, thread = :to_thread, attempts = 0
         WHERE status = 'waiting' AND platform = :platform
           AND chat IN (SELECT value FROM json_each(:from_chats))
        """,
        {
            "platform": platform,
            "from_chats": strings_text(from_chats),
            "to_platform": to.platform,
            "to_chat": to.id,
            "to_thread": to.thread,
        },
    ).rowcount


def drop_for(tx: Transaction, person: str, at: datetime) -> None:
    """Nothing more is said in the private chats of this account."""
    ids = tx.rows(
        """
        SELECT outbox.id FROM chats
          JOIN outbox ON outbox.platform = chats.platform AND outbox.chat = chats.id AND outbox.status = 'waiting'
         WHERE chats.person = ? AND chats.person <> '' AND chats.private
        """,
        (person,),
    )
    for row in ids:
        drop(tx, row["id"], at)


def waiting_chat_ids(rd: Reader, platform: str) -> list[str]:
    """The chats of a platform for which something waits."""
    rows = rd.rows(
        "SELECT DISTINCT chat FROM outbox WHERE status = 'waiting' AND platform = ? ORDER BY chat", (platform,)
    )
    return [row["chat"] for row in rows]


def _end(tx: Transaction, id: int, status: str, at: datetime) -> bool:
    tx.execute("UPDATE chunks SET text = '' WHERE outgoing = ?", (id,))
    return tx.changed(
        "UPDATE outbox SET status = :status, delivered_at = :at, via = '' WHERE id = :id AND status = 'waiting'",
        {"id": id, "status": status, "at": time_text(at)},
    )


def outgoing_of(row: sqlite3.Row) -> Outgoing:
    """A row of the table."""
    return Outgoing(
        id=row["id"],
        dedupe=row["dedupe"],
        kind=row["kind"],
        chat=Chat(row["platform"], row["chat"], row["thread"]),
        space=row["space"],
        token=row["token"],
        message=row["message"],
        write=row["write"],
        review=None if row["session"] is None else (row["session"], row["review_turn"]),
        edits=row["edits"],
        values=values_of(row["values"]),
        reply_to=row["reply_to"],
        via=row["via"],
        status=row["status"],
        attempts=row["attempts"],
        due_at=time_of(row["due_at"]),
        created_at=time_of(row["created_at"]),
    )
