"""The message catalog fills sentences with values that come from elsewhere."""

import pytest

from gateway import words


@pytest.mark.parametrize("name", ["key", "language"])
def test_a_value_may_have_any_name(name: str) -> None:
    """Values are what rows hold; one named like a parameter once kept every file warning from being said."""
    values: dict[str, object] = {"file": "MEMORY.md", "count": 2, name: "x"}

    assert words.text("memory.bad_bytes", "en", **values).startswith("MEMORY.md holds 2 bytes")
