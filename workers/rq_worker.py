"""The RQ worker: takes jobs from Redis and runs each in a process of its own, the work horse.

What is ours about it: only the jobs of `gateway.jobs` run, whatever somebody writes into Redis; a work
horse ends with its worker; nothing of an error but a pointer to our log is stored in Redis; Redis going
away does not end a review that is running. The process that starts this one again is `workers.supervisor`.
"""

import logging
import signal
import sys
from typing import Any

from redis import Redis
from redis.exceptions import RedisError
from rq import Queue, worker_registration
from rq.executions import Execution
from rq.job import Job
from rq.registry import StartedJobRegistry
from rq.serializers import JSONSerializer

from gateway import lifeline
from gateway.jobs import ENTRY_POINTS, QUEUE

if sys.platform == "darwin":  # a forked process may not use the network there
    from rq.worker import SpawnWorker as _Worker
else:
    from rq.worker import Worker as _Worker

log = logging.getLogger(__name__)

_SEE_OUR_LOG = "see logs/agent.log"

_KEY_PREFIX = "rq:worker:"

_WAKE_SECONDS = 15
"""RQ looks up from its wait this often."""

_HEARTBEAT_SECONDS = 5


class JobRefused(Exception):
    """A job in Redis that is none of ours."""


class AllowedJob(Job):
    """A job that runs only what `ENTRY_POINTS` names. Whoever can write to Redis can not run code here."""

    @property
    def func(self) -> Any:
        if self.func_name not in ENTRY_POINTS.values() or self.instance is not None:
            raise JobRefused
        return super().func

    # A job may also name functions to call, or addresses to post to, when it ends. Ours never do.
    success_callback = failure_callback = stopped_callback = None

    def send_webhooks(self, *_: object, **__: object) -> None:
        """Nobody is told."""


class ReviewWorker(_Worker):
    """See the module."""

    max_connection_wait_time = 2.0

    def subscribe(self) -> None:
        """No commands by Redis: they need a thread, and a process with threads must not fork."""

    def main_work_horse(self, job: Job, queue: Queue) -> None:
        lifeline.die_with(self.pid or 0, signal.SIGKILL)
        super().main_work_horse(job, queue)

    def maintain_heartbeats(self, job: Job, execution: Execution) -> None:
        try:
            super().maintain_heartbeats(job, execution)
        except RedisError as error:
            log.warning("worker.redis_away", extra={"job": job.id, "error": type(error).__name__})

    def handle_exception(self, job: Job, *exc_info: Any) -> None:
        """RQ would log the traceback and the arguments of whatever job it was."""
        log.error("job.refused", extra={"error": getattr(exc_info[0], "__name__", "")})

    def handle_job_failure(
        self,
        job: Job,
        queue: Queue,
        started_job_registry: StartedJobRegistry | None = None,
        exc_string: str = "",
        execution: Execution | None = None,
    ) -> None:
        """RQ would store the traceback in Redis."""
        super().handle_job_failure(job, queue, started_job_registry, _SEE_OUR_LOG, execution)


def serve(url: str, name: str) -> None:
    """Work until told to stop. Raises RedisError when there is no Redis to begin with."""
    worker = ReviewWorker(
        [QUEUE],
        name=name,
        connection=Redis.from_url(url),
        job_class=AllowedJob,
        serializer=JSONSerializer,
        worker_ttl=_WAKE_SECONDS + 15,
        job_monitoring_interval=_HEARTBEAT_SECONDS,
        log_job_description=False,
    )
    worker.work(logging_level="WARNING")


def bury(url: str, names: str) -> None:
    """Give back what dead workers had taken, so that RQ lets others have it at once.

    All workers whose names begin with `names` must be dead.
    """
    with Redis.from_url(url, socket_connect_timeout=2, socket_timeout=2) as redis:
        queue = Queue(QUEUE, connection=redis, job_class=AllowedJob, serializer=JSONSerializer)
        dead = [key for key in worker_registration.get_keys(queue) if key.startswith(_KEY_PREFIX + names)]
        for key in dead:
            taken = redis.smembers(f"{key}:executions")
            if taken:  # a job whose time is over counts as abandoned
                redis.zadd(queue.started_job_registry.key, dict.fromkeys(taken, 1), xx=True)
        queue.started_job_registry.cleanup()
        for key in dead:
            redis.delete(key, f"{key}:executions")
        worker_registration.clean_worker_registry(queue)
        # One may have died while it tidied up, and would keep everybody else from it for 15 minutes.
        redis.delete(queue.registry_cleaning_key)
