"""What a running gateway leaves in its home for `hikae status`."""

import os
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import cast

import pytest

from gateway import health
from gateway.home import Home
from gateway.ports import Platform, PlatformHealth
from gateway.store import textfile

AT = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)


@dataclass
class Watch:
    """A clock that a test moves."""

    at: datetime = AT

    def now(self) -> datetime:
        return self.at


@dataclass
class Pigeons:
    """A platform of which only the health matters."""

    feels: PlatformHealth = field(default_factory=lambda: PlatformHealth("starting"))

    def health(self) -> PlatformHealth:
        return self.feels


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path)
    textfile.prepare_home(home)
    return home


def reporter_of(home: Home, watch: Watch, pigeons: Pigeons) -> health.Reporter:
    return health.Reporter(home, watch, "abc", {"pigeons": cast(Platform, pigeons)})


def test_a_change_is_reported_at_once_and_no_change_once_a_minute(home: Home) -> None:
    """`status` is not late, and an idle bot does not write every two seconds."""
    watch, pigeons = Watch(), Pigeons()
    reporter = reporter_of(home, watch, pigeons)
    written = []
    for seconds, state in ((0, "starting"), (2, "starting"), (4, "ok"), (6, "ok"), (63, "ok"), (64, "ok")):
        watch.at, pigeons.feels = AT + timedelta(seconds=seconds), PlatformHealth(state, AT, "coo_bot")
        reporter.report()
        found = health.read(home)
        assert found is not None
        written.append((found.at - AT).seconds)

    assert written == [0, 0, 4, 4, 4, 64]


def test_a_report_is_read_as_it_was_written(home: Home) -> None:
    """By another process, an hour later."""
    reporter_of(home, Watch(), Pigeons(PlatformHealth("ok", AT, "coo_bot"))).report()

    assert health.read(home) == health.Health(
        os.getpid(), AT, AT, "abc", {"pigeons": PlatformHealth("ok", AT, "coo_bot")}
    )


def test_only_the_report_of_the_running_gateway_counts(home: Home) -> None:
    """A dead one left a file, too."""
    reporter_of(home, Watch(), Pigeons()).report()
    lock = textfile.try_lock(home.gateway_lock)
    assert lock is not None

    while_it_runs = health.of_running(home)
    lock.release()

    assert while_it_runs is not None
    assert health.of_running(home) is None


@pytest.mark.parametrize("broken", [b"", b"{", b"null", b"[]", b"{}", b'"x"', b'{"pid": "x"}', b"\xff\xfe", b"7"])
def test_a_broken_report_is_none(home: Home, broken: bytes) -> None:
    """`status` is for when things are broken."""
    home.health.write_bytes(broken)

    assert health.read(home) is None
