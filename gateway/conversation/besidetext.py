"""What a person is told of a write that stands beside an entry which it repeats or contradicts (design.md 7.6).

Looked for when it is said: an entry that was replaced in the same turn is not mentioned any more.
"""

from collections.abc import Iterable

from gateway import words
from gateway.conversation.phrases import excerpt
from gateway.errors import Refused
from gateway.memory import beside
from gateway.memory.conflicts import Conflict
from gateway.memory.entries import split_texts
from gateway.memory.writing import Memory
from gateway.records import Status, Write
from gateway.store import people
from gateway.store.db import Database


def lines(db: Database, memory: Memory, told: Iterable[Write], language: str, *, with_words: bool) -> list[str]:
    """One line for each such write that is in force, each once."""
    found = [near for write in told if (near := _near(db, memory, write)) is not None]
    form = "_verbose" if with_words else ""
    said = (words.text(f"notice.{near.kind}{form}", language, entry=excerpt(near.entry)) for near in found)
    return list(dict.fromkeys(said))


def _near(db: Database, memory: Memory, write: Write) -> Conflict | None:
    if write.kind != "memory" or write.status is not Status.APPLIED or not {*write.flags} & {*beside.FLAGS}:
        return None
    with db.read() as rd:
        space = people.space(rd, write.space)
    try:
        texts = memory.texts(space, write.target)
    except Refused:
        return None
    in_force = set(split_texts(write.after)) & set(texts)
    return beside.of_proposal(write.origin, write.operations, texts) if in_force else None
