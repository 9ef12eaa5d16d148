"""What a write stands beside: an entry that its new text nearly repeats or contradicts (design.md 7.6). Pure.

Where nobody is asked, whoever wrote it hears of that entry, and so does the person; what a review or a flush
proposes against an entry waits for a yes. Nothing is merged: two facts may both be true.
"""

from collections.abc import Sequence

from gateway.memory import conflicts
from gateway.memory.conflicts import Conflict
from gateway.records import Operation, Origin

MOST_COMPARED = 500
"""Entries. A file that somebody let grow to megabytes must not hold a write up for seconds."""
CONTRADICTS = "flag.contradicts"
FLAGS = (CONTRADICTS, "flag.repeats")
_UNATTENDED = (Origin.REVIEW, Origin.FLUSH)
_LOOKED_AT = (Origin.FOREGROUND, Origin.PERSON, *_UNATTENDED)
"""A tidy looks at what it replaces, and of what is imported there are two sides already."""


def entry(operations: Sequence[Operation], texts: Sequence[str]) -> Conflict | None:
    """The first among `texts` that one of these new texts repeats or contradicts, besides what they replace."""
    touched = {operation.old_text for operation in operations}
    others = [text for text in texts[:MOST_COMPARED] if text not in touched]
    for content in (operation.content for operation in operations if operation.content):
        if found := conflicts.find(content, [text for text in others if text != content]):
            return found
    return None


def of_proposal(origin: Origin, operations: Sequence[Operation], texts: Sequence[str]) -> Conflict | None:
    """The same for a proposal, where somebody is to hear of it; `texts` are the entries with it carried out."""
    contents = [Operation(operation.action, operation.content) for operation in operations]
    return entry(contents, texts) if origin in _LOOKED_AT else None


def doubts(origin: Origin, found: Conflict | None) -> tuple[str, ...]:
    """Why such a proposal is to wait for a yes."""
    return (found.why,) if found and origin in _UNATTENDED and found.why == CONTRADICTS else ()
