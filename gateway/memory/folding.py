"""How words are compared where they are to be forgotten: folded, and where each folded character came from. Pure.

Case, width, accents, the two ways of writing kana and what is invisible make no difference; the dakuten does.
Search folds alike (`store.search_fold`) but keeps no offsets, and lets a family of emoji fall apart: here it is one
thing. Folded piece by piece a text gives the same as in one go, so that a hit can be cut out of the original.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

MARK = "(forgotten)"
"""What stands in a text in place of what was cut. The same in every language; no passage matches it."""
OPAQUE = "\uffff"
"""What the mark folds to: neither a word nor a gap between two."""

EAST = (
    "\u3005-\u3007\u303b\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u31a0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\
\uf900-\ufaff\U00016fe0-\U00016fff\U00017000-\U00018cff\U0001b000-\U0001b2ff\U00020000-\U0003ffff"
)
"""Chinese and Japanese, which put no blanks between words: where there is one, it says nothing."""
RUNS = EAST + "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff"
"""Scripts of which any run of characters counts: these, Korean, Thai and its neighbours."""
_SIGNS_OF_WORDS = (
    "\u0483-\u0489\u0900-\u0963\u0966-\u0dff\u0f00-\u0fff\u135d-\u135f\u0711\u0730-\u074a\u07a6-\u07b0\u07eb-\u07f3\u07fd\u0816-\u082d\
\u0859-\u085b\u0898-\u089f\u08ca-\u08ff\u1712-\u1715\u1732-\u1734\u1752\u1753\u1772\u1773\u1885\u1886\u18a9\
\u1920-\u193b\u1a17-\u1a1b\u1a55-\u1a7f\u1b00-\u1b04\u1b34-\u1b44\u1b6b-\u1b73\u1b80-\u1b82\u1ba1-\u1bad\
\u1be6-\u1bf3\u1c24-\u1c37\u1cd0-\u1cf9\u2de0-\u2dff\ua66f-\ua69f\ua6f0\ua6f1\ua802-\ua82c\ua880-\ua8c5\
\ua8e0-\ua8ff\ua926-\ua953\ua980-\ua9c0\uaa29-\uaaf6\uabe3-\uabed\U00010a00-\U00011fff"
)
"""Vowel signs are parts of words, though Python takes them for punctuation."""
_EMOJI = "\u00a9\u00ae\u231a-\u23ff\u25b6\u25c0\u2600-\u27bf\u2934\u2935\u2b05-\u2b55\U0001f000-\U0001faff"
JOINER = "\u200d"

WORD = rf"(?:[^\W_{RUNS}]|[{_SIGNS_OF_WORDS}])"
GAP = rf"(?:[^\w{RUNS}{_SIGNS_OF_WORDS}{_EMOJI}{OPAQUE}{JOINER}]|_)"
"""A blank, a line break or a sign between two words."""
JOINT = r"[\s\u00b7\u2027\u30fb*_~`\-\u2010-\u2015=\u30a0]"
"""What may stand between two Chinese or Japanese characters without setting them apart."""

_TOKEN = re.compile(
    rf"(?P<word>{WORD}+)|(?P<run>[{RUNS}])"
    rf"|(?P<emoji>[{_EMOJI}](?:{JOINER}[{_EMOJI}])*)"
)
_WORDS = re.compile(re.sub(r"\?P<\w+>", "?:", _TOKEN.pattern))
_PLAIN_WORD = re.compile("[a-z0-9]+")
SIGNS = rf"[+#]{{1,3}}(?!{WORD})"
_SIGNED = re.compile(SIGNS)
SHORT = 2
"""Words so short are made by their signs: `c++`, `c#`, `a+`."""

_DROPPED = (
    "\u00ad\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u061c\u0640\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u180b-\u180f"
    "\u1ab0-\u1aff\u1dc0-\u1dff\u200b\u200c\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\u20d0-\u20f0\u302a-\u302f\ufb1e"
    "\ufe00-\ufe0f\ufe20-\ufe2f\ufeff\U0001f3fb-\U0001f3ff\U000e0000-\U000e0fff"
)
"""Accents, points of Hebrew and Arabic, what is invisible, variants and colours of emoji. Not the dakuten."""
_DROP = re.compile(f"[{_DROPPED}]+")
_JOINERS = re.compile(f"{JOINER}{{2,}}")
_LOOSE_JOINER = re.compile(rf"{JOINER}(?![{_EMOJI}])|(?<![{_EMOJI}]){JOINER}")
_FLAG = re.compile("([\U0001f1e6-\U0001f1ff])([\U0001f1e6-\U0001f1ff])")
_ALIKE: dict[int, int | str] = {
    **{code: code - 0x60 for code in range(0x30A1, 0x30F7)},
    0x30FD: 0x309D,
    0x30FE: 0x309E,
    **{ord(letter): plain for letter, plain in zip("øđðłħŧıŀŋ", "oddlhtiln", strict=True)},
    ord("æ"): "ae",
    ord("œ"): "oe",
    ord("þ"): "th",
}
LIGATURES = ("ae", "oe", "th")
"""Two letters that may be one."""


def fold(text: str) -> str:
    """What is compared. Gaps stay as they are: what counts as one is said where texts are compared."""
    if text.isascii() and MARK not in text:
        return text.lower()
    return _folded(text.replace(MARK, OPAQUE))


def apart(text: str) -> str:
    """The cheap half of folding: letters apart from their accents, in one width and case."""
    return unicodedata.normalize("NFKD", text).casefold()


def _folded(text: str) -> str:
    plain = _DROP.sub("", unicodedata.normalize("NFKD", apart(text))).translate(_ALIKE)
    if JOINER in plain:
        plain = _LOOSE_JOINER.sub("", _JOINERS.sub(JOINER, plain))
    return unicodedata.normalize("NFC", _FLAG.sub(rf"\1{JOINER}\2", plain))  # two letters are one flag


def alternatives(letter: str) -> str:
    """A pattern for what folding makes these letters of, in what `apart` leaves: one, or one of LIGATURES."""
    same = ord(letter) if len(letter) == 1 else None
    others = "".join(chr(code) for code, plain in _ALIKE.items() if plain in (letter, same))
    return "|".join(map(re.escape, (letter, *others)))


# -- tokens --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Token:
    """A word with its signs, one character of a run, or one emoji with all that is joined to it."""

    text: str
    kind: str
    """`word`, `run` or `emoji`."""
    start: int
    end: int


def tokens(folded: str) -> Iterator[Token]:
    """What a folded text consists of, without its gaps."""
    for found in _TOKEN.finditer(folded):
        kind, end = found.lastgroup or "", found.end()
        if kind == "word" and end - found.start() <= SHORT and (signs := _SIGNED.match(folded, end)):
            end = signs.end()
        yield Token(folded[found.start() : end], kind, found.start(), end)


def words(folded: str) -> list[str]:
    """The texts of its tokens."""
    if "+" in folded or "#" in folded:
        return [token.text for token in tokens(folded)]
    return (_PLAIN_WORD if folded.isascii() else _WORDS).findall(folded)


# -- where it came from --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Mapped:
    """A folded text and, for each of its characters, what part of the original it stands for."""

    folded: str
    starts: Sequence[int]
    ends: Sequence[int]


def mapped(text: str) -> Mapped:
    """The same as `fold`, with offsets. A part is never less than what a reader sees as one character."""
    if text.isascii() and MARK not in text:
        return Mapped(text.lower(), range(len(text)), range(1, len(text) + 1))
    folded, starts, ends = [], [], []
    for start, end in _parts(text):
        plain = _folded_part(text[start:end])
        folded.append(plain)
        starts += [start] * len(plain)
        ends += [_without_controls(text, start, end)] * len(plain)
    return Mapped("".join(folded), starts, ends)


def borders(text: str) -> Iterator[int]:
    """Where a text may be divided without tearing what a reader sees as one character."""
    yield 0
    for _, end in _parts(text):
        yield end


def _parts(text: str) -> Iterator[tuple[int, int]]:
    """Characters as readers see them, with what is invisible after them; the mark is one."""
    start = 0
    while start < len(text):
        end = start + len(MARK) if text.startswith(MARK, start) else _end_of_part(text, start)
        yield start, end
        start = end


def _end_of_part(text: str, start: int) -> int:
    last, joined, flags = text[start], False, 1
    for place in range(start + 1, len(text)):
        char = text[place]
        if _extends(char):
            joined = joined or char == JOINER
            if char != JOINER and not _DROP.fullmatch(char):
                flags = 2  # what stays between two letters keeps them from being a flag
        elif (joined and _is_emoji(char)) or _is_one_syllable(last, char):
            last, joined, flags = char, False, 1
        elif flags == 1 and _is_flag(last) and _is_flag(char):
            last, flags = char, 2
        else:
            return place
    return len(text)


def _folded_part(part: str) -> str:
    return _folded_piece(part) if len(part) <= _SHORT_PART else _folded(part.replace(MARK, OPAQUE))


_SHORT_PART = 16


@lru_cache(maxsize=4096)
def _folded_piece(part: str) -> str:
    return _folded(part.replace(MARK, OPAQUE))


@lru_cache(maxsize=4096)
def _extends(char: str) -> bool:
    """Whether it belongs to the character before it."""
    return (
        char == JOINER
        or unicodedata.category(char)[0] == "M"
        or unicodedata.combining(unicodedata.normalize("NFKD", char)[0]) != 0
        or _DROP.fullmatch(char) is not None
    )


@lru_cache(maxsize=4096)
def _is_emoji(char: str) -> bool:
    return re.match(f"[{_EMOJI}]", unicodedata.normalize("NFKD", char)) is not None


def _is_flag(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"


def _is_one_syllable(before: str, char: str) -> bool:
    """Whether a part of a Korean syllable goes on with it."""
    if char < "\u1100" or before < "\u1100":
        return False
    last, first = unicodedata.normalize("NFKD", before)[-1], unicodedata.normalize("NFKD", char)[0]
    if not _HANGUL.match(last):
        return False
    return _LATER_JAMO.match(first) is not None or (
        _FIRST_JAMO.match(last) is not None and _FIRST_JAMO.match(first) is not None
    )


_HANGUL = re.compile("[\u1100-\u11ff\ua960-\ua97f\ud7b0-\ud7ff]")
_FIRST_JAMO = re.compile("[\u1100-\u115f\ua960-\ua97f]")
_LATER_JAMO = re.compile("[\u1160-\u11ff\ud7b0-\ud7ff]")


def _without_controls(text: str, start: int, end: int) -> int:
    """Where the part ends for whoever cuts it out: what is merely invisible after it stays."""
    while end - 1 > start and text[end - 1] in STAYING:
        end -= 1
    return end


STAYING = frozenset(
    "\u00ad\u061c\u0640\u200b\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2066\u2067\u2068\u2069\ufeff"
)


CACHES = (_folded_piece, _extends, _is_emoji)
"""What keeps words of people in this process (`memory.caches`)."""
