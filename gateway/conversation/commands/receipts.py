"""`/receipts`: what was forgotten, where, when, by whom and verified how; never the words."""

from collections.abc import Mapping, Sequence

from gateway import words
from gateway.conversation import receipttext
from gateway.conversation.commands import forget
from gateway.conversation.commands.call import Call, Said, Services, View
from gateway.conversation.notices import Rendered
from gateway.errors import NotFound, Refused
from gateway.records import Forget, Outgoing
from gateway.store import forgets, people, saidwhere
from gateway.store.transaction import Reader

LISTED = 20


def receipts(services: Services, call: Call) -> Said:
    """`/receipts [ID]`: what was forgotten here, or one receipt."""
    if not call.words:
        return Said("receipts", {"all": call.covers_all})
    number = call.words[-1].lstrip("#")
    if len(call.words) > 2 or not number.isdecimal() or len(number) > 9:
        raise Refused("receipts.usage")
    with services.db.read() as rd:
        known = of_space(rd, int(number), None if call.covers_all else call.space.id)
    return Said("receipt", {"id": known.id})


def of_space(rd: Reader, id: int, space: int | None) -> Forget:
    """A receipt, of one space or (None) of any. Raises NotFound, also for one of another space."""
    known = forgets.get(rd, id)
    if space not in (None, known.space) or known.begun_at is None:
        raise NotFound("forget.unknown", id=id)
    return known


def done(services: Services, row: Outgoing, language: str, *, whole: bool) -> Rendered:
    """Where it was asked for: the receipt; where others read along only that there is one."""
    with services.db.read() as rd:
        known = forgets.get(rd, forget.id_of(row))
    if not whole:
        return Rendered(receipttext.state(known, language), silent=True)
    return Rendered(one(services, known, language), silent=True)


def one(services: Services, known: Forget, language: str) -> str:
    """A receipt in full."""
    with services.db.read() as rd:
        space, in_chats = people.space(rd, known.space), saidwhere.counts(rd, known.id)
    return receipttext.receipt(known, space.name, in_chats, services.settings.zone(), language)


def list_text(services: Services, row: Outgoing, language: str) -> str:
    """What was forgotten, newest first."""
    with services.db.read() as rd:
        known = forgets.listed(rd, None if row.values.get("all") else row.space, LISTED)
        names = {one.id: one.name for one in people.spaces(rd)}
    if not known:
        return words.text("receipts.none", language)
    return "\n".join([*lines(known, names, services, language), words.text("receipts.how", language)])


def lines(listed: Sequence[Forget], names: Mapping[int, str], services: Services, language: str) -> list[str]:
    """One line for each."""
    zone = services.settings.zone()
    return [receipttext.line(each, names.get(each.space, ""), zone, language) for each in listed]


def one_text(services: Services, row: Outgoing, language: str) -> str:
    with services.db.read() as rd:
        known = forgets.get(rd, forget.number(row.values.get("id")))
    return one(services, known, language)


VIEWS: Mapping[str, View] = {"receipts": list_text, "receipt": one_text}
