"""Which turns are to be reviewed, and how far that is. Redis only wakes a worker; this is what is due.

A row is written once, by the transaction that makes it due, and the turns of two rows never overlap: a turn
belongs to exactly one review. A claim names the lock of the job that runs it: when that lock is free, its
process is dead and the claim is `void`; the lease only ends a worker that hangs.
"""

import sqlite3
from datetime import datetime

from gateway.errors import NotFound
from gateway.records import Review
from gateway.store import incognito, sessions
from gateway.store.encoding import optional_time_of, time_of, time_text
from gateway.store.transaction import Reader, Transaction


def make_due(
    tx: Transaction, session: str, space: int, turn: int, first_turn: int, cause: str, at: datetime
) -> bool:
    """Make turns `first_turn` up to `turn` due. False, and nothing done, if any of them has a review already."""
    ours = tx.changed(
        """
        INSERT INTO reviews (session, turn, first_turn, space, status, cause, created_at)
        SELECT :session, :turn, :first_turn, :space, 'due', :cause, :at
         WHERE :first_turn <= :turn
           AND NOT EXISTS (SELECT 1 FROM reviews WHERE session = :session AND turn >= :first_turn)
        """,
        {
            "session": session,
            "turn": turn,
            "first_turn": first_turn,
            "space": space,
            "cause": cause,
            "at": time_text(at),
        },
    )
    if ours:
        sessions.mark_due(tx, session, turn)
    return ours


def never_reviewed(rd: Reader, session: str) -> tuple[int, int] | None:
    """The first and the last finished turn since the last review, those said while reviews were off included."""
    if incognito.is_one(rd, session):
        return None
    last_review = rd.row("SELECT coalesce(max(turn), 0) AS turn FROM reviews WHERE session = ?", (session,))
    first = 1 if last_review is None else int(last_review["turn"]) + 1
    last = sessions.last_finished_turn(rd, session)
    return (first, last) if first <= last else None


def make_rest_due(tx: Transaction, session: str, space: int, cause: str, at: datetime) -> bool:
    """Make the review of a session's unreviewed turns due; False when there are none."""
    span = sessions.unreviewed(tx, session)
    return span is not None and make_due(tx, session, space, span[1], span[0], cause, at)


def get(rd: Reader, session: str, turn: int) -> Review:
    """One review. Raises NotFound."""
    found = _some(rd, "session = :session AND turn = :turn", session=session, turn=turn)
    if not found:
        raise NotFound("review.unknown", session=session, turn=turn)
    return found[0]


def due(rd: Reader, now: datetime) -> list[Review]:
    """What a worker may claim now, oldest first."""
    return _some(rd, f"status IN ('due', 'running') AND {_CLAIMABLE}", now=time_text(now))


def running(rd: Reader) -> list[Review]:
    """What is claimed, oldest first, whether its claimer still lives or not."""
    return _some(rd, "status = 'running'")


def failed(rd: Reader) -> list[Review]:
    """What could not be done, oldest first."""
    return _some(rd, "status = 'failed'")


def for_space(rd: Reader, space: int | None) -> list[Review]:
    """What is due, running or failed in one space or (None) in all, oldest first."""
    return _some(rd, "status IN ('due', 'running', 'failed') AND (:space IS NULL OR space = :space)", space=space)


def counts(rd: Reader, space: int | None = None) -> dict[str, int]:
    """How many are due, running and failed, of one space or (None) of all."""
    rows = rd.rows(
        """
        SELECT status, count(*) AS reviews FROM reviews
         WHERE status IN ('due', 'running', 'failed') AND (:space IS NULL OR space = :space) GROUP BY status
        """,
        {"space": space},
    )
    return {"due": 0, "running": 0, "failed": 0, **{row["status"]: row["reviews"] for row in rows}}


def is_open(rd: Reader, session: str) -> bool:
    """Whether turns of a session are still to be reviewed."""
    if sessions.unreviewed(rd, session) is not None:
        return True
    row = rd.row("SELECT 1 FROM reviews WHERE session = ? AND status IN ('due', 'running') LIMIT 1", (session,))
    return row is not None


def claim(
    tx: Transaction, session: str, turn: int, claim: str, lease_until: datetime, now: datetime
) -> Review | None:
    """Take a review for a while. None: it is done, somebody else has it, or its time has not come."""
    ours = tx.changed(
        f"""
        UPDATE reviews
           SET status = 'running', claim = :claim, lease_until = :lease_until, attempts = attempts + 1,
               retry_at = NULL, reason = ''
         WHERE session = :session AND turn = :turn AND {_CLAIMABLE}
        """,
        {
            "session": session,
            "turn": turn,
            "claim": claim,
            "lease_until": time_text(lease_until),
            "now": time_text(now),
        },
    )
    return get(tx, session, turn) if ours else None


