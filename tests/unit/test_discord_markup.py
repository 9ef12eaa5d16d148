"""Markdown for Discord: every piece fits and stands alone, nothing is lost, nothing is blank."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gateway.platforms import discord_markup, text

NAUGHTY = json.loads(Path("tests/cases/naughty-strings.json").read_text(encoding="utf-8"))

PIECES = [
    "A sentence of some words. ",
    "**bold words** ",
    "*a* _b_ ~~c~~ ||d|| ",
    "`inline code` ",
    "[a link](https://example.org/path) ",
    "\n\n",
    "\n- item\n- item\n",
    "\n> quoted\n",
    "\n```python\ndef answer():\n    return 42\n```\n",
    "これは長い文章です。",
    "👨‍👩‍👧‍👦",
    "👍🏽",
    "🇳🇴",
    "مرحبا بالعالم ",
    "e\u0301",
    "x" * 300,
]


def without_space(words: str) -> str:
    return re.sub(r"\s", "", words)


def without_marks(words: str) -> str:
    """What is left when everything is gone that a cut may close, open again or escape."""
    return re.sub(r"[\s*_~|`\\]", "", words)


def fences(piece: str) -> list[str]:
    return [line for line in piece.split("\n") if line.lstrip().startswith("```")]


@settings(deadline=None, max_examples=60)
@given(st.lists(st.sampled_from(PIECES), max_size=150))
@example(["x" * 300] * 40)
@example(["👨‍👩‍👧‍👦"] * 150)
def test_pieces_fit_stand_alone_and_lose_nothing(written: list[str]) -> None:
    """Each piece is a message of its own: a code block that is cut is closed, and opened again in the next."""
    source = "".join(written)
    pieces = discord_markup.chunks(source)

    assert all(text.utf16_length(piece) <= discord_markup.LONGEST for piece in pieces)
    assert all(len(fences(piece)) % 2 == 0 for piece in pieces)
    bare = [without_marks(re.sub(r"```(python)?", "", part)) for part in ("".join(pieces), source)]
    assert bare[0] == bare[1]


@pytest.mark.parametrize("number", range(0, len(NAUGHTY), 50))
def test_naughty_strings_arrive_whole(number: int) -> None:
    """What has broken other software: alone, and as part of a long answer."""
    for words in NAUGHTY[number : number + 50]:
        for source in (words, (words + " ") * (4000 // (len(words) + 1) + 1)):
            pieces = discord_markup.chunks(source)
            shown = [discord_markup.shown(piece) for piece in pieces]
            assert all(text.utf16_length(one) <= discord_markup.LONGEST for one in shown)
            assert without_marks("".join(pieces)) == without_marks(_visible(source))


def _visible(words: str) -> str:
    """Without what is taken out of every message: controls, and marks that turn the text around."""
    return re.sub(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", "", text.clean(words))


def test_a_long_program_keeps_its_indentation() -> None:
    """Closed before each cut, opened again with its language after it."""
    body = "\n".join(f"    value_{number} = compute({number})" for number in range(150))
    pieces = discord_markup.chunks(f"Here:\n```python\n{body}\n```\nDone.")

    assert len(pieces) > 2
    assert all(fences(piece) == ["```python", "```"] for piece in pieces)
    lines = [line for piece in pieces for line in piece.split("\n") if line.startswith("    ")]
    assert "\n".join(lines) == body


def test_a_character_longer_than_a_message_is_cut_all_the_same() -> None:
    """A letter with thousands of accents would be refused for ever, and everything behind it would wait."""
    pieces = discord_markup.chunks("e" + "\u0301" * 5000)

    assert "".join(pieces) == "e" + "\u0301" * 5000
    assert all(len(piece) <= discord_markup.LONGEST for piece in pieces)


@pytest.mark.parametrize("blank", ["", " \n", "\u200b", "\u2800\u2800", "\u3164", "\ufeff", "\x00"])
def test_nothing_blank_is_sent(blank: str) -> None:
    """Discord refuses what shows nothing."""
    assert discord_markup.shown(blank) == "…"


def test_labels_are_clipped_between_visible_characters() -> None:
    """Discord counts; half a flag is another flag."""
    assert discord_markup.clip("Approve", 80) == "Approve"
    assert discord_markup.clip("ab" + "🇳🇴" * 3, 8) == "ab🇳🇴…"
