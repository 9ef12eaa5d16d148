"""What was forgotten and is proposed again is held: a person is asked whether to keep it now (design.md, 6.7).

Whoever proposes it: a turn, a review, a tidy, an import, the person's own `/remember`. A yes to the card is a yes
to keeping it, and lifts the marks. How a text is known again without its words is `tombstones`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from gateway import policy
from gateway.memory import tombstones
from gateway.memory.proposals import Judgement
from gateway.memory.tombstones import Held
from gateway.records import HELD, NewWrite, Operation
from gateway.skills.files import Found
from gateway.store import tombstones as store
from gateway.store.transaction import Reader, Transaction

REASON = "reason.forgotten_before"


def held(rd: Reader, space: int, operations: Sequence[Operation], before: Iterable[str] = ()) -> Held | None:
    """What these operations would bring back. What already says it (`before`) may be changed without asking."""
    key = store.known_key(rd)
    if key is None:
        return None
    texts = [operation.content for operation in operations if operation.content]
    found = next((one for text in texts if (one := tombstones.held_by(rd, space, text, key))), None)
    if found is None or any(tombstones.held_by(rd, space, text, key) for text in before):
        return None
    return found


def judged(judgement: Judgement, found: Held | None) -> Judgement:
    """A proposal that would be carried out waits; one that waits anyway says so, too."""
    match judgement.decision:
        case policy.Apply() if found:
            return replace(judgement, decision=policy.Stage((HELD,)))
        case policy.Stage(flags) if found:
            return replace(judgement, decision=policy.Stage((*flags, HELD)))
        case _:
            return judgement


def marked(new: NewWrite, found: Found | None) -> NewWrite:
    """The row says when it was forgotten."""
    if found is None or HELD not in new.flags:
        return new
    return replace(new, reason=REASON, reason_values={"when": f"{found.at:%Y-%m-%d}"})


def lift(tx: Transaction, space: int, operations: Sequence[Operation]) -> None:
    """A person said yes to these words: they may be learnt again."""
    key = store.known_key(tx)
    for operation in operations if key is not None else ():
        if operation.content and (found := tombstones.held_by(tx, space, operation.content, key)):
            store.lift(tx, space, found.ids)
