"""What a button does. Its data is `action:outbox row:token`; the row says which write or question it shows."""

import secrets

from gateway.chat import Person, Tap
from gateway.conversation.access import Access
from gateway.conversation.commands.call import Services
from gateway.errors import AlreadyDecided, NotAllowed, NotFound, Refused
from gateway.memory import asking
from gateway.records import Message, NewOutgoing, Outgoing, Status
from gateway.store import outbox, writes
from gateway.store.db import Reader

DECISIONS = ("approve", "reject", "edit")
QUESTIONS = ("ask_first", "remember_freely")
ACTIONS = (*DECISIONS, *QUESTIONS, "use_now")


def check(rd: Reader, access: Access, tap: Tap) -> Outgoing:
    """The outbox row a tap belongs to, if this person may press that button here.

    Raises NotAllowed for a stranger, somebody else's button and a forged one, AlreadyDecided for a stale one.
    """
    action, row_id, token = _parse(tap.data)
    try:
        row = outbox.get(rd, row_id)
    except NotFound:
        raise NotAllowed("tap.unknown") from None
    if action not in ACTIONS or not secrets.compare_digest(row.token.encode(), token.encode()):
        raise NotAllowed("tap.unknown")
    if (row.chat.platform, row.chat.id) != (tap.chat.platform, tap.chat.id):
        raise NotAllowed("tap.unknown")
    if not access.may_decide(rd, tap.person, row.space):
        raise NotAllowed("tap.not_yours")
    if action in DECISIONS and (row.write is None or writes.get(rd, row.write).status is not Status.STAGED):
        raise AlreadyDecided("tap.decided")
    return row


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
    if action in DECISIONS and row.write is not None:
        _decide(services, action, row, row.write, person, message, text)
    elif action == "use_now":
        _use_now(services, row, message)
    elif action in QUESTIONS:
        _answer_first_question(services, action, row, person)


def _use_now(services: Services, row: Outgoing, message: Message) -> None:
    now = services.clock.now()
    with services.db.write() as tx:
        refreshed = services.freezer.refresh(tx, row.chat, now)
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


def _decide(
    services: Services, action: str, row: Outgoing, write: int, person: Person, message: Message, text: str
) -> None:
    try:
        match action:
            case "approve":
                seen = row.values.get("redrawn")
                services.memory.approve(
                    write, person.key, through=message.id, seen=seen if isinstance(seen, int) else None
                )
            case "reject":
                services.memory.reject(write, person.key, through=message.id)
            case _:
                services.memory.edit(write, text, person.key)
    except Refused as refused:
        _say_refused(services, refused, row, message)


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
