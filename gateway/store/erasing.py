"""Takes messages and whole sessions away for good: the one place whose SQL does.

Nothing of them is found any more, and their words leave the pages of the index, too (`search_upkeep.sweep`). Of a
message that a platform handed over its id stays, without a word: handed over again, it is known. The ledger stays:
a write keeps the ids of what it rests on. Which conversations go is `pruning`, who may say so is decided above.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from gateway.errors import NotFound
from gateway.store import search_index, search_upkeep
from gateway.store.transaction import Transaction


@dataclass(frozen=True, slots=True)
class Erased:
    """What went with a session."""

    messages: int
    """How many of its transcript."""
    reviews: int


def messages(tx: Transaction, ids: Sequence[int]) -> int:
    """Take these messages away; how many there were. What was still to be said of them is not said any more."""
    if not ids:
        return 0
    for id in ids:
        search_index.unindex(tx, id)
    search_upkeep.ask_for_sweep(tx)
    named = {"ids": json.dumps(list(ids))}
    _drop_replies(tx, named)
    tx.execute(f"UPDATE messages SET answers = NULL WHERE answers IN {_NAMED}", named)
    gone = tx.execute(
        f"DELETE FROM messages WHERE id IN {_NAMED} AND role IN ('assistant', 'tool')", named
    ).rowcount
    return gone + tx.execute(f"{_WITHOUT_WORDS} WHERE id IN {_NAMED} AND erased = 0", named).rowcount


def session(tx: Transaction, id: str) -> Erased:
    """Take a session away with all that was said in it. Raises NotFound.

    Whoever calls this holds the session's lock, and nothing is being answered in it.
    """
    search_index.unindex_session(tx, id)
    rows = tx.rows(
        "SELECT id FROM messages WHERE session = ? AND role IN ('user', 'assistant', 'tool') ORDER BY id", (id,)
    )
    count = messages(tx, [row["id"] for row in rows])
    # Commands that were given in it: their words are erased already, and answers refer to them.
    tx.execute("UPDATE messages SET session = NULL, turn = 0 WHERE session = ?", (id,))
    tx.execute("UPDATE usage SET session = '', job = '' WHERE session = ?", (id,))
    reviews = tx.execute("DELETE FROM reviews WHERE session = ?", (id,)).rowcount
    search_upkeep.ask_for_sweep(tx)
    if not tx.changed("DELETE FROM sessions WHERE id = ?", (id,)):
        raise NotFound("session.unknown", id=id)
    return Erased(count, reviews)


_NAMED = "(SELECT value FROM json_each(:ids))"
_WITHOUT_WORDS = """
    UPDATE messages
       SET text = '', pieces = '[]', stamp = '', sent = NULL, speaker = '', via = '', tool_calls = '[]',
           session = NULL, turn = 0, round = 0, generation = 0, erased = 1, done = coalesce(done, 'stopped')
"""


def _drop_replies(tx: Transaction, named: dict[str, object] | dict[str, str]) -> None:
    """Answers that have not arrived, or not whole. Cards and notices are about writes, which stay."""
    which = f"status = 'waiting' AND kind = 'reply' AND message IN {_NAMED}"
    tx.execute(f"UPDATE chunks SET text = '' WHERE outgoing IN (SELECT id FROM outbox WHERE {which})", named)
    tx.execute(f"UPDATE outbox SET status = 'dropped', via = '' WHERE {which}", named)
