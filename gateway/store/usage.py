"""What each call of a model cost, by task. The rows outlive their sessions: they are numbers."""

import sqlite3
from collections.abc import Sequence
from datetime import date, datetime, timedelta, tzinfo

from gateway import days
from gateway.records import Usage, UsageDay, UsageSum
from gateway.store.encoding import strings_text, time_text
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


def by_day(rd: Reader, newest: date, count: int, zone: tzinfo) -> list[UsageDay]:
    """Sums of so many days up to this one, as they begin in this time zone, by task; newest day first."""
    found = []
    for day in (newest - timedelta(days=back) for back in range(count)):
        begins, ends = (days.begins(each, days.MIDNIGHT, zone) for each in (day, day + timedelta(days=1)))
        sums = between(rd, begins, ends)
        found += [
            UsageDay(day.isoformat(), each.task, each.calls, each.input, each.output, each.cached) for each in sums
        ]
    return found


def between(rd: Reader, since: datetime, until: datetime, space: int | None = None) -> list[UsageSum]:
    """Sums by task of what was called from one moment up to another, for one space or (None) for all."""
    rows = rd.rows(
        f"""
        {_SUMS}
         WHERE at >= :since AND at < :until AND (:space IS NULL OR space = :space)
         GROUP BY task ORDER BY task
        """,
        {"since": time_text(since), "until": time_text(until), "space": space},
    )
    return [_sum(row) for row in rows]


def of_session(rd: Reader, session: str) -> list[UsageSum]:
    """Sums by task of everything that was called for a session."""
    return [_sum(row) for row in rd.rows(f"{_SUMS} WHERE session = ? GROUP BY task ORDER BY task", (session,))]


def newest_size(rd: Reader, session: str, since: datetime) -> int:
    """Tokens in and out of a session's newest chat call, if it was made since then; else 0."""
    row = rd.row(
        """
        SELECT at, input + output AS tokens FROM usage
         WHERE session = ? AND session <> '' AND task = 'chat'
         ORDER BY id DESC
         LIMIT 1
        """,
        (session,),
    )
    return int(row["tokens"]) if row is not None and row["at"] >= time_text(since) else 0


def spent(rd: Reader, tasks: Sequence[str], since: datetime, until: datetime) -> int:
    """Tokens in and out of these tasks from one moment up to another."""
    row = rd.row(
        """
        SELECT coalesce(sum(input + output), 0) AS tokens FROM usage
         WHERE at >= :since AND at < :until AND task IN (SELECT value FROM json_each(:tasks))
        """,
        {"tasks": strings_text(tasks), "since": time_text(since), "until": time_text(until)},
    )
    return 0 if row is None else int(row["tokens"])


_SUMS = """
    SELECT task, count(*) AS calls, sum(input) AS input, sum(output) AS output, sum(cached) AS cached FROM usage
"""


def _sum(row: sqlite3.Row) -> UsageSum:
    return UsageSum(row["task"], row["calls"], row["input"], row["output"], row["cached"])
