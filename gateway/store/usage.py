"""What each call of a model cost, by task."""

from datetime import datetime

from gateway.records import Usage, UsageDay
from gateway.store.encoding import time_text
from gateway.store.transaction import Reader, Transaction


def add(tx: Transaction, usage: Usage) -> None:
    """Note one call."""
    tx.execute(
        """
        INSERT INTO usage (at, task, session, space, model, job, input, output, cached)
        VALUES (:at, :task, :session, :space, :model, :job, :input, :output, :cached)
        """,
        {
            "at": time_text(usage.at),
            "task": usage.task,
            "session": usage.session,
            "space": usage.space,
            "model": usage.model,
            "job": usage.job,
            "input": usage.input,
            "output": usage.output,
            "cached": usage.cached,
        },
    )


def by_day(rd: Reader, since: datetime) -> list[UsageDay]:
    """Sums per day (UTC) and task, newest day first."""
    rows = rd.rows(
        """
        SELECT substr(at, 1, 10) AS day, task, count(*) AS calls,
               sum(input) AS input, sum(output) AS output, sum(cached) AS cached
          FROM usage WHERE at >= ?
         GROUP BY day, task
         ORDER BY day DESC, task
        """,
        (time_text(since),),
    )
    return [UsageDay(**dict(row)) for row in rows]


def spent(rd: Reader, task: str, since: datetime) -> int:
    """Tokens in and out of a task since then."""
    row = rd.row(
        "SELECT coalesce(sum(input + output), 0) AS tokens FROM usage WHERE task = ? AND at >= ?",
        (task, time_text(since)),
    )
    return 0 if row is None else int(row["tokens"])
