"""Lists of a space's sessions, as people are shown them and choose from them. A member sees nobody else's.

Incognito sessions are in none.
"""

from collections.abc import Sequence

from gateway.records import SessionSummary
from gateway.store import sessions
from gateway.store.encoding import strings_text
from gateway.store.transaction import Reader

_THEIRS = "incognito = 0 AND space = :space AND member IN ('', :member)"


def recent(rd: Reader, space: int, member: str, limit: int) -> list[SessionSummary]:
    """Those used last, newest first. One in which nothing was said yet is none."""
    return _some(
        rd,
        f"{_THEIRS} AND turns > 0 ORDER BY last_at DESC, id DESC LIMIT :limit",
        {"space": space, "member": member, "limit": limit},
    )


def with_ids(rd: Reader, space: int, member: str, ids: Sequence[str]) -> list[SessionSummary]:
    """Those of these that are theirs."""
    named = {"space": space, "member": member, "ids": strings_text(ids)}
    return _some(rd, f"{_THEIRS} AND id IN (SELECT value FROM json_each(:ids))", named)


def titled(rd: Reader, space: int, member: str) -> list[SessionSummary]:
    """Those that have a title, newest first."""
    return _some(
        rd, f"{_THEIRS} AND title <> '' ORDER BY last_at DESC, id DESC", {"space": space, "member": member}
    )


def first_words(rd: Reader, session: str) -> str:
    """What the person said first: what a session without a title is known by."""
    row = rd.row(
        "SELECT text FROM messages WHERE session = ? AND role = 'user' AND turn > 0 ORDER BY turn, id LIMIT 1",
        (session,),
    )
    return "" if row is None else str(row["text"])


def _some(rd: Reader, where: str, named: dict[str, object]) -> list[SessionSummary]:
    rows = rd.rows(f"SELECT id FROM sessions WHERE {where}", named)
    return sessions.listed(rd, [row["id"] for row in rows])
