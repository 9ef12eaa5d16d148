"""Reading the state.db of a Hermes Agent: sessions and messages, as far as there are any to be read.

Nothing is opened for writing there, not even by SQLite, which would make a -shm file beside a WAL database. What
is read is a copy of our own, without a name as soon as it is open. The file may belong to a running bot, an older
or newer version, or somebody hostile: every value is looked at before it is believed.
"""

import contextlib
import json
import math
import os
import shutil
import sqlite3
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from gateway.errors import Refused
from gateway.store import textfile
from gateway.store.encoding import clean

MOST_BYTES = 8 << 30
"""Of a state.db. A larger one would fill the disk a second time."""
MOST_MESSAGE_CHARS = 200_000
_TRIES = 5
_FIRST_POSSIBLE = datetime(2000, 1, 1, tzinfo=UTC).timestamp()
_JSON = ("\x00json:", "\x01json:")
"""What stands before a text that has several parts, in older and newer versions."""


class NotReadable(Refused):
    """This state.db cannot be read."""


@dataclass(frozen=True, slots=True)
class ForeignSession:
    """One conversation as it is kept there."""

    id: str = field(repr=False)
    source: str
    title: str = field(repr=False)
    model: str
    started_at: datetime | None
    ended_at: datetime | None


@dataclass(frozen=True, slots=True)
class ForeignMessage:
    """One thing that a person or the model said in it."""

    id: int
    is_person: bool
    text: str = field(repr=False)
    at: datetime | None
    cut: bool = False
    """Whether there was more of it than we keep."""


@contextlib.contextmanager
def opened(path: Path, scratch: Path, now: datetime) -> Iterator["ForeignStore"]:
    """The database as it is at this moment. `scratch`: a folder of our own. Raises NotReadable."""
    clear(scratch)
    textfile.make_private_folder(scratch)
    try:
        connection = _connected(path, scratch)
        with contextlib.closing(connection), _translated():
            yield ForeignStore(connection, now)
    finally:
        clear(scratch)


def clear(scratch: Path) -> None:
    """Take away what an import that was killed has left: it is full of somebody's words."""
    shutil.rmtree(scratch, ignore_errors=True)


def _connected(path: Path, scratch: Path) -> sqlite3.Connection:
    copy = scratch / "copy.db"
    _copy(path, copy)
    with _translated():
        connection = sqlite3.connect(copy, isolation_level=None)  # noqa: TID251 - a copy of another program's
        try:
            connection.row_factory = sqlite3.Row
            connection.text_factory = _text
            connection.executescript("PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON;")
            connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()  # takes up the WAL
            connection.execute("PRAGMA journal_mode = DELETE")
            connection.execute("PRAGMA query_only = ON")
        except BaseException:
            connection.close()
            raise
    copy.unlink()  # a kill from here on leaves nothing behind
    return connection


def _copy(path: Path, to: Path) -> None:
    """Copy the database with what is still in its WAL or its journal, all of one moment."""
    files = [path, *(path.with_name(f"{path.name}-{kind}") for kind in ("wal", "journal"))]
    for _ in range(_TRIES):
        before = [_seen(file) for file in files]
        if before[0] is None:
            raise NotReadable("import.db_odd")
        if sum(each[2] for each in before if each) > MOST_BYTES:
            raise NotReadable("import.db_large")
        for file, seen in zip(files, before, strict=True):
            copy = to.with_name(file.name.replace(path.name, to.name, 1))
            textfile.remove(copy)
            if seen is not None:
                textfile.copy_private(file, copy)
        if [_seen(file) for file in files] == before:
            return
    raise NotReadable("import.db_busy")


def _seen(path: Path) -> tuple[int, int, int] | None:
    """What would be different if somebody had written; None for what is no plain file."""
    try:
        status = path.lstat()
    except OSError:
        return None
    return (status.st_ino, status.st_mtime_ns, status.st_size) if stat.S_ISREG(status.st_mode) else None


@contextlib.contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except (sqlite3.Error, OverflowError, MemoryError) as error:
        raise NotReadable("import.db_damaged") from error


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


