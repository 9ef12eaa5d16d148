"""Whether writes to the skills of a space wait for a person's yes.

What `/skills approval on` persisted goes before the settings (`skills.write_approval`).
"""

from datetime import datetime

from gateway.chat import Person
from gateway.settings import Settings
from gateway.store import choices
from gateway.store.transaction import Reader, Transaction

KEY = "skills.write_approval"


def asks_first(rd: Reader, settings: Settings, space: int) -> bool:
    """True when a skill's change that the model or a review proposes for this space is staged."""
    return choices.is_on(rd, space, KEY, otherwise=settings.skills.write_approval)


def choose(tx: Transaction, space: int, *, asks: bool, by: Person, at: datetime) -> None:
    """Persist the choice for a space, with who made it and when."""
    choices.switch(tx, space, KEY, on=asks, by=by.key, at=at)
