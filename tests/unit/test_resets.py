"""When what is said begins a new conversation."""

import itertools
from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest

from gateway.resets import Policy
from gateway.sections import SessionSettings

OSLO = ZoneInfo("Europe/Oslo")


def policy(reset: str, zone: str = "Europe/Oslo", **more: object) -> Policy:
    return Policy.of(SessionSettings(reset=reset, **more), ZoneInfo(zone))  # type: ignore[arg-type]  # by name


def at(text: str, zone: str = "Europe/Oslo") -> datetime:
    """A time on the clock on the wall, in UTC."""
    return datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone)).astimezone(UTC)


def test_without_a_policy_a_conversation_goes_on_for_ever() -> None:
    """The default: nobody loses a conversation unasked (PI-123)."""
    assert SessionSettings().reset == "none"
    assert policy("none").why(at("2020-01-01 09:00"), at("2026-11-30 09:00")) == ""


@pytest.mark.parametrize(("minutes", "why"), [(59, ""), (60, "idle"), (61, "idle"), (100_000, "idle")])
def test_silence_is_counted_from_what_was_said_last(minutes: int, why: str) -> None:
    """A whole silence, not nearly one."""
    said = at("2026-11-30 09:00")

    assert policy("idle", idle_minutes=60).why(said, said + timedelta(minutes=minutes)) == why


def test_silence_is_as_long_in_the_night_of_a_change() -> None:
    """Minutes that pass, not what the clock shows: 01:30 to 03:30 is one hour in March and three in October."""
    idle = policy("idle", idle_minutes=90)

    assert idle.why(at("2026-03-29 01:30"), at("2026-03-29 03:30")) == ""
    assert idle.why(at("2026-10-25 01:30"), at("2026-10-25 03:00")) == "idle"


@pytest.mark.parametrize(
    ("last", "now", "why"),
    [
        ("2026-11-30 03:59", "2026-11-30 04:00", "daily"),
        ("2026-11-30 03:58", "2026-11-30 03:59", ""),
        ("2026-11-30 04:00", "2026-11-30 23:59", ""),
        ("2026-11-30 04:00", "2026-12-01 03:59", ""),
        ("2026-11-30 23:59", "2026-12-01 00:01", ""),
        ("2026-11-20 12:00", "2026-12-01 00:01", "daily"),
    ],
)
def test_a_day_begins_at_its_hour(last: str, now: str, why: str) -> None:
    """Midnight means nothing to somebody who goes to bed at two."""
    assert policy("daily", daily_at="04:00").why(at(last), at(now)) == why


def test_an_hour_left_out_in_spring_still_begins_a_day_once() -> None:
    """02:30 never comes on 29 March; whoever writes at 01:59 and at 03:00 begins anew, and only then."""
    daily = policy("daily", daily_at="02:30")

    assert daily.why(at("2026-03-29 01:58"), at("2026-03-29 01:59")) == ""
    assert daily.why(at("2026-03-29 01:59"), at("2026-03-29 03:00")) == "daily"
    assert daily.why(at("2026-03-29 03:00"), at("2026-03-29 03:31")) == ""
    assert daily.why(at("2026-03-29 03:31"), at("2026-03-30 02:29")) == ""
    assert daily.why(at("2026-03-30 02:29"), at("2026-03-30 02:30")) == "daily"


def test_an_hour_that_comes_twice_in_autumn_begins_a_day_once() -> None:
    """A message every ten minutes through the night of 25 October: one new conversation, at the first 02:30."""
    daily = policy("daily", daily_at="02:30")
    begins = datetime(2026, 10, 24, 22, 0, tzinfo=UTC)
    said = [begins + timedelta(minutes=10 * step) for step in range(60)]

    new = [now for last, now in itertools.pairwise(said) if daily.why(last, now)]

    assert new == [datetime(2026, 10, 25, 0, 30, tzinfo=UTC)]


def test_a_year_of_messages_begins_a_conversation_each_day() -> None:
    """Both changes of the clock among them."""
    daily = policy("daily", daily_at="02:30")
    said = [datetime(2026, 1, 1, 12, tzinfo=UTC) + timedelta(minutes=45 * step) for step in range(32 * 365)]

    new = [now for last, now in itertools.pairwise(said) if daily.why(last, now)]

    assert len(new) == 365
    assert len({now.astimezone(OSLO).date() for now in new}) == 365


def test_instants_are_compared_whatever_offset_they_are_written_with() -> None:
    """An evening in one offset is not the morning of another (PI-128)."""
    daily = policy("daily", daily_at="04:00")
    last = datetime(2026, 11, 30, 20, 0, tzinfo=timezone(timedelta(hours=1)))

    for hours in (-11, 0, 5, 14):
        now = datetime(2026, 11, 30, 21, 0, tzinfo=UTC).astimezone(timezone(timedelta(hours=hours)))
        assert daily.why(last, now) == ""


def test_the_hour_is_that_of_the_persons_time_zone() -> None:
    """Four in the morning in Tokyo is seven in the evening in Greenwich."""
    daily = policy("daily", zone="Asia/Tokyo", daily_at="04:00")

    assert daily.why(at("2026-11-30 18:59", "UTC"), at("2026-11-30 19:00", "UTC")) == "daily"
    assert daily.why(at("2026-11-30 03:59", "UTC"), at("2026-11-30 04:01", "UTC")) == ""


def test_with_both_the_first_that_holds_is_the_reason() -> None:
    """Whoever was away for a week hears of the silence, whoever wrote at night of the new day."""
    both = policy("both", daily_at="04:00", idle_minutes=1440)

    assert both.why(at("2026-11-20 12:00"), at("2026-11-30 12:00")) == "idle"
    assert both.why(at("2026-11-30 03:00"), at("2026-11-30 05:00")) == "daily"
    assert both.why(at("2026-11-30 05:00"), at("2026-11-30 23:00")) == ""


@pytest.mark.parametrize("earlier", [timedelta(seconds=1), timedelta(days=1), timedelta(days=400)])
def test_what_was_said_earlier_than_the_last_begins_nothing(earlier: timedelta) -> None:
    """Messages overtake each other, and clocks are put back."""
    said = at("2026-11-30 04:00")

    assert policy("both", idle_minutes=1).why(said, said - earlier) == ""
