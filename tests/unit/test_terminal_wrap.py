"""Long lines in a terminal break where people read on without a stumble."""

import pytest
import wcwidth

from gateway.platforms.terminal_wrap import wrapped

SAID = "✓ ここではこれから日本語で話します。次の端末や `hikae …` コマンドも日本語にするには、設定してください。"


def test_words_stay_whole() -> None:
    """As in a book; the blank at the break goes."""
    assert wrapped("one two three", 8) == "one two\nthree"
    assert wrapped("  indented and  long", 12) == "  indented\nand  long"
    assert wrapped("  indented and", 10) == "  indented\nand"
    assert wrapped("a https://example.org/a-long-address b", 10) == "a\nhttps://example.org/a-long-address\nb"
    assert wrapped("short\n\nlines stay", 20) == "short\n\nlines stay"


@pytest.mark.parametrize("columns", range(12, 60))
def test_no_line_of_japanese_is_too_wide_or_begins_with_a_full_stop(columns: int) -> None:
    """A character takes two cells: counted as one, the terminal would break it, and a 。 stood alone on a line."""
    rows = wrapped(SAID, columns).split("\n")

    assert "".join(rows).replace(" ", "") == SAID.replace(" ", "")
    assert all(wcwidth.wcswidth(row) <= columns for row in rows)
    assert not [row for row in rows if row[0] in "。、ー"]


def test_what_is_quoted_is_not_torn_from_its_marks() -> None:
    """An opening mark goes with what it opens."""
    assert wrapped("ああああ「いい」う", 10) == "ああああ\n「いい」う"
