"""Cutting and cleaning text, the same for every platform. Pure.

`split` cuts Markdown as it was written, so that each piece can be rendered alone: a cut inside a code block
or a bold word closes it and opens it again in the next piece. It never cuts a surrogate pair or what people
see as one character. How Markdown becomes Telegram's entities is in `telegram_markup`.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice

TRIES = 64
"""How many places for a cut are looked at; each look renders a piece."""
ZERO_WIDTH_JOINER = "\u200d"

_LONE_SURROGATE = re.compile(r"[\ud800-\udfff]")
_FENCE = re.compile(r" {0,3}(?P<marks>`{3,20}(?!`)|~{3,20}(?!~))(?P<language>[^\n]{0,80})(?=\n|\Z)")
_TOKEN = re.compile(
    r"""
      (?P<whole>!?\[[^\]\n]{0,500}\]\([^)\s]{1,2000}\) | https?://\S{1,2000})
    | (?P<mark>`+ | \*\*|__|~~|\|\| | (?<![*\w])[*_](?=[^\s*_]) | (?<=[^\s*_])[*_](?![*\w]))
    | (?P<line>\n)
    """,
    re.VERBOSE,
)
"""What begins or ends a stretch of text in which a cut would show."""
_BORDERS = (
    re.compile(r"\n[ \t]*\n\s*?(?=\S|\Z)"),
    re.compile(r"\n"),
    re.compile(r"[.!?…][\"'”’)\]]*\s|[。！？][」』）]*"),
    re.compile(r"\s|[、，]"),
)
"""From the best place for a cut to the worst; the cut is after the match."""


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
    for position in islice(_borders(text, longest, spans), TRIES):
        cut = _cut_at(text, position, spans)
        if len(cut.rest) < len(text) and _fits(cut.piece, fits, at_most):
            return cut
    return _cut_as_it_is(text, longest, fits)


def _cut_as_it_is(text: str, longest: int, fits: Callable[[str], bool]) -> _Cut:
    """Where markup is bigger than a piece: between two characters, closing nothing."""
    for position in islice((place for place in range(longest, 0, -1) if is_border(text, place)), TRIES):
        if fits(text[:position]):
            return _Cut(text[:position], text[position:])
    position = _first_character(text)
    return _Cut(text[:position], text[position:])


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
    before, after = text[:position].rstrip(), text[position:].lstrip("\n")
    marks = [
        span.mark
        for span in spans
        if span.start + len(span.mark) < position < span.end - len(span.mark) and span.mark
    ]
    if not marks:
        return _Cut(before, after)
    return _Cut(before + "".join(reversed(marks)), "".join(marks) + after.lstrip(" "))


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


def is_border(text: str, position: int) -> bool:
    """Whether a cut at `position` leaves whole what people see as one character.

    Follows the rules of Unicode's extended grapheme clusters as far as the standard library knows them.
    """
    if position <= 0 or position >= len(text):
        return True
    before, after = text[position - 1], text[position]
    if before == "\r" and after == "\n":
        return False
    if _extends(after) or before == ZERO_WIDTH_JOINER:
        return False
    if _is_flag_letter(before) and _is_flag_letter(after):
        return _flag_letters_before(text, position) % 2 == 0
    return not _same_syllable(before, after)


def _extends(character: str) -> bool:
    """Accents, joiners, variation selectors, skin tones and tags belong to what stands before them."""
    return (
        unicodedata.category(character) in ("Mn", "Me", "Mc")
        or character in (ZERO_WIDTH_JOINER, "\u200c")
        or "\U0001f3fb" <= character <= "\U0001f3ff"
        or "\U000e0020" <= character <= "\U000e007f"
    )


def _is_flag_letter(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"


def _flag_letters_before(text: str, position: int) -> int:
    start = position
    while start and _is_flag_letter(text[start - 1]):
        start -= 1
    return position - start


def _same_syllable(before: str, after: str) -> bool:
    """Korean letters that are drawn as one syllable; an Indic consonant after its joiner."""
    if unicodedata.combining(before) == 9 and unicodedata.category(after) == "Lo":
        return True
    vowel_or_final = "\u1160" <= after <= "\u11ff"
    leading = "\u1100" <= after <= "\u115f"
    if "\u1100" <= before <= "\u115f":
        return leading or vowel_or_final or "\uac00" <= after <= "\ud7a3"
    return vowel_or_final and ("\u1160" <= before <= "\u11ff" or "\uac00" <= before <= "\ud7a3")
