"""Whether memory writes of a space wait for a person's yes.

What a chat command persisted (`/memory approval on`, the owner's first answer) goes before the settings.
"""

from datetime import datetime

from gateway.chat import Person
from gateway.settings import Settings
from gateway.store import choices
from gateway.store.db import Reader, Transaction

KEY = "memory.write_approval"


def asks_first(rd: Reader, settings: Settings, space: int) -> bool:
    """True when a write that the model or a review proposes for this space is staged."""
    return choices.is_on(rd, space, KEY, otherwise=settings.memory.write_approval)


def choose(tx: Transaction, space: int, *, asks: bool, by: Person, at: datetime) -> None:
    """Persist the choice for a space, with who made it and when."""
    choices.switch(tx, space, KEY, on=asks, by=by.key, at=at)
