"""How the running gateway is, left in `run/health.json` for `hikae status`, which is another process.

Only the gateway that holds `run/gateway.lock` writes it. What a dead one left is known by its pid and not
believed.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from gateway.home import Home
from gateway.ports import Clock, Platform, PlatformHealth
from gateway.store import textfile

EVERY = timedelta(minutes=1)
"""How old the file of a gateway that is well may be, give or take a slow disk."""


@dataclass(frozen=True, slots=True)
class Health:
    """What one report says."""

    pid: int
    started_at: datetime
    at: datetime
    config_sha256: str
    """Of config.yaml as it was read at the start (`settings.Loaded`)."""
    platforms: Mapping[str, PlatformHealth]


@dataclass
class Reporter:
    """Writes the reports of one gateway. Lives as long as it does; call `report` every few seconds."""

    home: Home
    clock: Clock
    config_sha256: str
    platforms: Mapping[str, Platform]
    started_at: datetime = field(init=False)
    _last: Health | None = None

    def __post_init__(self) -> None:
        self.started_at = self.clock.now()

    def report(self) -> None:
        """Write when something changed since the last report, or a minute has passed. Raises StoreBusy, Refused."""
        now = self._now()
        if self._last is None or now.at - self._last.at >= EVERY or _states(now) != _states(self._last):
            write(self.home, now)
            self._last = now

    def _now(self) -> Health:
        found = {name: platform.health() for name, platform in self.platforms.items()}
        return Health(os.getpid(), self.started_at, self.clock.now(), self.config_sha256, found)


def write(home: Home, health: Health) -> None:
    """Leave a report in the home."""
    told = {
        "pid": health.pid,
        "started_at": health.started_at.isoformat(),
        "at": health.at.isoformat(),
        "config_sha256": health.config_sha256,
        "platforms": {
            name: {
                "state": platform.state,
                "last_poll_at": platform.last_poll_at.isoformat() if platform.last_poll_at else None,
                "account": platform.account,
            }
            for name, platform in health.platforms.items()
        },
    }
    textfile.write_private(home.health, json.dumps(told).encode("ascii"))


def read(home: Home) -> Health | None:
    """The last report, whoever left it; None when there is none that can be read."""
    try:
        told = json.loads(textfile.read(home.health) or b"null")
        return Health(
            pid=int(told["pid"]),
            started_at=datetime.fromisoformat(told["started_at"]),
            at=datetime.fromisoformat(told["at"]),
            config_sha256=str(told["config_sha256"]),
            platforms={name: _platform(said) for name, said in told["platforms"].items()},
        )
    except (ValueError, KeyError, TypeError, AttributeError, textfile.Unreadable):
        return None


def of_running(home: Home) -> Health | None:
    """The report of the gateway that runs now; None when none runs, or it has not reported yet."""
    if not textfile.is_locked(home.gateway_lock):
        return None
    found = read(home)
    return found if found is not None and found.pid == textfile.holder(home.gateway_lock) else None


def _platform(said: Mapping[str, str | None]) -> PlatformHealth:
    polled = said["last_poll_at"]
    return PlatformHealth(
        state=str(said["state"]),
        last_poll_at=datetime.fromisoformat(polled) if polled else None,
        account=str(said["account"]),
    )


def _states(health: Health) -> list[tuple[str, str, str]]:
    return [(name, platform.state, platform.account) for name, platform in health.platforms.items()]
