"""What transcripts are found by: the index of messages, and of what whole sessions are about.

`message_words` and `session_words` are contentless: they must be told the same tokens when something is taken out
as when it went in. So both are made here from the rows as they are kept: `index` after a row has changed, `unindex`
before. Which messages are in is what `message_places` says; the numbers there are those of `searched_sessions`.

A home whose index is missing or was made by another version of `search_fold` is indexed anew in slices, beside what
it does otherwise; `unindexed` says what is still to be done. Without FTS5 messages are kept all the same. What is
done now and then is `search_upkeep`; finding is `search`.
"""

import json
import logging
import sqlite3
from collections.abc import Iterator

from gateway.records import Message, Role
from gateway.store import search_fold
from gateway.store.encoding import time_of, tool_calls_text
from gateway.store.migrating import has_fts5
from gateway.store.transaction import Reader, Transaction

log = logging.getLogger(__name__)

SEARCHED = (Role.USER, Role.ASSISTANT, Role.TOOL)
AT_THE_START = 2_000
"""So many messages are indexed anew while a home is opened; more would keep people waiting."""
MOST_OF_A_SESSION = 2_000
DAY_SECONDS = 86_400
OWN_TOOL = "session_search"
"""What it is asked and what it finds is not found again: soon there would be nothing else."""

_TABLES = """
    CREATE VIRTUAL TABLE message_words
     USING fts5 (text, content = '', columnsize = 0, tokenize = "ascii tokenchars '~+#'");
    CREATE VIRTUAL TABLE session_words
     USING fts5 (text, content = '', columnsize = 0, detail = none, tokenize = "ascii tokenchars '~+#'");
"""
_ANEW = """
    DROP TABLE IF EXISTS message_words;
    DROP TABLE IF EXISTS session_words;
    DELETE FROM message_places;
    DELETE FROM message_days;
    DELETE FROM searched_sessions;
    DELETE FROM unindexed;
    DELETE FROM search_state;
"""


