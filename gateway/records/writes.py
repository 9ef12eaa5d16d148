"""The ledger: proposed changes to memory and skills, and what became of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from gateway.records.spaces import Target


class Action(StrEnum):
    """What a write does. BATCH is a list of the first three, all or nothing; the last five change a skill."""

    ADD = "add"
    REPLACE = "replace"
    REMOVE = "remove"
    BATCH = "batch"
    CREATE = "create"
    EDIT = "edit"
    PATCH = "patch"
    WRITE_FILE = "write_file"
    DELETE = "delete"


class Origin(StrEnum):
    """Who proposed a write (design.md, Words)."""

    FOREGROUND = "foreground"
    REVIEW = "background_review"
    FLUSH = "flush"
    TIDY = "tidy"
    PERSON = "person"
    HAND_EDIT = "hand_edit"
    IMPORT = "import"

    @property
    def auto(self) -> bool:
        """True where people see `[auto]`: nobody was talking about it when it was proposed."""
        return self in (Origin.REVIEW, Origin.FLUSH, Origin.TIDY)


class Status(StrEnum):
    """Where a write stands; moves one way (design.md section 4)."""

    STAGED = "staged"
    APPROVED = "approved"
    APPLIED = "applied"
    REFUSED = "refused"
    REJECTED = "rejected"
    EXPIRED = "expired"
    FAILED = "failed"
    UNDONE = "undone"


@dataclass(frozen=True, slots=True)
class Operation:
    """One change inside a write: ADD needs `content`, REMOVE `old_text`, REPLACE both.

    Of a skill: CREATE, EDIT and WRITE_FILE have the new text of a whole file as `content`, PATCH both texts.
    """

    action: Action
    content: str = ""
    old_text: str = ""
    path: str = ""
    """Which file of a skill, below its folder; "" for its SKILL.md."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a write rests on. `message` is None when the quoted words are in nobody's own words."""

    message: int | None
    by: str
    quote: str


HELD = "flag.forgotten"
"""Among the flags of a write that would bring back what was forgotten before: its card asks whether to keep it."""

FORGOTTEN = "reason.forgotten"
"""The `Write.reason` of a write whose words a forget erased."""

SKILL = "skill:"
"""What stands before the name where a write of the ledger is about a skill (`Write.about`)."""


@dataclass(frozen=True, slots=True)
class Write:
    """One proposed change: a row of the ledger."""

    id: int
    space: int
    space_name: str
    kind: str
    """memory | skill"""
    about: str
    """What it changes: memory | user, or `skill:NAME`."""
    operations: tuple[Operation, ...]
    origin: Origin
    evidence: Evidence
    flags: tuple[str, ...]
    """Why it looked suspicious or conflicting: keys of the message catalog under `flag.`."""
    status: Status
    reason: str
    """Why it was refused, failed or is still staged: a key of the catalog under `reason.`; "" if none."""
    reason_values: Mapping[str, object]
    """Numbers and names for that text; never anybody's words."""
    message: int | None
    """The user message whose turn (or command) made it."""
    session: str
    review_turn: int | None
    """With `session`: the review that made it. Of a flush: minus the id of the last message it saw."""
    base_hash: str
    before_hash: str
    after_hash: str
    before: str
    """The text of the entry or entries it replaces or removes, as they were (undo data)."""
    after: str
    created_at: datetime
    expires_at: datetime | None
    decided_by: str
    decided_at: datetime | None
    decided_in: int | None
    """The command or tap (a message id) that decided it."""
    undone_by: str = ""
    undone_at: datetime | None = None
    edited_by: str = ""
    redrawn: int = 0
    """How often its card was redrawn because the file changed under it."""
    applied_at: datetime | None = None
    edited_at: datetime | None = None
    original: tuple[Operation, ...] = ()
    """What was proposed first, where somebody edited it."""
    places: tuple[int, ...] = ()
    """At which place each entry of `before` stood."""
    undone_in: int | None = None
    """The command or tap (a message id) that took it back."""
    undo_before_hash: str = ""
    undo_after_hash: str = ""

    @property
    def action(self) -> Action:
        return self.operations[0].action if len(self.operations) == 1 else Action.BATCH

    @property
    def target(self) -> Target:
        """The file of a memory write. ValueError for a skill's: whoever asks takes it for something else."""
        return Target(self.about)

    @property
    def skill(self) -> str:
        """The name of the skill that it changes; "" for a memory write."""
        return self.about.removeprefix(SKILL) if self.kind == "skill" else ""


@dataclass(frozen=True, slots=True)
class NewWrite:
    """A write about to be born; see Write for the meaning of each field."""

    space: int
    target: str
    """A Target, or `skill:NAME`: `Write.about`."""
    operations: tuple[Operation, ...]
    origin: Origin
    evidence: Evidence
    status: Status
    dedupe: str
    """At most one row ever has it: `turn-MESSAGE-ROUND-POSITION`, `command-MESSAGE`, `review-SESSION-N-I`."""
    created_at: datetime
    kind: str = "memory"
    flags: tuple[str, ...] = ()
    reason: str = ""
    reason_values: Mapping[str, object] | None = None
    message: int | None = None
    session: str = ""
    review_turn: int | None = None
    base_hash: str = ""
    before_hash: str = ""
    after_hash: str = ""
    before: str = ""
    after: str = ""
    places: tuple[int, ...] = ()
    expires_at: datetime | None = None
    decided_by: str = ""
    decided_in: int | None = None
    decided_at: datetime | None = None
    """When it was decided, for one that is born decided and says what was learnt earlier; None: at its birth."""
