"""When a conversation is over although nobody said `/new` (`session.reset`). Pure; `conversation.resetting` acts.

Only what people say counts, by the time at which they said it: what was said last, and what is said now. Neither
our clock nor how long we were away has a say.
"""

from dataclasses import dataclass
from datetime import datetime, time, timedelta, tzinfo

from gateway import days
from gateway.sections import SessionSettings


@dataclass(frozen=True, slots=True)
class Policy:
    """After how long a silence, and at which hour of each day. None: not for that reason."""

    silence: timedelta | None
    hour: time | None
    zone: tzinfo

    @classmethod
    def of(cls, chosen: SessionSettings, zone: tzinfo) -> "Policy":
        """What was set, in the time zone that people live in."""
        idle, daily = chosen.reset in ("idle", "both"), chosen.reset in ("daily", "both")
        return cls(
            silence=timedelta(minutes=chosen.idle_minutes) if idle else None,
            hour=time.fromisoformat(chosen.daily_at) if daily else None,
            zone=zone,
        )

    def why(self, said_last: datetime, said_now: datetime) -> str:
        """Why what is said now begins a new conversation: `idle`, `daily`, or "" where it goes on.

        What was said earlier than the last never does: messages overtake each other, and clocks are put back.
        """
        if self.silence is not None and said_now - said_last >= self.silence:
            return "idle"
        if self.hour is not None and said_last < days.latest(said_now, self.hour, self.zone):
            return "daily"
        return ""
