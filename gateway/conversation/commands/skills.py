"""/skills and its subcommands. What a decision does is `skills.editing`, how one is named and told `deciding`."""

import hashlib
from collections.abc import Mapping

from gateway import words
from gateway.conversation import notices, skilltext
from gateway.conversation.commands import deciding, memory
from gateway.conversation.commands.call import Act, Call, Said, Services, View, part_of
from gateway.errors import NotFound, Refused
from gateway.records import Outgoing, Space, Write
from gateway.skills import asking
from gateway.store import people, writes
from gateway.store.db import Transaction

KIND = "skill"


def skills(services: Services, call: Call) -> Said:
    """`/skills` and everything behind it."""
    return part_of(call, _SUBCOMMANDS, bare="list", usage="skills.usage")(services, call)


def list_(services: Services, call: Call) -> Said:
    """The skills of this space, and what is wrong with them."""
    return Said("skills")


def show(services: Services, call: Call) -> Said:
    """One skill as it is. The row keeps a mark of its name, which may be somebody's words."""
    if len(call.words) != 2:
        raise Refused("skills.usage")
    services.skills.whole(call.space, call.words[1])
    return Said("skills.show", {"skill": mark(call.words[1])})


def pending(services: Services, call: Call) -> Said:
    """What waits for a yes: in this space; for the owner in private, in every space."""
    return Said("skills.pending", {"all": call.covers_all})


def diff(services: Services, call: Call) -> Said:
    """What one write changes, line by line."""
    ids = deciding.ids(call.words[1:], which="skills.which_diff")
    if len(ids) != 1:
        raise Refused("skills.which_diff")
    space = None if call.covers_all else call.space.id
    write = write_of(services, ids[0], space)
    return Said("skills.diff", {}, write=write.id)


def approve(services: Services, call: Call) -> Said:
    """Approve the named writes, or all that change skills."""
    return deciding.command(services, call, deciding.Verdict.APPROVE, KIND)


def reject(services: Services, call: Call) -> Said:
    """Reject the named writes, or all that change skills."""
    return deciding.command(services, call, deciding.Verdict.REJECT, KIND)


def approval(services: Services, call: Call) -> Said:
    """Say, or persist, whether changes of skills of this space wait for a yes."""
    wanted = call.words[1].lower() if len(call.words) > 1 else ""
    if wanted not in ("on", "off", ""):
        raise Refused("skills.approval_usage")
    if not wanted:
        return Said("skills.approval_on" if asks_first(services, call.space) else "skills.approval_off")
    now = services.clock.now()

    def persist(tx: Transaction) -> None:
        asking.choose(tx, call.space.id, asks=wanted == "on", by=call.person, at=now)

    return Said(f"skills.approval_{wanted}", commit=persist)


_SUBCOMMANDS: Mapping[str, Act] = {
    "list": list_,
    "show": show,
    "pending": pending,
    "diff": diff,
    "approve": approve,
    "reject": reject,
    "approval": approval,
}


def asks_first(services: Services, space: Space) -> bool:
    """Whether changes of this space's skills wait for a yes, as of now."""
    with services.db.read() as rd:
        return asking.asks_first(rd, services.settings, space.id)


def write_of(services: Services, id: int, space: int | None) -> Write:
    """A write to a skill, of one space or (None) of any. Raises NotFound, also for one of another space."""
    with services.db.read() as rd:
        write = writes.get(rd, id)
    if space not in (None, write.space):
        raise NotFound("write.unknown", id=id)
    if write.kind != KIND:
        raise NotFound("skills.not_a_skill", id=id)
    return write


def mark(name: str) -> str:
    """Stands for a skill's name where no words may be kept."""
    return hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()[:16]


# -- views -----------------------------------------------------------------------------------------------


def skills_text(services: Services, row: Outgoing, language: str) -> str:
    """The skills in the space of the chat."""
    return skilltext.listed(services.skills.all(_space(services, row)), language)


def show_text(services: Services, row: Outgoing, language: str) -> str:
    """The one that was asked for, as it is now."""
    space = _space(services, row)
    for skill in services.skills.all(space):
        if mark(skill.name) == row.values["skill"]:
            return skilltext.shown(services.skills.whole(space, skill.name), language)
    raise NotFound("skill.unknown")


def pending_text(services: Services, row: Outgoing, language: str) -> str:
    """What waits, oldest first, in every space or this one; where others read along, only how much."""
    with services.db.read() as rd:
        space = None if row.values.get("all") else row.space
        staged = writes.staged(rd, space, KIND, notices.MOST_LISTED)
        count = writes.count_staged(rd, space, KIND)
    if staged and memory.others_read_along(services, row.chat):
        return memory.count_only(count, language)
    with_space = any(write.space != row.space for write in staged)
    return skilltext.pending(staged, count=count, with_space=with_space, language=language)


def diff_text(services: Services, row: Outgoing, language: str) -> str:
    """The diff of a write; where others read along, where it is to be seen."""
    assert row.write is not None
    if memory.others_read_along(services, row.chat):
        return words.text("pending.elsewhere", language)
    return skilltext.diff(write_of(services, row.write, None), language)


def _space(services: Services, row: Outgoing) -> Space:
    with services.db.read() as rd:
        return people.space(rd, row.space)


VIEWS: Mapping[str, View] = {
    "skills": skills_text,
    "skills.show": show_text,
    "skills.pending": pending_text,
    "skills.diff": diff_text,
}
