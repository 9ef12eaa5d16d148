"""Cutting and cleaning text, the same for every platform. Pure.

`split` cuts Markdown as it was written, so that each piece can be rendered alone: a cut inside a code block
or a bold word closes it and opens it again in the next piece. It never cuts a surrogate pair or what people
see as one character (`graphemes`). How Markdown becomes Telegram's entities is in `telegram_markup`.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice

from gateway.platforms.graphemes import is_border as is_border

TRIES = 64
"""How many places for a cut are looked at; each look renders a piece."""

BLANK = re.compile(
    r"[\s\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u2028-\u202f"
    r"\u205f-\u206f\u2800\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffc\U000e0000-\U000e0fff]*"
)
"""What the platforms call an empty message, and refuse."""

_LONE_SURROGATE = re.compile(r"[\ud800-\udfff]")
_FENCE = re.compile(r" {0,3}(?P<marks>`{3,20}(?!`)|~{3,20}(?!~))(?P<language>[^\n]{0,80})(?=\n|\Z)")
_TOKEN = re.compile(
    r"""
      (?P<whole>!?\[[^\]\n]{0,500}\]\([^)\s]{1,2000}\) | https?://\S{1,2000})
    | (?P<mark>`+ | \*\*|__ | (?<!~)~~(?!~) | (?<!\|)\|\|(?!\|)
        | (?<![*\w])[*_](?=[^\s*_]) | (?<=[^\s*_])[*_](?![*\w]))
    | (?P<line>\n)
    """,
    re.VERBOSE,
)
"""What begins or ends a stretch of text in which a cut would show."""
_BORDERS = (
    re.compile(r"\n[ \t]*\n(?:[ \t]*\n)*"),
    re.compile(r"\n"),
    re.compile(r"[.!?…][\"'”’)\]]*\s|[。！？][」』）]*"),
    re.compile(r"\s|[、，]"),
)
"""From the best place for a cut to the worst; the cut is after the match."""


_MARK_OF_A_LINE = re.compile(
    r"""
      (?P<before>) (?: > | \#{1,6}(?=\s|\Z) | [-+*](?=\s|\Z) | ~{3} | `{3}(?=[^`\n]*(?:\n|\Z))
                     | [-*_](?=[ ]*[-*_][ ]*[-*_][-*_ ]*(?:\n|\Z)) )
    | (?P<number>\d{1,9}) [.)](?=\s|\Z)
    """,
    re.VERBOSE,
)
"""What makes something else of a line that begins with it: a quote, a heading, a list, code, a rule."""
_DEEP_ITEM = re.compile(r"\A {4,}(?=(?:[-+*]|\d{1,9}[.)])[ ])")
"""An item deep in a list; without the list before it, it would be code."""


def clean(text: str) -> str:
    """The same text without lone surrogates, which no database and no socket takes."""
    if not _LONE_SURROGATE.search(text):
        return text
    # Two surrogates in a row may be one character that JSON wrote in two escapes: they are joined first.
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def utf16_length(text: str) -> int:
    """How long Telegram thinks the text is: UTF-16 code units."""
    return len(text) + sum(character > "\uffff" for character in text)


def split(text: str, fits: Callable[[str], bool], at_most: int) -> tuple[str, ...]:
    """Cut Markdown into pieces that all satisfy `fits`, each of at most `at_most` code points.

    Only white space at the cuts is dropped. What does not fit even as one visible character stays whole.
    """
    text = clean(text)
    pieces: list[str] = []
    rest = text
    while not _fits(rest, fits, at_most):
        cut = _cut(rest, fits, at_most)
        if cut.piece.strip():
            pieces.append(cut.piece)
        rest = cut.rest
    if rest.strip() or not pieces:
        pieces.append(rest)
    return tuple(pieces)


@dataclass(frozen=True, slots=True)
class _Cut:
    """A piece with what had to be closed closed, and the rest with it opened again."""

    piece: str
    rest: str


def _fits(piece: str, fits: Callable[[str], bool], at_most: int) -> bool:
    return len(piece) <= at_most and fits(piece)


def _cut(text: str, fits: Callable[[str], bool], at_most: int) -> _Cut:
    """The best first piece: the first border, best ones first, at which the closed piece fits."""
    longest = _longest_prefix(text, fits, at_most)
    spans = sorted(_spans(text, longest), key=lambda span: (span.start, -span.end))
    for position in islice(_unescaped(text, _borders(text, longest, spans)), TRIES):
        cut = _cut_at(text, position, spans)
        if len(cut.rest) < len(text) and _fits(cut.piece, fits, at_most):
            return cut
    return _cut_as_it_is(text, longest, fits)


def _cut_as_it_is(text: str, longest: int, fits: Callable[[str], bool]) -> _Cut:
    """Where markup is bigger than a piece: between two characters, closing nothing.

    What people see as one character is cut only where it alone is longer than a piece: better torn than never.
    """
    borders = (place for place in range(longest, 0, -1) if is_border(text, place))
    for position in islice(_unescaped(text, borders), TRIES):
        rest = _beginning(text, position)
        if len(rest) < len(text) and fits(text[:position]):
            return _Cut(text[:position], rest)
    position = _first_character(text)
    position = position if fits(text[:position]) else longest
    return _Cut(text[:position], text[position:])


def _unescaped(text: str, places: Iterator[int]) -> Iterator[int]:
    """Those places that do not lie between a backslash and what it escapes."""
    for place in places:
        before = text[:place]
        if (len(before) - len(before.rstrip("\\"))) % 2 == 0:
            yield place


def _longest_prefix(text: str, fits: Callable[[str], bool], at_most: int) -> int:
    """How many code points of `text` fit in one piece, to within what is not worth another look."""
    low, high = 1, min(len(text), at_most)
    while high - low > at_most // 512:
        middle = (low + high + 1) // 2
        if fits(text[:middle]):
            low = middle
        else:
            high = middle - 1
    return low


def _borders(text: str, longest: int, spans: list["_Span"]) -> Iterator[int]:
    """Places to cut, best first: real borders in the later half, then worse ones, then any."""
    shows = bytearray(longest + 1)
    for span in spans:
        shows[span.start + 1 : span.end] = b"x" * (min(span.end, longest + 1) - span.start - 1)
    ends = [[match.end() for match in pattern.finditer(text, 0, longest)][::-1] for pattern in _BORDERS]
    for kind in ends:
        yield from (end for end in kind if end >= longest // 2 and not shows[end])
    for kind in ends[1:]:
        yield from (end for end in kind if longest // 4 <= end < longest // 2 and not shows[end])
    yield from (span.start for span in reversed(spans) if span.start >= longest // 4 and not shows[span.start])
    yield from (end for end in ends[-1] if end >= longest // 2)
    yield from (position for position in range(longest, 0, -1) if is_border(text, position))


@dataclass(frozen=True, slots=True)
class _Span:
    """A stretch in which a cut shows: inline code, a link, emphasis. `mark` can be closed and reopened."""

    start: int
    end: int
    mark: str


def _spans(text: str, longest: int) -> Iterator[_Span]:
    """The spans outside code blocks that begin before `longest`; they may end after it."""
    for start, end in _outside_code(text):
        if start >= longest:
            return
        opened: dict[str, int] = {}
        for token in _TOKEN.finditer(text, start, end):
            if token.start() >= longest and not opened:
                break
            if token["line"]:
                opened.clear()
            elif token["whole"]:
                if token.start() < longest:
                    yield _Span(token.start(), token.end(), "")
            elif (begin := opened.pop(token[0], None)) is not None:
                opened = {mark: at for mark, at in opened.items() if at < begin}
                yield _Span(begin, token.end(), token[0])
            elif token.start() < longest:
                opened[token[0]] = token.start()


def _outside_code(text: str) -> Iterator[tuple[int, int]]:
    """The stretches of `text` between code blocks."""
    start, fence = 0, None
    for line_start, line in _lines(text):
        fence_after = _fence_after(fence, line)
        if fence is None and fence_after is not None:
            yield start, line_start
        start = line_start + len(line) if fence is not None or fence_after is not None else start
        fence = fence_after
    if fence is None:
        yield start, len(text)


def _cut_at(text: str, position: int, spans: list[_Span]) -> _Cut:
    fence = _open_fence(text[:position])
    if fence is not None:
        return _cut_in_code(text, position, fence)
    before, after = text[:position].rstrip(), _beginning(text, position)
    marks = [
        span.mark
        for span in spans
        if span.start + len(span.mark) < position < span.end - len(span.mark) and span.mark
    ]
    if not marks:
        return _Cut(before, after)
    return _Cut(before + "".join(reversed(marks)), "".join(marks) + after.lstrip(" "))


def _beginning(text: str, position: int) -> str:
    """What follows a cut, as the beginning of a message: it must not be read as what it was not before."""
    rest = text[position:]
    if text[position - 1] == "\n" or rest.startswith("\n"):
        return _DEEP_ITEM.sub("   ", rest.lstrip("\n"))
    rest = rest.lstrip(" \t")
    if mark := _MARK_OF_A_LINE.match(rest):
        number = mark["number"] or ""
        rest = f"{number}\\{rest[len(number) :]}"
    return rest


def _cut_in_code(text: str, position: int, fence: re.Match[str]) -> _Cut:
    """Close the code block before the cut and open it again after it, indentation and all."""
    marks, opening = fence["marks"], fence[0].strip()
    before, after = text[:position], text[position:]
    if before.endswith("\n") and before.rstrip().endswith(opening):
        return _Cut(before[: fence_start(before)].rstrip(), opening + "\n" + after)
    closing = marks if before.endswith("\n") else "\n" + marks
    if re.match(rf"\n? {{0,3}}{re.escape(marks)}[ \t]*(\n|\Z)", after):
        return _Cut(before + closing, after.lstrip("\n").partition("\n")[2].lstrip("\n"))
    return _Cut(before + closing, opening + "\n" + after.removeprefix("\n"))


def fence_start(text: str) -> int:
    """Where the last line that is not empty begins."""
    return text.rstrip().rfind("\n") + 1


def _open_fence(text: str) -> re.Match[str] | None:
    """The opening line of the code block that is still open at the end of `text`."""
    fence = None
    for _, line in _lines(text):
        fence = _fence_after(fence, line)
    return fence


def _fence_after(fence: re.Match[str] | None, line: str) -> re.Match[str] | None:
    """The open code block after this line, given the one that was open before it."""
    match = _FENCE.match(line)
    if fence is None:
        opens = match is not None and not (match["marks"][0] == "`" and "`" in match["language"])
        return match if opens else None
    closes = (
        match is not None
        and not match["language"].strip()
        and match["marks"][0] == fence["marks"][0]
        and len(match["marks"]) >= len(fence["marks"])
    )
    return None if closes else fence


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Each line with its line break, and where it begins."""
    start = 0
    while start < len(text):
        end = text.find("\n", start) + 1 or len(text)
        yield start, text[start:end]
        start = end


def _first_character(text: str) -> int:
    """The length of the first visible character."""
    return next((n for n in range(1, len(text)) if is_border(text, n)), len(text))
