"""One review, in this process: what it asks the model, what it commits, how it ends when that fails."""

import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from gateway.jobs import ReviewJob
from gateway.records import Outgoing, Review
from gateway.store import duejobs, locks, outbox, reviews
from tests.fakes.model import ModelServer, is_review
from tests.workbench import WallClock, Workbench, open_bench
from workers import due, runtime


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Workbench]:
    with ModelServer() as model:
        bench = open_bench(tmp_path, model)
        yield bench
        bench.close()


def test_a_review_proposes_and_says_so_once(bench: Workbench, caplog: pytest.LogCaptureFixture) -> None:
    """Writes, notice, usage and the end of the review are one commit."""
    caplog.set_level("INFO")
    review = bench.due("I live in Bergen")
    bench.model.calls("memory", action="add", target="user", content="Lives in Bergen", evidence="I live in Bergen")

    _run(bench, review)
    _run(bench, review)

    assert bench.profile() == "Lives in Bergen\n"
    assert [(said.kind, said.dedupe) for said in _to_say(bench)] == [("notice", f"review-{review.session}-1")]
    assert bench.spent() == len(bench.model.reviews) == 2
    assert f"job=review-{review.session}-1-0 calls=2 in=" in caplog.text
    assert "result=committed" in caplog.text


def test_a_review_that_finds_nothing_says_nothing(bench: Workbench) -> None:
    """Most reviews. Nobody is told, nothing is written, it is done."""
    review = bench.due("ok", "thanks")

    _run(bench, review)

    assert (bench.writes(), _to_say(bench), bench.review(review).status) == ([], [], "done")


def test_what_waits_for_a_yes_is_shown_on_a_card(bench: Workbench) -> None:
    """With write_approval nothing is written unasked, also by reviews."""
    bench.configure(bench.home.config.read_text() + "memory: {write_approval: true}")
    review = bench.due("I live in Bergen")
    bench.model.calls("memory", action="add", content="Lives in Bergen", evidence="I live in Bergen")

    _run(bench, review)

    assert [said.kind for said in _to_say(bench)] == ["card"]
    assert bench.profile() == ""


def test_other_tools_are_answered_with_an_error(bench: Workbench) -> None:
    """The tools of the turn are in the request, byte for byte, but a review has only memory."""
    review = bench.due("I live in Bergen")
    bench.model.calls_many(
        ("session_search", {"query": "Bergen"}),
        ("memory", {"action": "add", "content": "Lives in Bergen", "evidence": "I live in Bergen"}),
    )

    _run(bench, review)

    answers = [json.loads(said["content"]) for said in bench.model.last.messages if said["role"] == "tool"]
    assert [answer["success"] for answer in answers] == [False, True]
    assert bench.writes() == ["Lives in Bergen"]


def test_a_model_that_never_stops_calling_is_stopped(bench: Workbench) -> None:
    """Bounded, and what it has proposed by then counts."""
    bench.configure(bench.home.config.read_text() + "agent: {max_tool_rounds: 3}")
    review = bench.due("I live in Bergen")
    for number in range(9):
        content = f"Lives in Bergen {number}"
        bench.model.calls("memory", action="add", content=content, evidence="I live in Bergen")

    _run(bench, review)

    assert len(bench.model.requests) == 3
    assert len(bench.writes()) == 3
    assert bench.review(review).status == "done"


def test_with_memory_and_skills_switched_off_no_model_is_asked(bench: Workbench) -> None:
    """There is nothing that it could propose."""
    off = "memory: {memory_enabled: false, user_profile_enabled: false}\nagent: {disabled_toolsets: [skills]}\n"
    bench.configure(bench.home.config.read_text() + off)
    review = bench.due("I live in Bergen")

    _run(bench, review)

    assert bench.model.requests == ()
    assert bench.review(review).status == "done"


def test_a_review_whose_claim_was_voided_changes_nothing(
    bench: Workbench, caplog: pytest.LogCaptureFixture
) -> None:
    """Somebody forgot it, or believed us dead: then it is theirs. What it cost is still counted."""
    caplog.set_level("INFO")
    review = bench.due("I live in Bergen")
    held = bench.model.holds(when=is_review)
    thread = threading.Thread(target=_run, args=(bench, review))
    thread.start()
    held.wait_reached()
    with bench.db.write() as tx:
        assert reviews.void(tx, review.session, review.turn)

    held.open()
    thread.join(20)

    assert (bench.review(review).status, bench.writes(), bench.spent()) == ("due", [], 1)
    assert "result=void" in caplog.text


def test_a_ring_for_nothing_does_nothing(bench: Workbench) -> None:
    """Rings come from Redis, where anybody could have written anything."""
    runtime.run(bench.home, ReviewJob("../../etc", 1, 0))
    runtime.run(bench.home, ReviewJob("20260101_000000_000000", 7, 3))

    assert bench.model.requests == ()
    assert list(bench.home.run.glob("job-*")) == []


def test_a_ring_of_a_former_attempt_is_as_good_as_any(bench: Workbench) -> None:
    """RQ repeats the old ring when a work horse was killed."""
    review = bench.due("I live in Bergen")
    with bench.db.write() as tx:
        claim = due.claim_of(ReviewJob(review.session, 1, 0))
        assert reviews.claim(tx, review.session, 1, claim, WallClock().now(), WallClock().now())

    _run(bench, review)

    assert (bench.review(review).status, bench.review(review).attempts) == ("done", 2)


def test_no_lock_is_left_behind(bench: Workbench) -> None:
    """Each attempt has a lock of its own; they would pile up."""
    _run(bench, bench.due("I live in Bergen"))

    assert list(bench.home.run.glob("job-*")) == []


def test_a_turn_that_was_stopped_is_reviewed_all_the_same(bench: Workbench) -> None:
    """The person said it; only the answer is missing, and an API wants one."""
    review = bench.due("I live in Bergen", answered=False)

    _run(bench, review)

    assert [said["role"] for said in bench.model.last.messages] == ["system", "user", "assistant", "user"]
    assert bench.review(review).status == "done"


def test_an_unreadable_memory_file_is_never_taken_for_an_empty_one(bench: Workbench) -> None:
    """It is put back, and tried again when the file may be readable."""
    review = bench.due("I live in Bergen")
    bench.home.memory_file("owner", "memory").mkdir()

    _run(bench, review)

    assert (bench.review(review).status, bench.review(review).reason) == ("due", "file_refused")


def test_a_busy_model_is_tried_a_bounded_number_of_times(bench: Workbench) -> None:
    """In the end the owner is to know."""
    review = bench.due("I live in Bergen")
    bench.model.fails(429, retry_after=300, times=1000)
    for attempt in range(1, due.MOST_ATTEMPTS + 1):
        _run(bench, review)
        assert bench.review(review).attempts == attempt
        _let_time_pass(bench)

    assert (bench.review(review).status, bench.review(review).reason) == ("failed", "busy")


def _run(bench: Workbench, review: Review) -> None:
    runtime.run(bench.home, duejobs.job_of(review))
    assert not locks.is_locked(bench.home.job_lock(duejobs.job_of(review).id))


def _let_time_pass(bench: Workbench) -> None:
    """As if the pause were over."""
    with bench.db.write() as tx:
        tx.execute("UPDATE reviews SET retry_at = '2026-01-01T00:00:00.000000+00:00' WHERE status = 'due'")


def _to_say(bench: Workbench) -> list[Outgoing]:
    with bench.db.read() as rd:
        return outbox.waiting(rd, ["telegram"], WallClock().now())
