"""Long lines broken for a terminal: between words, in Japanese between characters. Pure.

Widths are cells: a Japanese character takes two. What has no place to break is left to the terminal.
"""

import re
from collections.abc import Iterator

import wcwidth

_OPENING = "「『（〔［【〈《“"
_CLOSING = "」』）〕］】〉》”、。，．：；！？…‥ーゝゞ々ぁぃぅぇぉっゃゅょゎァィゥェォッャュョヮ"
"""Never at the beginning of a line."""
_EASTERN = "\u3000-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff00-\uffef"
_UNIT = re.compile(rf"\s+|[{_OPENING}]*(?:[{_EASTERN}]|[^\s{_EASTERN}{_OPENING}]+)[{_CLOSING}]*|\S")


def wrapped(text: str, columns: int) -> str:
    """The same text in lines of at most so many cells."""
    return "\n".join(row for line in text.split("\n") for row in _rows(line, columns))


def _rows(line: str, columns: int) -> Iterator[str]:
    if _cells(line) <= columns:
        yield line
        return
    units = _UNIT.findall(line)
    row = units[0]  # an indentation stays
    for unit in units[1:]:
        if _cells(row + unit) > columns and row.strip():
            yield row.rstrip()
            row = ""
        if row or not unit.isspace():
            row += unit
    if row.strip():
        yield row.rstrip()


def _cells(text: str) -> int:
    found = wcwidth.wcswidth(text)
    return found if found >= 0 else len(text)
