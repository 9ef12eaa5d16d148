"""Which messages may hold the words that are to be forgotten: more than do, never fewer.

The search index finds most of them, all of them and not the best: each word of a passage must be in a message.
What it does not hold is looked at besides: commands and taps that wait, what `session_search` was asked and found,
names of speakers and of those who were quoted, what a tool said in escapes, what is said incognito, and messages
that are not indexed yet. Whether a message holds the words is decided by who asks (`cutting`).
"""

import json
from collections.abc import Callable, Iterator, Sequence

from gateway.store import search_fold, search_index
from gateway.store.transaction import Reader

_BESIDE = """
    (role IN ('command', 'tap') AND (text <> '' OR pieces <> '[]') OR tool_name = 'session_search'
       OR pieces <> '[]' OR instr(tool_calls, '"session_search"') > 0
       OR role = 'tool' AND instr(text, '\\u') > 0)
"""
_ESCAPES = "bfnrt"
"""The letters after a backslash in JSON."""
_INCOGNITO = """
    SELECT id FROM messages
     WHERE session IN (SELECT id FROM sessions WHERE incognito = 1) AND +id >= :low AND +id < :high
     UNION
    SELECT id FROM messages
     WHERE done IS NULL AND role IN ('user', 'command', 'tap') AND +id >= :low AND +id < :high
"""
"""Of their sessions, and what waits to be answered in one."""


def messages(rd: Reader, space: int, passages: Sequence[str], holds: Callable[[str], bool]) -> list[int]:
    """The ids of the messages of a space that may hold one of these passages, in order."""
    low, high = space << 32, (space + 1) << 32
    matches = [_match(passage) for passage in passages]
    if search_index.is_degraded(rd) or not all(matches):
        return [row["id"] for row in rd.rows("SELECT id FROM messages WHERE id >= ? AND id < ?", (low, high))]
    found: set[int] = set()
    for match in matches:
        found.update(_indexed(rd, match, low, high))
    found.update(_beside(rd, low, high))
    found.update(_of_speakers(rd, low, high, holds))
    found.update(row["id"] for row in rd.rows(_INCOGNITO, {"low": low, "high": high}))
    found.update(_unindexed(rd, space))
    return sorted(found)


def _match(passage: str) -> str:
    """All words of a passage, wherever they stand; of scripts without blanks all characters. "": no index helps.

    What tools say is indexed as it came: in JSON a word that begins a line has the letter of `\\n` before it.
    """
    terms: dict[str, None] = {}
    for piece, run in search_fold.pieces(search_fold.fold(passage)):
        if run:
            terms.update(dict.fromkeys(_quoted(f"~{one}") for one in piece))
        else:
            spellings = dict.fromkeys((before + piece)[: search_fold.LONGEST_TOKEN] for before in ("", *_ESCAPES))
            terms[f"({' OR '.join(map(_quoted, spellings))})"] = None
    return " AND ".join(terms)


def _quoted(token: str) -> str:
    return '"{}"'.format(token.replace('"', '""'))


def _indexed(rd: Reader, match: str, low: int, high: int) -> Iterator[int]:
    cursor = rd.execute(
        "SELECT rowid FROM message_words WHERE message_words MATCH :match AND rowid >= :low AND rowid < :high",
        {"match": match, "low": low, "high": high},
    )
    return (row[0] for row in cursor)


def _beside(rd: Reader, low: int, high: int) -> Iterator[int]:
    cursor = rd.execute(f"SELECT id FROM messages WHERE {_BESIDE} AND id >= ? AND id < ?", (low, high))
    return (row[0] for row in cursor)


def _of_speakers(rd: Reader, low: int, high: int, holds: Callable[[str], bool]) -> Iterator[int]:
    names = [row[0] for row in rd.execute("SELECT DISTINCT speaker FROM messages WHERE speaker <> ''")]
    cursor = rd.execute(
        """
        SELECT id FROM messages
         WHERE speaker <> '' AND speaker IN (SELECT value FROM json_each(:names)) AND id >= :low AND id < :high
        """,
        {"names": json.dumps([name for name in names if holds(name)]), "low": low, "high": high},
    )
    return (row[0] for row in cursor)


def _unindexed(rd: Reader, space: int) -> Iterator[int]:
    cursor = rd.execute(
        """
        SELECT messages.id FROM unindexed JOIN messages ON messages.id BETWEEN next AND last
         WHERE unindexed.space = ?
        """,
        (space,),
    )
    return (row[0] for row in cursor)


def existing(rd: Reader, space: int, ids: Sequence[int]) -> list[int]:
    """Those of these messages that are there, and of this space."""
    rows = rd.rows(
        "SELECT id FROM messages WHERE id IN (SELECT value FROM json_each(?)) AND erased = 0",
        (json.dumps(list(ids)),),
    )
    return [row["id"] for row in rows if row["id"] >> 32 == space]


def all_messages(rd: Reader, space: int) -> list[int]:
    """Every message of a space."""
    low, high = space << 32, (space + 1) << 32
    cursor = rd.execute("SELECT id FROM messages WHERE id >= ? AND id < ? AND erased = 0", (low, high))
    return [row[0] for row in cursor]


def of_session(rd: Reader, session: str) -> list[int]:
    """The messages of a session."""
    return [row[0] for row in rd.execute("SELECT id FROM messages WHERE session = ?", (session,))]


def sessions(rd: Reader, space: int) -> list[tuple[str, str]]:
    """Every session of a space with its title, oldest first."""
    rows = rd.rows("SELECT id, title FROM sessions WHERE space = ? ORDER BY opened_at, id", (space,))
    return [(row["id"], row["title"]) for row in rows]


def says_more_than(rd: Reader, message: int, mark: str) -> bool:
    """Whether a message of a person still says anything but this."""
    row = rd.row(
        """
        SELECT 1 FROM messages
         WHERE id = :id AND role IN ('user', 'command', 'tap')
           AND (text NOT IN ('', :mark) OR pieces <> '[]' OR coalesce(sent, '') <> '')
        """,
        {"id": message, "mark": mark},
    )
    return row is not None


def is_rare(rd: Reader, space: int, word: str, most: int) -> bool:
    """Whether no more messages of a space than this have a word. Without an index every word is."""
    match = _match(word)
    if search_index.is_degraded(rd) or not match:
        return True
    rows = rd.rows(
        """
        SELECT 1 FROM message_words WHERE message_words MATCH :match AND rowid >= :low AND rowid < :high LIMIT :most
        """,
        {"match": match, "low": space << 32, "high": (space + 1) << 32, "most": most + 1},
    )
    return len(rows) <= most
