"""`hikae status`: how the bot is doing, from what its processes leave in the home. Makes and changes nothing."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, tzinfo
from pathlib import Path

import click

from gateway import broker, health, settings, words
from gateway.cli import Options, emit, json_option
from gateway.cli.cells import cells, pad
from gateway.cli.opened import clock_time
from gateway.cli.sentence import Sentence, sentence
from gateway.clock import SystemClock
from gateway.home import Home
from gateway.memory import dailytokens
from gateway.memory.dailytokens import Today
from gateway.ports import PlatformHealth
from gateway.records.asdata import iso
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
        emit({**_as_data(found), "problems": [problem.said("en") for problem in problems]})
    else:
        language = words.at_the_prompt(chosen.display.language)
        wrong = (f"! {problem.said(language)}" for problem in problems)
        click.echo("\n".join([*_lines(home, found, chosen, language), *wrong]))
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


def _problems(found: Status) -> Iterator[Sentence]:
    """What needs doing, and how."""
    if found.ownerless:
        yield sentence("problem.ownerless")
    if not found.gateway.running:
        yield sentence("problem.no_gateway")
    if found.report is not None and found.now - found.report.at > SILENT:
        yield sentence("problem.silent")
    if found.config_changed:
        yield sentence("problem.config_changed")
    for name, platform in found.platforms.items():
        if platform.state in ("refused", "degraded"):
            yield sentence(f"problem.{platform.state}", name=name)
    if found.gateway.running and not found.worker.running:
        yield sentence("problem.no_worker")
    if not found.redis.reachable and (found.worker.running or not found.redis.ours):
        yield sentence("problem.no_redis")
    if failed := found.reviews["failed"]:
        yield sentence("problem.reviews_failed", failed=failed)


# -- for people --------------------------------------------------------------------------------------------


def _lines(home: Home, found: Status, chosen: settings.Settings, language: str) -> Iterator[str]:
    """What each part is called, and beside it how it is."""
    rows = [(_named(part, language), said) for part, said in _rows(home, found, chosen, language)]
    room = max(cells(name) for name, _ in rows) + _GAP
    yield from (pad(name, room) + said for name, said in rows)


_GAP = 3


def _named(part: str, language: str) -> str:
    return words.text(f"state.{part}", language) if part and part != "Redis" else part


def _rows(home: Home, found: Status, chosen: settings.Settings, language: str) -> Iterator[tuple[str, str]]:
    zone = chosen.zone()
    there = home.path.is_dir()
    yield "home", str(home.path) if there else words.text("state.not_there", language, path=home.path)
    yield "gateway", _process_line(found.gateway, language)
    yield from (("", _platform_line(name, each, zone, language)) for name, each in found.platforms.items())
    yield "worker", _process_line(found.worker, language)
    yield "Redis", words.text(_redis_key(found.redis), language)
    yield "reviews", words.text("state.counts", language, **found.reviews)
    if found.waits_until is not None:
        yield "", words.text("state.wait", language, until=clock_time(found.waits_until, zone))
    if found.today is not None and found.today.bound:
        numbers = {"used": f"{found.today.used:,}", "bound": f"{found.today.bound:,}"}
        yield "tokens", words.text("state.used", language, **numbers)
    key = "state.waiting" if found.pending else "state.none_waits"
    yield "pending", words.text(key, language, count=found.pending)


def _process_line(process: Process, language: str) -> str:
    if not process.running:
        return words.text("state.stands_still", language)
    return words.text("state.runs" if process.pid else "state.runs_unknown", language, pid=process.pid)


def _platform_line(name: str, platform: PlatformHealth, zone: tzinfo, language: str) -> str:
    state, polled = words.text(f"state.is_{platform.state}", language), platform.last_poll_at
    if polled is None:
        return words.text("state.platform", language, name=name, state=state)
    return words.text("state.platform_heard", language, name=name, state=state, when=clock_time(polled, zone))


def _redis_key(redis: Redis) -> str:
    if redis.reachable:
        return "state.redis_own" if redis.ours else "state.redis_set"
    return "state.redis_later" if redis.ours else "state.redis_silent"


# -- in JSON -----------------------------------------------------------------------------------------------


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
