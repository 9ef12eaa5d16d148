"""What a button does. Its data is `action:outbox row:token`; the row says which write or question it shows."""

import secrets
from datetime import datetime, tzinfo

from gateway import words
from gateway.chat import Dialog, Person, Tap
from gateway.conversation import deciders, pairing, takeback
from gateway.conversation.access import Access
from gateway.conversation.commands import deciding, forget_taps, journey, ledger
from gateway.conversation.commands.call import Services
from gateway.conversation.commands.deciding import Verdict
from gateway.decisions import Decision, DecisionEnding
from gateway.errors import AlreadyDecided, NotAllowed, Refused
from gateway.memory import asking, cards
from gateway.records import Message, NewOutgoing, Outgoing, Status, Write
from gateway.store import outbox, people, sessions, writes
from gateway.store.db import Reader, Transaction

DECISIONS = ("approve", "reject", "edit")
FOR_ALL = {"approve_all": Verdict.APPROVE, "reject_all": Verdict.REJECT}
QUESTIONS = ("ask_first", "remember_freely")
PAIRING = ("allow", "ignore")
ACTIONS = (*DECISIONS, *FOR_ALL, *QUESTIONS, *PAIRING, *forget_taps.ACTIONS, "use_now", "undo")
TAKEN_BACK = ("taken_back", "taken_back_update")
NOTICES = ("notice", "notice_update", *TAKEN_BACK)
LONGEST_DIALOG = 4_000
"""Characters that a dialog's field takes."""
MOST_SESSIONS = 1_000


def check(rd: Reader, access: Access, tap: Tap) -> Outgoing:
    """The outbox row a tap belongs to, if this person may press that button here.

    Raises NotAllowed for a stranger, somebody else's button, a forged one and a copy of one.
    """
    action, row_id, token = _parse(tap.data)
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
    if action in (*DECISIONS, *FOR_ALL) and row.write is None and not _asks_of_an_entry(action, row):
        raise NotAllowed("tap.unknown")
    if action == "undo" and row.write is None and row.kind not in NOTICES:
        raise NotAllowed("tap.unknown")
    if action in forget_taps.ACTIONS and not forget_taps.is_about(action, row):
        raise NotAllowed("tap.unknown")
    return row


def _asks_of_an_entry(action: str, row: Outgoing) -> bool:
    return action == "edit" and row.kind == "ask_edit" and "entry" in row.values


def toast(rd: Reader, access: Access, zone: tzinfo, tap: Tap, row: Outgoing, language: str) -> str:
    """What to say at once of a tap that comes too late, "" for one that counts. Its card is shown again, too."""
    action, _, _ = _parse(tap.data)
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
            return "" if _is_current(row, write) else words.text("tap.redrawn", language)
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
    told = _undoable(rd, row)
    if any(write.status is Status.APPLIED or _is_turned_down(row, write) for write in told):
        return ""
    undone = next((write for write in told if write.status is Status.UNDONE), None)
    if undone is None:
        return words.text("tap.not_in_force", language)
    undoer = deciders.of_undo(rd, access, zone, undone, row.chat)
    return words.text("tap.undone", language, who=undoer.plain(language))


def _undoable(rd: Reader, row: Outgoing) -> list[Write]:
    """What [Undo] of this row is about: a card's write; of a notice all that nobody was asked about."""
    if row.write is not None:
        return [writes.get(rd, row.write)]
    if row.kind in TAKEN_BACK:
        found = row.values["writes"]
        assert isinstance(found, list)
        return list(reversed(takeback.listed(rd, int(str(row.values["question"])), found)))
    told = writes.of_review(rd, *row.review) if row.review is not None else writes.of_message(rd, row.message or 0)
    return [write for write in reversed(told) if not write.decided_by]


def _is_turned_down(row: Outgoing, write: Write) -> bool:
    """What rests on a turn that was taken back and still waits is rejected, not undone."""
    return row.kind in TAKEN_BACK and write.status is Status.STAGED


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


def _is_current(row: Outgoing, write: Write) -> bool:
    return row.values.get("redrawn", write.redrawn) == write.redrawn


def kept_form(tap: Tap) -> str:
    """How a tap is kept: its data, and behind it the text of an edit."""
    return tap.data + (f"\n{tap.text}" if tap.text else "")


