"""The commands about memory: /memory and its subcommands, /remember.

Deciding and writing is `memory.writing`; here a person's words become a call to it, and its outcome an answer.
"""

from collections.abc import Mapping, Sequence
from typing import Protocol

from gateway import words
from gateway.conversation import notices
from gateway.conversation.commands.call import Act, Call, Said, Services, View
from gateway.errors import NotFound, Refused
from gateway.memory import asking, entries, snapshot
from gateway.memory.proposals import Proposal
from gateway.memory.writing import Decision
from gateway.records import Action, Operation, Origin, Outgoing, Write
from gateway.store import outbox, people, sessions, writes
from gateway.store.db import Reader, Transaction

LATER = frozenset(("edit", "undo", "why", "log", "tidy"))
ALL = "all"


def memory(services: Services, call: Call) -> Said:
    """`/memory` and everything behind it."""
    sub = call.words[0].lower() if call.words else "show"
    if sub in LATER:
        return Said("answer.later", {"name": f"memory {sub}"})
    act = _SUBCOMMANDS.get(sub)
    if act is None:
        raise Refused("memory.usage")
    return act(services, call)


def show(services: Services, call: Call) -> Said:
    """What is remembered in this space, as the files have it now."""
    return Said("memory", {"space": call.space.id})


def pending(services: Services, call: Call) -> Said:
    """What waits for a yes: in this space; for the owner in private, in every space."""
    return Said("pending", {"all": call.is_owner})


def approve(services: Services, call: Call) -> Said:
    """Approve the named writes, or all."""
    return _decide(services, call, services.memory.approve)


def reject(services: Services, call: Call) -> Said:
    """Reject the named writes, or all."""
    return _decide(services, call, services.memory.reject)


def approval(services: Services, call: Call) -> Said:
    """Say, or persist, whether writes of this space wait for a yes."""
    wanted = call.words[1].lower() if len(call.words) > 1 else ""
    if wanted not in ("on", "off", ""):
        raise Refused("memory.approval_usage")
    if not wanted:
        return Said("answer.approval_on" if services.asks_first(call.space.id) else "answer.approval_off")
    now = services.clock.now()

    def persist(tx: Transaction) -> None:
        asking.choose(tx, call.space.id, asks=wanted == "on", by=call.person, at=now)

    return Said(f"answer.approval_{wanted}", commit=persist)


def refresh(services: Services, call: Call) -> Said:
    """Give the open session of this chat a prompt frozen now, with memory as it is."""
    now = services.clock.now()

    def refreeze(tx: Transaction) -> None:
        session = sessions.current(tx, call.message.chat)
        if session is not None:
            services.freezer.refreeze(tx, session, now)

    return Said("answer.refreshed", commit=refreeze)


def remember(services: Services, call: Call) -> Said:
    """`/remember TEXT`: a person's own write. No model, and no approval unless the scan flags it."""
    if not call.rest.strip():
        raise Refused("remember.usage")
    targets = services.memory.targets(call.space)
    if not targets:
        raise Refused("remember.off")
    outcome = services.memory.propose(
        Proposal(
            space=call.space,
            target=targets[0],
            operations=(Operation(Action.ADD, content=call.rest.strip()),),
            origin=Origin.PERSON,
            dedupe=f"command-{call.message.id}",
            message=call.message.id,
            by=call.person.key,
            card_chat=call.message.chat,
        )
    )
    key = f"remember.{outcome.ending.value}"
    if not outcome.ending.good:
        return Said("remember.not_saved", {"reason": outcome.reason, **outcome.values})
    return Said(key, write=outcome.write)


_SUBCOMMANDS: Mapping[str, Act] = {
    "show": show,
    "pending": pending,
    "approve": approve,
    "reject": reject,
    "approval": approval,
    "refresh": refresh,
}


# -- deciding --------------------------------------------------------------------------------------------


class Decide(Protocol):
    """`Memory.approve` or `Memory.reject`."""

    def __call__(self, id: int, by: str, through: int | None = None) -> Decision: ...


