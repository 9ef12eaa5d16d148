"""The language of a chat: what somebody chose there, else the first guess, else `display.language`.

The guess is the locale that the platform first tells of the person in their private chat (`people.keep_chat`):
Telegram with every message, Discord with the first slash command. It is kept then and not made again. A choice by
`/language` goes over it and is never overwritten. In a group the setting holds until the owner chooses: one
member's locale says nothing about the others.
"""

from gateway import words
from gateway.chat import Chat, IncomingMessage
from gateway.records import Outgoing
from gateway.settings import Settings
from gateway.store import people
from gateway.store.db import Database, Reader

GUESS = "language"
"""The value of an outbox row that goes to a chat of which nothing is kept, a stranger's: its first guess."""


def language_of(rd: Reader, chat: Chat, settings: Settings) -> str:
    """The language in which this chat is spoken to."""
    known = people.chat(rd, chat)
    return (known.language if known else "") or settings.display.language


def language_of_row(rd: Reader, row: Outgoing, settings: Settings) -> str:
    """The language of something to be said: its chat's, and for a chat that is not known the guess it carries."""
    known = people.chat(rd, row.chat)
    guess = str(row.values.get(GUESS, "")) if known is None else ""
    return guess or language_of(rd, row.chat, settings)


def known_of(db: Database, chat: Chat, settings: Settings) -> str:
    """The same as `language_of`, for a platform that has questions of its own to ask."""
    with db.read() as rd:
        return language_of(rd, chat, settings)


def sentence(db: Database, chat: Chat, settings: Settings, key: str, **values: object) -> str:
    """A sentence of ours in the language of a chat."""
    return words.text(key, known_of(db, chat, settings), **values)


def first_guess(message: IncomingMessage) -> str:
    """What the platform says about the person's language, where we speak it and the chat is theirs alone."""
    return words.spoken(message.language) if message.private else ""
