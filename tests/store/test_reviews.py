"""Every user turn is reviewed exactly once, whoever dies when."""

import pytest

from gateway.errors import NotFound
from gateway.records import Done, Review
from gateway.store import messages, reviews, sessions
from gateway.store.db import Database, Transaction
from tests.store import given
from tests.store.given import NINE

SESSION = "20261130_090007_57bbf6"
LEASE = given.after(minutes=10)


@pytest.fixture(autouse=True)
def session(db: Database) -> None:
    """Twenty turns, none reviewed."""
    with db.write() as tx:
        given.session(tx, turns=20)


def _due(tx: Transaction, turn: int = 10, first: int = 1) -> bool:
    return reviews.make_due(tx, SESSION, given.space(tx), turn, first, "interval", NINE)


def _claim(tx: Transaction, claim: str = "job-1", turn: int = 10) -> Review | None:
    return reviews.claim(tx, SESSION, turn, claim, LEASE, NINE)


def test_turns_are_made_due_once(db: Database, other: Database) -> None:
    """The tenth answer, a quiet chat and /new may all find them at the same time."""

    def make(database: Database) -> bool:
        with database.write() as tx:
            return _due(tx)

    assert sorted(given.at_once(lambda: make(db), lambda: make(other), lambda: make(db))) == [False, False, True]
    with db.read() as rd:
        assert reviews.due(rd, NINE) == [Review(SESSION, 10, 1, 1, "due", "interval", 0, "", None, None, "", NINE)]


def test_reviews_never_overlap(db: Database) -> None:
    """A turn belongs to exactly one."""
    with db.write() as tx:
        assert _due(tx, 10, 1)
        assert not _due(tx, 12, 9)
        assert not _due(tx, 9, 8)
        assert not _due(tx, 10, 11)
        assert _due(tx, 12, 11)

        assert sessions.get(tx, SESSION).turns == 20
        assert [(review.first_turn, review.turn) for review in reviews.due(tx, NINE)] == [(1, 10), (11, 12)]


def test_the_rest_is_what_is_finished_and_not_due(db: Database) -> None:
    """/new after three turns: the tail must not be lost."""
    with db.write() as tx:
        space = given.space(tx)
        sessions.mark_due(tx, SESSION, 18)
        id = given.keep(tx, "still thinking")
        messages.begin(tx, id, SESSION, 20, 1, "", None)

        assert reviews.make_rest_due(tx, SESSION, space, "end", NINE)
        assert not reviews.make_rest_due(tx, SESSION, space, "end", NINE)
        assert [(review.first_turn, review.turn) for review in reviews.due(tx, NINE)] == [(19, 19)]
        messages.finish(tx, id, Done.ANSWERED, NINE)
        assert reviews.make_rest_due(tx, SESSION, space, "quiet", NINE)


def test_one_worker_gets_it(db: Database, other: Database) -> None:
    """Redis may ring twice."""
    with db.write() as tx:
        _due(tx)

    def claim(database: Database, name: str) -> Review | None:
        with database.write() as tx:
            return _claim(tx, name)

    first, second = given.at_once(lambda: claim(db, "job-1"), lambda: claim(other, "job-2"))

    won = first or second
    assert (first is None) != (second is None)
    assert won is not None
    assert (won.status, won.attempts, won.lease_until) == ("running", 1, LEASE)
    with db.read() as rd:
        assert reviews.running(rd) == [won]
        assert reviews.due(rd, NINE) == []


def test_a_lease_that_ended_frees_it_and_the_late_one_commits_nothing(db: Database) -> None:
    """A worker that hangs, and wakes up after somebody else did its work."""
    with db.write() as tx:
        _due(tx)
        _claim(tx, "job-1")
        assert [review.turn for review in reviews.due(tx, LEASE)] == [10]
        again = reviews.claim(tx, SESSION, 10, "job-2", given.after(minutes=20), LEASE)

        assert again is not None and again.attempts == 2
        assert not reviews.finish(tx, SESSION, 10, "job-1", LEASE)
        assert not reviews.put_back(tx, SESSION, 10, "job-1", "model_busy", LEASE)
        assert not reviews.fail(tx, SESSION, 10, "job-1", "model_refused", LEASE)
        assert reviews.finish(tx, SESSION, 10, "job-2", LEASE)
        assert not reviews.finish(tx, SESSION, 10, "job-2", LEASE)
        assert reviews.get(tx, SESSION, 10).status == "done"


def test_the_claim_of_a_dead_process_is_void_at_once(db: Database) -> None:
    """Nobody waits for a lease to end when the lock says that its holder is gone."""
    with db.write() as tx:
        _due(tx)
        assert not reviews.void(tx, SESSION, 10)
        _claim(tx, "job-1")

        assert not reviews.void(tx, SESSION, 10, "job-0")
        assert reviews.void(tx, SESSION, 10, "job-1")
        assert not reviews.finish(tx, SESSION, 10, "job-1", NINE)
        again = _claim(tx, "job-2")

    assert again is not None
    assert (again.claim, again.attempts) == ("job-2", 2)


def test_what_was_put_back_waits_for_its_time(db: Database) -> None:
    """A model that is busy is not asked again at once, however often it rings."""
    with db.write() as tx:
        _due(tx)
        _claim(tx)
        assert reviews.put_back(tx, SESSION, 10, "job-1", "model_busy", given.after(minutes=5))

        assert (reviews.due(tx, NINE), _claim(tx, "job-2")) == ([], None)
        [waiting] = reviews.due(tx, given.after(minutes=5))
        assert (waiting.reason, waiting.claim, waiting.lease_until) == ("model_busy", "", None)


def test_a_failed_review_is_seen_and_can_be_retried(db: Database) -> None:
    """Under a job id that never was, so that no old job can be taken for it."""
    with db.write() as tx:
        _due(tx)
        _claim(tx)
        assert reviews.fail(tx, SESSION, 10, "job-1", "model_refused", NINE)
        [failed] = reviews.failed(tx)
        assert (failed.status, failed.reason, reviews.due(tx, LEASE)) == ("failed", "model_refused", [])

        assert (reviews.retry(tx, SESSION, 10, NINE), reviews.retry(tx, SESSION, 10, NINE)) == (True, False)
        again = _claim(tx, "job-2")
        assert again is not None and again.attempts == 2


def test_counts_and_lists_are_of_what_is_open(db: Database) -> None:
    """`status` and `reviews list`."""
    with db.write() as tx:
        space = given.space(tx)
        assert reviews.counts(tx) == {"due": 0, "running": 0, "failed": 0}
        for turn in (1, 2, 3, 4):
            _due(tx, turn, turn)
        _claim(tx, "job-1", 1)
        _claim(tx, "job-2", 2)
        reviews.finish(tx, SESSION, 1, "job-1", NINE)
        reviews.fail(tx, SESSION, 2, "job-2", "x", NINE)
        _claim(tx, "job-3", 3)

        assert reviews.counts(tx) == reviews.counts(tx, space) == {"due": 1, "running": 1, "failed": 1}
        assert reviews.counts(tx, space + 1) == {"due": 0, "running": 0, "failed": 0}
        assert [review.turn for review in reviews.for_space(tx, space)] == [2, 3, 4]
        assert [review.turn for review in reviews.for_space(tx, None)] == [2, 3, 4]
        assert reviews.for_space(tx, space + 1) == []
        with pytest.raises(NotFound, match="no review of session"):
            reviews.get(tx, SESSION, 19)
