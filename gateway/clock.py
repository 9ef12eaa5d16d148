"""The one place that asks the machine what time it is."""

from datetime import UTC, datetime


class SystemClock:
    """The machine's clock (ports.Clock)."""

    def now(self) -> datetime:
        return datetime.now(UTC)
