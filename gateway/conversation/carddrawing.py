"""Cards of writes, as they are to be shown now: fetches the records. `cardtext` and `skillcard` say the words."""

from gateway.conversation import audience, cardtext, deciders, notices, phrases, skillcard
from gateway.conversation.cardtext import Decider
from gateway.conversation.commands import forget_taps, journey
from gateway.conversation.commands.call import Services
from gateway.conversation.notices import Rendered
from gateway.errors import NotFound, Refused
from gateway.memory import entries
from gateway.records import FORGOTTEN, Outgoing, Role, Status, Write
from gateway.store import messages, people, writes


def card(services: Services, row: Outgoing, language: str) -> Rendered | None:
    """The card of a write that waits for a yes."""
    write = write_of(services, row)
    if write is None or write.status is not Status.STAGED or not audience.decides_here(services, row):
        return None
    show = skillcard.card if write.kind == "skill" else cardtext.card
    return show(write, row, _around(services, write, row), language)


def _around(services: Services, write: Write, row: Outgoing) -> cardtext.Around:
    """What a card says besides its write: the file as it is now, and what waits for the same yes."""
    with services.db.read() as rd:
        space = people.space(rd, write.space)
        known = people.chat(rd, row.chat)
        several = writes.count_staged(rd, write.space) > 1
    elsewhere = known is not None and known.space != write.space
    if write.kind == "skill":
        return cardtext.Around(elsewhere=elsewhere, several=several)
    try:
        doc = services.memory.read(space, write.target)
    except Refused:
        return cardtext.Around(elsewhere=elsewhere, several=several)
    near = cardtext.conflict(write, services.memory.texts(space, write.target))
    return cardtext.Around(_budget(services, write, doc), near, elsewhere, several)


def _budget(services: Services, write: Write, doc: entries.Document) -> cardtext.Budget:
    limit, operations = services.settings.budget(write.target), phrases.whole_operations(write)
    change = entries.apply(operations, doc, limit, batch=len(operations) > 1)
    if not isinstance(change, entries.Applied):
        return cardtext.Budget(entries.chars(doc), None, limit)
    counts = len(doc.entries), len(change.doc.entries)
    return cardtext.Budget(entries.chars(doc), entries.chars(change.doc), limit, counts)


def update(services: Services, row: Outgoing, language: str) -> Rendered | None:
    """What a card says by now."""
    write = write_of(services, row)
    if write is None or not audience.decides_here(services, row):
        return None
    if write.status is Status.STAGED:
        return card(services, row, language)
    if row.values.get("in_use") and write.status is Status.APPLIED:
        return cardtext.in_use(write, row, _decider(services, write, row), language)
    if row.chat.platform == "terminal" and (write.reason == FORGOTTEN or settled_by_command(services, write)):
        return None  # the command's own answer says it, on the same screen; who starts another has no card
    said = skillcard.decided if write.kind == "skill" else cardtext.decided
    return said(write, row, _decider(services, write, row), language)


def _decider(services: Services, write: Write, row: Outgoing) -> Decider:
    """Who decided; of a write that was taken back, who did that."""
    of = deciders.of_undo if write.status is Status.UNDONE else deciders.of
    with services.db.read() as rd:
        return of(rd, services.access, services.freezer.zone, write, row.chat)


def question(services: Services, row: Outgoing, language: str) -> Rendered | None:
    """Asks for another text, as long as the write waits."""
    if row.write is None:
        return _question_of_an_entry(services, row, language)
    write = write_of(services, row)
    if write is None or write.status is not Status.STAGED or not audience.decides_here(services, row):
        return None
    return cardtext.question(write, row, language)


def _question_of_an_entry(services: Services, row: Outgoing, language: str) -> Rendered:
    """Where a platform has dialogs, its button opens one."""
    if forget_taps.asks(row):
        return forget_taps.question(row, language)
    answers = row.chat.platform == "telegram"
    text = journey.question_text(services, row, language, answers=answers)
    buttons = () if answers else ((notices.button("edit", row, language),),)
    return Rendered(text, buttons=buttons, asks=answers)


def settled_by_command(services: Services, write: Write) -> bool:
    """Whether a typed command decided it, or took it back."""
    settled_in = write.undone_in if write.status is Status.UNDONE else write.decided_in
    if settled_in is None:
        return False
    with services.db.read() as rd:
        return messages.get(rd, settled_in).role is Role.COMMAND


def write_of(services: Services, row: Outgoing) -> Write | None:
    """The write a row is about, if it is about one that is still there."""
    with services.db.read() as rd:
        try:
            return writes.get(rd, row.write) if row.write is not None else None
        except NotFound:
            return None
