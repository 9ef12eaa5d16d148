"""Which sessions are meant by their age, title, model, platform, space and what was said in them."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime

from gateway.records import SessionSummary
from gateway.store import sessions
from gateway.store.encoding import clean, time_text
from gateway.store.search_fold import fold
from gateway.store.search_index import words_of
from gateway.store.transaction import Reader


@dataclass(frozen=True, slots=True)
class Wanted:
    """All of these must fit; what is None or "" fits every session."""

    before: datetime | None = None
    """Nothing was said in it since then."""
    title: str = field(default="", repr=False)
    """A part of its title, or of what is folded the same (`search_fold`)."""
    model: str = ""
    platform: str = ""
    space: int | None = None
    containing: str = field(default="", repr=False)
    """Said in it by anybody, heard from a tool or handed to one, or in its title."""

    @property
    def is_everything(self) -> bool:
        return self == Wanted()


def chosen(rd: Reader, wanted: Wanted) -> list[SessionSummary]:
    """The sessions that are meant, the longest unused first."""
    rows = rd.rows(
        """
        SELECT id, title FROM sessions
         WHERE (:before IS NULL OR last_at < :before) AND :model IN ('', model)
           AND :platform IN ('', platform) AND (:space IS NULL OR space = :space)
         ORDER BY last_at, id
        """,
        {
            "before": None if wanted.before is None else time_text(wanted.before),
            "model": clean(wanted.model),
            "platform": clean(wanted.platform),
            "space": wanted.space,
        },
    )
    title, containing = fold(wanted.title), fold(wanted.containing)
    ids = [row["id"] for row in rows if title in fold(row["title"])]
    if (wanted.title and not title) or (wanted.containing and not containing):
        return []  # nothing but accents or what is invisible: in no text, and not in every one
    if containing:
        ids = [id for id in ids if any(containing in fold(text) for text in _said(rd, id))]
    return sessions.listed(rd, ids)


def _said(rd: Reader, session: str) -> Iterator[str]:
    """All words of a session, one message after the other."""
    yield from (row["title"] for row in rd.rows("SELECT title FROM sessions WHERE id = ?", (session,)))
    rows = rd.execute(
        """
        SELECT text, tool_calls, pieces, sent, speaker FROM messages
         WHERE session = ? AND role IN ('user', 'assistant', 'tool')
        """,
        (session,),
    )
    for row in rows:
        yield words_of(row["text"], row["tool_calls"])
        yield row["sent"] or row["speaker"]
        yield from (piece["text"] for piece in json.loads(row["pieces"]))
