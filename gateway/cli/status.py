"""`hikae status`: how the bot is doing, from what its processes leave in the home. Makes and changes nothing."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import click

from gateway import broker, health, settings
from gateway.cli import Options, emit, json_option
from gateway.cli.opened import clock_time, iso
from gateway.clock import SystemClock
from gateway.home import Home
from gateway.memory import dailytokens
from gateway.memory.dailytokens import Today
from gateway.ports import PlatformHealth
from gateway.store import holding, people, reviews, textfile, writes
from gateway.store.looking import look

SILENT = 3 * health.EVERY
"""A gateway that has not reported for so long hangs."""


@dataclass(frozen=True, slots=True)
class Process:
    """A process of this home, known by its lock."""

    running: bool
    pid: int | None


@dataclass(frozen=True, slots=True)
class Redis:
    """`ours` is the server that hikae starts when none is configured."""

    reachable: bool
    ours: bool


@dataclass(frozen=True, slots=True)
class Status:
    """Everything that the command says."""

    gateway: Process
    report: health.Health | None
    """What the running gateway says of itself."""
    config_changed: bool
    worker: Process
    redis: Redis
    reviews: Mapping[str, int]
    pending: int
    today: Today | None
    """What background work has used of today's tokens; None without a database."""
    waits_until: datetime | None
    """When reviews go on that wait for another day's tokens."""
    ownerless: bool
    """A chat platform is on and nobody may decide."""
    now: datetime

    @property
    def platforms(self) -> Mapping[str, PlatformHealth]:
        return self.report.platforms if self.report else {}


@click.command()
@json_option
@click.pass_obj
def status(options: Options) -> int:
    """How the bot is doing. Exit code 1 when something needs doing."""
    home = options.home
    chosen = settings.load(home).settings
    found = _look_around(home, chosen)
    problems = list(_problems(found))
    if options.json:
        emit({**_as_data(found), "problems": problems})
    else:
        click.echo("\n".join([*_lines(home, found, chosen), *(f"! {problem}" for problem in problems)]))
    return 1 if problems else 0


def _look_around(home: Home, chosen: settings.Settings) -> Status:
    report = health.of_running(home)
    with look(home) as rd:
        counts = reviews.counts(rd) if rd else {"due": 0, "running": 0, "failed": 0}
        pending = writes.count_staged(rd, None) if rd else 0
        now = SystemClock().now()
        today = dailytokens.today(rd, chosen, now) if rd else None
        waits_until = holding.until(rd, now) if rd else None
        owned = bool(chosen.access.owners) or (rd is not None and bool(people.owners(rd)))
    url = broker.connect_url(home, chosen)
    return Status(
        gateway=_process(home.gateway_lock),
        report=report,
        config_changed=report is not None and settings.config_digest(home) != report.config_sha256,
        worker=_process(home.worker_lock),
        redis=Redis(broker.reachable(url), ours=not chosen.redis.url),
        reviews=counts,
        pending=pending,
        today=today,
        waits_until=waits_until,
        ownerless=bool(chosen.secret(chosen.platforms.telegram.token_env)) and not owned,
        now=now,
    )


def _process(lock: Path) -> Process:
    running = textfile.is_locked(lock)
    return Process(running, textfile.holder(lock) if running else None)


def _problems(found: Status) -> Iterator[str]:
    """What needs doing, and how."""
    if found.ownerless:
        yield "Nobody is the bot's owner yet, so it answers nobody. Get a code: hikae pair code"
    if not found.gateway.running:
        yield "No gateway runs. Start it: hikae up"
    if found.report is not None and found.now - found.report.at > SILENT:
        yield "The gateway has not said anything for minutes. Restart it; logs/agent.log says more."
    if found.config_changed:
        yield "config.yaml has changed since the gateway started. Restart it to use the new settings."
    for name, platform in found.platforms.items():
        if platform.state == "refused":
            yield f"{name} refuses the token. Put it right (hikae config show names its variable) and restart."
        elif platform.state == "degraded":
            yield f"{name} does not answer as it should; hikae keeps trying. logs/agent.log says more."
    if found.gateway.running and not found.worker.running:
        yield "No worker runs, so reviews wait. Start one: hikae worker"
    if not found.redis.reachable and (found.worker.running or not found.redis.ours):
        yield "Redis does not answer, so reviews wait. hikae doctor says more."
    if failed := found.reviews["failed"]:
        yield f"{failed} reviews failed. See hikae reviews list, then hikae reviews retry"


def _lines(home: Home, found: Status, chosen: settings.Settings) -> Iterator[str]:
    counts = ", ".join(f"{found.reviews[name]} {name}" for name in ("due", "running", "failed"))
    yield f"Home      {home.path}" + ("" if home.path.is_dir() else " (not there yet)")
    yield f"Gateway   {_process_line(found.gateway)}"
    for name, platform in found.platforms.items():
        polled = platform.last_poll_at
        yield f"          {name}: {platform.state}" + (
            f", last heard of at {clock_time(polled, chosen.zone())}" if polled else ""
        )
    yield f"Worker    {_process_line(found.worker)}"
    yield f"Redis     {_redis_line(found.redis)}"
    yield f"Reviews   {counts}"
    if found.waits_until is not None:
        until = clock_time(found.waits_until, chosen.zone())
        yield f"          the day's tokens are used up; some wait until {until}"
    if found.today is not None and found.today.bound:
        yield f"Tokens    {found.today.used:,} of {found.today.bound:,} used today for background work"
    yield f"Pending   {found.pending}" + (" (hikae memory pending)" if found.pending else "")


def _process_line(process: Process) -> str:
    return f"runs (pid {process.pid or 'unknown'})" if process.running else "not running"


def _redis_line(redis: Redis) -> str:
    whose = "our own" if redis.ours else "the configured one"
    if redis.reachable:
        return f"answers ({whose})"
    return "not running (our own; it starts with the worker)" if redis.ours else f"does not answer ({whose})"


def _as_data(found: Status) -> dict[str, object]:
    return {
        "gateway": {
            "running": found.gateway.running,
            "pid": found.gateway.pid,
            "started_at": iso(found.report.started_at if found.report else None),
            "config_changed": found.config_changed,
        },
        "worker": {"running": found.worker.running, "pid": found.worker.pid},
        "redis": {"reachable": found.redis.reachable, "ours": found.redis.ours},
        "platforms": {
            name: {"state": platform.state, "last_poll_at": iso(platform.last_poll_at)}
            for name, platform in found.platforms.items()
        },
        "reviews": {name: found.reviews[name] for name in ("due", "running", "failed")},
        "pending": found.pending,
        "daily_tokens": {
            "used": found.today.used if found.today else 0,
            "bound": found.today.bound if found.today else 0,
            "waits_until": iso(found.waits_until),
        },
    }
