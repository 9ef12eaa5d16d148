"""Which writes of the ledger rest on what was said, where that is taken away. People decide what becomes of it."""

import json
from collections.abc import Sequence

from gateway.records import Write
from gateway.store.transaction import Reader, Transaction
from gateway.store.writerows import SELECT, write_of

_LIVE = "writes.status IN ('staged', 'approved', 'applied')"


def on_messages(rd: Reader, ids: Sequence[int]) -> list[Write]:
    """What waits or is in force and was made in the turns of these messages, or quotes them; oldest first."""
    rows = rd.rows(
        f"""
        {SELECT} WHERE writes.id IN (
            SELECT id FROM writes WHERE message IN (SELECT value FROM json_each(:ids))
             UNION
            SELECT id FROM writes WHERE evidence IN (SELECT value FROM json_each(:ids))) AND {_LIVE}
         ORDER BY writes.id
        """,
        {"ids": json.dumps(list(ids))},
    )
    return [write_of(row) for row in rows]


def on_turn(rd: Reader, session: str, turn: int, ids: Sequence[int]) -> list[Write]:
    """The same for a turn with these messages, with what a review or a flush that saw it made of nobody's words."""
    rows = rd.rows(
        f"""
        {SELECT} LEFT JOIN reviews ON reviews.session = writes.session AND reviews.turn = writes.review_turn
         WHERE writes.session = :session AND writes.review_turn IS NOT NULL AND writes.evidence IS NULL
           AND (:turn BETWEEN reviews.first_turn AND reviews.turn OR :first BETWEEN 1 AND -writes.review_turn)
           AND {_LIVE}
         ORDER BY writes.id
        """,
        {"session": session, "turn": turn, "first": min(ids, default=0)},
    )
    found = {write.id: write for write in (*on_messages(rd, ids), *map(write_of, rows))}
    return [found[id] for id in sorted(found)]


def on_session(rd: Reader, session: str) -> list[Write]:
    """What waits or is in force and was made in a session, or quotes what was said there; oldest first."""
    rows = rd.rows(
        f"""
        {SELECT} WHERE writes.id IN (
            SELECT id FROM writes WHERE session = :session AND session <> ''
             UNION
            SELECT writes.id FROM messages JOIN writes ON writes.evidence = messages.id
             WHERE messages.session = :session) AND {_LIVE}
         ORDER BY writes.id
        """,
        {"session": session},
    )
    return [write_of(row) for row in rows]


def get(rd: Reader, ids: Sequence[int]) -> list[Write]:
    """Writes as they are now, in order; those that are gone left out."""
    rows = rd.rows(
        f"{SELECT} WHERE writes.id IN (SELECT value FROM json_each(:ids)) ORDER BY writes.id",
        {"ids": json.dumps(list(ids))},
    )
    return [write_of(row) for row in rows]


def move(tx: Transaction, frm: int, to: int) -> None:
    """Let what quotes a message quote another one with the same words."""
    tx.execute("UPDATE writes SET evidence = :to WHERE evidence = :frm", {"frm": frm, "to": to})


def erase_quotes(tx: Transaction, session: str) -> None:
    """Take the quoted words of a session out of the ledger, before it goes."""
    tx.execute(
        "UPDATE writes SET quote = '' WHERE evidence IN (SELECT id FROM messages WHERE session = ?)", (session,)
    )
