"""Approving and rejecting staged writes by their numbers: for `/memory approve`, [Approve all] and `hikae memory`.

Each named write is decided by itself; one that cannot be does not stop the others. What a command or tap means
is fixed before the first decision and kept with it, so that it means the same when it is done again after a kill.
The rules of a decision are `memory.writing`.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from gateway import words
from gateway.chat import Person
from gateway.conversation import phrases
from gateway.conversation.commands.call import Call, Said, Services
from gateway.decisions import DecisionEnding
from gateway.errors import AlreadyDecided, NotFound, Refused
from gateway.memory.writing import Memory
from gateway.records import Message, Status, Write
from gateway.skills.editing import Skills
from gateway.store import cardrows, messages, writes

ALL = "all"
_MOST_DIGITS = 15
_SIGN = "\x1f"
"""Stands between what was typed or tapped and the writes that it means."""
_KEPT = re.compile(_SIGN + r"((?:\d+@\d*!? ?)*)\Z")


class Verdict(StrEnum):
    """A yes or a no."""

    APPROVE = "approve"
    REJECT = "reject"


@dataclass(frozen=True, slots=True)
class Named:
    """A write that somebody decides about."""

    id: int
    seen: int | None = None
    """Which drawing of its card is meant; None for a write that is not there."""
    covered: bool = True
    """False for one of "all" whose card was redrawn since it was last shown: it waits, and that is said."""


@dataclass(frozen=True, slots=True)
class Result:
    """What came of one of the named writes: a key of the catalog and its values, never the words."""

    write: int
    key: str
    values: Mapping[str, object]
    error: str = ""
    """The name of the error that it is; "" when the write was approved or rejected as asked."""


def command(services: Services, call: Call, verdict: Verdict, kind: str = "memory") -> Said:
    """`/memory approve ID…|all` and its like: all that the command means, each for itself. Raises Refused."""
    space = None if call.covers_all else call.space.id
    named = meant(services, call.message, call.words[1:], space, kind)
    if not named:
        raise Refused(nothing_waits(kind))
    results = [decide(services, call.person, verdict, each, call.message.id, space) for each in named]
    return Said("decisions", {"results": kept_form(results)})


def nothing_waits(kind: str) -> str:
    """What is said where nothing of a kind waits: a key of the catalog."""
    return "skills.pending_none" if kind == "skill" else "pending.none"


def decide(
    services: Services,
    person: Person,
    verdict: Verdict,
    named: Named,
    through: int | None = None,
    space: int | None = None,
) -> Result:
    """Let this person decide about one write, of one space or (None) of any.

    `through` is the command or tap that asks, where it is a message.
    """
    try:
        with services.db.read() as rd:
            write = writes.get(rd, named.id)
            if space not in (None, write.space) or not services.access.may_decide(rd, person, write.space):
                raise NotFound("write.unknown", id=named.id)
        ending = _ending(services.door(write), person, verdict, named, through)
        return Result(named.id, f"decision.{ending.value}", {}, _ERRORS.get(ending, ""))
    except Refused as refused:
        values = {name: str(value) for name, value in refused.values.items()}
        return Result(named.id, refused.key, values, type(refused).__name__)


def _ending(
    door: Memory | Skills, person: Person, verdict: Verdict, named: Named, through: int | None
) -> DecisionEnding:
    if not named.covered:
        return DecisionEnding.REDRAWN
    if verdict is Verdict.REJECT:
        return door.reject(named.id, person.key, through).ending
    return door.approve(named.id, person.key, through, seen=named.seen).ending


_ERRORS: Mapping[DecisionEnding, str] = {
    DecisionEnding.ALREADY: AlreadyDecided.__name__,
    DecisionEnding.FAILED: Refused.__name__,
    DecisionEnding.REDRAWN: Refused.__name__,
}


# -- which ---------------------------------------------------------------------------------------------------


def meant(
    services: Services, message: Message, named: Sequence[str], space: int | None, kind: str = "memory"
) -> list[Named]:
    """What a command means: the ids it names, or "all" of a kind, of one space or (None) of all. Fixed once."""
    kept = _kept(message)
    return kept if kept is not None else _fix(services, message, meant_at_once(services, named, space, kind))


def meant_by_tap(services: Services, message: Message, space: int, tapped: int) -> list[Named]:
    """What [Approve all] and [Reject all] on the card of a write mean: what was shown of its space. Fixed once."""
    kept = _kept(message)
    return kept if kept is not None else _fix(services, message, waiting(services, space, "", tapped=tapped))


def is_fixed(message: Message) -> bool:
    """Whether this command or tap was begun before: what it means is kept with it."""
    return _KEPT.search(message.text) is not None


def meant_at_once(services: Services, named: Sequence[str], space: int | None, kind: str = "memory") -> list[Named]:
    """The same for who is not to be asked again after a kill (`hikae memory`, `hikae skills`)."""
    if [name.lower() for name in named] == [ALL]:
        return waiting(services, space, kind)
    which = "skills.which" if kind == "skill" else "memory.which"
    found = ((id, _find(services, id)) for id in ids(named, which))
    return [Named(id, write.redrawn if write is not None else None) for id, write in found]


def ids(named: Sequence[str], which: str = "memory.which") -> list[int]:
    """The numbers as typed, with blanks or commas between. Raises Refused for anything else."""
    texts = [text for name in named for text in name.replace(",", " ").split()]
    if not texts or not all(text.isascii() and text.isdecimal() and len(text) <= _MOST_DIGITS for text in texts):
        raise Refused(which)
    return list(dict.fromkeys(int(text) for text in texts))


def waiting(
    services: Services, space: int | None, kind: str = "memory", *, tapped: int | None = None
) -> list[Named]:
    """What waits of a kind or ("") of both, in one space or (None) in all.

    A row that was redrawn since it was last shown is not covered. With `tapped`, the write whose card was tapped,
    only what is on the screen counts, and that one for certain.
    """
    with services.db.read() as rd:
        staged = writes.staged(rd, space, kind)
        if tapped is not None:
            staged = [write for write in staged if write.id == tapped or cardrows.was_shown(rd, write.id)]
        return [Named(write.id, write.redrawn, cardrows.shows_as_it_is(rd, write)) for write in staged]


def _fix(services: Services, message: Message, named: list[Named]) -> list[Named]:
    """Keep with a command or tap what it means."""
    text = " ".join(
        f"{each.id}@{'' if each.seen is None else each.seen}{'' if each.covered else '!'}" for each in named
    )
    with services.db.write() as tx:
        messages.fix(tx, message.id, f"{message.text}{_SIGN}{text}")
    return named


def _kept(message: Message) -> list[Named] | None:
    found = _KEPT.search(message.text)
    return [_parsed(each) for each in found[1].split()] if found is not None else None


def _parsed(text: str) -> Named:
    id, _, seen = text.rstrip("!").partition("@")
    return Named(int(id), int(seen) if seen else None, not text.endswith("!"))


# -- saying --------------------------------------------------------------------------------------------------


def kept_form(results: Sequence[Result]) -> list[list[object]]:
    """Results as an outbox row keeps them: numbers and keys."""
    return [[result.write, result.key, result.values] for result in results]


def line(services: Services, result: Result, language: str) -> str:
    """One line for one id, as Markdown."""
    write = _find(services, result.write)
    values = {name: phrases.escape(str(value)) for name, value in result.values.items()}
    if not result.key.startswith("decision."):
        said = words.text(result.key, language, **values)
        return said if "id" in values else f"{result.write}: {said}"
    assert write is not None
    reason = phrases.reason(write, language) if write.reason else words.text("reason.redrawn", language)
    by = phrases.escape(write.decided_by)
    gist = phrases.gist(write, language)
    key = _OF_SKILLS.get(result.key, result.key) if write.kind == "skill" else result.key
    if result.key == "decision.already":
        key, at = _DECIDED.get(write.status, key), write.undone_at or write.decided_at or write.created_at
        when = phrases.escape(f"{at.astimezone(services.settings.zone()):%Y-%m-%d %H:%M}")
        return words.text(key, language, id=result.write, when=when)
    return words.text(key, language, id=result.write, gist=gist, by=by, reason=reason)


_DECIDED: Mapping[Status, str] = {
    Status.APPLIED: "decision.was_approved",
    Status.APPROVED: "decision.was_approved",
    Status.REJECTED: "decision.was_rejected",
    Status.EXPIRED: "decision.was_expired",
    Status.UNDONE: "decision.was_undone",
}
"""What became of it before."""


_OF_SKILLS: Mapping[str, str] = {
    "decision.applied": "decision.skill_applied",
    "decision.failed": "decision.skill_failed",
}
"""Of a skill nothing is "remembered"."""


def _find(services: Services, id: int) -> Write | None:
    with services.db.read() as rd:
        try:
            return writes.get(rd, id)
        except NotFound:
            return None
