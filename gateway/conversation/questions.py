"""Questions for the new text of a write, on platforms that have no dialogs: whoever answers the question's message
says what it should be.

A question is an outbox row (`ask_edit`) for one write, one person and one chat. It ends with the decision, or an
hour after it was put; an answer to one that has ended is said like anything else. A question about an entry
(`/journey edit`) has no write and ends with its first answer.
"""

from datetime import datetime

from gateway.chat import IncomingMessage
from gateway.conversation import commands
from gateway.conversation.access import Access
from gateway.conversation.commands import forget_taps, journey
from gateway.errors import NotFound
from gateway.records import Outgoing, Status
from gateway.store import outbox, writes
from gateway.store.transaction import Reader


def answered(rd: Reader, access: Access, message: IncomingMessage, now: datetime) -> Outgoing | None:
    """The open question that this message answers."""
    if not message.answers or not message.own_text.strip():
        return None
    if commands.parse(message.own_text.strip()) is not None:
        return None
    row = outbox.question(rd, message.chat, message.answers)
    if row is None or not _is_open(rd, row, now) or row.values.get("person") != message.person.key:
        return None
    return row if access.may_decide(rd, message.person, row.space) else None


def kept_form(row: Outgoing, text: str) -> str:
    """How an answer is kept: as the tap on [Edit] that a dialog would have made of it."""
    return f"edit:{row.id}:{row.token}\n{text}"


def _is_open(rd: Reader, row: Outgoing, now: datetime) -> bool:
    if now >= datetime.fromisoformat(str(row.values.get("until", ""))):
        return False
    if forget_taps.asks(row):
        return forget_taps.asks_still(rd, row)
    if row.write is None:
        return journey.asks_still(rd, row)
    try:
        return writes.get(rd, row.write).status is Status.STAGED
    except NotFound:
        return False
