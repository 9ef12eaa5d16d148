"""What we ask of a job queue, and RQ on a real Redis doing it."""

import json
import logging
import zlib
from abc import abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from redis import Redis

from gateway.broker import Broker, own_url
from gateway.home import Home
from gateway.jobs import ReviewJob
from gateway.ports import JobQueue
from gateway.rq_queue import RqQueue

JOB = ReviewJob("20261130_090007_57bbf6", 10, 0)


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    home = Home(tmp_path_factory.mktemp("q"))
    home.run.mkdir()
    broker = Broker(home, own_url(home))
    assert broker.ensure()
    yield broker.url
    broker.stop()


class JobQueueContract:
    """Every queue passes these."""

    @abstractmethod
    def waiting(self) -> list[str]:
        """The ids of the jobs that a worker would get, in order."""

    def test_a_job_that_was_put_waits_for_a_worker(self, queue: JobQueue) -> None:
        """The ring."""
        assert queue.put(JOB)

        assert self.waiting() == [JOB.id]

    def test_ringing_twice_for_one_job_makes_it_wait_once(self, queue: JobQueue) -> None:
        """The worker rings again for what is still due; that must not make queues grow."""
        assert queue.put(JOB)
        assert queue.put(JOB)

        assert self.waiting() == [JOB.id]

    def test_jobs_wait_in_the_order_in_which_they_were_put(self, queue: JobQueue) -> None:
        """First come, first served; another attempt is another job."""
        again = ReviewJob(JOB.session, JOB.turn, 1)
        queue.put(JOB)
        queue.put(again)

        assert self.waiting() == [JOB.id, again.id]

    def test_a_queue_that_cannot_be_reached_is_no_error(
        self, unreachable: JobQueue, caplog: pytest.LogCaptureFixture
    ) -> None:
        """Chats go on without Redis; what is due stands in SQLite."""
        with caplog.at_level(logging.DEBUG):
            assert not unreachable.put(JOB)

        assert [record.message for record in caplog.records if record.name.startswith("gateway")] == [
            "queue.unreachable"
        ]


@pytest.mark.processes
class TestRqQueue(JobQueueContract):
    """RQ at our own Redis."""

    @pytest.fixture(autouse=True)
    def redis(self, url: str) -> Iterator[Redis]:
        with Redis.from_url(url) as self._redis:
            self._redis.flushall()
            yield self._redis

    @pytest.fixture
    def queue(self, url: str) -> JobQueue:
        return RqQueue(url, job_seconds=123)

    @pytest.fixture
    def unreachable(self, tmp_path: Path) -> JobQueue:
        return RqQueue(f"unix://{tmp_path}/nobody.sock")

    def waiting(self) -> list[str]:
        ids: Any = self._redis.lrange("rq:queue:hikae", 0, -1)
        return [each.decode() for each in ids]

    def test_a_job_in_redis_is_a_name_and_ids(self, queue: JobQueue, redis: Redis) -> None:
        """Promise 8; and JSON, because a pickle from Redis would be code that runs."""
        queue.put(JOB)

        stored: Any = redis.hgetall(f"rq:job:{JOB.id}")
        name, instance, args, kwargs = json.loads(zlib.decompress(stored[b"data"]))
        assert (name, instance, args, kwargs) == (
            "workers.runtime.review",
            None,
            ["20261130_090007_57bbf6", 10, 0],
            {},
        )
        assert stored[b"description"].decode() == JOB.id
        assert (stored[b"timeout"], stored[b"retries_left"]) == (b"123", b"3")

    @pytest.mark.parametrize("address", ["redis://127.0.0.1:1/0", "no address at all"])
    def test_a_wrong_address_is_no_error_either(self, address: str) -> None:
        """A typing error in REDIS_URL stops reviews, never a chat."""
        assert not RqQueue(address).put(JOB)
