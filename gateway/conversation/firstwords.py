"""What a person is told once: what is kept, who can read it, how to forget; and the owner's first question."""

from datetime import datetime

from gateway.chat import Chat, Person
from gateway.conversation.access import Access, Standing
from gateway.records import NewOutgoing, Space
from gateway.store import outbox
from gateway.store.db import Transaction


def put(tx: Transaction, access: Access, chat: Chat, person: Person, space: Space, now: datetime) -> None:
    """Put the welcome (once per account) and the owner's question (once per home) into the outbox.

    Neither in a group, where others read along: there the first words come with the first private message.
    """
    if space.kind == "group":
        return
    standing = access.standing(tx, person)
    welcome = NewOutgoing(
        dedupe=welcome_key(person),
        kind="welcome",
        chat=chat,
        space=space.id,
        created_at=now,
        values={"standing": standing.value},
    )
    outbox.put(tx, welcome)
    ask(tx, access, chat, person, space, now)


def welcome_key(person: Person) -> str:
    """The dedupe key under which an account is welcomed."""
    return f"welcome-{person.key}"


def ask(tx: Transaction, access: Access, chat: Chat, person: Person, space: Space, now: datetime) -> None:
    """Put the owner's question into the outbox, once per home."""
    if access.standing(tx, person) is Standing.OWNER:
        outbox.put(tx, NewOutgoing(dedupe="ask-first", kind="ask_first", chat=chat, space=space.id, created_at=now))
