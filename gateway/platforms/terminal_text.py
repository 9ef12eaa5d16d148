"""Markdown as a terminal shows it: the words without the marks that only say how they look. Pure.

What carries meaning stays: bullets, quotes, tables, `code` and ~~what is struck out~~; an address stands behind its
link. Nothing of the layout is changed, so that code can be copied.
"""

import re
from collections.abc import Iterator, Mapping

import pyromark

from gateway.platforms.text import clean

_OPTIONS = pyromark.Options.ENABLE_TABLES | pyromark.Options.ENABLE_STRIKETHROUGH
_FENCE = re.compile(rb"[ \t>]*(?:`{3,}|~{3,})[ \t]*\Z")
_HASHES = re.compile(rb"#{1,6}[ \t]*")
_UNDERLINE = re.compile(rb"\n[ \t]*(?:=+|-+)[ \t]*\n?\Z")
_ESCAPED = re.compile(rb"[!-/:-@\[-`{-~]")
_WORD = re.compile(rb"[0-9A-Za-z_]")

_Cut = tuple[int, int, bytes]
"""A stretch of the source in bytes, and what stands there instead."""


def plain(markdown: str) -> str:
    """The same text without marks."""
    source = clean(markdown).encode()
    shown, at = [], 0
    for start, end, instead in sorted(_cuts(source)):
        if start < at:
            continue
        shown += [source[at:start], instead]
        at = end
    return b"".join((*shown, source[at:])).decode()


def _cuts(source: bytes) -> Iterator[_Cut]:
    for event, where in pyromark.events_with_range(source.decode(), options=_OPTIONS):
        start, end = where["start"], where["end"]
        match event:
            case {"Start": "Strong"}:
                yield from _both_ends(start, end, 2)
            case {"Start": "Emphasis"} if not _in_a_word(source, start, end):
                yield from _both_ends(start, end, 1)
            case {"Start": {"Heading": _}}:
                yield from _heading(source, start, end)
            case {"Start": {"CodeBlock": {"Fenced": _}}}:
                yield from _fences(source, start, end)
            case {"Start": {"Link": Mapping() as link}} | {"Start": {"Image": Mapping() as link}}:
                yield from _link(source, start, end, str(link["link_type"]), str(link["dest_url"]))
            case {"Text": _} if start and source[start - 1 : start] == b"\\" and _ESCAPED.match(source, start):
                yield start - 1, start, b""


def _both_ends(start: int, end: int, marks: int) -> Iterator[_Cut]:
    yield start, start + marks, b""
    yield end - marks, end, b""


def _in_a_word(source: bytes, start: int, end: int) -> bool:
    """`2*3*4` is arithmetic."""
    return bool(start and _WORD.match(source, start - 1) and _WORD.match(source, end))


def _heading(source: bytes, start: int, end: int) -> Iterator[_Cut]:
    if hashes := _HASHES.match(source, start, end):
        yield start, hashes.end(), b""
    elif underline := _UNDERLINE.search(source, start, end):
        yield underline.start(), underline.end(), b"\n"


def _fences(source: bytes, start: int, end: int) -> Iterator[_Cut]:
    """The line that opens a block of code, and the one that closes it where there is one."""
    line_begins = source.rfind(b"\n", 0, start) + 1
    first_ends = source.find(b"\n", start, end)
    if first_ends < 0:
        return
    if source[line_begins:start].strip():
        yield start, first_ends, b""  # behind a bullet or a quote's sign
    else:
        yield line_begins, first_ends + 1, b""
    last_begins = source.rfind(b"\n", start, end)
    if last_begins >= first_ends and _FENCE.match(source, last_begins + 1, end):
        yield max(last_begins, first_ends + 1), end, b""


def _link(source: bytes, start: int, end: int, kind: str, address: str) -> Iterator[_Cut]:
    if kind in ("Autolink", "Email"):
        yield from _both_ends(start, end, 1)
    elif kind == "Inline" and (closed := source.rfind(b"](", start, end)) >= 0:
        words_begin = start + (2 if source[start : start + 1] == b"!" else 1)
        yield start, words_begin, b""
        said = source[words_begin:closed].strip()
        yield closed, end, b"" if said.decode() == address or not address else f" ({address})".encode()
