"""Whether memory writes of a space wait for a person's yes.

What a chat command persisted (`/memory approval on`, the owner's first answer) goes before the settings.
"""

from datetime import datetime

from gateway.chat import Person
from gateway.records import Choice
from gateway.settings import Settings
from gateway.store import choices
from gateway.store.db import Reader, Transaction

KEY = "memory.write_approval"


def asks_first(rd: Reader, settings: Settings, space: int) -> bool:
    """True when a write that the model or a review proposes for this space is staged."""
    chosen = choices.get(rd, space, KEY)
    return settings.memory.write_approval if chosen is None else chosen == "on"


def choose(tx: Transaction, space: int, *, asks: bool, by: Person, at: datetime) -> None:
    """Persist the choice for a space, with who made it and when."""
    choices.set(tx, Choice(space, KEY, "on" if asks else "off", by.key, at))
