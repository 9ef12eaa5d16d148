"""How a text becomes what is compared and what is indexed. Pure.

Case, width, accents and kana are folded. Words are tokens as they stand; scripts that put no blanks between words
(and those whose vowel signs are no letters) become pairs of neighbours, with the last character of each run alone:
so any run of two or more characters is a phrase of pairs, wherever it begins and ends. What is no running text
(single characters, `c++`, the role) follows as marks that begin with `~`. SQLite only splits at the blanks we put.

`unindex` must hand over the same tokens as `index` did: whatever changes them here must change VERSION.
"""

import functools
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

VERSION = 1
LONGEST_TOKEN = 48
"""Longer ones are cut, in texts and in queries alike."""

_RUNS = (
    "\u0900-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3005-\u3007\u303b\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff"
    "\u3105-\u318e\u31a0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
_SYMBOLS = (
    "\u00a1-\u00a9\u00ac-\u00b1\u00b6\u00d7\u00f7\u2020-\u2022\u2030\u20a0-\u20cf\u2100-\u2bff\U0001f000-\U0001faff"
)
WORD_CHARACTER = rf"[^\W_{_RUNS}]"
_SIGNED = re.compile(r"(?<![a-z0-9_])([a-z0-9]{1,8})([+#]{1,3})")
"""`c++`, `c#`, `f#`: words that their signs make."""
_NO_TOKENS = str.maketrans("~+#\0", "    ")
_LONG_WORD = re.compile(rf"([^\W_]{{{LONGEST_TOKEN}}})[^\W_]+")

_DROPPED = re.compile(
    "[\u00ad\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u061c\u0640\u064b-\u065f\u0670\u180e"
    "\u200b-\u200f\u202a-\u202e\u2060-\u2064\u20d0-\u20f0\ufe00-\ufe0f\ufeff\U0001f3fb-\U0001f3ff\U000e0000-\U000e0fff]+"
)
"""Accents, points of Hebrew and Arabic, what is invisible, variants and colours of emoji. Not the dakuten."""
_ALIKE: dict[int, int | str] = {
    **{code: code - 0x60 for code in range(0x30A1, 0x30F7)},
    0x30FD: 0x309D,
    0x30FE: 0x309E,
    **{ord(letter): plain for letter, plain in zip("øđðłħŧıŀŋ", "oddlhtiln", strict=True)},
    ord("æ"): "ae",
    ord("œ"): "oe",
    ord("þ"): "th",
    ord("ς"): "σ",
}


def fold(text: str) -> str:
    """What is compared: without case, width, accents, invisible characters and the two ways of writing kana."""
    if text.isascii():
        return text.lower()
    apart = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    return unicodedata.normalize("NFC", _DROPPED.sub("", apart)).translate(_ALIKE)


def document(text: str, *marks: str) -> str:
    """What SQLite is given to index: tokens and marks with blanks between them."""
    folded = fold(text)
    if folded.isascii():
        plain = _LONG_WORD.sub(r"\1", folded) if len(folded) > LONGEST_TOKEN else folded
        return " ".join((plain.translate(_NO_TOKENS), *marks, *_signs(folded)))
    singles: set[str] = set()
    tokens: list[str] = []
    for run, word, symbol in _token().findall(folded):
        if run:
            tokens += map("".join, pairwise(run))
            tokens.append(run[-1])
            singles.update(run)
        else:
            tokens.append(word[:LONGEST_TOKEN] or symbol)
    return " ".join((*tokens, *marks, *_signs(folded), *(f"~{single}" for single in sorted(singles))))


def pieces(folded: str) -> Iterator[tuple[str, bool]]:
    """The words, runs and symbols of a folded text, in order; and whether it is a run of characters."""
    for found in _token().finditer(folded):
        yield found[0], found.lastgroup == "run"


def signed(folded: str) -> list[str]:
    """The words with signs in a folded text, as marks."""
    return _signs(folded)


def frequent(documents: Sequence[str]) -> list[str]:
    """What a session is about: the tokens in a tenth of its messages, in three at least.

    `token~2` besides are those in nearly every third: it is about little else.
    """
    tokens_of = _indexed().findall
    counts = Counter(token for one in documents for token in set(tokens_of(one)))
    found = []
    for token in sorted(token for token, count in counts.items() if count >= 3 and count * 10 >= len(documents)):
        if token not in ROLES.values():
            found += [token, f"{token}~2"] if counts[token] * 10 >= 3 * len(documents) else [token]
    return found


@functools.cache
def _indexed() -> re.Pattern[str]:
    """A token in what SQLite was given to index."""
    return re.compile(r"[a-z0-9~+#\u0080-\U0010ffff]+")


@functools.cache  # compiled when the first text is indexed or searched: most commands do neither
def _token() -> re.Pattern[str]:
    """A run of characters, a word or a symbol."""
    return re.compile(rf"(?P<run>[{_RUNS}]+)|(?P<word>{WORD_CHARACTER}+)|(?P<symbol>[{_SYMBOLS}])")


ROLES = {"user": "~u", "assistant": "~a", "tool": "~t"}


def _signs(folded: str) -> list[str]:
    """`c++` also as `c+`: whoever searches for less finds more."""
    if "+" not in folded and "#" not in folded:
        return []
    found = (f"~{word}{signs[:count]}" for word, signs in _SIGNED.findall(folded) for count in (1, 2, 3))
    return list(dict.fromkeys(found))