@dataclass(frozen=True, slots=True)
class ForeignStore:
    """The copy, open."""

    connection: sqlite3.Connection
    now: datetime

    def sessions(self) -> list[ForeignSession]:
        """Every conversation, the oldest first. What lacks a column that we know is read without it."""
        wanted = ("id", "source", "title", "model", "started_at", "ended_at")
        columns = self._columns("sessions", wanted)
        if "id" not in columns:
            raise NotReadable("import.db_unknown")
        rows = self.connection.execute(f"SELECT {', '.join(columns)} FROM sessions ORDER BY rowid").fetchall()
        found = [self._session(dict(row)) for row in rows]
        return sorted((one for one in found if one.id), key=lambda one: one.started_at or self.now)

    def _session(self, row: dict[str, object]) -> ForeignSession:
        return ForeignSession(
            id=_words(row.get("id")),
            source=_words(row.get("source")),
            title=" ".join(_words(row.get("title")).split())[:200],
            model=_words(row.get("model")),
            started_at=self._time(row.get("started_at")),
            ended_at=self._time(row.get("ended_at")),
        )

    def messages(self, session: str, after: int) -> Iterator[ForeignMessage]:
        """What was said in a session, in order, later than the message with this number.

        Without results of tools, without what was taken back there, and without summaries and hidden instructions.
        """
        wanted = ("id", "session_id", "role", "content", "timestamp")
        known = self._columns("messages", (*wanted, "active", "compacted", "_compressed_summary", "display_kind"))
        if not {"id", "session_id", "role", "content"} <= set(known):
            raise NotReadable("import.db_unknown")
        rows = self.connection.execute(
            f"""
            SELECT {", ".join(known)} FROM messages
             WHERE session_id = :session AND id > :after AND role IN ('user', 'assistant')
             ORDER BY id
            """,
            {"session": session, "after": after},
        )
        for row in rows:
            if _was_said(fields := dict(row)):
                text = _words(fields["content"])
                whole = _plain(text).strip()
                number = fields["id"]
                if whole and isinstance(number, int):
                    yield ForeignMessage(
                        id=number,
                        is_person=fields["role"] == "user",
                        text=whole[:MOST_MESSAGE_CHARS],
                        at=self._time(fields.get("timestamp")),
                        cut=len(whole) > MOST_MESSAGE_CHARS,
                    )

    def count(self, session: str, after: int) -> int:
        """How many of these there are."""
        return sum(1 for _ in self.messages(session, after))

    def _columns(self, table: str, wanted: Sequence[str]) -> list[str]:
        """Those of these columns that a table has; of a view or a virtual table none."""
        kind = self.connection.execute(
            "SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = ?", (table,)
        ).fetchone()
        if kind is None or "virtual" in str(kind["sql"]).lower().split("(")[0]:
            return []
        rows = self.connection.execute("SELECT name FROM pragma_table_info(?)", (table,)).fetchall()
        there = {str(row["name"]) for row in rows}
        return [name for name in wanted if name in there]

    def _time(self, value: object) -> datetime | None:
        """An instant between the year 2000 and now; anything else is a damaged value."""
        if isinstance(value, str):
            with contextlib.suppress(ValueError):
                read = datetime.fromisoformat(value)
                value = (read if read.tzinfo else read.replace(tzinfo=UTC)).timestamp()
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            return None
        if not _FIRST_POSSIBLE <= value <= self.now.timestamp():
            return None
        return datetime.fromtimestamp(value, UTC)


def _was_said(row: dict[str, object]) -> bool:
    taken_back = row.get("active", 1) == 0 and row.get("compacted", 0) != 1
    return not taken_back and row.get("_compressed_summary", 0) != 1 and row.get("display_kind") != "hidden"


def _words(value: object) -> str:
    return clean(value) if isinstance(value, str) else ""


def _plain(content: str) -> str:
    """The text of a message; of one with several parts those that are text."""
    prefix = next((each for each in _JSON if content.startswith(each)), "")
    if not prefix:
        return content
    try:
        parts = json.loads(content.removeprefix(prefix))
    except (ValueError, RecursionError):
        return ""
    if isinstance(parts, str):
        return parts
    found = (part.get("text") for part in parts if isinstance(part, dict)) if isinstance(parts, list) else ()
    return clean("\n".join(text for text in found if isinstance(text, str)))


def there(path: Path) -> bool:
    """Whether anything has the name of a database."""
    return os.path.lexists(path)
