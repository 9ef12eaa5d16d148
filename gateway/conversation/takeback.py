"""Takes back what was said last: `/undo`, and `/retry`, which asks it again.

The last turn leaves the transcript, the index and the reviews in the commit of the command. A turn that is being
answered is ended unsaid, what waits for its turn is not answered. What rests on it in memory stays until a person
says otherwise: it is named in the answer (`takebacktext`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from gateway.chat import Chat
from gateway.conversation import joining, telling
from gateway.records import Done, Message, Role, Session, Write
from gateway.settings import Settings
from gateway.store import erasing, messages, resting, reviews, sessions, titles, turns
from gateway.store.messages import NewMessage
from gateway.store.transaction import Reader, Transaction


@dataclass(frozen=True, slots=True)
class Last:
    """What was said last: the question, with the pieces of it that have not been joined to it yet."""

    question: Message
    pieces: tuple[Message, ...] = ()

    @property
    def waits(self) -> bool:
        """Whether its turn has not begun."""
        return not self.question.turn and self.question.done is None


def last_said(rd: Reader, chat: Chat, session: Session | None, command: int, member: str = "") -> Last | None:
    """What was said last before a command: what still waits in its chat, else the newest turn of its session.

    `member`: where each has a session of their own, what others said is not looked at.
    """
    waiting = _waiting(rd, chat, command, member)
    if waiting is not None:
        return waiting
    question = turns.newest_question(rd, session.id) if session is not None else None
    return None if question is None else Last(question)


def _waiting(rd: Reader, chat: Chat, command: int, member: str) -> Last | None:
    found: Last | None = None
    joined: set[int] = set()
    for message in turns.not_begun(rd, chat, command):
        if message.id not in joined and member in ("", message.person):
            found = Last(message, tuple(piece for piece in joining.pieces(rd, message) if piece.id < command))
            joined.update(piece.id for piece in found.pieces)
    return found


def rests(rd: Reader, question: Message) -> list[Write]:
    """The writes that rest on a turn, oldest first."""
    if not question.turn:
        return []
    rows = messages.of_turn(rd, question.session, question.turn)
    return resting.on_turn(rd, question.session, question.turn, [row.id for row in rows])


def take_back(tx: Transaction, settings: Settings, last: Last, now: datetime) -> bool:
    """Take it back. True: its turn was running, and must end now."""
    question = messages.get(tx, last.question.id)
    stopped = stop(tx, settings, Last(question), now)
    if question.turn:
        _take_turn_back(tx, question, now)
    else:
        erasing.messages(tx, [row.id for row in (question, *last.pieces)])
    return stopped and bool(question.turn)


def stop(tx: Transaction, settings: Settings, last: Last, now: datetime) -> bool:
    """End its turn unsaid, if it runs, and tell what it has written. True: it ran."""
    if not messages.finish(tx, last.question.id, Done.STOPPED, now):
        return False
    telling.put(tx, settings, last.question, now)
    return True


def _take_turn_back(tx: Transaction, question: Message, now: datetime) -> None:
    session, turn = question.session, question.turn
    erasing.messages(tx, [row.id for row in messages.of_turn(tx, session, turn)])
    reviews.without(tx, session, turn, now)
    titles.take_back(tx, session, turn)
    span = sessions.unreviewed(tx, session)
    if span is not None and not turns.count(tx, session, *span):
        sessions.mark_due(tx, session, span[1])


_AGAIN = "retry:"


def is_asked_again(message: Message) -> bool:
    """Whether a `/retry` keeps it."""
    return (message.platform_id or "").startswith(_AGAIN)


def ask_again(tx: Transaction, command: Message, last: Last, now: datetime) -> None:
    """Keep the same question once more, as said now, after it was taken back. Its turn begins like any other's."""
    question = last.question
    new = messages.keep(
        tx,
        NewMessage(
            space=question.space,
            chat=command.chat,
            person=question.person,
            role=Role.USER,
            text=question.text,
            pieces=question.pieces,
            at=now,
            platform_id=f"{_AGAIN}{command.platform_id or command.id}",
            session=command.session,
            speaker=question.speaker,
        ),
    )
    if new is not None:
        resting.move(tx, question.id, new)


def listed(rd: Reader, question: int, found: Sequence[int]) -> list[Write]:
    """The writes that an answer names, as they are now; with what a running turn wrote at its end."""
    late = resting.on_messages(rd, [question])
    return resting.get(rd, sorted({*found, *(write.id for write in late)}))