def void(tx: Transaction, session: str, turn: int, claim: str = "") -> bool:
    """running -> due: the claimer is dead. With `claim`, only if it is still that one's."""
    return tx.changed(
        """
        UPDATE reviews SET status = 'due', claim = '', lease_until = NULL
         WHERE session = :session AND turn = :turn AND status = 'running' AND :claim IN ('', claim)
        """,
        {"session": session, "turn": turn, "claim": claim},
    )


def finish(tx: Transaction, session: str, turn: int, claim: str, at: datetime) -> bool:
    """running -> done. False: the claim is no longer ours, and nothing that was thought may be committed."""
    return tx.changed(
        """
        UPDATE reviews SET status = 'done', lease_until = NULL, ended_at = :at
         WHERE session = :session AND turn = :turn AND status = 'running' AND claim = :claim
        """,
        {"session": session, "turn": turn, "claim": claim, "at": time_text(at)},
    )


def put_back(tx: Transaction, session: str, turn: int, claim: str, reason: str, retry_at: datetime) -> bool:
    """running -> due, not before `retry_at`. `reason` is a word for the operator, e.g. "model_busy"."""
    return tx.changed(
        """
        UPDATE reviews
           SET status = 'due', claim = '', lease_until = NULL, reason = :reason, retry_at = :retry_at
         WHERE session = :session AND turn = :turn AND status = 'running' AND claim = :claim
        """,
        {"session": session, "turn": turn, "claim": claim, "reason": reason, "retry_at": time_text(retry_at)},
    )


def fail(tx: Transaction, session: str, turn: int, claim: str, reason: str, at: datetime) -> bool:
    """running -> failed, where the owner sees it."""
    return tx.changed(
        """
        UPDATE reviews SET status = 'failed', lease_until = NULL, reason = :reason, ended_at = :at
         WHERE session = :session AND turn = :turn AND status = 'running' AND claim = :claim
        """,
        {"session": session, "turn": turn, "claim": claim, "reason": reason, "at": time_text(at)},
    )


def without(tx: Transaction, session: str, turn: int, at: datetime) -> None:
    """A turn was taken away: what is thought about it is void, and a review with no turn left has nothing to do."""
    place = {"session": session, "turn": turn, "at": time_text(at)}
    tx.execute(
        """
        UPDATE reviews SET status = 'due', claim = '', lease_until = NULL, retry_at = NULL
         WHERE session = :session AND status = 'running' AND :turn BETWEEN first_turn AND turn
        """,
        place,
    )
    tx.execute(
        """
        UPDATE reviews SET status = 'done', reason = 'undone', ended_at = :at
         WHERE session = :session AND status IN ('due', 'failed') AND :turn BETWEEN first_turn AND turn
           AND NOT EXISTS (SELECT 1 FROM messages
                            WHERE messages.session = :session AND role = 'user'
                              AND messages.turn BETWEEN reviews.first_turn AND reviews.turn)
        """,
        place,
    )


def retry(tx: Transaction, session: str, turn: int, at: datetime) -> bool:
    """failed -> due, at once: somebody asks. Attempts are counted on: a job's id carries them, and none returns."""
    return tx.changed(
        """
        UPDATE reviews SET status = 'due', cause = 'asked', claim = '', retry_at = :at, ended_at = NULL
         WHERE session = :session AND turn = :turn AND status = 'failed'
        """,
        {"session": session, "turn": turn, "at": time_text(at)},
    )


_CLAIMABLE = """(status = 'due' AND (retry_at IS NULL OR retry_at <= :now)
                 OR status = 'running' AND lease_until <= :now)"""


def _some(rd: Reader, where: str, **parameters: object) -> list[Review]:
    rows = rd.rows(f"SELECT * FROM reviews WHERE {where} ORDER BY created_at, session, turn", parameters)
    return [_review(row) for row in rows]


def _review(row: sqlite3.Row) -> Review:
    return Review(
        session=row["session"],
        turn=row["turn"],
        first_turn=row["first_turn"],
        space=row["space"],
        status=row["status"],
        cause=row["cause"],
        attempts=row["attempts"],
        claim=row["claim"],
        lease_until=optional_time_of(row["lease_until"]),
        retry_at=optional_time_of(row["retry_at"]),
        reason=row["reason"],
        created_at=time_of(row["created_at"]),
    )
