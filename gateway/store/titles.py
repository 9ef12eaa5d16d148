"""What the model calls sessions. A title that a person gave (`sessions.rename`) is never replaced by it."""

from gateway.errors import NotFound
from gateway.store.encoding import clean
from gateway.store.transaction import Reader, Transaction

ANSWERED_FIRST = 2
"""So many questions must have been answered: a greeting alone says nothing about what will be talked of."""

_IS_DUE = """
    id = :id AND title_by = '' AND title_turn = 0 AND incognito = 0
    AND EXISTS (SELECT 1 FROM messages WHERE session = :id AND role = 'user' AND done = 'answered'
                 LIMIT 1 OFFSET :most - 1)
"""


def is_due(rd: Reader, session: str) -> bool:
    """Whether the model is to be asked for a title."""
    row = rd.row(f"SELECT 1 FROM sessions WHERE {_IS_DUE}", {"id": session, "most": ANSWERED_FIRST})
    return row is not None


def begin(tx: Transaction, session: str) -> int | None:
    """The model is asked now, once; up to which turn it reads. None: it is not to be asked, or not any more."""
    row = tx.row(
        f"UPDATE sessions SET title_turn = turns WHERE {_IS_DUE} RETURNING title_turn",
        {"id": session, "most": ANSWERED_FIRST},
    )
    return None if row is None else int(row["title_turn"])


def suggest(tx: Transaction, session: str, turn: int, title: str) -> bool:
    """The model's title, read up to `turn`. False: a person was faster, or what it read was taken back."""
    return tx.changed(
        """
        UPDATE sessions SET title = :title, title_by = 'model'
         WHERE id = :id AND title_by = '' AND title_turn = :turn AND :turn > 0
        """,
        {"id": session, "turn": turn, "title": clean(title)},
    )


def take_back(tx: Transaction, session: str, turn: int) -> None:
    """This turn goes: a title that the model made of it goes, too, and it may be asked for another one."""
    tx.execute(
        """
        UPDATE sessions SET title = '', title_by = '', title_turn = 0
         WHERE id = :id AND title_by <> 'person' AND title_turn >= :turn
        """,
        {"id": session, "turn": turn},
    )


def of(rd: Reader, session: str) -> tuple[str, bool]:
    """The title ("" for none), and whether a person gave it. Raises NotFound."""
    row = rd.row("SELECT title, title_by FROM sessions WHERE id = ?", (clean(session),))
    if row is None:
        raise NotFound("session.unknown", id=session)
    return row["title"], row["title_by"] == "person"
