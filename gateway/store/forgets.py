"""What is to be forgotten, its layers, and the receipt.

A forget moves one way: planned -> erasing -> done, or it ends cancelled or expired. It never fails: what could not
be erased is tried again. The words stand in `passage` until then and nowhere else. `epoch` counts, for each space,
how often what was thought before has become void: whoever commits what was thought compares it.
"""

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from gateway.errors import NotFound, Overtaken
from gateway.records import Forget as Forget
from gateway.records import ForgetStep
from gateway.store.encoding import (
    clean,
    optional_time_of,
    strings_of,
    strings_text,
    time_of,
    time_text,
    values_of,
    values_text,
)
from gateway.store.transaction import Reader, Transaction


def plan(
    tx: Transaction,
    space: int,
    kind: str,
    *,
    by: str,
    passages: Sequence[str],
    rows: Sequence[str],
    message: int | None,
    marks: bool,
    at: datetime,
    expires_at: datetime,
) -> int:
    """A plan that waits for a yes; its id."""
    row = tx.row(
        """
        INSERT INTO forgets (space, kind, by, passage, "rows", message, marks, status, requested_at, expires_at)
        VALUES (:space, :kind, :by, :passage, :rows, :message, :marks, 'planned', :at, :expires_at)
        RETURNING id
        """,
        {
            "space": space,
            "kind": kind,
            "by": by,
            "passage": strings_text([clean(one) for one in passages]),
            "rows": strings_text(rows),
            "message": message,
            "marks": marks,
            "at": time_text(at),
            "expires_at": time_text(expires_at),
        },
    )
    assert row is not None
    return int(row["id"])


def set_passages(tx: Transaction, id: int, passages: Sequence[str]) -> bool:
    """Other words, while it is only planned."""
    return tx.changed(
        "UPDATE forgets SET passage = :passage WHERE id = :id AND status = 'planned'",
        {"id": id, "passage": strings_text([clean(one) for one in passages])},
    )


def set_left_out(tx: Transaction, id: int, refs: Iterable[str]) -> bool:
    """What is not to be erased, while it is only planned."""
    return tx.changed(
        "UPDATE forgets SET left_out = :refs WHERE id = :id AND status = 'planned'",
        {"id": id, "refs": strings_text(sorted(set(refs)))},
    )


def set_marks(tx: Transaction, id: int, marks: bool) -> bool:
    """Whether tombstones will be left, while it is only planned."""
    return tx.changed(
        "UPDATE forgets SET marks = :marks WHERE id = :id AND status = 'planned'", {"id": id, "marks": marks}
    )


def add_row(tx: Transaction, id: int, ref: str) -> None:
    """One more thing that goes whole. The caller holds the lock of all erasing, so that nobody is past it."""
    tx.execute(
        """
        UPDATE forgets SET "rows" = json_insert("rows", '$[#]', :ref) WHERE id = :id AND status = 'erasing'
        """,
        {"id": id, "ref": ref},
    )


def begin(tx: Transaction, id: int, by: str, through: int | None, layers: Sequence[str], at: datetime) -> bool:
    """planned -> erasing, with one step for each layer. True if this call was the one that did it."""
    begun = tx.changed(
        """
        UPDATE forgets SET status = 'erasing', begun_by = :by, begun_in = :through, begun_at = :at
         WHERE id = :id AND status = 'planned'
        """,
        {"id": id, "by": by, "through": through, "at": time_text(at)},
    )
    for place, layer in enumerate(layers if begun else ()):
        tx.execute(
            "INSERT INTO forget_steps (forget, layer, place) VALUES (:id, :layer, :place)",
            {"id": id, "layer": layer, "place": place},
        )
    return begun


def end_planned(tx: Transaction, id: int, status: str, at: datetime) -> bool:
    """planned -> cancelled or expired: nothing was erased, and nobody needs the words any more."""
    return tx.changed(
        """
        UPDATE forgets SET status = :status, passage = '', left_out = '[]', done_at = :at
         WHERE id = :id AND status = 'planned'
        """,
        {"id": id, "status": status, "at": time_text(at)},
    )


