"""Cutting words out of messages, and what the cutting of other rows (`emptying`) has in common.

What is cut is decided by `Words` (`memory.layers`); nothing else changes. Every function may be repeated: what was
cut holds nothing any more. Rows that go whole are `erasing`'s.
"""

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from gateway.records import ToolCall
from gateway.store import search_index
from gateway.store.encoding import pieces_of, pieces_text, tool_calls_of, tool_calls_text
from gateway.store.transaction import Reader, Transaction


class Words(Protocol):
    """What is to be forgotten, as far as a row needs to know it."""

    def holds(self, text: str) -> bool: ...

    def may_hold(self, text: str) -> bool:
        """Whether it is worth a closer look, also of JSON as it is kept here."""
        ...

    def cut(self, text: str) -> str: ...

    def cut_json(self, text: str) -> str:
        """The same inside the strings of a JSON text; as a text where it is none."""
        ...


@dataclass(frozen=True, slots=True)
class Held:
    """A row that holds it: its id and the text that does."""

    id: str
    text: str


# -- messages ----------------------------------------------------------------------------------------------

_COLUMNS = "id, role, text, pieces, stamp, sent, tool_calls, speaker"


def messages(rd: Reader, ids: Sequence[int], words: Words) -> Iterator[Held]:
    """Those of these messages that hold it."""
    for row in _rows(rd, ids):
        if text := next((text for text in _texts(row) if words.holds(text)), ""):
            yield Held(str(row["id"]), text)


def cut_messages(tx: Transaction, ids: Sequence[int], words: Words) -> int:
    """Cut it out of these messages, and out of the index; how many held it."""
    count = 0
    for row in _rows(tx, ids):
        if not any(map(words.holds, _texts(row))):
            continue
        count += 1
        search_index.unindex(tx, row["id"])
        tx.execute(
            """
            UPDATE messages
               SET text = :text, pieces = :pieces, stamp = :stamp, sent = :sent, tool_calls = :calls,
                   speaker = :speaker
             WHERE id = :id
            """,
            {
                "id": row["id"],
                "text": words.cut_json(row["text"]) if row["role"] == "tool" else words.cut(row["text"]),
                "pieces": _cut_pieces(row["pieces"], words),
                "stamp": words.cut(row["stamp"]),
                "sent": None if row["sent"] is None else words.cut(row["sent"]),
                "calls": _cut_calls(row["tool_calls"], words),
                "speaker": words.cut(row["speaker"]),
            },
        )
        _index_again(tx, row["id"], row["role"])
    return count


def blank_message(tx: Transaction, id: int, mark: str) -> None:
    """Leave nothing of what a message said: the one that asked to forget."""
    search_index.unindex(tx, id)
    tx.execute(
        """
        UPDATE messages
           SET text = CASE WHEN role IN ('command', 'tap') THEN '' ELSE :mark END, pieces = '[]', sent = NULL
         WHERE id = :id AND role IN ('user', 'command', 'tap')
        """,
        {"id": id, "mark": mark},
    )
    row = tx.row("SELECT role FROM messages WHERE id = ?", (id,))
    if row is not None:
        _index_again(tx, id, row["role"])


def _rows(rd: Reader, ids: Sequence[int]) -> list[sqlite3.Row]:
    return rd.rows(
        f"SELECT {_COLUMNS} FROM messages WHERE id IN (SELECT value FROM json_each(?)) ORDER BY id",
        (json.dumps(list(ids)),),
    )


def _texts(row: sqlite3.Row) -> Iterator[str]:
    """Everything that is said in a message, as it can be read."""
    yield from texts_of_json(row["text"]) if row["role"] == "tool" else (row["text"],)
    yield row["speaker"]
    yield row["sent"] or ""
    if row["pieces"] != "[]":
        yield from (text for piece in pieces_of(row["pieces"]) for text in (piece.text, piece.by))
    if row["tool_calls"] != "[]":
        for call in tool_calls_of(row["tool_calls"]):
            yield from texts_of_json(call.arguments)


def texts_of_json(text: str) -> Iterator[str]:
    """The text; of JSON what its strings say, and not what stands between them."""
    if text[:1] in ("{", "["):
        yield from search_index.strings_in(text)
    else:
        yield text


def _cut_pieces(pieces: str, words: Words) -> str:
    """In what was said and by whom; the names of our own fields may be words of a passage, too."""
    if pieces == "[]":
        return pieces
    return pieces_text(
        [replace(piece, text=words.cut(piece.text), by=words.cut(piece.by)) for piece in pieces_of(pieces)]
    )


def _cut_calls(calls: str, words: Words) -> str:
    if calls == "[]":
        return calls
    return tool_calls_text(
        [ToolCall(call.id, call.name, words.cut_json(call.arguments)) for call in tool_calls_of(calls)]
    )


def _index_again(tx: Transaction, id: int, role: str) -> None:
    if role in search_index.SEARCHED:
        search_index.index(tx, id)


def batches(ids: Iterable[int], size: int) -> Iterator[list[int]]:
    """The ids in lots, so that no transaction is long."""
    lot: list[int] = []
    for id in ids:
        lot.append(id)
        if len(lot) == size:
            yield lot
            lot = []
    if lot:
        yield lot