def act(services: Services, message: Message) -> None:
    """Do what a kept tap asks. What is to be seen of it comes through the outbox."""
    data, _, text = message.text.partition("\n")
    action, row_id, _ = _parse(data)
    with services.db.read() as rd:
        row = outbox.get(rd, row_id)
    person = Person.parse(message.person)
    if forget_taps.is_about(action, row) or forget_taps.asks(row):
        forget_taps.tap(services, action, row, person, message, text)
    elif action == "undo":
        _undo(services, row, person, message)
    elif action == "edit" and not text and row.write is not None:
        _ask_for_text(services, row, row.write, person, message)
    elif _asks_of_an_entry(action, row) and text:
        _answer_of_an_entry(services, row, person, message, text)
    elif action in DECISIONS and row.write is not None:
        _decide(services, action, row, row.write, person, message, text)
    elif action in FOR_ALL and row.write is not None:
        _decide_all(services, FOR_ALL[action], row, row.write, person, message)
    elif action in PAIRING:
        _decide_pairing(services, action, row, message)
    elif action == "use_now":
        _use_now(services, row, message)
    elif action in QUESTIONS:
        _answer_first_question(services, action, row, person)


def _use_now(services: Services, row: Outgoing, message: Message) -> None:
    now = services.clock.now()
    with services.db.write() as tx:
        refreshed = _refresh(services, tx, row, now)
        if refreshed:
            outbox.put(
                tx,
                NewOutgoing(
                    dedupe=f"tap-{message.id}",
                    kind="card_update",
                    chat=row.chat,
                    space=row.space,
                    created_at=now,
                    write=row.write,
                    edits=row.id if row.edits is None else row.edits,
                    values={"in_use": True},
                ),
            )
    if not refreshed:
        _say_refused(services, Refused("refresh.no_session"), row, message)


def _refresh(services: Services, tx: Transaction, row: Outgoing, now: datetime) -> bool:
    """This chat's conversation; behind a card of another space (a group's), the open ones of that space."""
    known = people.chat(tx, row.chat)
    if known is None or known.space in (None, row.space):
        return services.freezer.refresh(tx, row.chat, now)
    found = [each for each in sessions.recent(tx, row.space, MOST_SESSIONS) if each.ended_at is None]
    for each in found:
        services.freezer.refreeze(tx, sessions.get(tx, each.id), now)
    return bool(found)


def _decide(
    services: Services, action: str, row: Outgoing, write: int, person: Person, message: Message, text: str
) -> None:
    try:
        ending = _decision(services, action, row, write, person, message, text).ending
    except Refused as refused:
        _say_refused(services, refused, row, message)
        return
    if ending in (DecisionEnding.ALREADY, DecisionEnding.REDRAWN):
        _show_again(services, row, write)
    if ending is DecisionEnding.EDITED and row.kind == "ask_edit":
        _show_below(services, row, write, message)


def _show_below(services: Services, row: Outgoing, write: int, message: Message) -> None:
    """The card once more under the answer: the one that was redrawn may be far up by now."""
    with services.db.write() as tx:
        edited = writes.get(tx, write)
        if edited.status is Status.STAGED:
            cards.show_once_more(tx, edited, row.chat, f"tap-{message.id}", services.clock.now())


def _ask_for_text(services: Services, row: Outgoing, write: int, person: Person, message: Message) -> None:
    """Ask what a write should say, where the platform has no dialog that did."""
    now = services.clock.now()
    try:
        with services.db.write() as tx:
            ledger.refuse_uneditable(writes.get(tx, write))
            outbox.put(
                tx,
                NewOutgoing(
                    dedupe=f"tap-{message.id}",
                    kind="ask_edit",
                    chat=row.chat,
                    space=row.space,
                    created_at=now,
                    write=write,
                    values=ledger.question(person, now),
                ),
            )
    except Refused as refused:
        _say_refused(services, refused, row, message)


def _answer_of_an_entry(services: Services, row: Outgoing, person: Person, message: Message, text: str) -> None:
    """An entry says from now on what its person answered."""
    try:
        said = journey.answer(services, row, person, message, text)
    except Refused as refused:
        _say_refused(services, refused, row, message)
        return
    now = services.clock.now()
    with services.db.write() as tx:
        outbox.put(
            tx,
            NewOutgoing(
                dedupe=f"tap-{message.id}",
                kind="answer",
                chat=row.chat,
                space=row.space,
                created_at=now,
                message=message.id,
                write=said.write,
                values={**said.values, "say": said.key},
            ),
        )


