"""A person asks the model to forget something: the plan is offered on a card. The model itself erases nothing.

Read from the person's own words (`claims.to_forget`), whatever the model answers or does with its memory tool:
taking an entry out of the file is not forgetting it everywhere. Nothing is offered where nothing is found.
"""

from dataclasses import dataclass
from datetime import datetime

from gateway import policy
from gateway.chat import Chat, Person
from gateway.conversation import claims, phrases
from gateway.conversation.access import Access, Standing, is_group
from gateway.conversation.commands import forget
from gateway.errors import Refused
from gateway.memory import passages
from gateway.memory.forgetting import Forgetting, Scope
from gateway.memory.passages import Passage
from gateway.records import Action, Message, Space, Status
from gateway.store import people, writes
from gateway.store.transaction import Transaction

MOST_CHARS = 300


@dataclass(frozen=True, slots=True)
class Offer:
    """A plan to be shown, and where."""

    space: Space
    scope: Scope
    values: dict[str, object]
    message: Message
    chat: Chat


def offer(
    forgetting: Forgetting, access: Access, space: Space, message: Message, answer: str, now: datetime
) -> Offer | None:
    """What a message asks to forget, if it is anywhere and whoever asks may decide it. Reads only."""
    own = "\n".join(said.text for said in policy.own_words([message]))
    wanted = claims.to_forget(own)
    if not wanted or len(wanted) > MOST_CHARS:
        return None
    person = Person.parse(message.person)
    chat = _where(forgetting, access, message, person)
    if chat is None:
        return None
    scope, asked = Scope((wanted, *_taken_out(forgetting, message, wanted))), f"messages:{message.id}"
    try:
        plan = forgetting.plan(space, scope)
    except Refused:  # too little to look for
        return None
    if not forget.worth_asking(plan, asked) or (not plan.near and not forget.found(plan, asked)):
        return None
    values = forget.drawn(plan, asked, person, now)
    if passages.holds(answer, [Passage.of(wanted)]):  # kept in the same commit as the offer
        counts = values["counts"]
        assert isinstance(counts, dict)
        counts["messages"] += 1
    return Offer(space, scope, values, message, chat)


def _taken_out(forgetting: Forgetting, message: Message, wanted: str) -> list[str]:
    """The entries that the model took out for it, as they read: they are the fact in other words."""
    with forgetting.db.read() as rd:
        of_turn = [write for write in writes.of_message(rd, message.id) if write.kind == "memory"]
    removed = (
        op.old_text
        for write in of_turn
        if write.status is Status.APPLIED
        for op in phrases.whole_operations(write)
        if op.action is Action.REMOVE
    )
    return [text for text in dict.fromkeys(removed) if text != wanted and passages.can_be_looked_for(text)]


def put(tx: Transaction, forgetting: Forgetting, offered: Offer, now: datetime) -> None:
    """Keep the plan and show it, behind the answer."""
    id = forgetting.propose(tx, offered.space, offered.scope, offered.message.person, message=offered.message.id)
    values = {**offered.values, "forget": id}
    forget.put_card(tx, values, offered.space.id, offered.chat, f"forget-turn-{offered.message.id}", now)


def _where(forgetting: Forgetting, access: Access, message: Message, person: Person) -> Chat | None:
    """In private there; what the owner says in a group in their own chat; what others say there nowhere."""
    with forgetting.db.read() as rd:
        if not is_group(people.chat(rd, message.chat), message.chat):
            return message.chat
        if access.standing(rd, person) is not Standing.OWNER:
            return None
        return people.home_chat(rd, access.owners(rd))
