"""Which button was pressed, whether this person may press it, and what is said of it at once. Changes nothing.

Its data is `action:outbox row:token`; the row says which write or question it shows. What it does is `taps`.
"""

import secrets
from datetime import tzinfo

from gateway import words
from gateway.chat import Dialog, Tap
from gateway.conversation import deciders, takeback
from gateway.conversation.access import Access
from gateway.conversation.commands import forget_taps, journey, ledger
from gateway.conversation.commands.deciding import Verdict
from gateway.errors import NotAllowed
from gateway.records import Outgoing, Status, Write
from gateway.store import outbox, writes
from gateway.store.db import Reader

DECISIONS = ("approve", "reject", "edit")
FOR_ALL = {"approve_all": Verdict.APPROVE, "reject_all": Verdict.REJECT}
QUESTIONS = ("ask_first", "remember_freely")
PAIRING = ("allow", "ignore")
ACTIONS = (*DECISIONS, *FOR_ALL, *QUESTIONS, *PAIRING, *forget_taps.ACTIONS, "use_now", "undo")
TAKEN_BACK = ("taken_back", "taken_back_update")
NOTICES = ("notice", "notice_update", *TAKEN_BACK)
LONGEST_DIALOG = 4_000
"""Characters that a dialog's field takes."""


def check(rd: Reader, access: Access, tap: Tap) -> Outgoing:
    """The outbox row a tap belongs to, if this person may press that button here.

    Raises NotAllowed for a stranger, somebody else's button, a forged one and a copy of one.
    """
    action, row_id, token = parse(tap.data)
    row = outbox.find(rd, row_id)
    if row is None or action not in ACTIONS or not secrets.compare_digest(row.token.encode(), token.encode()):
        raise NotAllowed("tap.unknown")
    if (row.chat.platform, row.chat.id) != (tap.chat.platform, tap.chat.id):
        raise NotAllowed("tap.unknown")
    # A tap may be faster than the mark that says what the platform calls the message: then it counts.
    if tap.message_id and outbox.message_of(rd, row) not in ("", tap.message_id):
        raise NotAllowed("tap.unknown")
    if not access.may_decide(rd, tap.person, row.space):
        raise NotAllowed("tap.not_yours")
    if action in (*DECISIONS, *FOR_ALL) and row.write is None and not asks_of_an_entry(action, row):
        raise NotAllowed("tap.unknown")
    if action == "undo" and row.write is None and row.kind not in NOTICES:
        raise NotAllowed("tap.unknown")
    if action in forget_taps.ACTIONS and not forget_taps.is_about(action, row):
        raise NotAllowed("tap.unknown")
    return row


def toast(rd: Reader, access: Access, zone: tzinfo, tap: Tap, row: Outgoing, language: str) -> str:
    """What to say at once of a tap that comes too late, "" for one that counts. Its card is shown again, too."""
    action, _, _ = parse(tap.data)
    if action == "undo":
        return _toast_of_undo(rd, access, zone, row, language)
    if action in forget_taps.ACTIONS:
        return forget_taps.toast(rd, row, language)
    if row.write is None or action not in (*DECISIONS, *FOR_ALL):
        return ""
    write = writes.get(rd, row.write)
    decider = deciders.of(rd, access, zone, write, row.chat)
    match write.status:
        case Status.STAGED:
            return "" if is_current(row, write) else words.text("tap.redrawn", language)
        case Status.APPLIED | Status.APPROVED:
            return words.text("tap.applied", language, who=decider.plain(language))
        case Status.REJECTED:
            return words.text("tap.rejected", language, who=decider.plain(language))
        case Status.EXPIRED:
            return words.text("tap.expired", language, when=decider.when)
        case Status.UNDONE:
            undoer = deciders.of_undo(rd, access, zone, write, row.chat)
            return words.text("tap.undone", language, who=undoer.plain(language))
        case _:
            return words.text("tap.failed", language)


def _toast_of_undo(rd: Reader, access: Access, zone: tzinfo, row: Outgoing, language: str) -> str:
    told = undoable(rd, row)
    if any(write.status is Status.APPLIED or is_turned_down(row, write) for write in told):
        return ""
    undone = next((write for write in told if write.status is Status.UNDONE), None)
    if undone is None:
        return words.text("tap.not_in_force", language)
    undoer = deciders.of_undo(rd, access, zone, undone, row.chat)
    return words.text("tap.undone", language, who=undoer.plain(language))


def dialog(rd: Reader, row: Outgoing, language: str) -> Dialog | str:
    """The dialog for another text of a row's write, or entry. Raises Refused where it has no single text."""
    if row.kind in forget_taps.CARDS:
        return forget_taps.dialog(language)
    if row.write is None:
        text = journey.text_of(rd, row)
        if len(text) > LONGEST_DIALOG:
            return words.text("journey.too_long", language)
        return Dialog(words.text("journey.title", language), words.text("edit.label", language), text)
    write = ledger.refuse_uneditable(writes.get(rd, row.write))
    text = write.operations[0].content
    if len(text) > LONGEST_DIALOG:
        return words.text("edit.too_long", language, id=write.id)
    return Dialog(
        words.text("edit.title", language, id=write.id),
        words.text("edit.label", language),
        text,
    )


def kept_form(tap: Tap) -> str:
    """How a tap is kept: its data, and behind it the text of an edit."""
    return tap.data + (f"\n{tap.text}" if tap.text else "")


# -- what a row is about -------------------------------------------------------------------------------------


def parse(data: str) -> tuple[str, int, str]:
    """The action, the row and the token of a button. Raises NotAllowed where it is none of ours."""
    parts = data.split(":")
    if len(parts) != 3 or not parts[1].isdecimal() or len(parts[1]) > 18:
        raise NotAllowed("tap.unknown")
    return parts[0], int(parts[1]), parts[2]


def undoable(rd: Reader, row: Outgoing) -> list[Write]:
    """What [Undo] of this row is about: a card's write; of a notice all that nobody was asked about."""
    if row.write is not None:
        return [writes.get(rd, row.write)]
    if row.kind in TAKEN_BACK:
        found = row.values["writes"]
        assert isinstance(found, list)
        return list(reversed(takeback.listed(rd, int(str(row.values["question"])), found)))
    told = writes.of_review(rd, *row.review) if row.review is not None else writes.of_message(rd, row.message or 0)
    return [write for write in reversed(told) if not write.decided_by]


def is_turned_down(row: Outgoing, write: Write) -> bool:
    """What rests on a turn that was taken back and still waits is rejected, not undone."""
    return row.kind in TAKEN_BACK and write.status is Status.STAGED


def asks_of_an_entry(action: str, row: Outgoing) -> bool:
    """Whether this is about another text for an entry of the journey, and not for a write that waits."""
    return action == "edit" and row.kind == "ask_edit" and "entry" in row.values


def is_current(row: Outgoing, write: Write) -> bool:
    """Whether this row shows the write as it was drawn last."""
    return row.values.get("redrawn", write.redrawn) == write.redrawn
