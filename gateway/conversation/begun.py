"""A turn that has begun, as all that is committed of it tells: what its next request is made of.

It is read anew from the database, where the turn goes on after a kill and where a compression came in between.
"""

from dataclasses import dataclass, replace

from gateway import transcript
from gateway.ports import ModelRequest
from gateway.records import Message, Session, Space, Summary
from gateway.store import forgets, messages, people, prompts, sessions, summaries
from gateway.store.db import Database


@dataclass(frozen=True, slots=True)
class Turn:
    """What a turn knows once it has begun."""

    message: Message
    session: Session
    space: Space
    summary: Summary | None
    """What stands for the turns that were compressed away."""
    before: tuple[Message, ...]
    """The transcript up to and including the question, as far as it is still shown."""
    rounds: tuple[Message, ...]
    """What this turn has already committed: the model's calls and the tools' results."""
    epoch: int = 0
    """See `store.forgets`: what was thought before a forget is not committed; the lane begins anew."""

    @property
    def round(self) -> int:
        """The number of the last committed round; 0 before the first."""
        return max((row.round for row in self.rounds), default=0)

    def with_rounds(self, db: Database) -> "Turn":
        """The turn with the rounds that have been committed meanwhile."""
        with db.read() as rd:
            rows = messages.of_turn(rd, self.session.id, self.message.turn)
        return replace(self, rounds=tuple(row for row in rows if row.id != self.message.id))

    def request(self) -> ModelRequest:
        """The exact request to send now."""
        session = self.session
        return transcript.request(session.system_prompt, session.tools, (*self.before, *self.rounds), self.summary)


def load(db: Database, message_id: int) -> Turn | None:
    """The begun turn of a message; None where both were taken back."""
    with db.read() as rd:
        message = messages.get(rd, message_id)
        if message.erased:
            return None
        session = sessions.get(rd, message.session)
        # A refresh while the turn was interrupted changes nothing for it.
        system, definitions = prompts.of(rd, session.id, message.generation)
        session = replace(session, system_prompt=system, tools=definitions, generation=message.generation)
        summary = summaries.of(rd, session.id, message.generation)
        rows = messages.shown(rd, session.id, summary, message.turn)
        space = people.space(rd, message.space)
        epoch = forgets.epoch(rd, message.space)
    this_turn = tuple(row for row in rows if row.turn == message.turn and row.id != message.id)
    before = tuple(row for row in rows if row.turn < message.turn or row.id == message.id)
    return Turn(message, session, space, summary, before, this_turn, epoch)
