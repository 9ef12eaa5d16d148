"""A session as it was read to be compressed, and whether it still is.

Thinking about it takes a while, and meanwhile somebody may undo a turn, forget something or begin anew: then
nothing of what was thought is committed.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from gateway import transcript
from gateway.chat import Chat
from gateway.conversation import shortening
from gateway.memory import cards
from gateway.ports import Model, ModelAnswer, ModelRequest
from gateway.records import Message, Session, Space, Summary, Usage
from gateway.settings import Settings
from gateway.store import forgets, messages, people, sessions, summaries
from gateway.store.transaction import Reader


class Changed(Exception):
    """The session is not as it was read any more."""


@dataclass(frozen=True, slots=True)
class Past:
    """A session as it was read: all that its next request would show of it."""

    session: Session
    space: Space
    chat: Chat | None
    """Where its people hear of it."""
    summary: Summary | None
    rows: tuple[Message, ...]
    finished: int
    """The newest turn that is answered, with all before it: up to there it is flushed."""
    whose: Sequence[str] | None
    """The accounts of the space's person where others speak, too (`policy.own_words`)."""
    epoch: int
    """See `store.forgets`: what was thought before a forget is not committed."""
    paid: list[Usage] = field(default_factory=list)
    """What was paid and is not written down yet."""

    @property
    def said(self) -> tuple[Message, ...]:
        """The rows of the finished turns."""
        return tuple(row for row in self.rows if row.turn <= self.finished)

    @property
    def last(self) -> int:
        """The newest message of the finished turns; 0 for none."""
        return max((row.id for row in self.said), default=0)

    def request(self, rows: Sequence[Message], summary: Summary | None) -> ModelRequest:
        """What the model gets for these rows."""
        return transcript.request(self.session.system_prompt, self.session.tools, rows, summary)

    @property
    def size(self) -> int:
        """About how many tokens it has."""
        return shortening.size(self.request(self.rows, self.summary))

    def pay(self, task: str, model: Model, answer: ModelAnswer, at: datetime) -> None:
        """Note what an answer cost."""
        self.paid.append(answer.tokens.paid(task, model.name, at, space=self.space.id, session=self.session.id))


def read(rd: Reader, settings: Settings, session: str, turn: int | None = None) -> Past | None:
    """A session up to its last finished turn, or up to `turn`. None: it has ended, or a forget took its prompt."""
    now = sessions.find(rd, session)
    if now is None or now.ended_at is not None or not now.system_prompt:
        return None
    finished = sessions.last_finished_turn(rd, session)
    summary = summaries.of(rd, session, now.generation)
    space = people.space(rd, now.space)
    return Past(
        session=now,
        space=space,
        chat=cards.audience(rd, settings, now.chat),
        summary=summary,
        rows=tuple(messages.shown(rd, session, summary, turn or finished)),
        finished=finished,
        whose=people.owner_keys(rd, settings.access.owners) if space.kind == "group" else None,
        epoch=forgets.epoch(rd, space.id),
    )


def is_as_read(rd: Reader, past: Past) -> bool:
    """Whether what was thought is still about this session: nothing of it was undone, forgotten or changed."""
    id = past.session.id
    now = sessions.find(rd, id)
    if now is None or now.ended_at is not None or now.generation != past.session.generation:
        return False
    if forgets.epoch(rd, past.space.id) != past.epoch or summaries.of(rd, id, now.generation) != past.summary:
        return False
    return tuple(messages.shown(rd, id, past.summary, past.finished)) == past.said