def index(tx: Transaction, id: int) -> None:
    """Make a message findable, as it is kept."""
    row = _row(tx, id)
    if row is None or is_degraded(tx):
        return
    session = _number(tx, row["session"], growing=True)
    seconds = int(time_of(row["at"]).timestamp())
    tx.execute("INSERT INTO message_words (rowid, text) VALUES (?, ?)", (id, _document(row)))
    tx.execute("INSERT INTO message_places (id, session, at) VALUES (?, ?, ?)", (id, session, seconds))
    tx.execute(
        """
        INSERT INTO message_days (space, day, first, last) VALUES (:space, :day, :id, :id)
            ON CONFLICT DO UPDATE SET first = min(first, :id), last = max(last, :id)
         WHERE :id < first OR :id > last
        """,
        {"space": id >> 32, "day": seconds // DAY_SECONDS, "id": id},
    )


def unindex(tx: Transaction, id: int) -> None:
    """Take a message out, while it still is as it was indexed. What its session is about is thrown away, too.

    Its words stay in the pages of the index until they are merged away, which is noted here; that somebody should
    do it soon is `search_upkeep.ask_for_sweep`.
    """
    if not tx.changed("DELETE FROM message_places WHERE id = ?", (id,)):
        return
    row = _row(tx, id)
    if row is None:
        return
    tx.execute(
        "INSERT INTO message_words (message_words, rowid, text) VALUES ('delete', ?, ?)", (id, _document(row))
    )
    tx.execute("UPDATE search_state SET taken = taken + 1")
    if row["session"]:
        drop_digest(tx, row["session"])


def unindex_session(tx: Transaction, session: str) -> None:
    """Take out everything of a session, before it is deleted."""
    rows = tx.rows("SELECT id FROM messages WHERE session = ? ORDER BY id", (session,))
    for row in rows:
        unindex(tx, row["id"])
    drop_digest(tx, session)
    tx.execute("DELETE FROM searched_sessions WHERE session = ?", (session,))


def joins(tx: Transaction, id: int, session: str) -> None:
    """A message that waited belongs to a session from now on. One said while another was incognito is new here."""
    known = tx.changed(
        "UPDATE message_places SET session = :session WHERE id = :id",
        {"id": id, "session": _number(tx, session, growing=True)},
    )
    if not known:
        index(tx, id)


def drop_digest(tx: Transaction, session: str) -> None:
    """Forget what a session is about; it is looked at again later."""
    row = tx.row(
        """
        SELECT number, words, sessions.space AS space
          FROM searched_sessions JOIN sessions ON sessions.id = searched_sessions.session
         WHERE session = ?
        """,
        (session,),
    )
    if row is None:
        return
    if row["words"]:
        tx.execute(
            "INSERT INTO session_words (session_words, rowid, text) VALUES ('delete', ?, ?)",
            (row["space"] << 32 | row["number"], row["words"]),
        )
    tx.execute("UPDATE searched_sessions SET words = '', stale = 1 WHERE number = ?", (row["number"],))


def digest(tx: Transaction, session: str) -> None:
    """Look at what a session is about."""
    drop_digest(tx, session)
    rows = _rows_of(tx, session)
    row = tx.row(
        """
        SELECT number, sessions.space AS space
          FROM searched_sessions JOIN sessions ON sessions.id = searched_sessions.session
         WHERE session = ?
        """,
        (session,),
    )
    if row is None:
        return
    words = " ".join(search_fold.frequent([_document(one) for one in rows]))
    if words:
        tx.execute(
            "INSERT INTO session_words (rowid, text) VALUES (?, ?)", (row["space"] << 32 | row["number"], words)
        )
    ids = [one["id"] for one in rows] or [0]
    tx.execute(
        """
        UPDATE searched_sessions SET words = :words, first = :first, last = :last, stale = 0 WHERE number = :number
        """,
        {"words": words, "first": min(ids), "last": max(ids), "number": row["number"]},
    )


def words_of(text: str, calls: str) -> str:
    """Everything that can be found of a message: what was said, and with what tools were called."""
    return text if calls == "[]" else "\n".join((text, *_words_of_calls(calls)))


def words_of_message(message: Message) -> str:
    """The same of a record."""
    return words_of(message.text, tool_calls_text(message.tool_calls))


# -- whether it is there -----------------------------------------------------------------------------------


def is_degraded(rd: Reader) -> bool:
    """True where this database is searched without an index (`doctor` says so)."""
    row = rd.row("SELECT degraded FROM search_state")
    return row is None or bool(row["degraded"])


def count_unindexed(rd: Reader, space: int | None = None) -> int:
    """How many messages at most are still to be indexed."""
    row = rd.row(
        "SELECT coalesce(sum(last - next + 1), 0) AS count FROM unindexed WHERE :space IS NULL OR space = :space",
        {"space": space},
    )
    return 0 if row is None else int(row["count"])


def bring_up(connection: sqlite3.Connection) -> None:
    """Make the index where it is missing or of another version, and begin to fill it."""
    state = connection.execute("SELECT version, degraded FROM search_state").fetchone()
    able = has_fts5(connection)
    if state is not None and (state["version"], bool(state["degraded"])) == (search_fold.VERSION, not able):
        return
    if not able:
        log.warning("search.degraded", extra={"sqlite": sqlite3.sqlite_version})
        connection.executescript(
            "BEGIN IMMEDIATE; DELETE FROM search_state; "
            f"INSERT INTO search_state (version, degraded) VALUES ({search_fold.VERSION}, 1); COMMIT;"
        )
        return
    connection.executescript(
        f"""
        BEGIN IMMEDIATE;
        {_ANEW}
        {_TABLES}
        INSERT INTO unindexed (space, next, last)
        SELECT id, id << 32 | 1, id << 32 | last_sequence FROM spaces WHERE last_sequence > 0;
        INSERT INTO search_state (version, degraded) VALUES ({search_fold.VERSION}, 0);
        COMMIT;
        """
    )
    connection.execute("BEGIN IMMEDIATE")
    try:
        left = catch_up(Transaction(connection), AT_THE_START)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    if left:
        log.info("search.reindexing", extra={"messages": count_unindexed(Reader(connection))})


def catch_up(tx: Transaction, most: int) -> bool:
    """Index so many of the messages that are not yet, oldest first. True: there are more."""
    while most > 0:
        waiting = tx.row("SELECT space, next, last FROM unindexed ORDER BY space LIMIT 1")
        if waiting is None:
            return False
        ids = [
            row["id"]
            for row in tx.rows(
                f"SELECT id FROM messages WHERE id BETWEEN :next AND :last AND {_WHICH} ORDER BY id LIMIT :most",
                {"next": waiting["next"], "last": waiting["last"], "most": most},
            )
        ]
        for id in ids:
            if tx.row("SELECT 1 FROM message_places WHERE id = ?", (id,)) is None:
                index(tx, id)
        if len(ids) < most:
            tx.execute("DELETE FROM unindexed WHERE space = ?", (waiting["space"],))
        else:
            tx.execute("UPDATE unindexed SET next = ? WHERE space = ?", (ids[-1] + 1, waiting["space"]))
        most -= max(1, len(ids))
    return tx.row("SELECT 1 FROM unindexed") is not None


# -- rows --------------------------------------------------------------------------------------------------

_SELECT = "SELECT id, role, text, tool_calls, tool_name, session, at FROM messages"
_WHICH = f"""
    role IN ('user', 'assistant', 'tool') AND tool_name <> '{OWN_TOOL}' AND part_of IS NULL AND erased = 0
    AND NOT EXISTS (SELECT 1 FROM sessions WHERE sessions.id = messages.session AND incognito = 1)
"""


def _row(rd: Reader, id: int) -> sqlite3.Row | None:
    return rd.row(f"{_SELECT} WHERE id = ? AND {_WHICH}", (id,))


def _rows_of(rd: Reader, session: str) -> list[sqlite3.Row]:
    """The messages of a session that are indexed, of a long one the newest."""
    return rd.rows(
        f"{_SELECT} WHERE session = :session AND {_WHICH} ORDER BY turn DESC, id DESC LIMIT :most",
        {"session": session, "most": MOST_OF_A_SESSION},
    )


def _document(row: sqlite3.Row) -> str:
    return search_fold.document(words_of(row["text"], row["tool_calls"]), search_fold.ROLES[row["role"]])


def _words_of_calls(calls: str) -> Iterator[str]:
    """Names and values, unescaped: a model writes 花見 as `\\u82b1\\u898b` where it likes."""
    for call in json.loads(calls):
        if call["name"] == OWN_TOOL:
            continue
        yield call["name"]
        yield from strings_in(call["arguments"])


def strings_in(text: str) -> Iterator[str]:
    """The texts and numbers in a JSON text; the text itself where it is none."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        yield text
    else:
        yield from _leaves(value)


def _leaves(value: object) -> Iterator[str]:
    """The texts and numbers in a value of JSON, however deep; what a list holds is next to each other."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            waiting += reversed([each for pair in one.items() for each in pair])
        elif isinstance(one, list):
            waiting += reversed(one)
        elif isinstance(one, str):
            yield one.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        elif one is not None and not isinstance(one, bool):
            yield str(one)


def _number(tx: Transaction, session: str | None, *, growing: bool) -> int:
    """The number of a session, 0 for none. One that grows must be looked at again."""
    if not session:
        return 0
    row = tx.row("SELECT number, stale FROM searched_sessions WHERE session = ?", (session,))
    if row is None:
        row = tx.row("INSERT INTO searched_sessions (session) VALUES (?) RETURNING number, stale", (session,))
    assert row is not None
    if growing and not row["stale"]:
        tx.execute("UPDATE searched_sessions SET stale = 1 WHERE number = ?", (row["number"],))
    return int(row["number"])
