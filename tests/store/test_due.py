"""What is to be done, by SQLite and by the locks of processes alone."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from gateway.chat import Chat
from gateway.home import Home
from gateway.jobs import Job, ReviewJob
from gateway.records import Review, Session
from gateway.store import duejobs, locks, people, reviews, sessions
from gateway.store.db import Database
from workers import burst, due

NOW = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)
SESSION = "20261130_090007_57bbf6"


class Stopped:
    """A clock that stands still."""

    def now(self) -> datetime:
        return NOW


class Bell:
    """A job queue that writes down who rang; it breaks when told to."""

    def __init__(self, answers: bool = True) -> None:
        self.rung: list[Job] = []
        self.answers = answers

    def put(self, job: Job) -> bool:
        self.rung.append(job)
        return self.answers


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


@pytest.fixture
def db(home: Home) -> Iterator[Database]:
    with Database.open(home, Stopped()) as db, db.write() as tx:
        space = people.ensure_space(tx, "owner", "owner", "telegram:1", NOW)
        sessions.open(tx, _session(space.id))
        for turn in (1, 2, 3):
            sessions.begin_turn(tx, SESSION, NOW)
            reviews.make_due(tx, SESSION, space.id, turn, turn, "interval", NOW + timedelta(seconds=turn))
    with Database.open(home, Stopped()) as db:
        yield db


def test_it_rings_for_all_that_is_due_in_order(db: Database) -> None:
    """A ring that was lost is made up for."""
    bell = Bell()

    assert due.ring(db, bell, Stopped()) == 3

    assert bell.rung == [ReviewJob(SESSION, turn, 0) for turn in (1, 2, 3)]


def test_it_stops_ringing_at_a_bell_that_is_broken(db: Database) -> None:
    """With Redis away, each ring would wait for a time-out."""
    bell = Bell(answers=False)

    assert due.ring(db, bell, Stopped()) == 0

    assert len(bell.rung) == 1


def test_a_claim_whose_process_lives_is_left_alone(db: Database, home: Home) -> None:
    """The lock in run/ is held by the process that works."""
    claimed = _claim(db)
    lock = locks.try_lock(home.job_lock(ReviewJob(SESSION, 1, 0).id))
    assert lock is not None

    assert due.void_abandoned(db, home, Stopped()) == 0

    assert _now(db) == claimed
    lock.discard()


def test_a_claim_whose_process_is_gone_is_void_at_once(db: Database, home: Home) -> None:
    """Not when its lease ends; the next attempt has another id."""
    _claim(db)

    assert due.void_abandoned(db, home, Stopped()) == 1

    assert (_now(db).status, duejobs.job_of(_now(db))) == ("due", ReviewJob(SESSION, 1, 1))


def test_a_review_that_kills_its_process_every_time_ends_as_failed(db: Database, home: Home) -> None:
    """It must not do so for ever, and the owner is to see it."""
    for _ in range(due.MOST_ATTEMPTS):
        _claim(db)
        due.void_abandoned(db, home, Stopped())

    assert (_now(db).status, _now(db).reason) == ("failed", "killed")


def test_a_failed_review_that_the_owner_retries_is_really_tried(db: Database, home: Home) -> None:
    """Attempts are counted on: the bound must not catch it at once."""
    for _ in range(due.MOST_ATTEMPTS):
        _claim(db)
        due.void_abandoned(db, home, Stopped())
    with db.write() as tx:
        assert reviews.retry(tx, SESSION, 1, NOW)

    _claim(db)
    due.void_abandoned(db, home, Stopped())

    assert _now(db).status == "due"


def test_a_burst_runs_each_attempt_once(db: Database, home: Home) -> None:
    """What stays due after its run (nobody claimed it) is not run in a circle."""
    ran: list[Job] = []

    burst.work_off(home, db, Stopped(), ran.append)

    assert ran == [ReviewJob(SESSION, turn, 0) for turn in (1, 2, 3)]


def test_a_burst_sees_what_became_due_while_it_gave_its_lock_back(db: Database, home: Home) -> None:
    """Whoever found the lock taken went away in trust of that."""
    ran: list[Job] = []

    def run(job: Job) -> None:
        ran.append(job)
        assert locks.is_locked(home.burst_lock)
        if job == ReviewJob(SESSION, 3, 0):
            _claim(db, turn=3)  # and dies: another attempt is due now

    burst.work_off(home, db, Stopped(), run)

    assert ran[-1] == ReviewJob(SESSION, 3, 1)
    assert not locks.is_locked(home.burst_lock)


@pytest.mark.parametrize("holder", ["burst", "worker"])
def test_a_burst_leaves_it_to_another_one_or_to_a_worker(holder: str, db: Database, home: Home) -> None:
    """One per home."""
    lock = locks.try_lock(home.burst_lock if holder == "burst" else home.worker_lock)
    assert lock is not None
    ran: list[Job] = []

    burst.work_off(home, db, Stopped(), ran.append)

    assert ran == []
    lock.release()


def _claim(db: Database, turn: int = 1) -> Review:
    with db.write() as tx:
        job = duejobs.job_of(reviews.get(tx, SESSION, turn))
        claimed = reviews.claim(tx, SESSION, turn, due.claim_of(job), NOW + timedelta(hours=1), NOW)
    assert claimed is not None
    return claimed


def _now(db: Database) -> Review:
    with db.read() as rd:
        return reviews.get(rd, SESSION, 1)


def _session(space: int) -> Session:
    return Session(
        id=SESSION,
        space=space,
        chat=Chat("telegram", "1"),
        member="",
        opened_at=NOW,
        ended_at=None,
        system_prompt="You are hikae.",
        tools="",
        generation=1,
        frozen_at=NOW,
        turns=0,
        last_at=NOW,
        title="",
        model="fake-1",
    )
