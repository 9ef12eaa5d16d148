"""One attempt at a job that was claimed: what `runtime` needs of it, whichever kind it is.

Each kind says how it is done, put back and failed; when to do which is the same for all and stands in `runtime`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from gateway.memory import tidiness
from gateway.memory.tidiness import Committed
from gateway.ports import Model
from gateway.records import Review, Tidy, Usage
from gateway.store import reviews, tidies
from gateway.store.transaction import Transaction
from workers.review import Ending, Reviewer
from workers.tidy import Tidier


class Trouble(StrEnum):
    """Why an attempt came to nothing."""

    BUSY = "busy"
    MODEL_REFUSED = "model_refused"
    FILE_REFUSED = "file_refused"
    BROKEN = "broken"
    CHANGED = "changed"
    """The file is not any more what the model saw."""


class Attempt(Protocol):
    """A claimed job."""

    @property
    def kind(self) -> str:
        """`review` or `tidy`, as events in the log begin."""
        ...

    @property
    def job(self) -> str:
        """The id of the job."""
        ...

    @property
    def attempts(self) -> int:
        """How often it was tried, this time included."""
        ...

    @property
    def session(self) -> str:
        """The session it looks at; "" for none."""
        ...

    @property
    def used(self) -> Sequence[Usage]:
        """What it has cost so far."""
        ...

    @property
    def waits_for_files(self) -> bool:
        """Whether it is tried again where a memory file cannot be read or changed. Else that is its end."""
        ...

    async def do(self, model: Model) -> Ending | Trouble:
        """Think and commit. Raises what keeps it from that."""
        ...

    def put_back(self, tx: Transaction, reason: str, retry_at: datetime) -> bool: ...

    def fail(self, tx: Transaction, reason: str, at: datetime) -> bool: ...


@dataclass(frozen=True, slots=True)
class ReviewAttempt:
    """A claimed review."""

    reviewer: Reviewer
    claimed: Review
    kind: str = "review"
    waits_for_files: bool = True

    @property
    def job(self) -> str:
        return self.reviewer.job

    @property
    def attempts(self) -> int:
        return self.claimed.attempts

    @property
    def session(self) -> str:
        return self.claimed.session

    @property
    def used(self) -> Sequence[Usage]:
        return self.reviewer.used

    async def do(self, model: Model) -> Ending | Trouble:
        return await self.reviewer.review(model, self.claimed)

    def put_back(self, tx: Transaction, reason: str, retry_at: datetime) -> bool:
        return reviews.put_back(tx, self.claimed.session, self.claimed.turn, self.claimed.claim, reason, retry_at)

    def fail(self, tx: Transaction, reason: str, at: datetime) -> bool:
        return reviews.fail(tx, self.claimed.session, self.claimed.turn, self.claimed.claim, reason, at)


@dataclass(frozen=True, slots=True)
class TidyAttempt:
    """A claimed tidy. Somebody may be waiting for its answer: a closed file is said at once."""

    tidier: Tidier
    claimed: Tidy
    kind: str = "tidy"
    session: str = ""
    waits_for_files: bool = False

    @property
    def job(self) -> str:
        return self.tidier.job

    @property
    def attempts(self) -> int:
        return self.claimed.attempts

    @property
    def used(self) -> Sequence[Usage]:
        return self.tidier.used

    async def do(self, model: Model) -> Ending | Trouble:
        match await self.tidier.tidy(model, self.claimed):
            case Committed.DONE:
                return Ending.COMMITTED
            case Committed.CHANGED:
                return Trouble.CHANGED
            case _:
                return Ending.VOID

    def put_back(self, tx: Transaction, reason: str, retry_at: datetime) -> bool:
        return tidies.put_back(tx, self.claimed.id, self.claimed.claim, reason, retry_at)

    def fail(self, tx: Transaction, reason: str, at: datetime) -> bool:
        return tidiness.fail(tx, self.claimed, TOLD.get(reason, reason), at)


TOLD: Mapping[str, str] = {
    Trouble.BUSY: "reason.tidy_busy",
    Trouble.MODEL_REFUSED: "reason.tidy_model_refused",
    Trouble.FILE_REFUSED: "reason.tidy_file",
    Trouble.BROKEN: "reason.tidy_broken",
    Trouble.CHANGED: "reason.tidy_changed",
}
"""What a person is told of a tidy that is given up; a useless answer names its reason itself."""
