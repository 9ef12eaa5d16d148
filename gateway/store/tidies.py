"""Which memory files are to be tidied, and how far that is. Redis only wakes a worker; this is what is due.

A file has at most one tidy that is due or running. A claim names the lock of the job that runs it, as a review's
does: when that lock is free, its process is dead and the claim is `void`; the lease only ends a worker that hangs.
"""

import sqlite3
from datetime import datetime

from gateway.chat import Chat
from gateway.records import Target, Tidy
from gateway.store.encoding import optional_time_of, time_of, time_text
from gateway.store.transaction import Reader, Transaction


def make_due(
    tx: Transaction, id: str, space: int, target: Target, cause: str, chat: Chat | None, content: str, at: datetime
) -> bool:
    """Make the tidy of a file due. False where one is due or running already, or was made under this id.

    That one then answers whoever asks last: its `cause` and its chat are theirs.
    """
    where = chat or Chat("", "")
    values = {
        "id": id,
        "space": space,
        "target": target,
        "cause": cause,
        "platform": where.platform,
        "chat": where.id,
        "thread": where.thread,
        "content": content,
        "at": time_text(at),
    }
    if cause == "asked":
        tx.execute(
            """
            UPDATE tidies
               SET cause = :cause, platform = :platform, chat = :chat, thread = :thread,
                   retry_at = CASE WHEN reason = 'daily_tokens' THEN NULL ELSE retry_at END
             WHERE space = :space AND target = :target AND status IN ('due', 'running')
            """,
            values,
        )
    return tx.changed(
        """
        INSERT INTO tidies (id, space, target, status, cause, platform, chat, thread, content, created_at)
        VALUES (:id, :space, :target, 'due', :cause, :platform, :chat, :thread, :content, :at)
            ON CONFLICT DO NOTHING
        """,
        values,
    )


def find(rd: Reader, id: str) -> Tidy | None:
    return next(iter(_some(rd, "id = :id", id=id)), None)


def newest(rd: Reader, space: int, target: Target) -> Tidy | None:
    """The tidy of a file that was made due last."""
    found = _some(rd, "space = :space AND target = :target", space=space, target=target)
    return found[-1] if found else None


def due(rd: Reader, now: datetime) -> list[Tidy]:
    """What can be claimed now, oldest first."""
    waiting = _some(rd, "status = 'due' AND (retry_at IS NULL OR retry_at <= :now)", now=time_text(now))
    hanging = _some(rd, "status = 'running' AND lease_until <= :now", now=time_text(now))
    return sorted(waiting + hanging, key=lambda tidy: (tidy.created_at, tidy.id))


def running(rd: Reader) -> list[Tidy]:
    """What somebody has claimed, be it dead or alive."""
    return _some(rd, "status = 'running'")


def claim(tx: Transaction, id: str, claim: str, lease_until: datetime, now: datetime) -> Tidy | None:
    """Take a tidy for a while. None: it is done, somebody else has it, or its time has not come."""
    ours = tx.changed(
        """
        UPDATE tidies
           SET status = 'running', claim = :claim, lease_until = :lease_until, attempts = attempts + 1,
               retry_at = NULL, reason = ''
         WHERE id = :id AND (status = 'due' AND (retry_at IS NULL OR retry_at <= :now)
                             OR status = 'running' AND lease_until <= :now)
        """,
        {"id": id, "claim": claim, "lease_until": time_text(lease_until), "now": time_text(now)},
    )
    return find(tx, id) if ours else None


def void(tx: Transaction, id: str, claim: str) -> bool:
    """running -> due: the claimer is dead."""
    return tx.changed(
        f"UPDATE tidies SET status = 'due', claim = '', lease_until = NULL WHERE {_OURS}",
        {"id": id, "claim": claim},
    )


def finish(tx: Transaction, id: str, claim: str, content: str, at: datetime) -> bool:
    """running -> done. False: the claim is no longer ours, and nothing that was thought may be committed.

    `content` is the SHA-256 of the file as the tidy leaves it.
    """
    return tx.changed(
        f"UPDATE tidies SET status = 'done', lease_until = NULL, content = :content, ended_at = :at WHERE {_OURS}",
        {"id": id, "claim": claim, "content": content, "at": time_text(at)},
    )


def put_back(tx: Transaction, id: str, claim: str, reason: str, retry_at: datetime) -> bool:
    """running -> due, not before `retry_at`. `reason` is a word for the operator."""
    return tx.changed(
        f"""
        UPDATE tidies
           SET status = 'due', claim = '', lease_until = NULL, reason = :reason, retry_at = :retry_at
         WHERE {_OURS}
        """,
        {"id": id, "claim": claim, "reason": reason, "retry_at": time_text(retry_at)},
    )


def fail(tx: Transaction, id: str, claim: str, reason: str, at: datetime) -> bool:
    """running -> failed. Whoever asked is told by the same transaction."""
    return tx.changed(
        f"UPDATE tidies SET status = 'failed', lease_until = NULL, reason = :reason, ended_at = :at WHERE {_OURS}",
        {"id": id, "claim": claim, "reason": reason, "at": time_text(at)},
    )


def full_files(rd: Reader, target: Target, chars: int) -> list[int]:
    """The spaces in use whose file of this kind held at least so many characters when it was last read or written.

    A few more, since blanks between entries count here.
    """
    rows = rd.rows(
        """
        SELECT space FROM known_files JOIN spaces ON spaces.id = known_files.space
         WHERE target = :target AND length(text) >= :chars AND closed_at IS NULL
         ORDER BY space
        """,
        {"target": target, "chars": chars},
    )
    return [int(row["space"]) for row in rows]


_OURS = "id = :id AND status = 'running' AND claim = :claim"


def _some(rd: Reader, where: str, **parameters: object) -> list[Tidy]:
    rows = rd.rows(f"SELECT * FROM tidies WHERE {where} ORDER BY created_at, id", parameters)
    return [_tidy(row) for row in rows]


def _tidy(row: sqlite3.Row) -> Tidy:
    return Tidy(
        id=row["id"],
        space=row["space"],
        target=Target(row["target"]),
        status=row["status"],
        cause=row["cause"],
        chat=Chat(row["platform"], row["chat"], row["thread"]) if row["platform"] else None,
        content=row["content"],
        attempts=row["attempts"],
        claim=row["claim"],
        lease_until=optional_time_of(row["lease_until"]),
        retry_at=optional_time_of(row["retry_at"]),
        reason=row["reason"],
        created_at=time_of(row["created_at"]),
    )
