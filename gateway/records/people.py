"""Who may talk, where, and what they chose."""

from dataclasses import dataclass
from datetime import datetime

from gateway.chat import Chat, Person


@dataclass(frozen=True, slots=True)
class Account:
    """One account of a person, as kept."""

    key: str
    role: str
    """owner | allowed | stranger (kept only to count wrong codes)"""
    space: int | None
    wrong_codes: int
    wrong_since: datetime | None
    since: datetime | None = None
    """Since when it is what it is."""
    revoked_at: datetime | None = None
    """When it was taken out, if that was the last that happened to it."""


@dataclass(frozen=True, slots=True)
class KnownChat:
    """A chat as kept."""

    chat: Chat
    private: bool
    person: str
    """Whose private chat it is; "" for a group."""
    language: str
    home: bool
    last_at: datetime | None
    refused_at: datetime | None
    """When a group was told that it cannot be served."""
    space: int | None = None
    """Whose memory it uses; None while it was never let in."""
    server: str = ""
    """The Discord server that it is in."""


@dataclass(frozen=True, slots=True)
class Pairing:
    """Somebody who is not let in yet asks to be: the account and the code it was told, never words."""

    code: str
    person: Person
    chat: Chat
    """The private chat in which it asked."""
    created_at: datetime
    expires_at: datetime
    decided_at: datetime | None = None
    """When it was allowed or ignored."""
    ignored_at: datetime | None = None
    """When the owner ignored it; None where that was taken back."""
    language: str = ""
    """The first guess for its chat; "" when the platform says nothing, or a language that we do not speak."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A setting that a chat command changed."""

    space: int
    key: str
    value: str
    by: str
    at: datetime
