"""When a day begins where people live. Pure: instants and a time zone in, instants out.

A day begins at the first moment at which the clock on the wall shows its date and hour, or more: an hour that
summer time leaves out begins when it is skipped, one that comes twice begins once. Instants are compared, never
what a clock shows.
"""

from datetime import UTC, date, datetime, time, timedelta, tzinfo

MIDNIGHT = time(0)
_NEAR = (1, 0, -1)
"""Days around the one that is shown: a clock put back over midnight shows yesterday again after today has begun."""


def latest(at: datetime, hour: time, zone: tzinfo) -> datetime:
    """The last moment, not after `at`, at which a day began that begins at this hour."""
    today = at.astimezone(zone).date()
    begun = (begins(today + timedelta(days=days), hour, zone) for days in _NEAR)
    return max(moment for moment in begun if moment <= at)


def begins(day: date, hour: time, zone: tzinfo) -> datetime:
    """The moment at which this day begins, in UTC, if days begin at this hour."""
    shown = datetime.combine(day, hour)
    moment = shown.replace(tzinfo=zone).astimezone(UTC)
    if _shown(moment, zone) == shown:
        return moment  # where it comes twice, the first
    return _skipped(shown.replace(tzinfo=zone, fold=1).astimezone(UTC), moment, shown, zone)


def named(begun: datetime, zone: tzinfo) -> date:
    """The date of the day that began at this moment."""
    return begun.astimezone(zone).date()


def _skipped(before: datetime, after: datetime, shown: datetime, zone: tzinfo) -> datetime:
    """When the clock was put forward over this time: somewhere after `before`, and not after `after`."""
    seconds = int((after - before).total_seconds())
    while seconds > 1:
        middle = before + timedelta(seconds=seconds // 2)
        if _shown(middle, zone) < shown:
            before = middle
        else:
            after = middle
        seconds = int((after - before).total_seconds())
    return after


def _shown(at: datetime, zone: tzinfo) -> datetime:
    return at.astimezone(zone).replace(tzinfo=None)
