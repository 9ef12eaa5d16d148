"""Taking what was forgotten, and its marks, from one state of a home into another: when a backup is taken back."""

from collections.abc import Mapping
from itertools import groupby

from gateway.store import search_index, search_upkeep, tombstones
from gateway.store.transaction import Reader, Transaction


def carry_over(rd: Reader, tx: Transaction, spaces: Mapping[int, int]) -> None:
    """The forgets that are done, their receipts and marks. `spaces`: which space of `rd` is which of `tx`."""
    tx.execute("DELETE FROM tombstones")
    tx.execute("DELETE FROM forget_steps")
    tx.execute("DELETE FROM forgets")
    for row in rd.rows("SELECT * FROM forgets WHERE status = 'done' ORDER BY id"):
        if row["space"] in spaces:
            _insert(tx, "forgets", {**dict(row), "space": spaces[row["space"]], "message": None})
    for row in rd.rows("SELECT forget_steps.* FROM forget_steps JOIN forgets ON id = forget WHERE status = 'done'"):
        if tx.row("SELECT 1 FROM forgets WHERE id = ?", (row["forget"],)) is not None:
            _insert(tx, "forget_steps", dict(row))
    _carry_marks(rd, tx, spaces)
    for space in spaces.values():
        tx.execute("UPDATE spaces SET epoch = epoch + 1 WHERE id = ?", (space,))


def _carry_marks(rd: Reader, tx: Transaction, spaces: Mapping[int, int]) -> None:
    key = tombstones.known_key(rd)
    if key is not None:
        tombstones.take_key(tx, key)
    for there, here in spaces.items():
        marks = tombstones.every(rd, there)
        for (forget, at), some in groupby(marks, key=lambda one: (one.forget, one.at)):
            if tx.row("SELECT 1 FROM forgets WHERE id = ?", (forget,)) is not None:
                tombstones.add(tx, here, forget, [one.mark for one in some], at)


def take_words(rd: Reader, tx: Transaction, id: int) -> bool:
    """A message as it reads since words were cut out of it. False: it is not there any more, or another one is."""
    row = rd.row(
        """
        SELECT at, role, text, pieces, stamp, sent, speaker, tool_calls FROM messages
         WHERE id = ? AND erased = 0
        """,
        (id,),
    )
    if row is None or tx.row("SELECT 1 FROM messages WHERE id = ? AND at = ?", (id, row["at"])) is None:
        return False
    search_index.unindex(tx, id)
    search_upkeep.ask_for_sweep(tx)
    tx.execute(
        """
        UPDATE messages
           SET text = :text, pieces = :pieces, stamp = :stamp, sent = :sent, speaker = :speaker,
               tool_calls = :tool_calls
         WHERE id = :id
        """,
        {**dict(row), "id": id},
    )
    if row["role"] in search_index.SEARCHED:
        search_index.index(tx, id)
    return True


def _insert(tx: Transaction, table: str, values: Mapping[str, object]) -> None:
    names = ", ".join(f'"{name}"' for name in values)
    places = ", ".join("?" for _ in values)
    tx.execute(f'INSERT INTO "{table}" ({names}) VALUES ({places})', tuple(values.values()))
