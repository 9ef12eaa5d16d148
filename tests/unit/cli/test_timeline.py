"""The picture of the journey in a terminal: no line wider than it may be, whatever stands in it."""

from datetime import UTC, timedelta

import pytest

from gateway.cli import cells, timeline
from gateway.cli import journey as command
from gateway.cli.timeline import Picture
from gateway.memory import journey
from gateway.memory.journey import Journey, Node
from gateway.records import Origin
from tests.store.given import NINE

TEXTS = (
    "Lives in Bergen",
    "東京に住んでいて、毎朝六時に起きて皇居の周りを走り、帰りに豆腐屋に寄る",
    "👨‍👩‍👧‍👦 family; 🇯🇵 next year; ❤️ tofu",
    "e\u0301\u0302\u0303 accents, ก็ Thai, 한국어",
    "quiet\x1b[2J\x1b]0;owned\x07 please\u202e",
    "x" * 300,
)


def line(count: int) -> Journey:
    nodes = (
        Node(
            f"memory:user:{number:08x}",
            journey.MEMORY,
            TEXTS[number % len(TEXTS)],
            NINE + timedelta(hours=number),
            Origin.REVIEW,
            number,
            ("20261130_090007_57bbf6",),
        )
        for number in range(count)
    )
    return journey.along(nodes)


def picture(width: int, height: int = 0, *, colours: bool = False, language: str = "en") -> Picture:
    return Picture(width, height, UTC, language, colours)


@pytest.mark.parametrize("language", ["en", "ja"])
@pytest.mark.parametrize("width", [20, 39, 40, 61, 80, 100, 173])
def test_no_line_is_wider_than_the_terminal(width: int, language: str) -> None:
    """A line that is broken by the terminal would tear a moving picture apart."""
    drawn = timeline.draw(line(30), picture(width, language=language))
    moving = [row for rows in timeline.frames(line(30), picture(width, 12, language=language)) for row in rows]

    assert max(cells.cells(row) for row in (*drawn, *moving)) <= width
    assert not any(sign in "".join(drawn) for sign in "\x1b\x07\u202e")


def test_the_line_says_when_what_and_from_what() -> None:
    """Days as headings, a sign and the file of each, its origin, and the session where there is room."""
    drawn = timeline.draw(line(1), picture(100))

    assert drawn[0] == "What I have learnt: one entry, 0 skills"
    assert drawn[1].startswith("2026-11-30 ───")
    assert drawn[2].startswith(" 09:00 ● USER   Lives in Bergen   ")
    assert drawn[2].endswith("  a review      20261130_090007_57bbf6")


def test_wide_signs_stand_in_two_cells() -> None:
    """So that the column behind them is straight."""
    drawn = timeline.draw(line(6), picture(60))

    assert {cells.cells(row.removesuffix("a review")) for row in drawn[2:]} == {60 - 13}
    assert cells.clip("東京タワー", 5) == "東京…"
    assert cells.clip("東京タワー", 6) == "東京…"
    assert cells.clip("東京タワー", 10) == "東京タワー"


def test_a_height_shows_the_end_of_the_line() -> None:
    """What was learnt last is what one looks for."""
    drawn = timeline.draw(line(500), picture(80, 10))

    assert len(drawn) == 10
    assert drawn[-1] == timeline.draw(line(500), picture(80))[-1]


@pytest.mark.parametrize("count", [1, 7, 120, 121, 500])
def test_a_moving_picture_ends_and_keeps_its_height(count: int) -> None:
    """At most 120 pictures, whatever was learnt; the last one shows all."""
    frames = list(timeline.frames(line(count), picture(40, 10)))

    assert len(frames) == min(count, timeline.MOST_FRAMES)
    assert {len(rows) for rows in frames} == {10}
    assert frames[-1][-1].endswith(f" {count}/{count}")
    assert "▱" not in frames[-1][-1]
    assert frames[-1][1:9] == timeline.draw(line(count), picture(40, 9))[1:] + [""] * (8 - min(8, count + 1))


def test_nothing_learnt_is_a_picture_too() -> None:
    """Only its heading, and no frame."""
    assert timeline.draw(journey.along(()), picture(20)) == ["What I have learnt:…"]
    assert list(timeline.frames(journey.along(()), picture(20, 10))) == []


def test_colours_are_only_where_they_are_wanted() -> None:
    """A file or a pipe gets none."""
    plain, coloured = timeline.draw(line(3), picture(80)), timeline.draw(line(3), picture(80, colours=True))

    assert "\x1b" not in "".join(plain)
    assert coloured[2].startswith(" 09:00 \x1b[32m● USER  \x1b[0m Lives in Bergen")


def test_one_picture_is_drawn_over_the_other_and_the_cursor_comes_back() -> None:
    """Also when somebody presses Ctrl-C in the middle."""
    said: list[str] = []
    waits: list[float] = []

    def wait(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        command.show_frames([["a", "b"], ["c", "d"], ["e", "f"]], 0.5, said.append, wait)

    assert said == ["\x1b[?25l", "a\nb\n", "\x1b[2F\x1b[Jc\nd\n", "\x1b[?25h"]
    assert waits == [0.5, 0.5]
