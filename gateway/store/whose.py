"""Whose a row is, told by its table and key as they stand in the file. For `memory.verifying`."""

from collections.abc import Mapping, Sequence

from gateway.store import search_fold
from gateway.store.search_index import is_degraded
from gateway.store.transaction import Reader as Reader

_BY_ROWID: Mapping[str, str] = {
    "writes": "SELECT space FROM writes WHERE id = :id",
    "outbox": "SELECT space FROM outbox WHERE id = :id",
    "forgets": "SELECT space FROM forgets WHERE id = :id",
    "messages": "SELECT :id >> 32 AS space",
    "searched_sessions": """
        SELECT space FROM searched_sessions JOIN sessions ON sessions.id = session WHERE number = :id
        """,
}
_BY_KEY: Mapping[str, str] = {
    "sessions": "SELECT space FROM sessions WHERE id = :key",
    "former_prompts": "SELECT space FROM sessions WHERE id = :key",
    "summaries": "SELECT space FROM sessions WHERE id = :key",
    "known_files": "SELECT :key AS space",
    "chunks": "SELECT space FROM outbox WHERE id = :key",
}
"""Tables without a rowid, by the first column of their key."""


def space_of(rd: Reader, table: str, rowid: int | None, key: Sequence[int | str | None]) -> int | None:
    """The space to which a row belongs; None where that cannot be told, or the row is gone."""
    if rowid is not None and table in _BY_ROWID:
        row = rd.row(_BY_ROWID[table], {"id": rowid})
    elif key and key[0] is not None and table in _BY_KEY:
        row = rd.row(_BY_KEY[table], {"key": key[0]})
    else:
        return None
    return None if row is None or row["space"] is None else int(row["space"])


def is_index_of_words(table: str) -> bool:
    """Whether a table holds the words of the search index, of all spaces in one."""
    return table.startswith(("message_words", "session_words"))


def is_indexed(rd: Reader, words: str) -> bool:
    """Whether any message that is there holds all the tokens of these words, one after the other."""
    if is_degraded(rd):
        return False
    tokens = search_fold.document(search_fold.fold(words)).split()
    own = [token for token in tokens if not token.startswith("~")]
    if len(own) > 1 and len(own[-1]) == 1 and own[-1] == own[-2][-1:]:
        own.pop()  # the last character of a run stands alone besides its pair
    phrase = '"' + " ".join(own or tokens) + '"'
    return rd.row("SELECT 1 FROM message_words WHERE message_words MATCH ? LIMIT 1", (phrase,)) is not None