def _undo(services: Services, row: Outgoing, person: Person, message: Message) -> None:
    """Take back what a card or a notice told of, each write for itself. Their change says that it was done."""
    with services.db.read() as rd:
        told = _undoable(rd, row)
    trouble: Refused | None = None
    for write in told:
        turned_down = _is_turned_down(row, write)
        if not (turned_down or write.status is Status.APPLIED) and (
            row.write is None or write.status is not Status.UNDONE
        ):
            continue
        try:
            if turned_down:
                services.door(write).reject(write.id, person.key, through=message.id)
                continue
            undone = services.door(write).undo(write.id, person.key, message.id)
            with services.db.write() as tx:
                cards.undone(tx, undone, services.clock.now())  # for a skill, whose door knows of no notices
        except AlreadyDecided:
            if row.write is not None:
                _show_again(services, row, write.id)
        except Refused as refused:
            trouble = trouble or refused
    if row.kind in TAKEN_BACK:
        _show_what_rests(services, row, message)
    if trouble is not None:
        _say_refused(services, trouble, row, message)


def _show_what_rests(services: Services, row: Outgoing, message: Message) -> None:
    """The answer to `/undo` says what became of each of the writes."""
    now = services.clock.now()
    with services.db.write() as tx:
        outbox.put(
            tx,
            NewOutgoing(
                dedupe=f"tap-{message.id}-rests",
                kind="taken_back_update",
                chat=row.chat,
                space=row.space,
                created_at=now,
                edits=row.id if row.edits is None else row.edits,
                values=row.values,
            ),
        )


def _decision(
    services: Services, action: str, row: Outgoing, write: int, person: Person, message: Message, text: str
) -> Decision:
    with services.db.read() as rd:
        door = services.door(writes.get(rd, write))
    match action:
        case "approve":
            seen = row.values.get("redrawn")
            return door.approve(write, person.key, through=message.id, seen=seen if isinstance(seen, int) else None)
        case "reject":
            return door.reject(write, person.key, through=message.id)
        case _:
            return door.edit(write, text, person.key)


def _decide_all(
    services: Services, verdict: Verdict, row: Outgoing, tapped: int, person: Person, message: Message
) -> None:
    """All that is shown of the space, each for itself, with one answer; nothing by a card that is out of date."""
    with services.db.read() as rd:
        write = writes.get(rd, tapped)
    counts = write.status is Status.STAGED and _is_current(row, write)
    if not (counts or deciding.is_fixed(message)):
        _show_again(services, row, tapped)
        return
    named = deciding.meant_by_tap(services, message, row.space, tapped)
    results = [deciding.decide(services, person, verdict, each, message.id) for each in named]
    now = services.clock.now()
    with services.db.write() as tx:
        outbox.put(
            tx,
            NewOutgoing(
                dedupe=f"tap-{message.id}",
                kind="answer",
                chat=row.chat,
                space=row.space,
                created_at=now,
                message=message.id,
                values={"say": "decisions", "results": deciding.kept_form(results)},
            ),
        )


def _show_again(services: Services, row: Outgoing, write: int) -> None:
    """A card that was tapped too late says what happened, also where its change had got lost."""
    with services.db.write() as tx:
        cards.show_again(tx, writes.get(tx, write), row, services.clock.now())


def _say_refused(services: Services, refused: Refused, row: Outgoing, message: Message) -> None:
    """A tap that cannot be done is answered. Where somebody was first, their change of the card shows it."""
    now = services.clock.now()
    with services.db.write() as tx:
        outbox.put(
            tx,
            NewOutgoing(
                dedupe=f"tap-{message.id}",
                kind="answer",
                chat=row.chat,
                space=row.space,
                created_at=now,
                message=message.id,
                values={**refused.values, "say": refused.key},
            ),
        )


def _decide_pairing(services: Services, action: str, row: Outgoing, message: Message) -> None:
    code, now = str(row.values.get("code", "")), services.clock.now()
    try:
        with services.db.write() as tx:
            if action == "allow":
                pairing.approve(tx, services.access, code, now)
            else:
                pairing.ignore(tx, code, now)
    except Refused as refused:
        _say_refused(services, refused, row, message)


def _answer_first_question(services: Services, action: str, row: Outgoing, person: Person) -> None:
    now = services.clock.now()
    with services.db.write() as tx:
        asking.choose(tx, row.space, asks=action == "ask_first", by=person, at=now)
        outbox.put(
            tx,
            NewOutgoing(
                dedupe=f"answered-{row.id}",
                kind="first_answer",
                chat=row.chat,
                space=row.space,
                created_at=now,
                edits=row.id,
            ),
        )


def _parse(data: str) -> tuple[str, int, str]:
    parts = data.split(":")
    if len(parts) != 3 or not parts[1].isdecimal() or len(parts[1]) > 18:
        raise NotAllowed("tap.unknown")
    return parts[0], int(parts[1]), parts[2]
