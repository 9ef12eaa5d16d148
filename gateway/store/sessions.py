"""Sessions: one conversation in a chat, with the prompt and tool definitions it was frozen with.

One is open per chat and member (an index of the database sees to it). What was said is `messages`; whether
its turns were looked at is `reviews`; another prompt in the course of it is `prompts`. A turn is numbered when it
begins.
"""

import secrets
import sqlite3
from collections.abc import Sequence
from datetime import UTC, datetime

from gateway.chat import Chat
from gateway.errors import NotFound
from gateway.records import Session, SessionSummary
from gateway.store.encoding import clean, optional_time_of, optional_time_text, strings_text, time_of, time_text
from gateway.store.transaction import Reader, Transaction


def new_id(at: datetime) -> str:
    """An id such as `20261130_090007_57bbf6`: when it was opened, and what makes it unique."""
    return f"{at.astimezone(UTC):%Y%m%d_%H%M%S}_{secrets.token_hex(3)}"


def open(tx: Transaction, session: Session) -> None:
    """Keep a new session. Look for `current` in the same transaction: a second open one is an IntegrityError."""
    tx.execute(
        """
        INSERT INTO sessions (id, space, platform, chat, thread, member, opened_at, system_prompt, tools,
                              generation, frozen_at, turns, last_at, title, model, said_at, incognito)
        VALUES (:id, :space, :platform, :chat, :thread, :member, :opened_at, :system_prompt, :tools,
                :generation, :frozen_at, :turns, :last_at, :title, :model, :said_at, :incognito)
        """,
        {
            "id": session.id,
            "space": session.space,
            "platform": session.chat.platform,
            "chat": session.chat.id,
            "thread": session.chat.thread,
            "member": session.member,
            "opened_at": time_text(session.opened_at),
            "system_prompt": clean(session.system_prompt),
            "tools": clean(session.tools),
            "generation": session.generation,
            "frozen_at": time_text(session.frozen_at),
            "turns": session.turns,
            "last_at": time_text(session.last_at),
            "title": clean(session.title),
            "model": session.model,
            "said_at": optional_time_text(session.said_at) or "",
            "incognito": session.incognito,
        },
    )


def current(rd: Reader, chat: Chat, member: str = "") -> Session | None:
    """The open session of a chat (of one member of it, where groups are per person)."""
    row = rd.row(
        """
        SELECT * FROM sessions
         WHERE platform = :platform AND chat = :chat AND thread = :thread AND member = :member
           AND ended_at IS NULL
        """,
        {"platform": chat.platform, "chat": chat.id, "thread": chat.thread, "member": member},
    )
    return None if row is None else _session(row)


def in_use(rd: Reader, chat: Chat, named: str, member: str = "") -> Session | None:
    """What a chat talks in: its open session, else the `named` one that it was asked to go on with ("": none)."""
    own = current(rd, chat, member)
    return find(rd, named) if own is None and named else own


def open_in(rd: Reader, chat: Chat) -> list[Session]:
    """Every open session of a chat and thread: one, or one for each member."""
    rows = rd.rows(
        """
        SELECT * FROM sessions
         WHERE platform = :platform AND chat = :chat AND thread = :thread AND ended_at IS NULL
         ORDER BY id
        """,
        {"platform": chat.platform, "chat": chat.id, "thread": chat.thread},
    )
    return [_session(row) for row in rows]


def open_of(rd: Reader, person: str) -> list[Session]:
    """The open sessions in the private chats of this account."""
    rows = rd.rows(
        """
        SELECT sessions.* FROM chats
          JOIN sessions ON sessions.platform = chats.platform AND sessions.chat = chats.id
         WHERE chats.person = ? AND chats.person <> '' AND chats.private AND sessions.ended_at IS NULL
         ORDER BY sessions.id
        """,
        (person,),
    )
    return [_session(row) for row in rows]


def get(rd: Reader, id: str) -> Session:
    """The session with this id. Raises NotFound."""
    session = find(rd, id)
    if session is None:
        raise NotFound("session.unknown", id=id)
    return session


def find(rd: Reader, id: str) -> Session | None:
    """The session with this id, if there is one: it may have been deleted."""
    row = rd.row("SELECT * FROM sessions WHERE id = ?", (clean(id),))
    return None if row is None else _session(row)


def end(tx: Transaction, id: str, reason: str, at: datetime) -> bool:
    """True if this call was the one that ended it."""
    return tx.changed(
        "UPDATE sessions SET ended_at = :at, end_reason = :reason WHERE id = :id AND ended_at IS NULL",
        {"id": id, "reason": reason, "at": time_text(at)},
    )


def reopen(tx: Transaction, id: str, chat: Chat, member: str = "") -> bool:
    """Take up an ended session again, in this chat; end the chat's open one first. False if it is open.

    However long ago somebody spoke in it, it goes on with what is said next.
    """
    return tx.changed(
        """
        UPDATE sessions
           SET ended_at = NULL, end_reason = NULL, said_at = '',
               platform = :platform, chat = :chat, thread = :thread, member = :member
         WHERE id = :id AND ended_at IS NOT NULL
        """,
        {"id": id, "platform": chat.platform, "chat": chat.id, "thread": chat.thread, "member": member},
    )


