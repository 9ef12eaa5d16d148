"""How values become text."""

from datetime import datetime, timedelta, timezone

import pytest

from gateway.store import encoding


def test_text_order_is_time_order_whatever_the_zone() -> None:
    """Other bots compared `+00:00` with local offsets as strings, and reset sessions in the evening."""
    tokyo = datetime(2026, 11, 30, 18, 0, tzinfo=timezone(timedelta(hours=9)))
    bergen = datetime(2026, 11, 30, 10, 0, 0, 5, tzinfo=timezone(timedelta(hours=1)))

    texts = [encoding.time_text(at) for at in (tokyo, bergen)]

    assert texts == ["2026-11-30T09:00:00.000000+00:00", "2026-11-30T09:00:00.000005+00:00"]
    assert [encoding.time_of(text) for text in texts] == [tokyo, bergen]


def test_a_time_without_a_zone_is_our_bug() -> None:
    """It would be taken for the machine's."""
    with pytest.raises(ValueError, match="without a zone"):
        encoding.time_text(datetime(2026, 11, 30))  # noqa: DTZ001 - that is the point
