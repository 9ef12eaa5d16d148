"""Real workers on a real Redis: whatever is killed, stopped or wiped, each review is committed exactly once."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from rq import Queue
from rq.serializers import JSONSerializer

from gateway.jobs import QUEUE, ReviewJob
from gateway.rq_queue import RqQueue
from gateway.store import locks
from tests.fakes.model import ModelServer, is_review
from tests.workbench import PROMPT, ROOT, Workbench, alive, children, open_bench

pytestmark = pytest.mark.processes

SECRET = "zebrafish"
"""A word of somebody's that must be nowhere in Redis."""


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Workbench]:
    with ModelServer() as model:
        bench = open_bench(tmp_path, model)
        yield bench
        bench.close()


def proposes(bench: Workbench, content: str = "Lives in Bergen", evidence: str = "live in Bergen") -> None:
    """The model's next review remembers this, then has no more to say."""
    bench.model.calls("memory", action="add", target="user", content=content, evidence=evidence, when=is_review)
    bench.model.answers("nothing", when=is_review)


def test_a_due_review_is_done_and_its_memory_written(bench: Workbench) -> None:
    """The way of a review when nothing goes wrong; nobody rang: what is due stands in SQLite."""
    review = bench.due("I live in Bergen")
    proposes(bench)

    bench.worker()
    bench.until(bench.all_done)

    bench.until(lambda: bench.profile() == "Lives in Bergen\n")
    assert bench.review(review).attempts == 1
    assert bench.spent() == 2
    bench.until(lambda: f"job=review-{review.session}-1-0 calls=2" in bench.log())


def test_its_request_begins_with_the_bytes_of_the_chat(bench: Workbench) -> None:
    """So the model's prompt cache serves all but the end of it."""
    bench.due("I live in Bergen", "And I like rain", answer="Lovely city!")

    bench.worker()
    bench.until(bench.all_done)

    said = bench.model.reviews[0].messages
    assert [(message["role"], message["content"]) for message in said[:-1]] == [
        ("system", PROMPT),
        ("user", "[09:00] I live in Bergen"),
        ("assistant", "Lovely city!"),
        ("user", "[09:00] And I like rain"),
        ("assistant", "Lovely city!"),
    ]
    assert "the last 2 messages" in said[-1]["content"]


def test_a_killed_work_horse_is_replaced_within_seconds(bench: Workbench) -> None:
    """RQ alone would look after minutes."""
    held = bench.model.holds(when=is_review)
    review = bench.due("I live in Bergen")
    worker = bench.worker()
    held.wait_reached()
    proposes(bench)

    os.kill(bench.work_horse(worker), signal.SIGKILL)

    _done_within_seconds(bench)
    bench.until(lambda: bench.profile() == "Lives in Bergen\n")
    assert bench.review(review).attempts == 2


