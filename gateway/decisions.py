"""How a person's decision about a staged write ended: the same words for memory and for skills."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from gateway.records import Status, Write


class DecisionEnding(StrEnum):
    """How a person's decision about a staged write ended."""

    APPLIED = "applied"
    """The file says it now (or said it already)."""
    REJECTED = "rejected"
    EDITED = "edited"
    REDRAWN = "redrawn"
    """It stays staged; its card shows what changed and needs a new tap. `reason` says what."""
    FAILED = "failed"
    ALREADY = "already"
    """Somebody was first; `write.status` says with what."""


@dataclass(frozen=True, slots=True)
class Decision:
    """The ending and the row as it now is. `reason` is a key of the catalog, filled with `values`."""

    ending: DecisionEnding
    write: Write
    reason: str = ""
    values: Mapping[str, object] | None = None


def as_it_stands(write: Write, through: int | None, *, ours: bool = False) -> Decision:
    """The decision as it stands: that of this call, of this same command or tap, or of whoever was first."""
    again = through is not None and write.decided_in == through
    ending = _ENDINGS.get(write.status) if ours or again else None
    if ending is None:
        return Decision(DecisionEnding.ALREADY, write, write.reason, write.reason_values)
    return Decision(ending, write, write.reason, write.reason_values)


_ENDINGS = {
    Status.APPROVED: DecisionEnding.APPLIED,
    Status.APPLIED: DecisionEnding.APPLIED,
    Status.REJECTED: DecisionEnding.REJECTED,
    Status.FAILED: DecisionEnding.FAILED,
}
