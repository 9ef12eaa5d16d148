"""Approving and rejecting staged writes by their numbers: for `/memory approve` and for `hikae memory approve`.

Each named write is decided by itself; one that cannot be does not stop the others. The rules of a decision
are `memory.writing`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from gateway import words
from gateway.chat import Person
from gateway.conversation import notices
from gateway.conversation.commands.call import Services
from gateway.errors import AlreadyDecided, NotFound, Refused
from gateway.memory.deciding import Decision, DecisionEnding
from gateway.records import Write
from gateway.store import outbox, writes

ALL = "all"
_MOST_DIGITS = 15


class Act(Protocol):
    """`Memory.approve` or `Memory.reject`."""

    def __call__(self, id: int, by: str, through: int | None = None) -> Decision: ...


@dataclass(frozen=True, slots=True)
class Result:
    """What came of one of the named writes: a key of the catalog and its values, never the words."""

    write: int
    key: str
    values: Mapping[str, object]
    error: str = ""
    """The name of the error that it is; "" when the write was approved or rejected as asked."""


def decide(services: Services, person: Person, act: Act, id: int, through: int | None = None) -> Result:
    """Let this person decide about one write. `through` is the command that asks, where it is a message."""
    try:
        with services.db.read() as rd:
            if not services.access.may_decide(rd, person, writes.get(rd, id).space):
                raise NotFound("write.unknown", id=id)
        ending = act(id, person.key, through).ending
        return Result(id, f"decision.{ending.value}", {}, _ERRORS.get(ending, ""))
    except Refused as refused:
        values = {name: str(value) for name, value in refused.values.items()}
        return Result(id, refused.key, values, type(refused).__name__)


_ERRORS: Mapping[DecisionEnding, str] = {
    DecisionEnding.ALREADY: AlreadyDecided.__name__,
    DecisionEnding.FAILED: Refused.__name__,
    DecisionEnding.REDRAWN: Refused.__name__,
}


def ids(named: Sequence[str]) -> list[int]:
    """The numbers as typed, with blanks or commas between. Raises Refused for anything else."""
    texts = [text for name in named for text in name.replace(",", " ").split()]
    if not texts or not all(text.isascii() and text.isdecimal() and len(text) <= _MOST_DIGITS for text in texts):
        raise Refused("memory.which")
    return list(dict.fromkeys(int(text) for text in texts))


def waiting(services: Services, space: int | None, through: int | None = None) -> list[int]:
    """What "all" means, in one space or (None) in all: not a row redrawn since its card was last shown.

    With what the same command (`through`) decided before a kill: its answer tells of that, too.
    """
    with services.db.read() as rd:
        decided = writes.decided_in(rd, through) if through is not None else []
        staged = [write for write in writes.staged(rd, space) if outbox.shows_as_it_is(rd, write)]
    return [write.id for write in (*decided, *staged)]


def line(services: Services, result: Result, language: str) -> str:
    """One line for one id, as Markdown."""
    write = _find(services, result.write)
    values = {name: notices.escape(str(value)) for name, value in result.values.items()}
    if not result.key.startswith("decision."):
        said = words.text(result.key, language, **values)
        return said if "id" in values else f"{result.write}: {said}"
    assert write is not None
    reason = notices.reason(write, language) if write.reason else ""
    by = notices.escape(write.decided_by)
    return words.text(
        result.key, language, **{"id": result.write, "gist": notices.gist(write), "by": by, "reason": reason}
    )


def _find(services: Services, id: int) -> Write | None:
    with services.db.read() as rd:
        try:
            return writes.get(rd, id)
        except NotFound:
            return None
