"""`/forget TEXT|everything`: look for it everywhere, and show the plan on a card.

Nothing is erased here: what the card's buttons and answers do is `forget_taps`, and the gateway goes on beside the
lanes (`conversation.erasing`). The words of a plan stand in its row alone; a card keeps counts, never refs that are
made of words. In a group the plan goes to the owner's own chat, and the group sees a line without words.
"""

from collections.abc import Mapping
from datetime import datetime

from gateway import words
from gateway.chat import Chat, Person
from gateway.conversation import forgetcard, forgetchats, phrases, receipttext, toolwords
from gateway.conversation.commands.call import Call, Said, Services, View
from gateway.conversation.forgetcard import Draft, InChats
from gateway.conversation.notices import Rendered
from gateway.errors import Refused
from gateway.memory.forgetplan import Plan
from gateway.memory.forgetting import PLAN_CARD, PLANNED_FOR, Scope
from gateway.records import Forget, NewOutgoing, Outgoing
from gateway.store import cardrows, forgets, outbox, people, writes
from gateway.store.transaction import Reader, Transaction

EVERYTHING = ("everything", "すべて")


# -- the command --------------------------------------------------------------------------------------------


def forget(services: Services, call: Call) -> Said:
    """`/forget TEXT`: look for it everywhere, and show what was found."""
    text = call.rest.strip()
    if not text:
        raise Refused("forget.usage")
    scope = Scope(everything=True) if text.lower() in EVERYTHING else Scope((text,))
    to = _where(services, call)
    plan = services.forgetting.plan(call.space, scope)
    if not worth_asking(plan, ref_of(call.message.id)):
        files = ", ".join(one.path for one in plan.left)
        return Said("forget.nothing_but" if files else "forget.nothing", {"files": files})
    values = drawn(plan, ref_of(call.message.id), call.person, services.clock.now())

    def propose(tx: Transaction) -> None:
        values["forget"] = services.forgetting.propose(
            tx, call.space, scope, call.person.key, message=call.message.id
        )
        if to != call.message.chat:
            put_card(tx, values, call.space.id, to, f"forget-card-{call.message.id}", services.clock.now())

    if to != call.message.chat:
        return Said("forget.in_private", commit=propose)
    return Said("forget.is_planned", values, kind=PLAN_CARD, commit=propose)


def _where(services: Services, call: Call) -> Chat:
    """Where the words of the plan may be shown."""
    if call.private:
        return call.message.chat
    with services.db.read() as rd:
        home = people.home_chat(rd, services.access.owners(rd))
    if home is None:
        raise Refused("forget.homeless")
    return home


# -- a plan and its card ---------------------------------------------------------------------------------------


def worth_asking(plan: Plan, asked: str = "") -> bool:
    """Whether there is anything to say yes to."""
    return plan.scope.everything or bool(found(plan, asked) or plan.backups or plan.near)


def found(plan: Plan, asked: str = "") -> int:
    """How many hits a plan has."""
    return forgetcard.found(plan, asked)


def drawn(plan: Plan, asked: str, person: Person, now: datetime) -> dict[str, object]:
    """What a card notes of how it is drawn: counts and ids, never words."""
    return {
        "asked": asked,
        "counts": forgetcard.counts(plan, asked),
        "person": person.key,
        "until": (now + PLANNED_FOR).isoformat(),
    }


def put_card(
    tx: Transaction, values: Mapping[str, object], space: int, chat: Chat, dedupe: str, now: datetime
) -> None:
    """Show a plan in a chat."""
    row = NewOutgoing(dedupe=dedupe, kind=PLAN_CARD, chat=chat, space=space, created_at=now, values=values)
    outbox.put(tx, row)


def card(services: Services, row: Outgoing, language: str) -> Rendered:
    """A plan that waits, as things are now; of one that does not, how it stands."""
    with services.db.read() as rd:
        known = forgets.get(rd, id_of(row))
    if known.status != "planned":
        return Rendered(receipttext.state(known, language), silent=True)
    asked = str(row.values.get("asked", ""))
    plan = plan_of(services, known)
    with services.db.read() as rd:
        reach = reach_of(services, rd, plan, known, services.clock.now())
        readable = toolwords.plan(rd, plan, language)
    draft = Draft(
        plan=readable,
        asked=asked,
        left_out=frozenset(known.left_out),
        marks=known.marks,
        in_chats=InChats(len(reach.can), len(reach.cannot)),
        page=number(row.values.get("page")),
        deletes=bool(row.values.get("deletes")),
        changed=bool(row.values.get("changed")),
    )
    return forgetcard.card(draft, row, language)


def plan_of(services: Services, known: Forget) -> Plan:
    """What was planned, as things are now."""
    with services.db.read() as rd:
        space, scope = people.space(rd, known.space), services.forgetting.scope(rd, known.id)
    return services.forgetting.plan(space, scope)


def reach_of(services: Services, rd: Reader, plan: Plan, known: Forget, now: datetime) -> forgetchats.Reach:
    """Where chats show it: in messages, in the one that asked, and in notices that say what was written.

    Cards of writes change by themselves. Answers to commands that showed it are not known by their words.
    """
    asking = [] if known.message is None else [known.message]
    notices = [
        row.id
        for write in _hits(plan, known, "ledger")
        for row in cardrows.notices_of(rd, writes.get(rd, write))
        if services.settings.notifications(row.chat.platform) == "verbose"
    ]
    return forgetchats.reach(rd, list(dict.fromkeys((*_hits(plan, known, "messages"), *asking))), notices, now)


def _hits(plan: Plan, known: Forget, layer: str) -> list[int]:
    """The rows of a layer that will be cut."""
    refs = (item.ref for item in plan.layer(layer).items if item.ref not in known.left_out)
    return [int(ref.partition(":")[2]) for ref in refs if ref.partition(":")[2].isdecimal()]


def ref_of(message: int) -> str:
    """How a plan names a message."""
    return f"messages:{message}"


def id_of(row: Outgoing) -> int:
    """Which plan a card shows."""
    return number(row.values.get("forget"))


def number(value: object) -> int:
    """A number that a card notes; 0 for none."""
    return value if isinstance(value, int) else 0


def nothing_text(services: Services, row: Outgoing, language: str) -> str:
    """Nowhere but in the person's own files."""
    files = phrases.escape(str(row.values["files"]))
    return words.text("forget.nothing_but", language, files=files)


VIEWS: Mapping[str, View] = {"forget.nothing_but": nothing_text}
