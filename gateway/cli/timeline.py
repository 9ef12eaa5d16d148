"""The journey as a picture of characters: days, times, what was learnt, from what. Pure.

Widths are cells of a terminal, not characters: Japanese takes two, an accent none. No line is wider than the
picture, so that a terminal breaks none and a moving picture stays in its place.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from itertools import groupby

from gateway.cli.cells import cells, clip, pad
from gateway.cli.opened import shown
from gateway.conversation import journeytext
from gateway.memory.journey import MEMORY, Journey, Node

LEAST_WIDTH = 20
_FILE_FROM = 40
"""From this width on there is room for the file's name, ..."""
_ORIGIN_FROM = 60
"""... from this one for where something came from, ..."""
_SESSION_FROM = 100
"""... and from this one for the session."""
_ORIGIN, _SESSION = 13, 22
_RESET = "\x1b[0m"
_COLOURS = {"MEMORY": "\x1b[36m", "USER": "\x1b[32m", "SKILL": "\x1b[33m", "day": "\x1b[1m", "aside": "\x1b[2m"}
MOST_FRAMES = 120


@dataclass(frozen=True, slots=True)
class Picture:
    """How it is drawn. `height` 0: as many lines as it takes."""

    width: int
    height: int
    zone: tzinfo
    language: str
    colours: bool = False


def draw(journey: Journey, picture: Picture) -> list[str]:
    """The whole time line; with a height, its end."""
    head = _painted(clip(journeytext.counts(journey, picture.language), picture.width), "day", picture)
    lines = [line for _, line in _body(journey.nodes, picture)]
    room = max(picture.height - 1, 1) if picture.height else len(lines)
    return [head, *lines[-room:]]


def frames(journey: Journey, picture: Picture) -> Iterator[list[str]]:
    """The time line as it came to be: at most `MOST_FRAMES` pictures of the same height, the last one whole."""
    body = list(_body(journey.nodes, picture))
    total = len(journey.nodes)
    for place in range(1, min(total, MOST_FRAMES) + 1):
        shown = -(-total * place // min(total, MOST_FRAMES))
        yield _frame(journey, [line for number, line in body if number <= shown], shown, picture)


def _frame(journey: Journey, lines: Sequence[str], shown: int, picture: Picture) -> list[str]:
    room = max(picture.height - 2, 1)
    so_far = Journey(journey.nodes[:shown], ())
    head = _painted(clip(journeytext.counts(so_far, picture.language), picture.width), "day", picture)
    above = list(lines[-room:])
    bar = _bar(shown, len(journey.nodes), picture.width)
    return [head, *above, *[""] * (room - len(above)), _painted(bar, "aside", picture)]


def _bar(shown: int, total: int, width: int) -> str:
    """`▰▰▰▱▱▱ 12/24`"""
    count = f" {shown}/{total}"
    cells = max(width - len(count), 0)
    full = cells * shown // max(total, 1)
    return clip("▰" * full + "▱" * (cells - full) + count, width)


# -- lines -------------------------------------------------------------------------------------------------


def _body(nodes: Sequence[Node], picture: Picture) -> Iterator[tuple[int, str]]:
    """Each line with the number of the node that brings it: a day's heading comes with its first."""
    number = 0
    for name, of_day in groupby(nodes, lambda node: journeytext.day(node, picture.zone, picture.language)):
        yield number + 1, _painted(_heading(name, picture.width), "day", picture)
        for node in of_day:
            number += 1
            yield number, _line(node, picture)


def _heading(name: str, width: int) -> str:
    text = clip(name, width)
    rule = width - cells(text) - 1
    return f"{text} {'─' * rule}" if rule > 0 else text


def _line(node: Node, picture: Picture) -> str:
    when = f"{node.at.astimezone(picture.zone):%H:%M}" if node.at else "     "
    file = journeytext.file(node)
    mark = "●" if node.kind == MEMORY else "◆"
    named = pad(f"{mark} {file}", 8) if picture.width >= _FILE_FROM else mark
    head, aside = f" {when} ", _aside(node, picture)
    room = picture.width - len(head) - cells(named) - 1 - (cells(aside) + 2 if aside else 0)
    text = clip(said(node), room)
    painted = f"{head}{_painted(named, file, picture)} {pad(text, room) if aside else text}"
    return f"{painted}  {_painted(aside.rstrip(), 'aside', picture)}" if aside else painted


def _aside(node: Node, picture: Picture) -> str:
    """Where it came from, as far as there is room."""
    if picture.width < _ORIGIN_FROM:
        return ""
    origin = pad(clip(journeytext.origin(node, picture.language), _ORIGIN), _ORIGIN)
    session = node.sessions[-1] if node.sessions else ""
    return f"{origin} {pad(clip(session, _SESSION), _SESSION)}" if picture.width >= _SESSION_FROM else origin


def said(node: Node) -> str:
    """What it says, on one line, without what could move the cursor."""
    return shown(" ".join(f"{node.label}: {node.about}".split() if node.about else node.label.split()))


def _painted(text: str, name: str, picture: Picture) -> str:
    return f"{_COLOURS[name]}{text}{_RESET}" if picture.colours and text else text
