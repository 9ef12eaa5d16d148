"""The commands about memory: /memory and its subcommands, /remember.

Deciding and writing is `memory.writing`; here a person's words become a call to it, and its outcome an answer.
"""

from collections.abc import Mapping, Sequence

from gateway import words
from gateway.chat import Chat
from gateway.conversation import besidetext, members, notices, phrases
from gateway.conversation.access import is_group
from gateway.conversation.commands import deciding, ledger, tidy
from gateway.conversation.commands.call import Act, Call, Said, Services, View, part_of
from gateway.errors import Refused
from gateway.memory import asking, entries, snapshot
from gateway.memory.proposals import Ending, Proposal
from gateway.records import Action, Operation, Origin, Outgoing, Space
from gateway.store import people, writes
from gateway.store.db import Transaction


def memory(services: Services, call: Call) -> Said:
    """`/memory` and everything behind it."""
    return part_of(call, _SUBCOMMANDS, bare="show", usage="memory.usage")(services, call)


def show(services: Services, call: Call) -> Said:
    """What is remembered in this space, as the files have it now."""
    return Said("memory", {"space": call.space.id})


def pending(services: Services, call: Call) -> Said:
    """What waits for a yes: in this space; for the owner in private, in every space."""
    return Said("pending", {"all": call.covers_all})


def approve(services: Services, call: Call) -> Said:
    """Approve the named writes, or all."""
    return deciding.command(services, call, deciding.Verdict.APPROVE)


def reject(services: Services, call: Call) -> Said:
    """Reject the named writes, or all."""
    return deciding.command(services, call, deciding.Verdict.REJECT)


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
    with services.db.read() as rd:
        if not services.freezer.used_in(rd, call.message.chat, call.message.session):
            raise Refused("refresh.no_session")

    def refreeze(tx: Transaction) -> None:
        services.freezer.refresh(tx, call.message.chat, now, call.message.session)

    return Said("answer.refreshed", commit=refreeze)


def remember(services: Services, call: Call) -> Said:
    """`/remember TEXT`: a person's own write. No model, and no approval unless the scan flags it."""
    if not call.rest.strip():
        raise Refused("remember.usage")
    targets = services.memory.targets(call.space)
    if not targets:
        raise Refused("remember.off")
    with services.db.read() as rd:
        session = members.in_use(rd, services.settings, call.message)
    if session is not None and session.incognito:
        raise Refused("incognito.remember")
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
    return Said("remembered" if outcome.flags and outcome.ending is Ending.APPLIED else key, write=outcome.write)


_SUBCOMMANDS: Mapping[str, Act] = {
    "show": show,
    "pending": pending,
    "approve": approve,
    "reject": reject,
    "approval": approval,
    "refresh": refresh,
    "tidy": tidy.tidy,
    "edit": ledger.edit,
    "undo": ledger.undo,
    "why": ledger.why,
    "log": ledger.log,
}


# -- views -----------------------------------------------------------------------------------------------


def memory_text(services: Services, row: Outgoing, language: str) -> str:
    """What is remembered in the space of the chat."""
    with services.db.read() as rd:
        space = people.space(rd, row.space)
    return space_text(services, space, language)


def space_text(services: Services, space: Space, language: str) -> str:
    """Each file that is on: its use of the budget and its entries."""
    blocks = []
    for target in services.memory.targets(space):
        doc = services.memory.read(space, target)
        limit = services.settings.budget(target)
        usage = notices.usage(entries.chars(doc), limit, language)
        head = words.text(f"memory.{target.value}", language, usage=usage)
        lines = [f"• {phrases.escape(text)}" for text in snapshot.top(doc, limit)]
        if missing := snapshot.left_out(doc, limit):
            lines.append(words.text("memory.more", language, count=missing))
        blocks.append("\n".join((head, *(lines or [words.text("memory.empty", language)]))))
    return "\n\n".join(blocks) or words.text("remember.off", language)


def pending_text(services: Services, row: Outgoing, language: str) -> str:
    """What waits, oldest first, in every space or this one; where others read along, only how much."""
    everything = bool(row.values.get("all"))
    space = None if everything else row.space
    with services.db.read() as rd:
        staged = writes.staged(rd, space, "memory", notices.MOST_LISTED)
        count = writes.count_staged(rd, space, "memory")
    if staged and others_read_along(services, row.chat):
        return count_only(count, language)
    with_space = any(write.space != row.space for write in staged)
    return phrases.pending(staged, count=count, with_space=with_space, language=language)


def others_read_along(services: Services, chat: Chat) -> bool:
    """Whether it is a group: the words of what waits are not for it."""
    with services.db.read() as rd:
        return is_group(people.chat(rd, chat), chat)


def count_only(count: int, language: str) -> str:
    """What is said of waiting writes where others read along."""
    said = words.text("pending.count", language, count=count)
    return f"{said}\n{words.text('pending.elsewhere', language)}"


def decisions_text(services: Services, row: Outgoing, language: str) -> str:
    """One line for each id."""
    results = row.values.get("results", ())
    assert isinstance(results, Sequence)
    lines = (deciding.line(services, deciding.Result(*result), language) for result in results)
    return "\n".join(lines) or words.text("pending.none", language)


def remembered_text(services: Services, row: Outgoing, language: str) -> str:
    """That it is remembered, and which entry says something else or nearly the same."""
    assert row.write is not None
    with services.db.read() as rd:
        write = writes.get(rd, row.write)
    alone = not others_read_along(services, row.chat)
    near = besidetext.lines(services.db, services.memory, [write], language, with_words=alone)
    return "\n".join((words.text("remember.applied", language), *near))


def not_saved_text(services: Services, row: Outgoing, language: str) -> str:
    """Why `/remember` did not save."""
    reason = words.text(str(row.values["reason"]), language, **row.values)
    return words.text("notice.not_saved", language, reason=reason)


VIEWS: Mapping[str, View] = {
    **ledger.VIEWS,
    "memory": memory_text,
    "pending": pending_text,
    "decisions": decisions_text,
    "remembered": remembered_text,
    "remember.not_saved": not_saved_text,
}
