"""The doorbell of the workers, on RQ.

What is due stands in SQLite; a ring lost here is rung again by the worker's own look into it. So Redis
being down is a line in the log, never an error. Jobs hold a name and ids; the arguments travel as JSON,
and what a worker may run is decided where it runs (`workers.rq_worker`).
"""

import logging
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING

from gateway.jobs import ENTRY_POINTS, QUEUE, Job

if TYPE_CHECKING:
    from redis import Redis

log = logging.getLogger(__name__)

RETRIES = 3
"""How often RQ itself puts a job back whose worker was killed; without it, such a job just fails."""

RESULT_SECONDS = 60
FAILURE_SECONDS = 7 * 24 * 3600

_ANSWER_WITHIN_SECONDS = 3.0


@dataclass(frozen=True, slots=True)
class RqQueue:
    """Puts jobs on RQ at the Redis of `url`. Safe in threads; connects anew for each ring."""

    url: str
    job_seconds: int = 600
    """A job that takes longer is ended; see `Settings.review_seconds`."""

    def put(self, job: Job) -> bool:
        """Wake a worker for this job. True also when its ring is waiting already; False: no Redis."""
        from redis.exceptions import RedisError  # late: a process that never rings does not pay for it

        try:
            with _connection(self.url) as redis:
                self._enqueue(redis, job)
        except (RedisError, OSError, ValueError) as error:  # ValueError: an address it cannot read
            log.warning("queue.unreachable", extra={"job": job.id, "error": type(error).__name__})
            return False
        return True

    def _enqueue(self, redis: "Redis", job: Job) -> None:
        from rq import Queue, Retry
        from rq.serializers import JSONSerializer

        queue = Queue(QUEUE, connection=redis, serializer=JSONSerializer)
        if redis.lpos(queue.key, job.id) is not None:
            return
        queue.enqueue_call(
            ENTRY_POINTS[type(job)],
            args=astuple(job),
            job_id=job.id,
            description=job.id,
            timeout=self.job_seconds,
            retry=Retry(max=RETRIES),
            result_ttl=RESULT_SECONDS,
            failure_ttl=FAILURE_SECONDS,
        )


def _connection(url: str) -> "Redis":
    """One that fails soon and does not try again by itself: whoever rings has other things to do."""
    from redis import Redis
    from redis.backoff import NoBackoff
    from redis.retry import Retry

    return Redis.from_url(
        url,
        socket_connect_timeout=_ANSWER_WITHIN_SECONDS,
        socket_timeout=_ANSWER_WITHIN_SECONDS,
        retry=Retry(NoBackoff(), 0),
    )
