"""Spaces and the files in them."""

from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Space:
    """One MEMORY.md + USER.md pair. `name` is its folder; the owner's is "owner" (files in memories/)."""

    id: int
    name: str
    kind: str
    """owner | person | group"""

    @property
    def has_profile(self) -> bool:
        """Groups keep no USER.md (design.md 7.1)."""
        return self.kind != "group"


class Target(StrEnum):
    """One of the two files of a space."""

    MEMORY = "memory"
    USER = "user"


@dataclass(frozen=True, slots=True)
class KnownFile:
    """What we last read or wrote of a memory file: how a hand edit is noticed."""

    sha256: str
    text: str