def _decide(services: Services, call: Call, decide: Decide) -> Said:
    """Decide each named write by itself; one that cannot be does not stop the others."""
    named = call.words[1:]
    if not named:
        raise Refused("memory.which")
    ids = _all_ids(services, call) if [name.lower() for name in named] == [ALL] else _ids(named)
    results = [[write_id, _decide_one(services, call, decide, write_id)] for write_id in ids]
    return Said("decisions", {"results": results})


def _decide_one(services: Services, call: Call, decide: Decide, write_id: int) -> str:
    """The key of what to say about this id."""
    try:
        with services.db.read() as rd:
            if not services.access.may_decide(rd, call.person, writes.get(rd, write_id).space):
                raise NotFound("write.unknown", id=write_id)
        return f"decision.{decide(write_id, call.person.key, through=call.message.id).ending.value}"
    except Refused as refused:
        return refused.key


def _ids(named: Sequence[str]) -> list[int]:
    texts = [text for name in named for text in name.replace(",", " ").split()]
    if not all(text.isascii() and text.isdecimal() and len(text) <= 15 for text in texts):
        raise Refused("memory.which")
    return list(dict.fromkeys(int(text) for text in texts))


def _all_ids(services: Services, call: Call) -> list[int]:
    """Everything staged that this person may decide; not a row redrawn since its card was last shown."""
    with services.db.read() as rd:
        staged = writes.staged(rd, None if call.is_owner else call.space.id)
        ids = [write.id for write in staged if outbox.shows_as_it_is(rd, write)]
    if not ids:
        raise Refused("pending.none")
    return ids


# -- views -----------------------------------------------------------------------------------------------


def memory_text(services: Services, row: Outgoing, language: str) -> str:
    """Each file that is on: its use of the budget and its entries."""
    with services.db.read() as rd:
        space = people.space(rd, row.space)
    blocks = []
    for target in services.memory.targets(space):
        doc = services.memory.read(space, target)
        limit = services.settings.budget(target)
        usage = notices.escape(snapshot.usage(entries.chars(doc), limit))
        head = words.text(f"memory.{target.value}", language, usage=usage)
        lines = [f"• {notices.escape(entry.text)}" for entry in doc.entries]
        blocks.append("\n".join((head, *(lines or [words.text("memory.empty", language)]))))
    return "\n\n".join(blocks) or words.text("remember.off", language)


def pending_text(services: Services, row: Outgoing, language: str) -> str:
    """What waits, oldest first."""
    everything = bool(row.values.get("all"))
    with services.db.read() as rd:
        staged = writes.staged(rd, None if everything else row.space)
    return notices.pending(staged, with_space=len({write.space for write in staged}) > 1, language=language)


def decisions_text(services: Services, row: Outgoing, language: str) -> str:
    """One line for each id."""
    results = row.values.get("results", ())
    assert isinstance(results, Sequence)
    return "\n".join(_decision_line(services, write_id, key, language) for write_id, key in results)


def _decision_line(services: Services, write_id: int, key: str, language: str) -> str:
    with services.db.read() as rd:
        write = _find(rd, write_id)
    if write is None:
        return words.text("write.unknown", language, id=write_id)
    reason = notices.reason(write, language) if write.reason else ""
    gist = notices.gist(write)
    return words.text(key, language, id=write_id, gist=gist, by=notices.escape(write.decided_by), reason=reason)


def not_saved_text(services: Services, row: Outgoing, language: str) -> str:
    """Why `/remember` did not save."""
    reason = words.text(str(row.values["reason"]), language, **row.values)
    return words.text("notice.not_saved", language, reason=reason)


def _find(rd: Reader, write_id: int) -> Write | None:
    try:
        return writes.get(rd, write_id)
    except NotFound:
        return None


VIEWS: Mapping[str, View] = {
    "memory": memory_text,
    "pending": pending_text,
    "decisions": decisions_text,
    "remember.not_saved": not_saved_text,
}
