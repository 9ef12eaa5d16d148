"""Background work as data: a name and ids, never words (design.md, promise 8).

What a job does is `workers/`; the truth about what is due is SQLite. A lost or doubled job does no harm.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ReviewJob:
    """Ring for the review "turns up to `turn` of `session`". `attempt` makes the id new each time."""

    session: str
    turn: int
    attempt: int

    @property
    def id(self) -> str:
        return f"review-{self.session}-{self.turn}-{self.attempt}"


@dataclass(frozen=True, slots=True)
class TidyJob:
    """Ring for the tidy with this id (`records.Tidy`). `attempt` makes the job's id new each time."""

    tidy: str
    attempt: int

    @property
    def id(self) -> str:
        return f"tidy-{self.tidy}-{self.attempt}"


@dataclass(frozen=True, slots=True)
class ForgetJob:
    """Ring for asking an external memory to erase what a forget is about."""

    forget: int
    attempt: int

    @property
    def id(self) -> str:
        return f"forget-{self.forget}-{self.attempt}"


Job = ReviewJob | TidyJob | ForgetJob
"""Every kind of job there is; later kinds join with `|`."""

QUEUE = "hikae"
"""The one queue: a worker on one queue moves jobs atomically and loses none (dependencies.md 2)."""

ENTRY_POINTS: Mapping[type, str] = {
    ReviewJob: "workers.runtime.review",
    TidyJob: "workers.runtime.tidy",
    ForgetJob: "workers.runtime.forget",
}
"""Job kind -> the dotted name that a worker may run; anything else in Redis is refused."""