def overdue(rd: Reader, now: datetime) -> list[int]:
    """The plans that nobody said yes to in time."""
    rows = rd.rows(
        "SELECT id FROM forgets WHERE status = 'planned' AND expires_at <= ? ORDER BY id", (time_text(now),)
    )
    return [row["id"] for row in rows]


def found(tx: Transaction, id: int, layer: str, count: int) -> None:
    """Note how much a layer holds, before anything of it is erased. The first count stays."""
    tx.execute(
        """
        UPDATE forget_steps SET found = :count
         WHERE forget = :id AND layer = :layer AND erased IS NULL AND found = 0
        """,
        {"id": id, "layer": layer, "count": count},
    )


def erased(tx: Transaction, id: int, layer: str, count: int, at: datetime) -> None:
    """A layer is erased, perhaps once more: what came meanwhile counts, too.

    The first time all that was found counts: whoever was killed in the middle had erased a part of it.
    """
    tx.execute(
        """
        UPDATE forget_steps
           SET erased = coalesce(erased + :count, max(found, :count)), done_at = :at,
               found = max(found, coalesce(erased, 0) + :count)
         WHERE forget = :id AND layer = :layer
        """,
        {"id": id, "layer": layer, "count": count, "at": time_text(at)},
    )


def erase_words(
    tx: Transaction,
    id: int,
    *,
    left: Sequence[tuple[str, int]],
    left_out: Sequence[str],
    verified: Mapping[str, object],
) -> bool:
    """All else is erased and was looked for: now the request's own words go. What was found becomes the receipt."""
    return tx.changed(
        """
        UPDATE forgets SET passage = '', left_out = :left_out, left_files = :left, verified = :verified
         WHERE id = :id AND status = 'erasing'
        """,
        {
            "id": id,
            "left": json.dumps([list(one) for one in left]),
            "left_out": strings_text(left_out),
            "verified": values_text(verified),
        },
    )


def done(tx: Transaction, id: int, at: datetime) -> bool:
    """erasing -> done: the words are gone, this is the receipt. True if this call was the one that did it."""
    return tx.changed(
        "UPDATE forgets SET status = 'done', done_at = :at WHERE id = :id AND status = 'erasing'",
        {"id": id, "at": time_text(at)},
    )


# -- reading -----------------------------------------------------------------------------------------------


def get(rd: Reader, id: int) -> Forget:
    """One forget. Raises NotFound."""
    row = rd.row("SELECT * FROM forgets WHERE id = ?", (id,))
    if row is None:
        raise NotFound("forget.unknown", id=id)
    return _forget(rd, row)


def listed(rd: Reader, space: int | None, limit: int = 50) -> list[Forget]:
    """What was forgotten or is being, newest first, of one space or (None) of all."""
    rows = rd.rows(
        """
        SELECT * FROM forgets
         WHERE (:space IS NULL OR space = :space) AND status IN ('erasing', 'done') ORDER BY id DESC LIMIT :limit
        """,
        {"space": space, "limit": limit},
    )
    return [_forget(rd, row) for row in rows]


def erasing(rd: Reader) -> list[int]:
    """What was begun and is not done, oldest first."""
    return [row["id"] for row in rd.rows("SELECT id FROM forgets WHERE status = 'erasing' ORDER BY id")]


def is_erasing(rd: Reader, space: int) -> bool:
    return rd.row("SELECT 1 FROM forgets WHERE status = 'erasing' AND space = ?", (space,)) is not None


def passages(rd: Reader, id: int) -> tuple[str, ...]:
    """The words, while it is not done; first those that were asked for."""
    row = rd.row("SELECT passage FROM forgets WHERE id = ?", (id,))
    return () if row is None or not row["passage"] else strings_of(row["passage"])


