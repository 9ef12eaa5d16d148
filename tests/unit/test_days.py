"""When a day begins, over every way in which clocks on walls are changed."""

import itertools
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest

from gateway import days

OSLO = ZoneInfo("Europe/Oslo")
FOUR = time(4)
HALF_PAST_TWO = time(2, 30)


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def test_a_day_begins_at_its_hour_in_winter_and_in_summer() -> None:
    """Four in the morning is another moment in each half of the year."""
    assert days.begins(date(2026, 1, 15), FOUR, OSLO) == utc("2026-01-15 03:00")
    assert days.begins(date(2026, 7, 15), FOUR, OSLO) == utc("2026-07-15 02:00")


def test_an_hour_that_is_left_out_begins_when_it_is_skipped() -> None:
    """On 29 March 2026 the clock in Oslo goes from 02:00 to 03:00: half past two never comes."""
    assert days.begins(date(2026, 3, 29), HALF_PAST_TWO, OSLO) == utc("2026-03-29 01:00")
    assert days.begins(date(2026, 3, 29), time(2), OSLO) == utc("2026-03-29 01:00")
    assert days.begins(date(2026, 3, 29), time(1, 59), OSLO) == utc("2026-03-29 00:59")


def test_an_hour_that_comes_twice_begins_a_day_once() -> None:
    """On 25 October 2026 half past two comes at 00:30 and again at 01:30 UTC."""
    begun = utc("2026-10-25 00:30")

    assert days.begins(date(2026, 10, 25), HALF_PAST_TWO, OSLO) == begun
    for later in ("00:30", "00:59", "01:29", "01:30", "01:31", "23:00"):
        assert days.latest(utc(f"2026-10-25 {later}"), HALF_PAST_TWO, OSLO) == begun


@pytest.mark.parametrize("hour", [time(0), time(0, 30), time(2), HALF_PAST_TWO, FOUR, time(23, 59)])
@pytest.mark.parametrize(
    "zone", ["Europe/Oslo", "America/New_York", "America/Havana", "America/Santiago", "Australia/Lord_Howe", "UTC"]
)
def test_a_year_has_a_beginning_for_each_of_its_days(zone: str, hour: time) -> None:
    """Zones that change at midnight and by half an hour among them: no day twice, none left out."""
    moments = [days.begins(date(2026, 1, 1) + timedelta(days=n), hour, ZoneInfo(zone)) for n in range(366)]

    gaps = {later - earlier for earlier, later in itertools.pairwise(moments)}
    assert len(set(moments)) == 366
    assert timedelta(hours=22) < min(gaps)
    assert max(gaps) < timedelta(hours=26)
    for earlier, later in itertools.pairwise(moments):
        assert days.latest(later - timedelta(seconds=1), hour, ZoneInfo(zone)) == earlier
        assert days.latest(later, hour, ZoneInfo(zone)) == later


def test_a_clock_put_back_over_midnight_takes_no_day_back() -> None:
    """St. John's did so in 2010: at one past midnight it was the evening before again, for an hour."""
    st_johns = ZoneInfo("America/St_Johns")
    begun = utc("2010-11-07 02:30")

    assert days.begins(date(2010, 11, 7), days.MIDNIGHT, st_johns) == begun
    assert days.latest(utc("2010-11-07 03:00"), days.MIDNIGHT, st_johns) == begun
    assert days.latest(utc("2010-11-08 03:00"), days.MIDNIGHT, st_johns) == begun


def test_a_day_that_a_country_skipped_does_no_harm() -> None:
    """Samoa had no 30 December 2011."""
    apia = ZoneInfo("Pacific/Apia")

    assert days.begins(date(2011, 12, 30), FOUR, apia) == utc("2011-12-30 10:00")
    assert days.latest(utc("2011-12-30 15:00"), FOUR, apia) == utc("2011-12-30 14:00")


def test_a_day_is_named_as_on_the_calendar() -> None:
    """Not as in Greenwich."""
    begun = days.latest(utc("2026-11-30 15:30"), days.MIDNIGHT, ZoneInfo("Asia/Tokyo"))

    assert (begun, days.named(begun, ZoneInfo("Asia/Tokyo"))) == (utc("2026-11-30 15:00"), date(2026, 12, 1))
