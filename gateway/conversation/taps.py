"""What a button does. Which button it was, and whether its person may press it, is `buttons`."""

from dataclasses import replace
from datetime import datetime

from gateway.chat import Person
from gateway.conversation import buttons, pairing
from gateway.conversation.commands import deciding, forget_taps, journey, ledger, tap_answers
from gateway.conversation.commands.call import Services
from gateway.conversation.commands.deciding import Verdict
from gateway.decisions import Decision, DecisionEnding
from gateway.errors import AlreadyDecided, Refused
from gateway.memory import asking, cards
from gateway.records import Message, NewOutgoing, Outgoing, Status
from gateway.store import outbox, people, sessions, writes
from gateway.store.db import Transaction

MOST_SESSIONS = 1_000


def act(services: Services, message: Message) -> None:
    """Do what a kept tap asks. What is to be seen of it comes through the outbox."""
    data, _, text = message.text.partition("\n")
    action, row_id, _ = buttons.parse(data)
    with services.db.read() as rd:
        row = outbox.get(rd, row_id)
    person = Person.parse(message.person)
    if forget_taps.is_about(action, row) or forget_taps.asks(row):
        forget_taps.tap(services, action, row, person, message, text)
    elif action == "undo":
        _undo(services, row, person, message)
    elif action == "edit" and not text and row.write is not None:
        _ask_for_text(services, row, row.write, person, message)
    elif buttons.asks_of_an_entry(action, row) and text:
        _answer_of_an_entry(services, row, person, message, text)
    elif action in buttons.DECISIONS and row.write is not None:
        _decide(services, action, row, row.write, person, message, text)
    elif action in buttons.FOR_ALL and row.write is not None:
        _decide_all(services, buttons.FOR_ALL[action], row, row.write, person, message)
    elif action in buttons.PAIRING:
        _decide_pairing(services, action, row, message)
    elif action == "use_now":
        _use_now(services, row, message)
    elif action in buttons.QUESTIONS:
        _answer_first_question(services, action, row, person)


def _undo(services: Services, row: Outgoing, person: Person, message: Message) -> None:
    """Take back what a card or a notice told of, each write for itself. Their change says that it was done."""
    with services.db.read() as rd:
        told = buttons.undoable(rd, row)
    trouble: Refused | None = None
    for write in told:
        turned_down = buttons.is_turned_down(row, write)
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
    if row.kind in buttons.TAKEN_BACK:
        _show_what_rests(services, row, message)
    if trouble is not None:
        _say_refused(services, trouble, row, message)


def _show_what_rests(services: Services, row: Outgoing, message: Message) -> None:
    """The answer to `/undo` says what became of each of the writes."""
    change = tap_answers.outgoing(row, message, "taken_back_update", services.clock.now())
    own = f"{change.dedupe}-rests"  # a refusal is said, too
    with services.db.write() as tx:
        outbox.put(tx, replace(change, dedupe=own, edits=row.drawn_on, values=row.values))


def _ask_for_text(services: Services, row: Outgoing, write: int, person: Person, message: Message) -> None:
    """Ask what a write should say, where the platform has no dialog that did."""
    now = services.clock.now()
    question = tap_answers.outgoing(row, message, "ask_edit", now)
    try:
        with services.db.write() as tx:
            ledger.refuse_uneditable(writes.get(tx, write))
            outbox.put(tx, replace(question, write=write, values=ledger.question(person, now)))
    except Refused as refused:
        _say_refused(services, refused, row, message)


def _answer_of_an_entry(services: Services, row: Outgoing, person: Person, message: Message, text: str) -> None:
    """An entry says from now on what its person answered."""
    try:
        said = journey.answer(services, row, person, message, text)
    except Refused as refused:
        _say_refused(services, refused, row, message)
        return
    tap_answers.answer(services, row, message, said.key, said.values, said.write)


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


def _show_below(services: Services, row: Outgoing, write: int, message: Message) -> None:
    """The card once more under the answer: the one that was redrawn may be far up by now."""
    with services.db.write() as tx:
        edited = writes.get(tx, write)
        if edited.status is Status.STAGED:
            cards.show_once_more(tx, edited, row.chat, f"tap-{message.id}", services.clock.now())


def _decide_all(
    services: Services, verdict: Verdict, row: Outgoing, tapped: int, person: Person, message: Message
) -> None:
    """All that is shown of the space, each for itself, with one answer; nothing by a card that is out of date."""
    with services.db.read() as rd:
        write = writes.get(rd, tapped)
    counts = write.status is Status.STAGED and buttons.is_current(row, write)
    if not (counts or deciding.is_fixed(message)):
        _show_again(services, row, tapped)
        return
    named = deciding.meant_by_tap(services, message, row.space, tapped)
    results = [deciding.decide(services, person, verdict, each, message.id) for each in named]
    tap_answers.answer(services, row, message, "decisions", {"results": deciding.kept_form(results)})


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


def _use_now(services: Services, row: Outgoing, message: Message) -> None:
    now = services.clock.now()
    with services.db.write() as tx:
        refreshed = _refresh(services, tx, row, now)
        if refreshed:
            change = tap_answers.outgoing(row, message, "card_update", now)
            outbox.put(tx, replace(change, write=row.write, edits=row.drawn_on, values={"in_use": True}))
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


# -- what is said of it --------------------------------------------------------------------------------------


def _show_again(services: Services, row: Outgoing, write: int) -> None:
    """A card that was tapped too late says what happened, also where its change had got lost."""
    with services.db.write() as tx:
        cards.show_again(tx, writes.get(tx, write), row, services.clock.now())


def _say_refused(services: Services, refused: Refused, row: Outgoing, message: Message) -> None:
    """A tap that cannot be done is answered. Where somebody was first, their change of the card shows it."""
    tap_answers.answer(services, row, message, refused.key, refused.values)
