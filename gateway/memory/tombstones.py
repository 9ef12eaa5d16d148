"""Why something that was forgotten is held when it is proposed again, though we no longer know it.

A mark is a keyed hash. Of a passage and of the entry that went with it all words are hashed together, and their
first few apart, so that they are found inside any longer text; of a fact each rare part is hashed, so that it is
known in other words. Neither is a secret to whoever has the whole home (docs/decisions/0019).
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from hashlib import blake2b
from itertools import chain, pairwise

from gateway.memory import folding, passages, rareparts
from gateway.memory.passages import Passage
from gateway.store import tombstones
from gateway.store.tombstones import Kind, Mark, PartOfFact, Tombstone
from gateway.store.transaction import Reader

FIRST = 3
"""How many words, or characters of a run, are hashed apart."""
MOST_PARTS = 48
COMMON = 6
"""A part that so many facts have counts only where a rarer one points to a fact."""
POINTING, MOST_FACTS = 0.2, 3


@dataclass(frozen=True, slots=True)
class Held:
    """A text says again what was forgotten."""

    forget: int
    """The last of those that it goes against."""
    at: datetime
    fact: int
    verbatim: bool
    """The words themselves, or the same in other words."""
    ids: tuple[int, ...]
    """All marks it goes against: `store.tombstones.lift` takes them, and the others of their facts, away."""


def marks(passage: Passage, fact: str, key: bytes) -> tuple[Mark, ...]:
    """What is kept of a forgotten passage and of the entry that went with it (or "": there was none)."""
    found = [_words_mark(Kind.PASSAGE, passage.tokens, key)]
    whole = tuple(folding.words(folding.fold(fact)))
    if whole and whole != passage.tokens:
        found.append(_words_mark(Kind.ENTRY, whole, key))
    for text in _facts(passage, fact):
        found += _part_marks(text, key)
    return tuple(found)


def entry(text: str, key: bytes) -> Mark | None:
    """What is kept of an entry that went, so that a restored copy loses it again."""
    words = tuple(folding.words(folding.fold(text)))
    return _words_mark(Kind.ENTRY, words, key) if words else None


def held_by(rd: Reader, space: int, text: str, key: bytes | None) -> Held | None:
    """Whether a text says what was forgotten in this space: its words anywhere, or the fact in other words."""
    known = tombstones.filter_of(rd, space) if key is not None else None
    if key is None or known is None:
        return None
    verbatim = _verbatim(rd, space, folding.words(folding.fold(text)), key, known)
    facts = _reworded(rd, space, list(rareparts.parts(text)), key)
    reworded = tombstones.of_facts(rd, space, facts) if facts else []
    against = verbatim or reworded
    if not against:
        return None
    last = max(against, key=lambda one: (one.at, one.id))
    ids = tuple(sorted({one.id for one in (*verbatim, *reworded)}))
    return Held(last.forget, last.at, last.mark.fact, bool(verbatim), ids)


def said_in(rd: Reader, space: int, text: str, key: bytes) -> Iterator[str]:
    """The forgotten passages that stand in a text, word by word: known again from an older copy, for a restore."""
    words, known = folding.words(folding.fold(text)), tombstones.filter_of(rd, space)
    for one in _verbatim(rd, space, words, key, known) if known is not None else ():
        if one.mark.kind is Kind.PASSAGE:
            for place in range(len(words) - one.mark.size + 1):
                if _hash("words", words[place : place + one.mark.size], key) == one.mark.mark:
                    yield " ".join(words[place : place + one.mark.size])
                    break


# -- the words -----------------------------------------------------------------------------------------------


def _words_mark(kind: Kind, words: Sequence[str], key: bytes) -> Mark:
    start = _starts([_hashed(key, word) for word in words[:FIRST]])[-1]
    return Mark(kind, _number(_hash("fact", words, key)), _hash("words", words, key), start, len(words))


def _verbatim(rd: Reader, space: int, words: Sequence[str], key: bytes, known: bytes) -> list[Tombstone]:
    """The passages and entries that stand in a text of these words."""
    starts = _starts([_hashed(key, word) for word in words])
    likely = tombstones.likely(known, starts)
    sizes = tombstones.sizes(rd, space, list(dict.fromkeys(likely))) if likely else []
    if not sizes:
        return []
    places: dict[int, list[int]] = {start: [] for start, _ in sizes}
    for start, place in zip(starts, _places(len(words)), strict=True):
        if start in places:
            places[start].append(place)
    windows = {tuple(words[place : place + size]): None for start, size in sizes for place in places[start]}
    return tombstones.with_marks(rd, space, [_hash("words", window, key) for window in windows])


def _starts(hashes: Sequence[int]) -> list[int]:
    """One number for each word, then for each two and each three after one another."""
    twos = [(one * _ODD + two) & _MASK for one, two in pairwise(hashes)]
    threes = [(two * _ODD + three) & _MASK for two, three in zip(twos, hashes[2:], strict=False)]
    return [*hashes, *twos, *threes]


def _places(count: int) -> Iterator[int]:
    """Where each of these numbers begins."""
    return chain.from_iterable(range(count - length) for length in range(FIRST))


# -- other words ---------------------------------------------------------------------------------------------


def _facts(passage: Passage, fact: str) -> Iterator[str]:
    """What other words may say: the entry, and of an entry of several sentences the one with the passage."""
    if not fact:
        yield passage.text
        return
    yield fact
    sentences = _sentences(fact)
    if len(sentences) > 1:
        yield from (one for one in sentences if passages.holds(one, (passage,)))


def _sentences(text: str) -> list[str]:
    return [one for one in _END.split(text) if one.strip()]


_END = re.compile(r"(?<=[.!?;])\s+(?=\W*[A-Z0-9])|(?<=[。！？])|\n")


def _part_marks(text: str, key: bytes) -> Iterator[Mark]:
    weights = sorted(rareparts.parts(text).items(), key=lambda one: -one[1])[:MOST_PARTS]
    fact = _number(_hash("fact", folding.words(folding.fold(text)), key))
    whole = sum(weight for _, weight in weights)
    for part, weight in weights:
        start = _hashed(key, _PART + part)
        yield Mark(Kind.PART, fact, f"{start:015x}", start, weight, whole, len(weights))


def _reworded(rd: Reader, space: int, parts: Sequence[str], key: bytes) -> list[int]:
    """The facts that a text with these parts says again."""
    starts = {_hashed(key, _PART + part) for part in parts}
    found = tombstones.parts(rd, space, list(starts), COMMON)
    common = _common([one[0] for one in found])
    if common:
        facts = _pointed_at([one for one in found if one[0] not in common])
        found = [one for one in tombstones.parts_of(rd, space, facts) if one[0] in starts] if facts else []
    return [fact for fact, agreed in _by_fact(found).items() if rareparts.agrees(*agreed)]


def _common(starts: Sequence[int]) -> set[int]:
    """Those that come as often as any may; each comes in a row."""
    last = COMMON - 1
    return {one for one, other in zip(starts, starts[last:], strict=False) if one == other}


def _pointed_at(rare: Iterable[PartOfFact]) -> list[int]:
    """The facts of which parts that few others have are a good deal."""
    found = _by_fact(rare)
    good = [fact for fact, (_, _, weight, whole) in found.items() if weight >= POINTING * whole]
    return sorted(good, key=lambda fact: -found[fact][2])[:MOST_FACTS]


def _by_fact(found: Iterable[PartOfFact]) -> dict[int, tuple[int, int, int, int]]:
    """Of each fact: how many parts, of how many, with what weight, of what. The same fact may be kept twice."""
    facts: dict[int, tuple[int, int, int, int]] = {}
    for _, fact, weight, whole, parts in set(found):
        count, _, sum, _ = facts.get(fact, (0, 0, 0, 0))
        facts[fact] = count + 1, parts, sum + weight, whole
    return facts


# -- hashes --------------------------------------------------------------------------------------------------

_MASK = (1 << 60) - 1
_ODD = 0x9E3779B97F4A7C15 & _MASK
_PART = "part\0"


@lru_cache(maxsize=8192)  # a keyed hash of one word each; most words come again
def _hashed(key: bytes, word: str) -> int:
    digest = blake2b(word.encode("utf-8", "surrogatepass"), key=key, digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 4


def _hash(kind: str, words: Sequence[str], key: bytes) -> str:
    text = "\0".join((kind, *words))
    return blake2b(text.encode("utf-8", "surrogatepass"), key=key, digest_size=16).hexdigest()


def _number(hash: str) -> int:
    return int(hash[:15], 16)


CACHES = (_hashed,)
"""What keeps words of people in this process (`memory.caches`)."""
