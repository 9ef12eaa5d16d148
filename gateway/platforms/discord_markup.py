"""Markdown as Discord shows it: cut to its length, closed and opened again at the cuts. Pure.

Discord reads Markdown itself, so there is little to translate. It counts characters, without saying which; we
count UTF-16 units, which are never fewer.
"""

import re

from gateway.platforms import text

LONGEST = 2000

_HIDDEN = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def chunks(markdown: str) -> tuple[str, ...]:
    """Cut Markdown into pieces each of which is one message."""
    return text.split(_HIDDEN.sub("", text.clean(markdown)), _fits, LONGEST)


def shown(markdown: str) -> str:
    """What is sent: never blank, since Discord refuses that."""
    words = _HIDDEN.sub("", text.clean(markdown)).strip("\n")
    return "…" if text.BLANK.fullmatch(words) else words


def clip(words: str, longest: int) -> str:
    """The beginning of a label or title, with "…" where something is left out."""
    if text.utf16_length(words) <= longest:
        return words
    end = longest - 1
    while end and (text.utf16_length(words[:end]) > longest - 1 or not text.is_border(words, end)):
        end -= 1
    return words[:end] + "…"


def _fits(piece: str) -> bool:
    return text.utf16_length(piece) <= LONGEST
