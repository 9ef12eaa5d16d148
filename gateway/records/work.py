"""Work to be done in the background: what is due, who has claimed it, how far it is."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from gateway.chat import Chat
from gateway.records.spaces import Target


@dataclass(frozen=True, slots=True)
class Review:
    """ "Turns `first_turn` up to `turn` of `session`"."""

    session: str
    turn: int
    first_turn: int
    space: int
    status: str
    """due | running | done | failed"""
    cause: str
    """interval | quiet | end | compression | asked"""
    attempts: int
    claim: str
    lease_until: datetime | None
    retry_at: datetime | None
    reason: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Tidy:
    """ "Look once whether this memory file can be made smaller"."""

    id: str
    space: int
    target: Target
    status: str
    """due | running | done | failed"""
    cause: str
    """asked | full"""
    chat: Chat | None
    """Where people hear of it."""
    content: str
    """The SHA-256 of the file: when it was made due, then as the tidy left it."""
    attempts: int
    claim: str
    lease_until: datetime | None
    retry_at: datetime | None
    reason: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class ForgetStep:
    """One layer of a forget. `erased` is None until it is erased."""

    layer: str
    found: int
    erased: int | None
    done_at: datetime | None


@dataclass(frozen=True, slots=True)
class Forget:
    """What was to be forgotten, without the words: when it is done, the receipt."""

    id: int
    space: int
    kind: str
    """passage | rows | everything"""
    by: str
    """Who asked."""
    begun_by: str
    """Who said yes to the plan."""
    status: str
    """planned | erasing | done | cancelled | expired"""
    requested_at: datetime
    begun_at: datetime | None
    done_at: datetime | None
    message: int | None
    """The message that asked."""
    marks: bool
    """Whether tombstones are left."""
    rows: tuple[str, ...]
    """What goes whole: refs such as `messages:412`."""
    left_out: tuple[str, ...]
    """What the person left out: refs; of what is named by a hash only the layer, once it is done."""
    left: tuple[tuple[str, int], ...]
    """The person's own files that hold it, and how often."""
    verified: Mapping[str, object]
    """How it was verified: numbers and names of ours."""
    steps: tuple[ForgetStep, ...]
