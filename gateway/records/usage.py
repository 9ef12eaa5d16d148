"""What the calls of the model cost."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call. `task` is chat, background_review, … (design.md section 4)."""

    task: str
    session: str
    space: int
    model: str
    input: int
    output: int
    cached: int
    at: datetime
    job: str = ""


@dataclass(frozen=True, slots=True)
class UsageSum:
    """What the calls of one task cost together."""

    task: str
    calls: int
    input: int
    output: int
    cached: int


@dataclass(frozen=True, slots=True)
class UsageDay:
    """What one task cost on one day, as days begin where people live."""

    day: str
    task: str
    calls: int
    input: int
    output: int
    cached: int
