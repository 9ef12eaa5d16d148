"""What the buttons of a plan do, and answers to its card: leave hits out, take others along, and the yes.

A tap on [Forget] commits the yes (`Forgetting.begin`) and erases nothing itself. Whatever cannot be done any more
shows the card as it is by now.
"""

from dataclasses import replace

from gateway import words
from gateway.chat import Dialog, Person
from gateway.conversation import forgetcard, forgetchats
from gateway.conversation.commands import forget, ledger, tap_answers
from gateway.conversation.commands.call import Services
from gateway.conversation.notices import Rendered
from gateway.errors import NotFound
from gateway.memory.forgetplan import Plan
from gateway.memory.forgetting import PLAN_CARD, PLAN_UPDATE
from gateway.records import Forget, Message, Outgoing
from gateway.store import cardrows, forgets, outbox
from gateway.store.transaction import Reader

CARDS = (PLAN_CARD, PLAN_UPDATE)
ACTIONS = (
    *("forget", "forget_all", "cancel", "choose", "more"),
    *("mark", "no_mark", "delete_there", "leave_there"),
)
QUESTION = "ask_edit"


def is_about(action: str, row: Outgoing) -> bool:
    """Whether this is a button of a plan."""
    return action in ACTIONS and row.kind in CARDS


def toast(rd: Reader, row: Outgoing, language: str) -> str:
    """What to say at once of a tap that comes too late; "" for one that counts."""
    status = forgets.get(rd, forget.id_of(row)).status
    return "" if status == "planned" else words.text(f"forget.toast_{status}", language)


def dialog(language: str) -> Dialog:
    """Asks for numbers, where a platform has dialogs."""
    return Dialog(words.text("forget.choose_title", language), words.text("forget.choose_label", language), "")


def asks(row: Outgoing) -> bool:
    """Whether a row is, or asks about, a plan: an answer to it chooses hits."""
    return "forget" in row.values and row.kind in (PLAN_CARD, QUESTION)


def asks_still(rd: Reader, row: Outgoing) -> bool:
    """Whether the plan waits for a yes."""
    try:
        return forgets.get(rd, forget.id_of(row)).status == "planned"
    except NotFound:
        return False


def question(row: Outgoing, language: str) -> Rendered:
    """Asks for numbers, where a platform has no dialogs."""
    return Rendered(words.text("forget.choose_question", language), asks=True)


def tap(services: Services, action: str, row: Outgoing, person: Person, message: Message, text: str = "") -> None:
    """Do what a button of a plan says, or an answer to its card."""
    with services.db.read() as rd:
        known = forgets.get(rd, forget.id_of(row))
    if known.status != "planned":
        _redraw(services, row, message)
    elif action == "cancel":
        with services.db.write() as tx:
            services.forgetting.cancel(tx, known.id)
    elif action in ("forget", "forget_all"):
        _begin(services, action, row, known, person, message)
    elif action in ("mark", "no_mark"):
        with services.db.write() as tx:
            forgets.set_marks(tx, known.id, action == "mark")
        _redraw(services, row, message)
    elif action in ("delete_there", "leave_there"):
        _redraw(services, row, message, deletes=action == "delete_there")
    elif action == "more":
        _redraw(services, row, message, page=forget.number(row.values.get("page")) + 1)
    elif text:
        _choose(services, row, known, message, text)
    else:
        _ask(services, row, person, message)


def _begin(services: Services, action: str, row: Outgoing, known: Forget, person: Person, message: Message) -> None:
    """The yes. Where there is more of it than the card showed, it is shown again; everything is asked twice."""
    if known.kind == "everything" and action == "forget":
        _redraw(services, row, message, sure=True)
        return
    plan = forget.plan_of(services, known)
    asked = str(row.values.get("asked", ""))
    if known.kind != "everything" and forgetcard.has_grown(plan, asked, row.values.get("counts")):
        _redraw(services, row, message, plan=plan, changed=True)
        return
    now = services.clock.now()
    with services.db.write() as tx:
        in_chats = forget.reach_of(services, tx, plan, known, now).can
        if not services.forgetting.begin(tx, known.id, person.key, through=message.id):
            return
        if row.values.get("deletes"):
            forgetchats.put(tx, known, in_chats, now)


def _choose(services: Services, row: Outgoing, known: Forget, message: Message, text: str) -> None:
    """Numbers are left out, or taken back in; letters bring other words for the same into the plan."""
    chosen = forgetcard.choice(text)
    if chosen is None or known.kind == "everything":
        tap_answers.answer(services, row, message, "forget.choose_usage")
        return
    shown = _newest_drawing(services, row)
    plan = forget.plan_of(services, known)
    asked = str(shown.values.get("asked", ""))
    if forgetcard.has_changed(plan, asked, shown.values.get("counts")):
        _redraw(services, shown, message, plan=plan, changed=True)
        return
    hits = [item.ref for _, item in forgetcard.numbered(plan, asked)]
    texts = [near.text for letter, near in forgetcard.lettered(plan) if letter in chosen.letters]
    if any(not 1 <= number <= len(hits) for number in chosen.numbers) or len(texts) < len(chosen.letters):
        tap_answers.answer(services, row, message, "forget.choose_usage")
        return
    toggled = {hits[number - 1] for number in chosen.numbers}
    with services.db.write() as tx:
        services.forgetting.leave_out(tx, known.id, sorted(set(known.left_out) ^ toggled))
        if texts:
            services.forgetting.widen(tx, known.id, texts)
    _redraw(services, shown, message, plan=forget.plan_of(services, known) if texts else plan)


def _newest_drawing(services: Services, row: Outgoing) -> Outgoing:
    """The card as it was drawn last: numbers count there."""
    with services.db.read() as rd:
        shown = outbox.find(rd, _card_of(row)) or row
        return cardrows.newest_change(rd, shown.id, PLAN_UPDATE) or shown


def _ask(services: Services, row: Outgoing, person: Person, message: Message) -> None:
    """Ask which hits, where the platform has no dialog that did."""
    now = services.clock.now()
    values = {"forget": forget.id_of(row), "card": _card_of(row), **ledger.question(person, now)}
    with services.db.write() as tx:
        outbox.put(tx, replace(tap_answers.outgoing(row, message, QUESTION, now), values=values))


def _card_of(row: Outgoing) -> int:
    return forget.number(row.values.get("card")) or row.drawn_on


def _redraw(
    services: Services, row: Outgoing, message: Message, plan: Plan | None = None, **changes: object
) -> None:
    """The card shows what is true by now."""
    values = {name: value for name, value in row.values.items() if name not in ("changed", "is", "sure")} | changes
    if plan is not None:
        values["counts"] = forgetcard.counts(plan, str(row.values.get("asked", "")))
    change = tap_answers.outgoing(row, message, PLAN_UPDATE, services.clock.now())
    with services.db.write() as tx:
        outbox.put(tx, replace(change, edits=_card_of(row), values={**values, "is": "planned"}))