def planned_holding(rd: Reader, space: int) -> list[tuple[int, tuple[str, ...]]]:
    """The other plans of a space that wait for a yes, with their words."""
    rows = rd.rows("SELECT id, passage FROM forgets WHERE status = 'planned' AND space = ?", (space,))
    return [(row["id"], strings_of(row["passage"])) for row in rows]


def last_by(rd: Reader, by: str) -> datetime | None:
    """When something was last begun to be forgotten by this."""
    row = rd.row("SELECT max(begun_at) AS at FROM forgets WHERE by = ?", (by,))
    return None if row is None else optional_time_of(row["at"])


# -- an external memory, which a worker asks -----------------------------------------------------------------

_OUTSIDE = "providers"


def outside_due(rd: Reader) -> list[tuple[int, int]]:
    """The forgets that an external memory has not done yet, and how often it was asked; oldest first."""
    rows = rd.rows(
        """
        SELECT forget_steps.forget AS forget, attempts FROM forgets
          JOIN forget_steps ON forget_steps.forget = forgets.id AND layer = :layer AND forget_steps.done_at IS NULL
         WHERE status = 'erasing'
         ORDER BY forgets.id
        """,
        {"layer": _OUTSIDE},
    )
    return [(row["forget"], row["attempts"]) for row in rows]


def ask_outside(tx: Transaction, id: int) -> bool:
    """Count one more try. False: it is done, or nothing is to be erased any more."""
    return tx.changed(
        """
        UPDATE forget_steps SET attempts = attempts + 1
         WHERE forget = :id AND layer = :layer AND done_at IS NULL
           AND EXISTS (SELECT 1 FROM forgets WHERE id = :id AND status = 'erasing')
        """,
        {"id": id, "layer": _OUTSIDE},
    )


def outside_done(tx: Transaction, id: int, count: int, at: datetime) -> None:
    """The external memory has erased it, or there is none."""
    erased(tx, id, _OUTSIDE, count, at)


# -- what was thought before -------------------------------------------------------------------------------


def epoch(rd: Reader, space: int) -> int:
    """How often what was thought about a space before became void. Read it with what is thought about."""
    row = rd.row("SELECT epoch FROM spaces WHERE id = ?", (space,))
    return 0 if row is None else int(row["epoch"])


def next_epoch(tx: Transaction, space: int) -> None:
    """Make void what is being thought about a space, and take back what workers have claimed of it."""
    tx.execute("UPDATE spaces SET epoch = epoch + 1 WHERE id = ?", (space,))
    for table in ("reviews", "tidies"):
        tx.execute(
            f"""
            UPDATE {table} SET status = 'due', claim = '', lease_until = NULL WHERE space = ? AND status = 'running'
            """,
            (space,),
        )


def refuse_overtaken(tx: Reader, space: int, known: int) -> None:
    """Raise Overtaken for what was thought when the epoch was another."""
    if epoch(tx, space) != known:
        raise Overtaken


def _forget(rd: Reader, row: sqlite3.Row) -> Forget:
    steps = rd.rows("SELECT * FROM forget_steps WHERE forget = ? ORDER BY place, layer", (row["id"],))
    return Forget(
        id=row["id"],
        space=row["space"],
        kind=row["kind"],
        by=row["by"],
        begun_by=row["begun_by"],
        status=row["status"],
        requested_at=time_of(row["requested_at"]),
        begun_at=optional_time_of(row["begun_at"]),
        done_at=optional_time_of(row["done_at"]),
        message=row["message"],
        marks=bool(row["marks"]),
        rows=strings_of(row["rows"]),
        left_out=strings_of(row["left_out"]),
        left=tuple((path, count) for path, count in json.loads(row["left_files"])),
        verified=values_of(row["verified"]),
        steps=tuple(
            ForgetStep(step["layer"], step["found"], step["erased"], optional_time_of(step["done_at"]))
            for step in steps
        ),
    )
