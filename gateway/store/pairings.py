"""Codes of people who are not let in yet. Who gets one, and what a yes does, is `conversation.pairing`.

Only the account is kept, never words. A code is undecided until the owner allows or ignores it, or it ends.
"""

import sqlite3
from datetime import datetime

from gateway.chat import Chat, Person
from gateway.records import Pairing
from gateway.store.encoding import optional_time_of, time_of, time_text
from gateway.store.transaction import Reader, Transaction


def ask(tx: Transaction, pairing: Pairing) -> None:
    """Keep a new code."""
    tx.execute(
        """
        INSERT INTO pairings (code, platform, id, chat, language, created_at, expires_at)
        VALUES (:code, :platform, :id, :chat, :language, :created_at, :expires_at)
        """,
        {
            **_who(pairing.person),
            "code": pairing.code,
            "chat": pairing.chat.id,
            "language": pairing.language,
            "created_at": time_text(pairing.created_at),
            "expires_at": time_text(pairing.expires_at),
        },
    )


def current(rd: Reader, person: Person, now: datetime) -> Pairing | None:
    """The code of this account that has not ended yet, decided or not."""
    row = rd.row(
        """
        SELECT * FROM pairings WHERE platform = :platform AND id = :id AND expires_at > :now
         ORDER BY created_at DESC LIMIT 1
        """,
        {**_who(person), "now": time_text(now)},
    )
    return None if row is None else _pairing(row)


def waiting(rd: Reader, now: datetime) -> list[Pairing]:
    """The codes that wait for the owner, oldest first."""
    rows = rd.rows(
        "SELECT * FROM pairings WHERE decided_at IS NULL AND expires_at > ? ORDER BY created_at, code",
        (time_text(now),),
    )
    return [_pairing(row) for row in rows]


def find(rd: Reader, code: str) -> Pairing | None:
    """The pairing with this code, however it stands."""
    row = rd.row("SELECT * FROM pairings WHERE code = ?", (code,))
    return None if row is None else _pairing(row)


def asked_since(rd: Reader, person: Person, since: datetime) -> int:
    """How many codes this account was given since then."""
    row = rd.row(
        "SELECT count(*) AS asked FROM pairings WHERE platform = :platform AND id = :id AND created_at > :since",
        {**_who(person), "since": time_text(since)},
    )
    return 0 if row is None else int(row["asked"])


def ignored_since(rd: Reader, person: Person, since: datetime) -> bool:
    """Whether the owner decided about this account since then (and, as it asks again, did not let it in)."""
    row = rd.row(
        "SELECT 1 FROM pairings WHERE platform = :platform AND id = :id AND decided_at > :since LIMIT 1",
        {**_who(person), "since": time_text(since)},
    )
    return row is not None


def decide(tx: Transaction, code: str, at: datetime) -> bool:
    """True if this call was the one that decided, in time."""
    return tx.changed(
        "UPDATE pairings SET decided_at = :at WHERE code = :code AND decided_at IS NULL AND expires_at > :at",
        {"code": code, "at": time_text(at)},
    )


def ignore(tx: Transaction, code: str, at: datetime) -> bool:
    """Decide with a no. True if this call was the one that decided, in time."""
    if not decide(tx, code, at):
        return False
    tx.execute("UPDATE pairings SET ignored_at = decided_at WHERE code = ?", (code,))
    return True


def ignored(rd: Reader) -> list[Pairing]:
    """Whom the owner ignored, as far as that is still kept: the newest code of each account, newest first."""
    rows = rd.rows(
        """
        SELECT * FROM pairings AS asked
         WHERE ignored_at IS NOT NULL
           AND NOT EXISTS (SELECT 1 FROM pairings AS later
                            WHERE later.platform = asked.platform AND later.id = asked.id
                              AND later.created_at > asked.created_at)
         ORDER BY ignored_at DESC, code
        """
    )
    return [_pairing(row) for row in rows]


def take_back(tx: Transaction, person: Person) -> None:
    """An account is ignored no more."""
    tx.execute("UPDATE pairings SET ignored_at = NULL WHERE platform = :platform AND id = :id", _who(person))


def drop_before(tx: Transaction, before: datetime) -> None:
    """Forget who asked before then and was not let in."""
    tx.execute("DELETE FROM pairings WHERE created_at < ?", (time_text(before),))


def _who(person: Person) -> dict[str, object]:
    return {"platform": person.platform, "id": person.id}


def _pairing(row: sqlite3.Row) -> Pairing:
    return Pairing(
        code=row["code"],
        person=Person(row["platform"], row["id"]),
        chat=Chat(row["platform"], row["chat"]),
        created_at=time_of(row["created_at"]),
        expires_at=time_of(row["expires_at"]),
        decided_at=optional_time_of(row["decided_at"]),
        ignored_at=optional_time_of(row["ignored_at"]),
        language=row["language"],
    )
