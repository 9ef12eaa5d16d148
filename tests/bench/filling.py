"""Years of use in a minute: rows as hikae leaves them, put into a home's database in bulk.

Synchronising is off while it fills; nothing else may have the home open.
"""

import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

from gateway.core import open_core
from gateway.home import Home
from gateway.store import people, search_index
from gateway.store.encoding import time_text
from gateway.store.transaction import Transaction

OWNER = 1000
FIRST_PERSON = 100_000
"""Telegram's id of the first of the people that are filled in."""
TURNS_OF_A_SESSION = 50
AT_ONCE = 50_000
LONG_AGO = datetime(2025, 1, 1, tzinfo=UTC)
PROMPT = "You are hikae. " * 200

_chance = random.Random(20261130)
_WORDS = ["".join(_chance.choices("abcdefghijklmnopqrstuvwxyz", k=_chance.randint(3, 9))) for _ in range(5000)]


@contextmanager
def filling(home: Home) -> Iterator[sqlite3.Connection]:
    """The database of a home, with the owner's space in it."""
    core = open_core(home)
    with core.db.write() as tx:
        people.ensure_space(tx, "owner", "owner", "owner", LONG_AGO)
    core.close()
    with closing(sqlite3.connect(home.state_db, isolation_level=None)) as db:
        db.row_factory = sqlite3.Row
        db.executescript("PRAGMA synchronous = OFF; PRAGMA cache_size = -200000; BEGIN")
        yield db
        db.execute("COMMIT")
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


def known_people(db: sqlite3.Connection, count: int) -> list[int]:
    """People with a private chat and an open session each; the numbers of their spaces."""
    at = time_text(LONG_AGO)
    first: int = db.execute("SELECT max(id) + 1 FROM spaces").fetchone()[0]
    ids = [(first + number, str(FIRST_PERSON + first + number)) for number in range(count)]
    db.executemany(
        "INSERT INTO spaces (id, name, kind, whose, created_at) VALUES (?, 'telegram-' || ?2, 'person', ?2, ?)",
        [(space, person, at) for space, person in ids],
    )
    db.executemany(
        """
        INSERT INTO people (platform, id, role, space, since, greeted_at)
        VALUES ('telegram', ?, 'allowed', ?, ?, ?)
        """,
        [(person, space, at, at) for space, person in ids],
    )
    db.executemany(
        """
        INSERT INTO chats (platform, id, space, private, person, last_at)
        VALUES ('telegram', ?1, ?2, 1, 'telegram:' || ?1, ?3)
        """,
        [(person, space, at) for space, person in ids],
    )
    _sessions(db, [(f"20250101_open_{space:06x}", space, person, None) for space, person in ids], turns=0)
    return [space for space, _ in ids]


def waiting_messages(db: sqlite3.Connection, spaces: list[int], each: int) -> None:
    """Messages that were kept and not answered yet, so many in the chat of each space."""
    db.executemany(
        """
        INSERT INTO messages (id, platform, chat, person, role, text, at, platform_id)
        VALUES (?1 << 32 | ?3, 'telegram', ?2, 'telegram:' || ?2, 'user', 'hello', ?4, ?3)
        """,
        [
            (space, str(FIRST_PERSON + space), sequence, time_text(LONG_AGO))
            for sequence in range(1, each + 1)
            for space in spaces
        ],
    )
    db.executemany("UPDATE spaces SET last_sequence = ? WHERE id = ?", [(each, space) for space in spaces])


