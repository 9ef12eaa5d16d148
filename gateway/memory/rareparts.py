"""What a note can be known by when it is said in other words: its names, numbers and content words. Pure.

No understanding of language: a part is a stem, a group of words that say the same (`rarewords`), or a number, with
a weight. Two notes are about the same fact if most of the weight agrees. English and Japanese are known; of other
languages words and numbers are compared as they stand.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import pairwise

from gateway.memory import folding
from gateway.memory import rarewords as lexicon

MOST_READ = 2_000
"""Characters of a text. What comes after them is not compared."""

_PART = re.compile(
    r"""
    (?P<mail>[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8})
  | (?P<phone>\+?\d(?:[ ()\-]{0,2}\d){8,14})(?!\d)
  | (?P<grouped>\d{1,3}(?:[,. ]\d{3})+)(?!\d)
  | (?P<number>\d+)
  | (?P<kanjinumber>[〇一二三四五六七八九十]{1,2}(?=[月日年回枚本階歳才時分人円万度番個匹頭台冊軒]))
  | (?P<han>(?:(?![〇一二三四五六七八九十]{1,2}[月日年回枚本階歳才時分人円万度番個匹頭台冊軒])[々〆\u3400-\u9fff])+)
  | (?P<katakana>[\u30a1-\u30fa\u30fc]+)
  | (?P<hiragana>[\u3041-\u309f]+)
  | (?P<hangul>[\uac00-\ud7a3]+)
  | (?P<word>(?:(?![\u3041-\u30ff\u3400-\u9fff\uac00-\ud7a3々〆])[^\W\d_])+)
    """,
    re.VERBOSE,
)
_ACCENTS = re.compile("[\u0300-\u036f\u00ad\u200b-\u200f\ufe00-\ufe0f]+")

STRONG, FULL_NAME, NAME, PLAIN, WEAK = 8, 8, 6, 4, 2
"""Weights: a long number or address; all words of a name; a name of one; a word; a small number or one letter."""

Part = tuple[str, int, str]
"""What is compared, its weight, and how it is spelt in the text."""


def parts(text: str) -> dict[str, int]:
    """What the text can be known by, and how well."""
    return {part: weight for part, (weight, _) in _weighed(text).items()}


def _weighed(text: str) -> dict[str, tuple[int, str]]:
    found: dict[str, tuple[int, str]] = {}
    for part, weight, word in _read(_plain(text[:MOST_READ])):
        if part not in found or found[part][0] < weight:
            found[part] = weight, word
    return found


def _plain(text: str) -> str:
    """One width, without accents and what is invisible; capitals and katakana stay, since they tell names."""
    if text.isascii():
        return text
    apart = unicodedata.normalize("NFKD", text)
    return unicodedata.normalize("NFC", _ACCENTS.sub("", apart))


def _read(plain: str) -> list[Part]:
    read: list[Part] = []
    name: list[Part] = []
    before, end = "", 0
    for found in _PART.finditer(plain):
        kind, text = found.lastgroup or "", found[0]
        start = found.start()
        if kind == "word":
            if name and (plain[end:start] != " " or not text[0].isupper()):
                read += _named(name)
                name = []
            (name if text[0].isupper() else read).extend(_word(text))
        else:
            read += _KINDS[kind](text, before if start == end else "")
        before, end = kind, found.end()
    return [*read, *_named(name)]


def _named(words: Sequence[Part]) -> Iterator[Part]:
    """`Anna Lindqvist` is one name: both words together weigh little more than one."""
    for part, weight, word in words:
        yield part, weight if weight < PLAIN else NAME if len(words) == 1 else FULL_NAME // len(words), word


# -- words ---------------------------------------------------------------------------------------------------


def _word(text: str) -> list[Part]:
    lower = text.casefold()
    number = lexicon.NUMBERS.get(lower)
    if number is not None:
        return [("#" + number, WEAK, lower)]
    return [] if lower in lexicon.STOPS or len(lower) == 1 else [(stem(lower), PLAIN, lower)]


@lru_cache(maxsize=4096)
def stem(word: str) -> str:
    """A word without what commonly changes at its end, or the first word of its group."""
    bare = _stem(word)
    return _groups().get(bare, bare)


def _stem(word: str) -> str:
    if word.isascii() and len(word) > 3:
        for end in ("ies", "ing", "ed", "ly", "es", "s", "e", "y"):
            if word.endswith(end) and len(word) - len(end) >= 3 and not word.endswith("ss"):
                word = word[: -len(end)]
                break
        if len(word) > 3 and word[-1] == word[-2] and word[-1] in "nmptglrd":
            word = word[:-1]
    return word


@cache
def _groups() -> Mapping[str, str]:
    """Stem -> what its group is called."""
    return {_stem(word): group for word, group in _grouped(lexicon.SAME_IN_ENGLISH)}


def _grouped(lines: str) -> Iterator[tuple[str, str]]:
    for line in lines.strip().splitlines():
        words = line.split()
        yield from ((word, "=" + words[0]) for word in words)


# -- numbers -------------------------------------------------------------------------------------------------


def _number(text: str, before: str) -> list[Part]:
    value = re.sub(r"\D", "", text).lstrip("0") or "0"
    year = len(value) == 4 and value[:2] in ("19", "20")
    return [("#" + value, PLAIN if year else STRONG if len(value) > 2 else WEAK, text)]


def _kanji_number(text: str, before: str) -> list[Part]:
    known = lexicon.KANJI_NUMBERS.get(text)
    return [("#" + (known or "".join(lexicon.KANJI_NUMBERS[digit] for digit in text)), WEAK, text)]


def _address(text: str, before: str) -> list[Part]:
    return [("#" + text.casefold(), STRONG, text.casefold())]


def _phone(text: str, before: str) -> list[Part]:
    """Its last digits: with and without the country's."""
    return [("#" + re.sub(r"\D", "", text)[-8:], STRONG, text)]