def test_killed_between_commit_and_file_the_memory_is_written_all_the_same(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The supervisor carries out what was approved; the model is not asked again."""
    monkeypatch.setenv("HIKAE_FAILPOINT", "review.committed")
    review = bench.due("I live in Bergen")
    proposes(bench)

    bench.worker()

    bench.until(lambda: bench.profile() == "Lives in Bergen\n")
    assert (bench.review(review).status, bench.review(review).attempts) == ("done", 1)
    assert len(bench.model.reviews) == 2


def test_a_killed_rq_worker_takes_its_work_horse_with_it_and_is_started_again(bench: Workbench) -> None:
    """With RQ as it comes, the work horse would live on and the review run twice at a time."""
    held = bench.model.holds(when=is_review)
    bench.due("I live in Bergen")
    worker = bench.worker()
    held.wait_reached()
    proposes(bench)
    rq_worker, horse = bench.rq_worker(worker), bench.work_horse(worker)

    os.kill(rq_worker, signal.SIGKILL)

    bench.until(lambda: not alive(horse))
    _done_within_seconds(bench)
    assert bench.writes() == ["Lives in Bergen"]


def test_a_killed_supervisor_leaves_nothing_behind_and_the_next_one_goes_on(bench: Workbench) -> None:
    """`kill -9` of the service: no orphan works on with an old claim."""
    held = bench.model.holds(when=is_review)
    bench.due("I live in Bergen")
    worker = bench.worker()
    held.wait_reached()
    proposes(bench)
    family = [bench.rq_worker(worker), bench.work_horse(worker), bench.redis_pid()]

    worker.kill()
    worker.wait()
    bench.until(lambda: not any(map(alive, family)))
    bench.worker()

    _done_within_seconds(bench)
    assert bench.writes() == ["Lives in Bergen"]


def test_a_killed_redis_is_started_again_and_what_is_due_is_done(bench: Workbench) -> None:
    """The supervisor sees it end; the running review does not even notice."""
    held = bench.model.holds("nothing", when=is_review)
    first = bench.due("I live in Bergen")
    bench.worker()
    held.wait_reached()
    old = bench.redis_pid()

    os.kill(old, signal.SIGKILL)
    second = bench.due("I moved to Oslo")
    proposes(bench, "Lives in Oslo", "moved to Oslo")
    held.open()

    _done_within_seconds(bench)
    bench.until(lambda: bench.profile() == "Lives in Oslo\n")
    assert [bench.review(each).attempts for each in (first, second)] == [1, 1]
    assert bench.redis_pid() != old


def test_a_wiped_redis_loses_nothing(bench: Workbench) -> None:
    """It is a doorbell: what was rung for is rung for again."""
    held = bench.model.holds("nothing", when=is_review)
    bench.due("I live in Bergen")
    worker = bench.worker()
    held.wait_reached()
    queue = RqQueue(f"unix://{bench.home.redis_socket}")
    for number in range(3):
        late = bench.due(f"I know fact {number}")
        assert queue.put(ReviewJob(late.session, late.turn, 0))

    with bench.redis() as redis:
        redis.flushall()
    held.open()

    _done_within_seconds(bench)
    assert worker.poll() is None
    assert len(bench.model.reviews) == 4


def test_told_to_stop_it_lets_the_review_finish(bench: Workbench) -> None:
    """A deployment must not throw away what a model was paid for."""
    held = bench.model.holds("nothing", when=is_review)
    review = bench.due("I live in Bergen")
    worker = bench.worker()
    held.wait_reached()

    worker.terminate()
    held.open()

    assert worker.wait(20) == 0
    assert bench.review(review).status == "done"
    assert not bench.home.redis_socket.exists() or not locks.is_locked(bench.home.redis_lock)


def test_told_to_stop_while_the_model_hangs_it_puts_the_review_back(bench: Workbench) -> None:
    """Bounded: a service manager would kill it anyway."""
    held = bench.model.holds(when=is_review)
    bench.due("I live in Bergen")
    worker = bench.worker()
    held.wait_reached()
    proposes(bench)

    worker.terminate()
    assert worker.wait(20) == 0
    bench.worker()

    _done_within_seconds(bench)
    assert bench.writes() == ["Lives in Bergen"]


def test_a_second_worker_of_one_home_says_so_and_ends(bench: Workbench) -> None:
    """Two would fight over nothing but cost twice."""
    first = bench.worker()
    bench.until(bench.worker_is_up)

    second = bench.worker()

    assert second.wait(20) == 1
    assert first.poll() is None


def test_it_ends_with_its_parent_when_told_to(bench: Workbench) -> None:
    """`hikae up` was killed: nothing of it may live on."""
    parent = subprocess.Popen([sys.executable, "-c", _PARENT, str(bench.home.path)], cwd=ROOT)
    bench.until(bench.worker_is_up)
    supervisor = bench.child(parent.pid, "workers")
    family = [supervisor, bench.child(supervisor, "--rq-worker"), bench.redis_pid()]

    parent.kill()
    parent.wait()

    bench.until(lambda: not any(map(alive, family)))
    assert "worker.ended" in bench.log()


def test_a_foreign_job_in_redis_is_not_run(bench: Workbench) -> None:
    """Whoever can write to Redis must not be able to run code as us, nor block the queue."""
    bench.worker()
    bench.until(bench.worker_is_up)
    target = bench.home.path / "made-by-a-foreign-job"
    with bench.redis() as redis:
        queue = Queue(QUEUE, connection=redis, serializer=JSONSerializer)
        queue.enqueue("os.mkdir", str(target))
        queue.enqueue("workers.runtime.review", f"{SECRET}", 1, 0)
        bench.due("I live in Bergen")
        proposes(bench)
        bench.until(lambda: bench.all_done() and not queue.count)

    assert not target.exists()
    bench.until(lambda: bench.profile() == "Lives in Bergen\n")
    assert SECRET not in bench.log()


def test_redis_holds_nobodys_words_whatever_happens(bench: Workbench) -> None:
    """Promise 8: every key, value and file; also of reviews that fail with words in the error."""
    bench.due(f"My {SECRET} lives in Bergen")
    proposes(bench, f"Has a {SECRET}", SECRET)
    bench.due(f"The {SECRET} again")
    bench.model.fails(400, message=f"bad {SECRET}", when=is_review)
    bench.due(f"And {SECRET}")
    bench.model.says_raw(f"not JSON, {SECRET}", when=is_review)

    worker = bench.worker()
    bench.until(lambda: bench.statuses()["running"] == 0 and len(bench.model.reviews) >= 4)
    bench.until(lambda: not children(bench.rq_worker(worker)))

    with bench.redis() as redis:
        everything = repr([(key, _dump(redis, key)) for key in redis.scan_iter()])
    assert "review-" in everything
    assert SECRET not in everything
    worker.terminate()
    worker.wait(20)
    files = b"".join(file.read_bytes() for file in bench.home.redis_dir.rglob("*") if file.is_file())
    assert b"review-" in files
    assert SECRET.encode() not in files
    assert SECRET not in bench.log()


def test_a_refused_review_is_failed_where_the_owner_sees_it(bench: Workbench) -> None:
    """A wrong key will not get better by trying."""
    review = bench.due("I live in Bergen")
    bench.model.fails(401, when=is_review)

    bench.worker()
    bench.until(lambda: bench.review(review).status == "failed")

    assert bench.review(review).reason == "model_refused"


def test_a_busy_model_is_asked_again_later(bench: Workbench) -> None:
    """The review stays due, with a time; nobody calls the model in between."""
    review = bench.due("I live in Bergen")
    bench.model.fails(429, retry_after=300, times=9, when=is_review)

    bench.worker("--burst").wait(60)

    now = bench.review(review)
    assert (now.status, now.reason, now.attempts) == ("due", "busy", 1)
    assert now.retry_at is not None
    assert now.retry_at.timestamp() > time.time() + 250


def test_twenty_reviews_with_a_slow_model_are_all_done_by_a_burst(bench: Workbench) -> None:
    """One-shot runs leave this behind; each starts a burst, and all but one of them end at once."""
    for number in range(20):
        bench.due(f"I know fact {number}")
        bench.model.calls(
            "memory", action="add", content=f"Fact {number}", evidence=f"know fact {number}", when=_is_about(number)
        )
        bench.model.answers("nothing", seconds=0.2, when=_is_about(number))

    for burst in [bench.worker("--burst") for _ in range(3)]:
        assert burst.wait(120) == 0

    assert bench.all_done()
    assert bench.writes() == sorted(f"Fact {number}" for number in range(20))
    assert not bench.home.redis_socket.exists(), "a burst needs no Redis"


def test_a_burst_leaves_the_work_to_a_living_worker(bench: Workbench) -> None:
    """A worker is there already: nothing is to be started twice."""
    held = bench.model.holds("nothing", when=is_review)
    review = bench.due("I live in Bergen")
    bench.worker()
    held.wait_reached()

    assert bench.worker("--burst").wait(20) == 0

    assert bench.review(review).status == "running"
    held.open()
    _done_within_seconds(bench)
    assert len(bench.model.reviews) == 1


def test_a_killed_burst_is_made_up_for_by_the_next(bench: Workbench) -> None:
    """The claim of a dead process is void at once."""
    held = bench.model.holds(when=is_review)
    bench.due("I live in Bergen")
    burst = bench.worker("--burst")
    held.wait_reached()
    proposes(bench)
    burst.kill()
    burst.wait()

    assert bench.worker("--burst").wait(30) == 0

    assert bench.writes() == ["Lives in Bergen"]


_PARENT = """
import os, subprocess, sys
worker = [sys.executable, "-m", "workers", "--home", sys.argv[1], "--with-parent", str(os.getpid())]
subprocess.run(worker)
"""


def _done_within_seconds(bench: Workbench) -> None:
    bench.until(bench.all_done, seconds=15)


def _is_about(number: int) -> Any:
    return lambda request: is_review(request) and f'fact {number}"' in json.dumps(request["messages"])


def _dump(redis: Any, key: bytes) -> object:
    read: dict[bytes, Callable[[], object]] = {
        b"string": lambda: redis.get(key),
        b"hash": lambda: redis.hgetall(key),
        b"list": lambda: redis.lrange(key, 0, -1),
        b"set": lambda: redis.smembers(key),
        b"zset": lambda: redis.zrange(key, 0, -1),
        b"stream": lambda: redis.xrange(key),
        b"none": lambda: None,  # it went while we came
    }
    return read[redis.type(key)]()
