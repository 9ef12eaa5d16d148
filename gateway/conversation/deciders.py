"""Who decided about a write and when, as the people of a chat know them."""

from datetime import datetime, tzinfo

from gateway.chat import Chat, Person
from gateway.conversation.access import Access, Standing
from gateway.conversation.cardtext import Decider
from gateway.records import Write
from gateway.store import people
from gateway.store.transaction import Reader


def of(rd: Reader, access: Access, zone: tzinfo, write: Write, chat: Chat) -> Decider:
    """ "you" where it was the person whose private chat this is, with whatever account."""
    return named(rd, access, zone, write.decided_by, write.decided_at, chat)


def of_undo(rd: Reader, access: Access, zone: tzinfo, write: Write, chat: Chat) -> Decider:
    """The same for who took it back."""
    return named(rd, access, zone, write.undone_by, write.undone_at, chat)


def named(rd: Reader, access: Access, zone: tzinfo, key: str, at: datetime | None, chat: Chat) -> Decider:
    """Somebody who did something at some time, as the people of a chat know them; "" is nobody."""
    when = f"{at.astimezone(zone):%Y-%m-%d %H:%M}" if at else ""
    if not key:
        return Decider("", "", when)
    known, by = people.chat(rd, chat), Person.parse(key)
    reader = Person.parse(known.person) if known is not None and known.private and known.person else None
    if reader is not None and by.key in access.accounts(rd, reader):
        return Decider("card.by_you", "", when)
    if access.standing(rd, by) is Standing.OWNER:
        return Decider("card.by_owner", "", when)
    return Decider("card.by", by.key, when)
