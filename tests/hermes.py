"""The home of a Hermes Agent 0.19 as far as an import looks at it, made for tests."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

LONG_AGO = datetime(2026, 3, 1, 9, 0, 7, tzinfo=UTC)

TABLES = """
    CREATE TABLE schema_version (version INTEGER NOT NULL);
    CREATE TABLE sessions (
        id TEXT PRIMARY KEY, source TEXT NOT NULL, user_id TEXT, model TEXT, model_config TEXT, system_prompt TEXT,
        parent_session_id TEXT, started_at REAL NOT NULL, ended_at REAL, end_reason TEXT,
        message_count INTEGER DEFAULT 0, title TEXT, archived INTEGER NOT NULL DEFAULT 0
    );
    CREATE TABLE messages (
        id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL REFERENCES sessions(id), role TEXT NOT NULL,
        content TEXT, tool_call_id TEXT, tool_calls TEXT, tool_name TEXT, timestamp REAL NOT NULL,
        observed INTEGER DEFAULT 0, _compressed_summary INTEGER NOT NULL DEFAULT 0,
        active INTEGER NOT NULL DEFAULT 1, compacted INTEGER NOT NULL DEFAULT 0, display_kind TEXT
    );
    CREATE VIRTUAL TABLE messages_fts USING fts5(content, content='messages', content_rowid='id');
    CREATE TRIGGER messages_fts_insert AFTER INSERT ON messages BEGIN
        INSERT INTO messages_fts(rowid, content) VALUES (new.id, new.content);
    END;
"""


class HermesHome:
    """A folder with what such a bot keeps."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.mkdir(parents=True, exist_ok=True)

    @property
    def state_db(self) -> Path:
        return self.path / "state.db"

    def remembers(self, *texts: str, name: str = "MEMORY.md", folder: str = "memories") -> Path:
        """Entries as that bot writes them."""
        return self.file(f"{folder}/{name}" if folder else name, "\n§\n".join(texts))

    def file(self, path: str, text: str | bytes) -> Path:
        file = self.path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        return file

    def skill(self, folder: str, text: str) -> Path:
        return self.file(f"skills/{folder}/SKILL.md", text)

    def talk(self, id: str, *said: tuple[str, str], source: str = "telegram", title: str | None = None) -> None:
        """A conversation of these roles and texts, a minute apart."""
        with self.database() as db:
            begun = LONG_AGO.timestamp()
            db.execute(
                "INSERT OR IGNORE INTO sessions (id, source, started_at, title) VALUES (?, ?, ?, ?)",
                (id, source, begun, title),
            )
            count = db.execute("SELECT count(*) FROM messages WHERE session_id = ?", (id,)).fetchone()[0]
            for number, (role, content) in enumerate(said, count):
                at = begun + 60 * number
                db.execute(
                    "INSERT INTO messages (session_id, role, content, timestamp) VALUES (?, ?, ?, ?)",
                    (id, role, content, at),
                )

    @contextmanager
    def database(self) -> Iterator[sqlite3.Connection]:
        """Its database, made when it is new; what is done in the block is committed."""
        new = not self.state_db.exists()
        db = sqlite3.connect(self.state_db, isolation_level=None)
        try:
            db.execute("PRAGMA journal_mode = WAL")
            if new:
                db.executescript(TABLES)
            yield db
        finally:
            db.close()


def at(minutes: int) -> datetime:
    """When the message of this number was said."""
    return LONG_AGO + timedelta(minutes=minutes)
