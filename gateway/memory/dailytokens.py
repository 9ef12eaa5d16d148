"""How many tokens background work may use in a day: `auxiliary.background_review.daily_tokens`, 0 for any number.

When they are used up, reviews and tidies that nobody asked for wait until the next day begins where people live,
and the owner is told, once a day. What a person asks for (`/refine`, `/memory tidy`, `hikae reviews retry`) is done
and counted. A job that has begun is not broken off, so a day may cost one job more. What a compression saves is
part of a turn in which somebody waits: it is neither stopped nor counted.
"""

import logging
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from gateway import days
from gateway.records import NewOutgoing
from gateway.settings import Settings
from gateway.store import holding, outbox, people, usage
from gateway.store.db import Database
from gateway.store.transaction import Reader, Transaction

log = logging.getLogger(__name__)

TASKS = ("background_review", "tidy")


@dataclass(frozen=True, slots=True)
class Today:
    """What background work has used of today's tokens. `bound` 0: there is none."""

    day: date
    used: int
    bound: int
    until: datetime
    """When the next day begins."""

    @property
    def used_up(self) -> bool:
        return 0 < self.bound <= self.used


def today(rd: Reader, settings: Settings, now: datetime) -> Today:
    """How far today has come."""
    zone = settings.zone()
    begun = days.latest(now, days.MIDNIGHT, zone)
    day = days.named(begun, zone)
    until = days.begins(day + timedelta(days=1), days.MIDNIGHT, zone)
    bound = settings.auxiliary.background_review.daily_tokens
    return Today(day, usage.spent(rd, TASKS, begun, until), bound, until)


def hold(tx: Transaction, settings: Settings, now: datetime) -> bool:
    """Whether today's tokens are used up: then everything that nobody asked for waits from now on."""
    if not settings.auxiliary.background_review.daily_tokens:
        return False
    state = today(tx, settings, now)
    if not state.used_up:
        return False
    held = holding.hold(tx, state.until)
    log.warning("daily_tokens.used_up", extra={"used": state.used, "bound": state.bound, "held": held})
    _tell(tx, settings, state, now)
    return True


def release(db: Database, settings: Settings, now: datetime) -> None:
    """Let go what waits without need: the bound was raised, or a clock put back."""
    with db.read() as rd:
        if holding.until(rd, now) is None or today(rd, settings, now).used_up:
            return
    with db.write() as tx:
        holding.release(tx)
    log.info("daily_tokens.released")


def _tell(tx: Transaction, settings: Settings, state: Today, now: datetime) -> None:
    home = people.home_chat(tx, people.owner_keys(tx, settings.access.owners))
    known = people.chat(tx, home) if home is not None else None
    if home is None or known is None or known.space is None:
        return
    until = state.until.astimezone(settings.zone())
    outbox.put(
        tx,
        NewOutgoing(
            dedupe=f"daily-tokens-{state.day}",
            kind="warning",
            chat=home,
            space=known.space,
            created_at=now,
            values={
                "key": "daily_tokens.used_up",
                "used": f"{state.used:,}",
                "bound": f"{state.bound:,}",
                "until": f"{until:%H:%M}",
            },
        ),
    )
