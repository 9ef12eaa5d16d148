"""Markdown as a terminal shows it: marks go, words and layout stay."""

import json
from pathlib import Path

import pytest

from gateway.platforms import terminal_text

NAUGHTY = Path(__file__).parents[1] / "cases" / "naughty-strings.json"


@pytest.mark.parametrize(
    ("markdown", "shown"),
    [
        ("It is **bold** and *slanted*, __both__ ***ways***.", "It is bold and slanted, both ways."),
        ("日本**語**です", "日本語です"),
        ("2*3*4 and snake_case_names stay", "2*3*4 and snake_case_names stay"),
        ("an **unclosed mark", "an **unclosed mark"),
        ("\\*not slanted\\*", "*not slanted*"),
        ("## Steps\n\nTitle\n=====\n\nend", "Steps\n\nTitle\n\nend"),
        ("- one\n- **two**\n\n> said", "- one\n- two\n\n> said"),
        ("Use `ls -l`, ~~not~~ `dir`.", "Use `ls -l`, ~~not~~ `dir`."),
        ("[the docs](https://x.org) <https://y.org>", "the docs (https://x.org) https://y.org"),
        ("[https://x.org](https://x.org)", "https://x.org"),
        ("| a | b |\n|---|---|\n| **c** | d |", "| a | b |\n|---|---|\n| c | d |"),
        ("Run:\n\n```sh\nls **\n```\n\nDone.", "Run:\n\nls **\n\nDone."),
        ("~~~\na\n\nb\n~~~\n", "a\n\nb\n"),
        ("- two\n  ```py\n  x = 1\n  ```\n", "- two\n  x = 1\n"),
        ("```\nnever **closed**", "never **closed**"),
        ("```\n```", ""),
    ],
)
def test_marks_go_and_words_stay(markdown: str, shown: str) -> None:
    """Asterisks and fences are noise in a terminal; what carries meaning, and code to copy, is not."""
    assert terminal_text.plain(markdown) == shown


def test_nothing_that_people_type_breaks_it() -> None:
    """An answer may hold anything."""
    for text in json.loads(NAUGHTY.read_text("utf-8")):
        assert isinstance(terminal_text.plain(text), str)
