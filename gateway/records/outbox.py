"""The outbox: what is still to be said."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from gateway.chat import Chat


@dataclass(frozen=True, slots=True)
class Outgoing:
    """One thing still to be said (a row of `outbox`): a kind and ids, without words."""

    id: int
    dedupe: str
    kind: str
    chat: Chat
    space: int
    token: str
    """Unguessable; a button carries it back (`data` = action:outbox id:token)."""
    message: int | None
    """The message it answers or shows, where there is one."""
    write: int | None
    review: tuple[str, int] | None
    edits: int | None
    """The outbox row whose message this one changes."""
    values: Mapping[str, object]
    """Numbers, names of settings, ids. Never anybody's words."""
    reply_to: str
    via: str
    """The only way on which it may be said; "" for the chat."""
    status: str
    """waiting | delivered | dropped | gone"""
    attempts: int
    due_at: datetime
    created_at: datetime

    @property
    def drawn_on(self) -> int:
        """The row whose message shows it: this one, or the one that it changes."""
        return self.id if self.edits is None else self.edits


@dataclass(frozen=True, slots=True)
class NewOutgoing:
    """One thing to put into the outbox; see Outgoing."""

    dedupe: str
    kind: str
    chat: Chat
    space: int
    created_at: datetime
    message: int | None = None
    write: int | None = None
    review: tuple[str, int] | None = None
    edits: int | None = None
    values: Mapping[str, object] | None = None
    reply_to: str = ""
    via: str = ""


@dataclass(frozen=True, slots=True)
class Chunk:
    """One platform message of a thing said. Its text is erased when it is delivered."""

    outgoing: int
    position: int
    text: str
    platform_id: str
    delivered: bool