# -- Japanese and Korean -------------------------------------------------------------------------------------


def _han(run: str, before: str) -> list[Part]:
    """A run of kanji: what its group is called, or its pairs, which together weigh as much as a word."""
    if before in ("number", "kanjinumber", "grouped"):
        run = run.lstrip(lexicon.COUNTERS)
    group = _japanese().get(run)
    if group is not None:
        return [(group, PLAIN, run)]
    if len(run) < 2:
        return [(run, WEAK, run)] if run and run not in lexicon.JAPANESE_STOPS else []
    weight = max(1, NAME // (len(run) - 1))
    pairs = ("".join(pair) for pair in pairwise(run))
    return [(_japanese().get(pair, pair), weight, pair) for pair in pairs if pair not in lexicon.JAPANESE_STOPS]


def _katakana(run: str, before: str) -> list[Part]:
    folded = folding.fold(run)
    return [(_japanese().get(run, folded), NAME, folded)]


def _hiragana(run: str, before: str) -> list[Part]:
    """A word in it, if it is no grammar; what follows kanji without a particle is the ending of a word."""
    word = run.strip(_PARTICLES)
    ending = before == "han" and run[0] not in _PARTICLES
    if ending or len(word) < 3 or word in lexicon.HIRAGANA_STOPS or run in lexicon.HIRAGANA_STOPS:
        return []
    return [(_japanese().get(word, word), WEAK, word)]


_PARTICLES = "をがにでとのもへはや"


def _hangul(run: str, before: str) -> list[Part]:
    """The beginning of a word, which its endings leave alone."""
    return [(run[:2], PLAIN, run)]


@cache
def _japanese() -> Mapping[str, str]:
    """Word -> what its group is called."""
    return dict(_grouped(lexicon.SAME_IN_JAPANESE))


_KINDS: Mapping[str, Callable[[str, str], list[Part]]] = {
    "mail": _address,
    "phone": _phone,
    "grouped": _number,
    "number": _number,
    "kanjinumber": _kanji_number,
    "han": _han,
    "katakana": _katakana,
    "hiragana": _hiragana,
    "hangul": _hangul,
}


# -- the same fact? ------------------------------------------------------------------------------------------

FEWEST, ENOUGH = 3, 0.55
NEAR = 0.5


def agrees(count: int, parts: int, weight: int, whole: int) -> bool:
    """Whether a text says what a fact says, of whose parts it has so many, with this weight of the whole."""
    return count >= min(FEWEST, parts) and weight >= ENOUGH * whole


def shared(text: str, passage: str, rare: Callable[[str], bool]) -> float | None:
    """How much of what is rare in the passage is in the text, too; None if less than half of it.

    `rare` is asked for folded words as they stand in the passage, not for their stems.
    """
    wanted = {part: weight for part, (weight, word) in _weighed(passage).items() if rare(word)}
    there = _weighed(text).keys() if wanted else ()
    found = sum(weight for part, weight in wanted.items() if part in there)
    return found / sum(wanted.values()) if wanted and found >= NEAR * sum(wanted.values()) else None
