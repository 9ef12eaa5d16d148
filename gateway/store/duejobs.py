"""The jobs that are to be done now, as the rows of reviews and tidies say: whatever Redis remembers of them."""

from datetime import datetime

from gateway.jobs import ForgetJob, Job, ReviewJob, TidyJob
from gateway.records import Review
from gateway.store import forgets, reviews, tidies
from gateway.store.transaction import Reader


def due(rd: Reader, now: datetime) -> list[Job]:
    """Oldest first of each kind: somebody waits for a forget and for the answer of a tidy, so these come first."""
    forgetting: list[Job] = [ForgetJob(forget, attempts) for forget, attempts in forgets.outside_due(rd)]
    tidying: list[Job] = [TidyJob(tidy.id, tidy.attempts) for tidy in tidies.due(rd, now)]
    return forgetting + tidying + [job_of(review) for review in reviews.due(rd, now)]


def job_of(review: Review) -> ReviewJob:
    """The job that does this review; each attempt is another one."""
    return ReviewJob(review.session, review.turn, review.attempts)
