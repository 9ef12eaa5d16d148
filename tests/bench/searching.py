"""Conversations to search in: English and Japanese, tools between, words that all have and words that one has.

Filled in bulk, with synchronising off, as `filling` does.
"""

import random
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from typing import Any

from gateway.store import search_index
from gateway.store.encoding import time_text
from gateway.store.transaction import Transaction

FIRST = datetime(2024, 1, 1, tzinfo=UTC)
SPACE = 1
MESSAGES_OF_A_SESSION = 400
AT_ONCE = 20_000

_SYLLABLES = tuple("ka ri to mo ne shi ra lo ve di pa su en ter con pro mis ing al or".split())  # noqa: SIM905
STOP = tuple("the a to of and in is it for on that with as we was by are this be at".split())  # noqa: SIM905
COMMON = (
    *("deploy", "server", "review", "project", "meeting", "design"),
    *("release", "customer", "budget", "error", "database", "kitchen"),
)
_KANJI = (
    "会議予算設計開発環境東京大阪顧客資料確認連絡変更機能計画実装"
    "品質管理売上人事研究電話写真料理旅行天気散歩映画音楽"
)
_KANA = "はがをにでとのもへや"
_ENDINGS = (
    "します",
    "しました",
    "したい",
    "してください",
    "でした",
    "です",
    "になる",
    "ですか",
    "だった",
    "かもしれない",
)
JAPANESE = ("会議", "予算", "設計", "東京", "確認")


@dataclass
class Writer:
    """Writes sentences. The same seed writes the same."""

    chance: random.Random

    def __post_init__(self) -> None:
        words = {"".join(self.chance.choices(_SYLLABLES, k=self.chance.randint(2, 4))) for _ in range(30_000)}
        self.words = sorted(words)
        self.chance.shuffle(self.words)
        self.weights = list(accumulate(1 / (rank + 20) for rank in range(len(self.words))))
        pairs = {"".join(self.chance.sample(_KANJI, 2)) for _ in range(1500)}
        self.nouns = [*JAPANESE, *sorted(pairs)]
        self.noun_weights = list(accumulate(1 / (rank + 5) for rank in range(len(self.nouns))))

    def english(self) -> str:
        """About 260 characters."""
        said: list[str] = []
        for word in self.chance.choices(self.words, cum_weights=self.weights, k=26):
            said += (word, self.chance.choice(STOP)) if self.chance.random() < 0.6 else (word,)
        if self.chance.random() < 0.35:
            said.insert(self.chance.randrange(len(said)), self.chance.choice(COMMON))
        return " ".join(said).capitalize() + "."

    def japanese(self) -> str:
        """About 260 characters, a Latin word now and then."""
        said = []
        for noun in self.chance.choices(self.nouns, cum_weights=self.noun_weights, k=46):
            said.append(noun + self.chance.choice(_KANA))
            if self.chance.random() < 0.25:
                said.append(self.chance.choice(_ENDINGS) + "。")
            elif self.chance.random() < 0.06:
                said.append(self.chance.choice((*COMMON, "GitLab")))
        return "".join(said)

    def text(self) -> str:
        return self.english() if self.chance.random() < 0.6 else self.japanese()


def fill(db: sqlite3.Connection, count: int, *, seed: int = 6) -> int:
    """So many messages of the owner's, indexed; the bytes of their text. Some facts are planted (`rare`)."""
    db.row_factory = sqlite3.Row
    writer = Writer(random.Random(seed))
    bytes_of_text = 0
    tx = Transaction(db)
    first: int = db.execute("SELECT last_sequence FROM spaces WHERE id = ?", (SPACE,)).fetchone()[0]
    rows: list[dict[str, Any]] = []
    for done, row in enumerate(_rows(writer, count, first), 1):
        rows.append(row)
        bytes_of_text += len(row["text"].encode())
        if len(rows) == AT_ONCE or done == count:
            _insert(db, rows)
            for one in rows:
                search_index.index(tx, one["id"])
            rows = []
            db.execute("COMMIT")
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            db.execute("BEGIN")
    db.execute("UPDATE spaces SET last_sequence = ? WHERE id = ?", (first + count, SPACE))
    for session in db.execute("SELECT session FROM searched_sessions").fetchall():
        search_index.digest(tx, session["session"])
    return bytes_of_text


def rare(number: int) -> str:
    """A word that one message has."""
    return f"quokka{number:05d}x"


def _rows(writer: Writer, count: int, first: int) -> Iterator[dict[str, Any]]:
    at = FIRST
    for number in range(count):
        at += timedelta(seconds=80)
        text = writer.text()
        if number % 500 == 7:
            text += f" {rare(number // 500)}"
        place = number % MESSAGES_OF_A_SESSION
        yield {
            "id": SPACE << 32 | first + number + 1,
            "role": ("user", "assistant", "user", "assistant", "tool")[place % 5],
            "text": text,
            "at": time_text(at),
            "session": f"20240101_{number // MESSAGES_OF_A_SESSION:06x}",
            "turn": place // 2 + 1,
            "first": place == 0,
        }


def _insert(db: sqlite3.Connection, rows: list[dict[str, Any]]) -> None:
    db.executemany(
        """
        INSERT INTO sessions (id, space, platform, chat, opened_at, ended_at, end_reason, system_prompt, tools,
                              frozen_at, turns, last_due_turn, last_at)
        VALUES (:session, 1, 'telegram', '1000', :at, :at, 'new', 'You are hikae.', '[]', :at, 200, 200, :at)
        """,
        [row for row in rows if row["first"]],
    )
    db.executemany(
        """
        INSERT INTO messages (id, platform, chat, person, role, text, at, session, turn, round, generation, done)
        VALUES (:id, 'telegram', '1000', iif(:role = 'user', 'telegram:1000', ''), :role, :text, :at, :session,
                :turn, 0, 1, iif(:role = 'user', 'answered', NULL))
        """,
        rows,
    )