def stored_messages(db: sqlite3.Connection, count: int) -> None:
    """Finished turns with all that they leave; half of them the owner's, the rest 99 people's."""
    spaces = known_people(db, 99)
    sequence = dict.fromkeys((1, *spaces), 0)
    turn, at = 0, LONG_AGO
    while turn < count // 2:
        rows: list[dict[str, Any]] = []
        for _ in range(AT_ONCE // 2):
            session = turn // TURNS_OF_A_SESSION
            space = 1 if session % 2 else spaces[session // 2 % len(spaces)]
            chat = str(OWNER if space == 1 else FIRST_PERSON + space)
            at += timedelta(seconds=40)
            common = {
                "chat": chat,
                "space": space,
                "session": f"20250101_{session:06x}",
                "turn": turn % TURNS_OF_A_SESSION + 1,
                "at": time_text(at),
            }
            question = space << 32 | sequence[space] + 1
            sequence[space] += 2
            rows += (
                {**common, "id": question, "role": "user", "answers": None, "platform_id": f"old-{turn}"},
                {**common, "id": question + 1, "role": "assistant", "answers": question, "platform_id": None},
            )
            turn += 1
            if turn == count // 2:
                break
        _turns(db, rows)
    db.executemany(
        "UPDATE spaces SET last_sequence = ? WHERE id = ?", [(n, space) for space, n in sequence.items()]
    )


def _turns(db: sqlite3.Connection, rows: list[dict[str, Any]]) -> None:
    for row in rows:
        row["text"] = " ".join(_chance.choices(_WORDS, k=12))
        row["person"] = f"telegram:{row['chat']}" if row["role"] == "user" else ""
    answers = [row for row in rows if row["role"] == "assistant"]
    begun = [(row["session"], row["space"], row["chat"], row["at"]) for row in answers if row["turn"] == 1]
    _sessions(db, begun, turns=TURNS_OF_A_SESSION)
    db.executemany(
        """
        INSERT INTO messages (id, platform, chat, person, role, text, stamp, at, session, turn, round, generation,
                              platform_id, answers, done, done_at)
        VALUES (:id, 'telegram', :chat, :person, :role, :text, '[Mon 2025-01-06 09:00] ', :at, :session, :turn,
                :answers IS NOT NULL, 1, :platform_id, :answers,
                iif(:answers IS NULL, 'answered', NULL), iif(:answers IS NULL, :at, NULL))
        """,
        rows,
    )
    for row in rows:
        search_index.index(Transaction(db), row["id"])
    db.executemany(
        """
        INSERT INTO outbox (id, dedupe, kind, platform, chat, space, token, message, status, due_at, created_at,
                            delivered_at)
        VALUES (:id, 'reply-' || :answers, 'reply', 'telegram', :chat, :space, 'abcdefghijkl', :id, 'delivered',
                :at, :at, :at)
        """,
        answers,
    )
    db.executemany(
        "INSERT INTO chunks (outgoing, position, text, platform_id, delivered_at) VALUES (:id, 0, '', :turn, :at)",
        answers,
    )
    db.executemany(
        """
        INSERT INTO usage (at, task, session, space, model, input, output, cached)
        VALUES (:at, 'chat', :session, :space, 'bench', 1000, 20, 900)
        """,
        answers,
    )

    db.executemany(
        """
        INSERT INTO reviews (session, turn, first_turn, space, status, cause, attempts, created_at, ended_at)
        VALUES (:session, :turn, :turn - 9, :space, 'done', 'interval', 1, :at, :at)
        """,
        [row for row in answers if row["turn"] % 10 == 0],
    )
    db.executemany(
        """
        INSERT INTO writes (dedupe, space, kind, target, operations, origin, evidence, status, message, session,
                            created_at, decided_by, decided_at, applied_at)
        VALUES ('turn-' || :answers, :space, 'memory', 'memory',
                '[{"action": "add", "content": "' || :text || '", "old_text": ""}]', 'foreground', :answers,
                'applied', :answers, :session, :at, 'policy', :at, :at)
        """,
        [row for row in answers if row["turn"] % 20 == 0],
    )


def _sessions(db: sqlite3.Connection, begun: list[tuple[str, int, str, str | None]], *, turns: int) -> None:
    """Reviewed to their end; one that has no end is open."""
    db.executemany(
        """
        INSERT INTO sessions (id, space, platform, chat, opened_at, ended_at, end_reason, system_prompt, tools,
                              frozen_at, turns, last_due_turn, last_at)
        VALUES (:id, :space, 'telegram', :chat, :at, :ended, iif(:ended IS NULL, NULL, 'new'), :prompt, '[]', :at,
                :turns, :turns, :at)
        """,
        [
            {
                "id": id,
                "space": space,
                "chat": chat,
                "ended": ended,
                "at": ended or time_text(LONG_AGO),
                "prompt": PROMPT,
                "turns": turns,
            }
            for id, space, chat, ended in begun
        ],
    )
