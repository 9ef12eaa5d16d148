"""docs/screens.md shows what people see today."""

from pathlib import Path

from tests import screens


async def test_the_page_of_screens_is_what_the_platforms_show(tmp_path: Path) -> None:
    """A page of pictures that nobody renews would soon lie. `python -m tests.screens --write` renews it."""
    recorded = await screens.record(tmp_path)

    assert screens.PAGE.read_text("utf-8") == recorded