def begin_turn(tx: Transaction, id: str, at: datetime, said_at: datetime | None = None) -> int:
    """Number the next user turn; incognito, it is never to be reviewed.

    `said_at`: when it was said, if not now; what was said later before it stays. What seems to have been said in
    the future was not: a clock has been put back since.
    """
    said = said_at or at
    row = tx.row(
        """
        UPDATE sessions
           SET turns = turns + 1, last_at = :at,
               last_due_turn = CASE incognito WHEN 1 THEN turns + 1 ELSE last_due_turn END,
               said_at = CASE WHEN turns = 0 OR said_at > :newest THEN :said ELSE max(said_at, :said) END
         WHERE id = :id
        RETURNING turns
        """,
        {"id": id, "at": time_text(at), "said": time_text(said), "newest": time_text(max(at, said))},
    )
    if row is None:
        raise NotFound("session.unknown", id=id)
    number: int = row["turns"]
    return number


def mark_due(tx: Transaction, id: str, turn: int) -> None:
    """Count all turns up to this one as seen to: a review is due for them, or they are not to have one."""
    tx.execute(
        "UPDATE sessions SET last_due_turn = max(last_due_turn, :turn) WHERE id = :id", {"id": id, "turn": turn}
    )


def unreviewed(rd: Reader, id: str) -> tuple[int, int] | None:
    """The first and the last of the finished turns for which no review was made due; None if none."""
    row = rd.row(
        """
        SELECT last_due_turn + 1 AS first, coalesce(
               (SELECT min(turn) - 1 FROM messages
                 WHERE session = sessions.id AND turn > last_due_turn AND role = 'user' AND done IS NULL),
               turns) AS last
          FROM sessions WHERE id = ?
        """,
        (id,),
    )
    return (row["first"], row["last"]) if row is not None and row["first"] <= row["last"] else None


def last_finished_turn(rd: Reader, id: str) -> int:
    """The newest turn before which none is still being answered; 0 before the first."""
    row = rd.row(
        """
        SELECT coalesce((SELECT min(turn) - 1 FROM messages
                          WHERE session = sessions.id AND turn > 0 AND role = 'user' AND done IS NULL),
                        turns) AS last
          FROM sessions WHERE id = ?
        """,
        (id,),
    )
    return int(row["last"]) if row is not None else 0


def quiet(rd: Reader, before: datetime) -> list[Session]:
    """Sessions, open or ended, that have unreviewed turns and began none since `before`."""
    rows = rd.rows(
        "SELECT * FROM sessions WHERE last_due_turn < turns AND last_at < ? ORDER BY last_at", (time_text(before),)
    )
    return [_session(row) for row in rows if unreviewed(rd, row["id"])]


def frozen_since(rd: Reader, space: int, at: datetime) -> list[str]:
    """The sessions of a space whose prompt was made at this moment or later."""
    rows = rd.rows(
        "SELECT id FROM sessions WHERE space = :space AND frozen_at >= :at", {"space": space, "at": time_text(at)}
    )
    return [row["id"] for row in rows]


def recent(rd: Reader, space: int | None, limit: int) -> list[SessionSummary]:
    """The sessions used last, of one space or (None) of all; incognito ones are in no list."""
    rows = rd.rows(
        f"""
        {_SUMMARY} WHERE incognito = 0 {"" if space is None else "AND space = :space"}
         ORDER BY last_at DESC
         LIMIT :limit
        """,
        {"space": space, "limit": limit},
    )
    return [_summary(row) for row in rows]


def listed(rd: Reader, ids: Sequence[str]) -> list[SessionSummary]:
    """These sessions as they are listed, in this order; those that are gone left out."""
    named = {"ids": strings_text([clean(id) for id in ids])}
    rows = rd.rows(f"{_SUMMARY} WHERE sessions.id IN (SELECT value FROM json_each(:ids))", named)
    found = {row["id"]: _summary(row) for row in rows}
    return [found[id] for id in ids if id in found]


def rename(tx: Transaction, id: str, title: str) -> None:
    """A person's title ("" takes it away: then the model may give one, see `titles`). Raises NotFound."""
    changed = tx.changed(
        """
        UPDATE sessions
           SET title = :title, title_by = CASE WHEN :title = '' THEN '' ELSE 'person' END,
               title_turn = CASE WHEN :title = '' THEN 0 ELSE title_turn END
         WHERE id = :id
        """,
        {"title": clean(title), "id": clean(id)},
    )
    if not changed:
        raise NotFound("session.unknown", id=id)


_SUMMARY = """
    SELECT sessions.*, spaces.name AS space_name,
           (SELECT count(*) FROM messages
             WHERE messages.session = sessions.id AND role IN ('user', 'assistant', 'tool')) AS messages
      FROM sessions JOIN spaces ON spaces.id = sessions.space
"""


def _session(row: sqlite3.Row) -> Session:
    return Session(
        id=row["id"],
        space=row["space"],
        chat=Chat(row["platform"], row["chat"], row["thread"]),
        member=row["member"],
        opened_at=time_of(row["opened_at"]),
        ended_at=optional_time_of(row["ended_at"]),
        system_prompt=row["system_prompt"],
        tools=row["tools"],
        generation=row["generation"],
        frozen_at=time_of(row["frozen_at"]),
        turns=row["turns"],
        last_at=time_of(row["last_at"]),
        title=row["title"],
        model=row["model"],
        said_at=optional_time_of(row["said_at"] or None),
        incognito=bool(row["incognito"]),
    )


def _summary(row: sqlite3.Row) -> SessionSummary:
    return SessionSummary(
        id=row["id"],
        title=row["title"],
        chat=Chat(row["platform"], row["chat"], row["thread"]),
        space=row["space_name"],
        started_at=time_of(row["opened_at"]),
        last_at=time_of(row["last_at"]),
        ended_at=optional_time_of(row["ended_at"]),
        messages=row["messages"],
    )
