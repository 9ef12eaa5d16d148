"""Conversations of another bot, brought as ended sessions of a space: found by a search, never reviewed.

What was said there is not taken for the person's own words here: nothing is learnt from it unasked. A long one is
brought in several commits, each of which says how far it came.
"""

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import islice

from gateway import failpoints
from gateway.chat import Chat, How, Piece
from gateway.memory.imports import Item, Kind, Verdict
from gateway.ports import Clock
from gateway.records import Done, Role, Session, Space
from gateway.store import imported, messages, sessions
from gateway.store.db import Database
from gateway.store.hermesdb import ForeignMessage, ForeignSession, ForeignStore
from gateway.store.imported import Brought
from gateway.store.transaction import Transaction

SOURCE = "hermes"
AT_ONCE = 100
"""Messages in one commit: whoever else writes waits that long."""
MOST_TITLE_CHARS = 100
_PLAIN = re.compile(r"[^a-z0-9_-]+")


@dataclass(frozen=True, slots=True)
class Frozen:
    """The prompt and the tools of a session that is taken up again, as they were when it was brought."""

    system_prompt: str = field(repr=False)
    tools: str = field(repr=False)
    model: str


def bring(
    db: Database, store: ForeignStore, space: Space, by: str, frozen: Frozen, clock: Clock, *, dry: bool
) -> Iterator[Item]:
    """Each conversation there in which anything was said, with what becomes of it. Raises NotReadable."""
    for talk in store.sessions():
        mark = imported.mark_of(SOURCE, talk.id)
        with db.read() as rd:
            brought = imported.find(rd, space.id, mark)
            session = sessions.find(rd, brought.session) if brought is not None else None
        name = _name(talk)
        if brought is not None and (session is None or session.chat.platform != SOURCE):
            reason = "import.session_deleted" if session is None else "import.session_taken_up"
            yield Item(Kind.SESSION, name, Verdict.BEFORE, reason)
            continue
        waiting = store.messages(talk.id, brought.last if brought is not None else 0)
        count = sum(1 for _ in waiting) if dry else _all(db, waiting, talk, space, by, frozen, clock)
        if count:
            yield Item(Kind.SESSION, name, Verdict.NEW, count=count)
        elif brought is not None:
            yield Item(Kind.SESSION, name, Verdict.BEFORE)


def _all(
    db: Database,
    waiting: Iterator[ForeignMessage],
    talk: ForeignSession,
    space: Space,
    by: str,
    frozen: Frozen,
    clock: Clock,
) -> int:
    """Bring what was said, a part at a time; how many messages."""
    count = 0
    while part := list(islice(waiting, AT_ONCE)):
        with db.write() as tx:
            _part(tx, part, talk, space, by, frozen, clock.now())
        failpoints.reach("import.session")
        count += len(part)
    return count


def _part(
    tx: Transaction,
    part: Sequence[ForeignMessage],
    talk: ForeignSession,
    space: Space,
    by: str,
    frozen: Frozen,
    now: datetime,
) -> None:
    mark = imported.mark_of(SOURCE, talk.id)
    begun = talk.started_at or part[0].at or now
    ended = max(talk.ended_at or part[-1].at or begun, begun)
    brought = imported.find(tx, space.id, mark)
    if brought is None:
        brought = Brought(_open(tx, talk, space, frozen, mark, begun, now), 0)
        sessions.end(tx, brought.session, "imported", ended)
    session = sessions.get(tx, brought.session)
    turn, asked, at = session.turns, None, max(begun, session.last_at)
    for message in part:
        if message.id <= brought.last:
            continue
        at = message.at or at
        if message.is_person or not turn:
            turn = sessions.begin_turn(tx, session.id, at)
        id = messages.keep(tx, _message(message, session, turn, at, by, asked))
        asked = id if message.is_person else None
    sessions.mark_due(tx, session.id, turn)
    imported.bring(tx, space.id, mark, session.id, part[-1].id, now)


def _message(
    message: ForeignMessage, session: Session, turn: int, at: datetime, by: str, asked: int | None
) -> messages.NewMessage:
    said = (Piece(How.FORWARDED, "", message.text),) if message.is_person else ()
    return messages.NewMessage(
        space=session.space,
        chat=session.chat,
        person=by if message.is_person else "",
        role=Role.USER if message.is_person else Role.ASSISTANT,
        text=message.text,
        at=at,
        pieces=said,
        session=session.id,
        turn=turn,
        generation=session.generation,
        answers=None if message.is_person else asked,
        done=Done.ANSWERED if message.is_person else None,
    )


def _open(
    tx: Transaction, talk: ForeignSession, space: Space, frozen: Frozen, mark: str, begun: datetime, now: datetime
) -> str:
    """A session of ours for theirs; its id says when it was begun there."""
    id = f"{begun.astimezone(UTC):%Y%m%d_%H%M%S}_{hashlib.sha256(mark.encode()).hexdigest()[:6]}"
    if sessions.find(tx, id) is not None:
        id = sessions.new_id(begun)
    session = Session(
        id=id,
        space=space.id,
        chat=Chat(SOURCE, _source(talk)),
        member="",
        opened_at=begun,
        ended_at=None,
        system_prompt=frozen.system_prompt,
        tools=frozen.tools,
        generation=1,
        frozen_at=now,
        turns=0,
        last_at=begun,
        title=talk.title[:MOST_TITLE_CHARS],
        model=frozen.model,
    )
    sessions.open(tx, session)
    if session.title:
        sessions.rename(tx, id, session.title)  # whoever gave it, no model gives it another one
    return id


def _name(talk: ForeignSession) -> str:
    day = f" {talk.started_at:%Y-%m-%d}" if talk.started_at else ""
    return talk.title[:MOST_TITLE_CHARS] or _source(talk) + day


def _source(talk: ForeignSession) -> str:
    """Where it was held: a word, whatever stands there."""
    return _PLAIN.sub("-", talk.source.lower())[:32].strip("-") or "unknown"
