"""What a search found."""

from dataclasses import dataclass
from datetime import datetime

from gateway.records.sessions import Message


@dataclass(frozen=True, slots=True)
class Hit:
    """One found message with a snippet around the words."""

    session: str
    message: int
    role: str
    at: datetime
    snippet: str
    place: tuple[int, int] = (0, 0)
    """Where the words stand in what is searched of it."""


@dataclass(frozen=True, slots=True)
class FoundSession:
    """What was found in one session. Its `id` is "" for messages that wait and belong to none yet."""

    id: str
    title: str
    matches: int
    """How many of its messages were found among those looked at."""
    hits: tuple[Hit, ...]
    """The best of them, best first."""
    around: tuple[Message, ...]
    """The best one with what was said right before and after it."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a search found, and how far it looked."""

    sessions: tuple[FoundSession, ...]
    """Best first."""
    matches: int = 0
    """How many messages match (see `more`)."""
    more: bool = False
    """Whether there may be more matches than that."""
    ranked: int = 0
    """Among so many of the newest matches the best were chosen; 0: among all."""
    newest_only: int = 0
    """Only so many of the newest messages were read, because no index helps with this query; 0: all."""
    loosely: bool = False
    """Nothing has all of what was asked; these have a part of it."""
    unindexed: int = 0
    """So many older messages are still to be indexed."""

    @property
    def hits(self) -> tuple[Hit, ...]:
        return tuple(hit for session in self.sessions for hit in session.hits)
