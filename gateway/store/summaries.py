"""What stands in a session's requests for the turns that were compressed away, and how far compression has come.

The messages themselves stay where they are and are found by searches. A summary belongs to a generation of the
session's prompt and holds until a later one; a trigger of the database takes it away with any message that it
stands for. Making one is `conversation.compressing`.
"""

from datetime import datetime

from gateway.records import Summary
from gateway.store.encoding import clean, optional_time_of, time_text
from gateway.store.transaction import Reader, Transaction


def keep(tx: Transaction, session: str, generation: int, summary: Summary, at: datetime) -> None:
    """Let a summary stand from this generation on."""
    tx.execute(
        """
        INSERT INTO summaries (session, generation, head, tail, first, last, text, created_at)
        VALUES (:session, :generation, :head, :tail, :first, :last, :text, :at)
        """,
        {
            "session": session,
            "generation": generation,
            "head": summary.head,
            "tail": summary.tail,
            "first": summary.first,
            "last": summary.last,
            "text": clean(summary.text),
            "at": time_text(at),
        },
    )


def of(rd: Reader, session: str, generation: int) -> Summary | None:
    """What stands for the middle of a session under this generation; None: nothing, it is sent whole."""
    row = rd.row(
        """
        SELECT head, tail, first, last, text FROM summaries
         WHERE session = :session AND generation <= :generation
         ORDER BY generation DESC
         LIMIT 1
        """,
        {"session": session, "generation": generation},
    )
    return None if row is None else Summary(row["head"], row["tail"], row["first"], row["last"], row["text"])


def drop_former(tx: Transaction, session: str) -> None:
    """Delete what no prompt that is still kept was sent with. Call it when former prompts were deleted."""
    tx.execute(
        """
        DELETE FROM summaries
         WHERE session = :session
           AND generation < (SELECT max(generation) FROM summaries WHERE session = :session)
           AND NOT EXISTS (
               SELECT 1 FROM former_prompts
                WHERE former_prompts.session = :session AND former_prompts.generation >= summaries.generation
                  AND former_prompts.generation < (
                      SELECT min(later.generation) FROM summaries AS later
                       WHERE later.session = :session AND later.generation > summaries.generation))
        """,
        {"session": session},
    )


# -- how far compression has come --------------------------------------------------------------------------


def mark_flushed(tx: Transaction, session: str, message: int, at: datetime) -> None:
    """Memory was asked what to keep of a session up to this message."""
    tx.execute(
        """
        INSERT INTO compressions (session, flushed, flushed_at) VALUES (:session, :message, :at)
            ON CONFLICT (session) DO UPDATE SET flushed = excluded.flushed, flushed_at = excluded.flushed_at
        """,
        {"session": session, "message": message, "at": time_text(at)},
    )


def flushed(rd: Reader, session: str) -> int:
    """The last message that a flush saw; 0 before the first."""
    row = rd.row("SELECT flushed FROM compressions WHERE session = ?", (session,))
    return 0 if row is None else int(row["flushed"])


def flushed_at(rd: Reader, session: str) -> datetime | None:
    """When a session was last flushed."""
    row = rd.row("SELECT flushed_at FROM compressions WHERE session = ?", (session,))
    return None if row is None else optional_time_of(row["flushed_at"])


def wait(tx: Transaction, session: str, turn: int) -> None:
    """Do not compress a session by itself before this turn: it would end as it ended now."""
    tx.execute(
        """
        INSERT INTO compressions (session, not_before) VALUES (:session, :turn)
            ON CONFLICT (session) DO UPDATE SET not_before = excluded.not_before
        """,
        {"session": session, "turn": turn},
    )


def waits(rd: Reader, session: str, turn: int) -> bool:
    """Whether it is too early to compress a session again by itself."""
    row = rd.row("SELECT not_before FROM compressions WHERE session = ?", (session,))
    return row is not None and turn < row["not_before"]
