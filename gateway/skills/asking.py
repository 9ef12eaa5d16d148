"""Whether writes to the skills of a space wait for a person's yes.

What `/skills approval on` persisted goes before the settings (`skills.write_approval`).
"""

from datetime import datetime

from gateway.chat import Person
from gateway.records import Choice
from gateway.settings import Settings
from gateway.store import choices
from gateway.store.transaction import Reader, Transaction

KEY = "skills.write_approval"


def asks_first(rd: Reader, settings: Settings, space: int) -> bool:
    """True when a skill's change that the model or a review proposes for this space is staged."""
    chosen = choices.get(rd, space, KEY)
    return settings.skills.write_approval if chosen is None else chosen == "on"


def choose(tx: Transaction, space: int, *, asks: bool, by: Person, at: datetime) -> None:
    """Persist the choice for a space, with who made it and when."""
    choices.set(tx, Choice(space, KEY, "on" if asks else "off", by.key, at))
