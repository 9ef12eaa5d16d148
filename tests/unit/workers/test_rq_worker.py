"""What a worker refuses to run, whoever wrote it into Redis."""

import json

import pytest
from redis import Redis
from rq import Callback
from rq.serializers import JSONSerializer

from workers import runtime
from workers.rq_worker import AllowedJob, JobRefused

NOWHERE = Redis(unix_socket_path="/nowhere")
"""Never connected: jobs are looked at, not stored."""


def _found_in_redis(function: str, instance: object = None) -> AllowedJob:
    job = AllowedJob(id="a-job", connection=NOWHERE, serializer=JSONSerializer)
    job.data = json.dumps((function, instance, [], {})).encode()
    return job


def test_the_review_is_a_job_that_runs() -> None:
    """The allow-list names a function that is there."""
    assert _found_in_redis("workers.runtime.review").func is runtime.review


@pytest.mark.parametrize("function", ["os.mkdir", "workers.runtime.run", "workers.runtime", "review", ""])
def test_any_other_function_is_refused(function: str) -> None:
    """JSON alone does not help: RQ imports and calls whatever name it finds."""
    with pytest.raises(JobRefused):
        _ = _found_in_redis(function).func


def test_a_method_of_a_value_is_refused_even_under_an_allowed_name() -> None:
    """RQ would look the name up on the value that came along."""
    with pytest.raises(JobRefused):
        _ = _found_in_redis("workers.runtime.review", instance="words").func


def test_functions_to_call_at_its_end_are_ignored() -> None:
    """They are another way to have RQ import and call anything."""
    call = Callback("os.mkdir")
    job = AllowedJob.create(
        "workers.runtime.review",
        connection=NOWHERE,
        serializer=JSONSerializer,
        on_success=call,
        on_failure=call,
        on_stopped=call,
    )

    assert (job.success_callback, job.failure_callback, job.stopped_callback) == (None, None, None)
