"""What bytes to look for, so that no form of a passage that is tried escapes. Pure.

Looking at each byte of a large home one by one would take minutes. So one word or a few characters of each passage
are looked for as bytes, in each spelling and encoding, and only where they are found the text around is decoded and
compared as people read it (`scanning`).
"""

import base64
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from urllib.parse import quote

from gateway.store import search_fold

LONGEST_RUN = 3
"""Of a script without blanks so many characters are looked for: a line may break after any."""
_FEWEST = 8
"""A shorter piece of base64 would be found in much that has nothing to do with it."""


@dataclass(frozen=True, slots=True)
class Needle:
    """Bytes to look for. `lowered`: in a copy of the data with A–Z made small."""

    data: bytes
    encoding: str
    """text (with escapes or without) | utf-16 | base64: how what is around is to be read."""
    lowered: bool


def lowered(data: bytes) -> bytes:
    """The data with A–Z made small, byte for byte as long."""
    return data.lower()


def needles(passages: Iterable[str], spellings: Iterable[str] = ()) -> tuple[Needle, ...]:
    """What to look for. `spellings` are forms in which a passage is known to have stood."""
    found: list[Needle] = []
    for text in (*passages, *spellings):
        likely = dict.fromkeys(_likely(text))
        found += [needle for word in likely for needle in _encoded(word)]
        found += [_plain(word) for word in _unlikely(tuple(likely))]
    return tuple(dict.fromkeys(_joined(found)))


def _joined(found: Sequence[Needle]) -> Iterator[Needle]:
    """One needle for those that differ in their first letter only, as a word in base64 does whose case differs."""
    alike = Counter(needle.data[1:] for needle in set(found) if needle.encoding == "base64")
    for needle in found:
        rest = needle.data[1:]
        joined = needle.encoding == "base64" and alike[rest] > 1 and len(rest) >= _FEWEST
        yield replace(needle, data=rest) if joined else needle


def _likely(text: str) -> Iterator[str]:
    """The longest word of a text, as it was said and in each case."""
    pieces = list(search_fold.pieces(search_fold.fold(text)))
    if not pieces:
        yield text.strip() or text
        return
    piece, is_run = max(pieces, key=lambda one: len(one[0].encode()))
    piece = piece[:LONGEST_RUN] if is_run else piece
    for word in (piece, *(word for word in _as_said(text) if search_fold.fold(word).startswith(piece))):
        word = word[:LONGEST_RUN] if is_run else word
        for cased in (word, word.lower(), word.upper(), word.title()):
            yield unicodedata.normalize("NFC", cased)


def _as_said(text: str) -> Iterator[str]:
    """Each stretch of a text that could be the chosen piece, as it stands there."""
    word = ""
    for character in text:
        if character.isalnum() or unicodedata.category(character).startswith("M"):
            word += character
        elif word:
            yield word
            word = ""
    if word:
        yield word


def _unlikely(words: Sequence[str]) -> Iterator[str]:
    """Other ways of writing the same: looked for as plain text only, for each way costs time."""
    for word in words:
        yield unicodedata.normalize("NFD", word)
        yield _wide(word)
        yield _katakana(word)
        yield _half_width(_katakana(word))


def _wide(word: str) -> str:
    return "".join(chr(ord(letter) + 0xFEE0) if "!" <= letter <= "~" else letter for letter in word)


def _katakana(word: str) -> str:
    return "".join(chr(ord(letter) + 0x60) if "ぁ" <= letter <= "ゖ" else letter for letter in word)


def _half_width(word: str) -> str:
    return "".join(_HALF.get(letter, letter) for letter in unicodedata.normalize("NFD", word))


_HALF = {
    **{unicodedata.normalize("NFKC", chr(code)): chr(code) for code in range(0xFF66, 0xFF9E)},
    "\u3099": "\uff9e",
    "\u309a": "\uff9f",
}


def _plain(word: str) -> Needle:
    return Needle(lowered(word.encode()), "text", lowered=True)


def _encoded(word: str) -> Iterator[Needle]:
    yield _plain(word)
    if word.isascii():
        # Without the zeros at its ends it is the same whichever end comes first.
        yield Needle(lowered(word.encode("utf-16-le"))[:-1], "utf-16", lowered=True)
    else:
        yield Needle(word.encode("utf-16-le"), "utf-16", lowered=False)
        yield Needle(word.encode("utf-16-be"), "utf-16", lowered=False)
        for slashes in _DEPTHS:
            escaped = "".join(_json(letter, slashes) for letter in word)
            yield Needle(lowered(escaped.encode()), "text", lowered=True)
        yield Needle(lowered(quote(word).encode()), "text", lowered=True)
    yield from _in_base64(word.encode())


_DEPTHS = ("\\", "\\\\", "\\\\\\\\")
"""JSON in JSON doubles what it escapes with."""


def _json(letter: str, slashes: str) -> str:
    if letter.isascii():
        return letter
    units = letter.encode("utf-16-be")
    return "".join(f"{slashes}u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))


def _in_base64(data: bytes) -> Iterator[Needle]:
    """The three ways in which three bytes at a time can fall on a word; the letters at its edges differ."""
    for before in range(3):
        whole = base64.b64encode(b"\0" * before + data).rstrip(b"=")
        first = (before * 8 + 5) // 6
        last = (before + len(data)) * 8 // 6
        inner = whole[first:last]
        if len(inner) >= 4:
            yield Needle(inner, "base64", lowered=False)
            url = inner.translate(bytes.maketrans(b"+/", b"-_"))
            yield Needle(url, "base64", lowered=False)
