"""Taking words out of what is no message: the ledger, prompts, summaries, titles, what is still to be said.

Every function may be repeated. What is forgotten is decided by `cutting.Words` (`memory.layers`).
"""

import sqlite3
from collections.abc import Callable, Iterator

from gateway.records import FORGOTTEN, Operation
from gateway.store.cutting import Held, Words, texts_of_json
from gateway.store.encoding import operations_of, operations_text
from gateway.store.transaction import Reader, Transaction

# -- the ledger --------------------------------------------------------------------------------------------


def writes(rd: Reader, space: int, words: Words) -> Iterator[Held]:
    """The rows of the ledger that hold it, in any column."""
    cursor = rd.execute(
        "SELECT id, target, operations, original, quote, before, after FROM writes WHERE space = ? ORDER BY id",
        (space,),
    )
    for row in cursor:
        if not words.may_hold(" ".join(text for text in tuple(row)[1:] if text)):
            continue
        if text := next((text for text in _of_write(row) if words.holds(text)), ""):
            yield Held(str(row["id"]), text)


def _of_write(row: sqlite3.Row) -> Iterator[str]:
    for operations in (row["operations"], row["original"]):
        if operations:
            yield from texts_of_json(operations)
    yield row["quote"]
    yield row["before"]
    yield row["after"]
    yield row["target"].removeprefix("skill:")


def empty_write(tx: Transaction, id: int, words: Words, at: str) -> bool:
    """Leave of a write what it did, when and by whom, and no word. What waited does not wait any more."""
    row = tx.row("SELECT target, operations, status FROM writes WHERE id = ?", (id,))
    if row is None:
        return False
    name = row["target"]
    if words.holds(name.removeprefix("skill:")):
        name = "skill:forgotten"
    return tx.changed(
        """
        UPDATE writes
           SET target = :target, operations = :operations, original = NULL, quote = '', before = '', after = '',
               places = '[]', base_hash = '', before_hash = '', after_hash = '', undo_before_hash = '',
               undo_after_hash = '', reason = :reason, reason_values = '{}',
               status = CASE status WHEN 'staged' THEN 'rejected' WHEN 'approved' THEN 'failed' ELSE status END,
               decided_at = coalesce(decided_at, CASE WHEN status IN ('staged', 'approved') THEN :at END)
         WHERE id = :id
        """,
        {"id": id, "target": name, "operations": _without_texts(row["operations"]), "reason": FORGOTTEN, "at": at},
    )


def _without_texts(operations: str) -> str:
    try:
        return operations_text([Operation(one.action) for one in operations_of(operations)])
    except (ValueError, TypeError, KeyError):
        return "[]"


# -- prompts and titles ------------------------------------------------------------------------------------


def prompts(rd: Reader, space: int, holds: Callable[[str], bool]) -> Iterator[Held]:
    """The sessions, open or ended, whose frozen prompt (or a former one) holds it."""
    cursor = rd.execute(
        """
        SELECT id, system_prompt, tools FROM sessions WHERE space = :space
         UNION ALL
        SELECT former_prompts.session, former_prompts.system_prompt, former_prompts.tools
          FROM former_prompts JOIN sessions ON sessions.id = former_prompts.session WHERE sessions.space = :space
        """,
        {"space": space},
    )
    known: dict[str, bool] = {"": False}  # the prompts of a day are alike
    seen: set[str] = set()
    for row in cursor:
        for text in (row["system_prompt"], row["tools"]):
            if text not in known:
                known[text] = holds(text)
            if known[text] and row["id"] not in seen:
                seen.add(row["id"])
                yield Held(row["id"], text)


def empty_prompt(tx: Transaction, session: str, holds: Callable[[str], bool], at: str) -> bool:
    """Erase the prompt of a session if it holds it, and its former ones that do."""
    former = tx.rows("SELECT generation, system_prompt, tools FROM former_prompts WHERE session = ?", (session,))
    gone = [row["generation"] for row in former if holds(row["system_prompt"]) or holds(row["tools"])]
    for generation in gone:
        tx.execute("DELETE FROM former_prompts WHERE session = ? AND generation = ?", (session, generation))
    row = tx.row("SELECT system_prompt, tools FROM sessions WHERE id = ?", (session,))
    if row is None or not (holds(row["system_prompt"]) or holds(row["tools"])):
        return bool(gone)
    tx.execute("UPDATE sessions SET system_prompt = '', tools = '', forgotten_at = ? WHERE id = ?", (at, session))
    return True


def summaries(rd: Reader, space: int, holds: Callable[[str], bool]) -> Iterator[Held]:
    """The sessions with a summary that holds it, each once."""
    cursor = rd.execute(
        """
        SELECT session, text FROM summaries JOIN sessions ON sessions.id = summaries.session WHERE space = ?
        """,
        (space,),
    )
    seen: set[str] = set()
    for row in cursor:
        if row["session"] not in seen and holds(row["text"]):
            seen.add(row["session"])
            yield Held(row["session"], row["text"])


def drop_summaries(tx: Transaction, session: str, holds: Callable[[str], bool]) -> int:
    """Take out the summaries of a session that hold it: what they say in other words must not stay, either."""
    rows = tx.rows("SELECT generation, text FROM summaries WHERE session = ?", (session,))
    gone = [row["generation"] for row in rows if holds(row["text"])]
    for generation in gone:
        tx.execute("DELETE FROM summaries WHERE session = ? AND generation = ?", (session, generation))
    return len(gone)


def titles(rd: Reader, space: int, holds: Callable[[str], bool]) -> Iterator[Held]:
    """The sessions whose title holds it."""
    cursor = rd.execute("SELECT id, title FROM sessions WHERE space = ? AND title <> ''", (space,))
    return (Held(row["id"], row["title"]) for row in cursor if holds(row["title"]))


def cut_title(tx: Transaction, session: str, cut: Callable[[str], str]) -> None:
    row = tx.row("SELECT title FROM sessions WHERE id = ?", (session,))
    if row is not None:
        tx.execute("UPDATE sessions SET title = ? WHERE id = ?", (cut(row["title"]), session))


# -- what is still to be said ------------------------------------------------------------------------------


def chunks(rd: Reader, space: int, holds: Callable[[str], bool]) -> Iterator[Held]:
    """What was rendered and has not arrived yet, as `OUTGOING:POSITION`."""
    cursor = rd.execute(
        """
        SELECT outgoing, position, text FROM chunks JOIN outbox ON outbox.id = chunks.outgoing
         WHERE outbox.space = ? AND text <> ''
        """,
        (space,),
    )
    return (Held(f"{row['outgoing']}:{row['position']}", row["text"]) for row in cursor if holds(row["text"]))


def cut_chunk(tx: Transaction, place: str, cut: Callable[[str], str]) -> None:
    outgoing, _, position = place.partition(":")
    row = tx.row("SELECT text FROM chunks WHERE outgoing = ? AND position = ?", (int(outgoing), int(position)))
    if row is not None:
        tx.execute(
            "UPDATE chunks SET text = :text WHERE outgoing = :outgoing AND position = :position",
            {"text": cut(row["text"]), "outgoing": int(outgoing), "position": int(position)},
        )
