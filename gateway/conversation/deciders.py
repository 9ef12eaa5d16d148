"""Who decided about a write and when, as the people of a chat know them."""

from datetime import tzinfo

from gateway.chat import Chat, Person
from gateway.conversation.access import Access, Standing
from gateway.conversation.cardtext import Decider
from gateway.records import Write
from gateway.store import people
from gateway.store.transaction import Reader


def of(rd: Reader, access: Access, zone: tzinfo, write: Write, chat: Chat) -> Decider:
    """ "you" where it was the person whose private chat this is, with whatever account."""
    when = f"{write.decided_at.astimezone(zone):%Y-%m-%d %H:%M}" if write.decided_at else ""
    if not write.decided_by:
        return Decider("", "", when)
    known, by = people.chat(rd, chat), Person.parse(write.decided_by)
    reader = Person.parse(known.person) if known is not None and known.private and known.person else None
    if reader is not None and by.key in access.accounts(rd, reader):
        return Decider("card.by_you", "", when)
    if access.standing(rd, by) is Standing.OWNER:
        return Decider("card.by_owner", "", when)
    return Decider("card.by", by.key, when)
