"""Finding words in transcripts: an FTS5 index of trigrams, LIKE for what is shorter than three characters.

The index is contentless: it must be told the same text at `unindex` as at `index`, or ghosts stay in it.
Where a SQLite has no trigram tokenizer, messages are kept all the same and all of a search is LIKE; the table
`index_behind` says so, until an SQLite that can brings the index up to date.
"""

import logging
import re
import sqlite3
import unicodedata

from gateway.records import Hit
from gateway.store.encoding import clean, time_of
from gateway.store.migrating import INDEX, has_trigram
from gateway.store.transaction import Reader, Transaction

log = logging.getLogger(__name__)

_LONGEST_QUERY = 500
_MOST_TERMS = 12
_AROUND = 60
"""Characters shown on each side of a hit."""


def index(tx: Transaction, id: int, text: str) -> None:
    """Make a message findable."""
    if not is_degraded(tx):
        tx.execute("INSERT INTO message_words (rowid, text) VALUES (?, ?)", (id, fold(text)))


def unindex(tx: Transaction, id: int, text: str) -> None:
    """Take a message out of the index. `text` is what `index` was given."""
    if not is_degraded(tx):
        tx.execute(
            "INSERT INTO message_words (message_words, rowid, text) VALUES ('delete', ?, ?)", (id, fold(text))
        )


def find(rd: Reader, space: int, query: str, limit: int, *, before: int | None = None) -> list[Hit]:
    """Messages of a space that hold every word of the query ("quoted words" as a phrase), newest first.

    `before` leaves out that message id and all newer ones: a question should not find itself. Any text is
    a query; one without words finds nothing.
    """
    terms = _terms(query)
    if not terms or limit < 1:
        return []
    indexed = [] if is_degraded(rd) else [fold(term) for term in terms if len(fold(term)) >= 3]
    scanned = [term for term in terms if not indexed or len(fold(term)) < 3]
    rows = rd.rows(
        _statement(bool(indexed), len(scanned)),
        {
            "match": " AND ".join('"{}"'.format(term.replace('"', '""')) for term in indexed),
            "low": space << 32,
            "high": (space + 1) << 32 if before is None else before,
            "limit": limit,
            **{f"like{number}": _like(term) for number, term in enumerate(scanned)},
        },
    )
    return [
        Hit(row["session"] or "", row["id"], row["role"], time_of(row["at"]), _snippet(row["text"], terms))
        for row in rows
    ]


def is_degraded(rd: Reader) -> bool:
    """True where this database is searched without its index (`doctor` says so)."""
    return rd.row("SELECT 1 FROM sqlite_schema WHERE name = 'index_behind'") is not None


def bring_up(connection: sqlite3.Connection) -> None:
    """Note that the index falls behind where this SQLite has no trigrams; catch up where it has them again."""
    behind = connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'index_behind'").fetchone()
    if not has_trigram(connection):
        log.warning("search.degraded", extra={"sqlite": sqlite3.sqlite_version})
        connection.execute("CREATE TABLE IF NOT EXISTS index_behind (id INTEGER PRIMARY KEY) STRICT")
    elif behind:
        _rebuild(connection)


def fold(text: str) -> str:
    """What is compared: without case, width and form. A change of it needs a rebuilt index, for `unindex`."""
    return text.lower() if text.isascii() else unicodedata.normalize("NFKC", text).casefold()


def _terms(query: str) -> list[str]:
    """Words and quoted phrases, as written. A quote without its partner opens a phrase that ends nowhere."""
    query = clean(query[:_LONGEST_QUERY]).replace("\0", " ")
    found = [phrase or word for phrase, word in re.findall(r'"([^"]*)(?:"|$)|([^\s"]+)', query)]
    return list(dict.fromkeys(term.strip() for term in found if term.strip()))[:_MOST_TERMS]


def _statement(indexed: bool, scanned: int) -> str:
    source, id = ("message_words CROSS JOIN messages ON messages.id = message_words.rowid", "message_words.rowid")
    if not indexed:
        source, id = ("messages", "messages.id")
    likes = " ".join(rf"AND messages.text LIKE :like{number} ESCAPE '\'" for number in range(scanned))
    return f"""
        SELECT messages.id, session, role, at, messages.text
          FROM {source}
         WHERE {id} >= :low AND {id} < :high {"AND message_words MATCH :match" if indexed else ""}
           AND role IN ('user', 'assistant', 'tool') {likes}
           AND tool_name <> 'session_search' -- its results repeat what they found
         ORDER BY {id} DESC
         LIMIT :limit
        """


def _like(term: str) -> str:
    return "%" + re.sub(r"([\\%_])", r"\\\1", term) + "%"


def _snippet(text: str, terms: list[str]) -> str:
    start, end = min((place for term in terms if (place := _place(text, term))), default=(0, 0))
    before, after = max(0, start - _AROUND), min(len(text), end + _AROUND)
    shown = " ".join(text[before:after].split())
    return ("… " if before else "") + shown + (" …" if after < len(text) else "")


def _place(text: str, term: str) -> tuple[int, int] | None:
    """Where a term stands in a text, as it was written there. None: only the folded forms are alike."""
    if match := re.search(re.escape(term), text, re.IGNORECASE):
        return match.span()
    folded, origins = "", list[int]()
    for position, character in enumerate(text):
        piece = fold(character)
        folded += piece
        origins += [position] * len(piece)
    at = folded.find(fold(term))
    return None if at < 0 else (origins[at], origins[at + len(fold(term)) - 1] + 1)


def _rebuild(connection: sqlite3.Connection) -> None:
    """Index every message anew, in one transaction (about a minute for a million)."""
    connection.create_function("fold", 1, fold, deterministic=True)
    connection.executescript(
        f"""
        BEGIN IMMEDIATE;
        DROP TABLE IF EXISTS message_words;
        {INDEX}
        INSERT INTO message_words (rowid, text)
        SELECT id, fold(text) FROM messages WHERE role IN ('user', 'assistant', 'tool') ORDER BY id;
        DROP TABLE index_behind;
        COMMIT;
        """
    )
    log.info("search.rebuilt")
