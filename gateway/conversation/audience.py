"""Who reads the chat a row goes to, and so which words may be shown there: as of the moment it is rendered."""

from gateway.chat import Person
from gateway.conversation.access import Standing, is_group
from gateway.conversation.commands.call import Services
from gateway.records import Outgoing
from gateway.store import messages, people


def is_let_in(services: Services, row: Outgoing) -> bool:
    """Whether the chat is still one of ours: it may have been taken out while this waited."""
    with services.db.read() as rd:
        known = people.chat(rd, row.chat)
        if known is None:
            return True  # a terminal
        person = Person.parse(known.person) if known.private and known.person else Person(row.chat.platform, "")
        return services.access.standing_in(rd, person, row.chat) is not Standing.STRANGER


def decides_here(services: Services, row: Outgoing) -> bool:
    """Whether it goes to the private chat of somebody who decides for its space: only there are cards."""
    if row.chat.platform == "terminal":
        return True
    with services.db.read() as rd:
        known = people.chat(rd, row.chat)
        if known is None or not known.private or not known.person:
            return False
        return services.access.may_decide(rd, Person.parse(known.person), row.space)


def hears_words(services: Services, row: Outgoing) -> bool:
    """Whether the words of the row's space may be shown in its chat."""
    with services.db.read() as rd:
        known = people.chat(rd, row.chat)
    return decides_here(services, row) or (known is not None and not known.private and known.space == row.space)


def verbosity(services: Services, row: Outgoing) -> str:
    """A chat that does not belong to the space (any more) hears that something changed, without the words."""
    wanted = services.settings.notifications(row.chat.platform)
    return "on" if wanted == "verbose" and not hears_words(services, row) else wanted


def may_see_plan(services: Services, row: Outgoing) -> bool:
    """A plan has words, until it is decided; how it stands then has none, and must reach every card."""
    return row.values.get("is") not in (None, "planned") or decides_here(services, row)


def is_private(services: Services, row: Outgoing) -> bool:
    """Whether nobody reads along."""
    with services.db.read() as rd:
        return not is_group(people.chat(rd, row.chat), row.chat)


def asked_elsewhere(services: Services, row: Outgoing) -> bool:
    """Whether it answers a terminal that has gone: it is no output of the one that says it now."""
    if row.message is None:
        return False
    with services.db.read() as rd:
        return messages.get(rd, row.message).chat != row.chat
