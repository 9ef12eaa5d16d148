"""Where a text holds words that are to be forgotten, and the same text without them. Pure.

A passage is found whatever its case, width, accents, kana and line breaks: as whole words in scripts with blanks,
as any run of characters in Chinese, Japanese, Korean and Thai. Offsets are those of the original text, and nothing
but the hit is changed. Most texts hold no passage: a look at the cheap half of folding is enough to say so. What
makes two texts alike is in `folding`.
"""

import json
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from gateway.errors import Refused
from gateway.memory import folding, rareparts
from gateway.memory.folding import EAST, GAP, JOINT, WORD, Token
from gateway.memory.folding import MARK as MARK

EXCERPT, _MARGIN = 80, 40


@dataclass(frozen=True, slots=True)
class Passage:
    """Words to look for. Made by `of`; two of the same words in another spelling are equal."""

    text: str = field(compare=False)
    tokens: tuple[str, ...]
    """Its folded words, characters of runs and emoji, without what stands between."""
    anchor: str = field(compare=False, repr=False)
    """Its longest token: stands in every folded text that holds it, and is quickly looked for."""

    @staticmethod
    def of(text: str) -> "Passage":
        """A passage of these words. Refused where they would be found everywhere, or nowhere."""
        found = tuple(folding.tokens(_folded(text)))
        if not found or (len(found) == 1 and found[0].kind == "word" and len(found[0].text) == 1):
            raise Refused("forget.too_short")
        words = tuple(token.text for token in found)
        return Passage(text, words, max(words, key=len))

    @property
    def exact(self) -> re.Pattern[str]:
        """Finds it in a folded text."""
        return _patterns(self.text).exact

    @property
    def loose(self) -> re.Pattern[str]:
        """The same without regard to the borders of words."""
        return _patterns(self.text).loose

    @property
    def rough(self) -> re.Pattern[str]:
        """Finds its beginning in what `folding.apart` leaves; more often than it should, never less."""
        return _patterns(self.text).rough


def can_be_looked_for(text: str) -> bool:
    """Whether a text makes a passage."""
    try:
        Passage.of(text)
    except Refused:
        return False
    return True


def _folded(text: str) -> str:
    return folding.fold(text.replace(MARK, " "))


def spans(text: str, passages: Sequence[Passage]) -> tuple[tuple[int, int], ...]:
    """Where the passages stand in the text: offsets into it as it is, in order, those that touch as one."""
    likely = _likely(text, passages)
    return _spans(text, likely) if likely else ()


def may_hold(text: str, passages: Sequence[Passage]) -> bool:
    """Whether it is worth a closer look, cheaply told: of any text that holds one, JSON with line breaks, too."""
    return bool(_likely(text.replace("\\n", " ").replace("\\r", " ").replace("\\t", " "), passages))


def holds(text: str, passages: Sequence[Passage]) -> bool:
    """Whether any of the passages stands in the text."""
    likely = _likely(text, passages)
    if not likely:
        return False
    folded = folding.fold(text)
    return any(passage.exact.search(folded) is not None for passage in likely)


def cut(text: str, passages: Sequence[Passage], mark: str = MARK) -> str:
    """The text with a mark in place of each hit, and everything else as it was.

    With our own mark nothing is left to be found. (Another one could bring words together, or be a passage.)
    """
    while found := spans(text, passages):
        text = _without(text, found, mark)
        if mark != MARK:
            break
    return text


def inside(text: str, passages: Sequence[Passage]) -> int:
    """How often the passages stand inside longer words: `ann` in `Hannover`. Those are not covered."""
    likely = _likely(text, passages)
    if not likely:
        return 0
    covered = _spans(text, likely)
    loose = _merged(_found(text, [passage.loose for passage in likely]))
    return sum(not any(start < end_ and start_ < end for start_, end_ in covered) for start, end in loose)


def excerpt(text: str, span: tuple[int, int]) -> str:
    """A hit and what is around it on one line, at most 80 characters, no character torn."""
    start, end = span
    room = max(0, EXCERPT - 2 - (end - start)) // 2
    first, last = (
        max(0, start - room),
        min(len(text), end + room, start - room + EXCERPT - 2 if start > room else EXCERPT),
    )
    far = max(0, first - _MARGIN)
    places = [far + place for place in folding.borders(text[far : last + _MARGIN])]
    first = next((place for place in places if place >= first), first)
    last = max((place for place in places if first < place <= last), default=last)
    return ("…" if first else "") + " ".join(text[first:last].split()) + ("…" if last < len(text) else "")


def near(text: str, passage: Passage, rare: Callable[[str], bool]) -> float | None:
    """How much of what is rare in the passage the text says in other words; None if nothing worth a look.

    `rare` says of a folded word, number or address whether few messages have it. What holds the passage itself is a
    hit and not near it.
    """
    return None if holds(text, (passage,)) else rareparts.shared(text, passage.text, rare)


# -- finding -------------------------------------------------------------------------------------------------


def _likely(text: str, passages: Sequence[Passage]) -> list[Passage]:
    """The passages that may be in the text, cheaply told."""
    if text.isascii():
        lower = text.lower()
        return [passage for passage in passages if passage.anchor in lower and passage.rough.search(lower)]
    loosened = folding.apart(text)
    return [passage for passage in passages if passage.rough.search(loosened)]


def _spans(text: str, passages: Sequence[Passage]) -> tuple[tuple[int, int], ...]:
    return _merged(_found(text, [passage.exact for passage in passages]))


def _found(text: str, patterns: Sequence[re.Pattern[str]]) -> Iterator[tuple[int, int]]:
    mapped = folding.mapped(text)
    for pattern in patterns:
        for hit in pattern.finditer(mapped.folded):
            yield mapped.starts[hit.start()], mapped.ends[hit.end() - 1]


def _merged(found: Iterator[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    merged: list[tuple[int, int]] = []
    for start, end in sorted(found):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return tuple(merged)


def _without(text: str, found: Sequence[tuple[int, int]], mark: str) -> str:
    pieces, place = [], 0
    for start, end in found:
        pieces += [text[place:start], mark]
        place = end
    return "".join((*pieces, text[place:]))


# -- patterns ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Patterns:
    exact: re.Pattern[str]
    loose: re.Pattern[str]
    rough: re.Pattern[str]


@lru_cache(maxsize=64)  # made when a passage is first looked for: a mark needs its words only
def _patterns(text: str) -> _Patterns:
    folded = _folded(text)
    found = tuple(folding.tokens(folded))
    return _Patterns(
        exact=re.compile(_pattern(folded, found, borders=True)),
        loose=re.compile(_pattern(folded, found, borders=False)),
        rough=re.compile(_rough(found)),
    )


def _pattern(folded: str, found: Sequence[Token], *, borders: bool) -> str:
    """What finds these tokens in a folded text, with anything between them that sets words apart no further."""
    pattern = [_sign_before(folded[: found[0].start]), _border_before(found[0]) if borders else ""]
    for index, token in enumerate(found):
        if index:
            before = found[index - 1]
            pattern.append(_between(before, token, folded[before.end : token.start]))
        pattern.append(re.escape(token.text))
        if token.kind == "word" and len(token.text) <= folding.SHORT and (borders or index < len(found) - 1):
            pattern.append(f"(?!{folding.SIGNS})")
    pattern.append(_border_after(found[-1]) if borders else "")
    if folded.endswith("%"):
        pattern.append("%?")
    return "".join(pattern)


def _sign_before(lead: str) -> str:
    """`+47 …` and `#deploy` are cut with their sign where it is there, and found without it where it is not."""
    signs = re.search(r"[+#@$]{1,3}$", lead)
    return f"(?:{re.escape(signs[0])})?" if signs else ""


def _border_before(token: Token) -> str:
    return {"word": f"(?<!{WORD})", "emoji": f"(?<!{folding.JOINER})"}.get(token.kind, "")


def _border_after(token: Token) -> str:
    return {"word": f"(?!{WORD})", "emoji": f"(?!{folding.JOINER})"}.get(token.kind, "")


def _between(before: Token, after: Token, gap: str) -> str:
    if before.kind == after.kind == "word":
        return f"{GAP}+"
    if before.kind == after.kind == "run" and not gap:
        return f"{JOINT}*" if _EASTERN.match(before.text) and _EASTERN.match(after.text) else ""
    return f"{GAP}*"


_EASTERN = re.compile(f"[{EAST}]")


def _rough(found: Sequence[Token]) -> str:
    """Its letters one after the other, with anything between them that is no letter."""
    # Each token for itself: marks of two that stood side by side would change places.
    letters = "".join(unicodedata.normalize("NFD", token.text) for token in found).replace(folding.JOINER, "")
    return _NOISE.join(map(_spelt, _LETTERS.findall(letters)[:_ENOUGH]))


_ENOUGH = 24
"""Letters of a passage that are looked for before all of it is."""
_LETTERS = re.compile("|".join((*folding.LIGATURES, ".")), re.DOTALL)
_NOISE = r"[\W_\u0640]*"
"""What folding may drop between two letters, and whatever may stand between two words."""


def _spelt(letters: str) -> str:
    if len(letters) == 1:
        return f"(?:{folding.alternatives(letters)})"
    apart = _NOISE.join(f"(?:{folding.alternatives(letter)})" for letter in letters)
    return f"(?:{apart}|{folding.alternatives(letters)})"


# -- JSON ----------------------------------------------------------------------------------------------------


def json_cut(text: str, passages: Sequence[Passage], mark: str = MARK) -> str:
    """JSON without the passages, and JSON still: cut inside its strings as they read, in JSON within them, too.

    Numbers that hold one become the mark. All else keeps its bytes. What is no JSON is cut as plain text, too.
    """
    if _is_json(text):
        return _LITERAL.sub(lambda literal: _literal_cut(literal[0], passages, mark), text)
    return cut(_BROKEN.sub(lambda string: _literal_cut(string[0], passages, mark), text), passages, mark)


_BROKEN = re.compile(r'"(?:[^"\\]|\\.)*(?:"|\Z)', re.DOTALL)
_LITERAL = re.compile(r'"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*', re.DOTALL)


def _literal_cut(literal: str, passages: Sequence[Passage], mark: str) -> str:
    if literal[0] != '"':
        return json.dumps(mark) if holds(literal, passages) else literal
    open_ended = len(literal) < 2 or not _ends(literal)
    try:
        words = json.loads(literal + '"' * open_ended, strict=False)
    except ValueError:
        return literal
    new = (
        json_cut(words, passages, mark)
        if words[:1] in ("{", "[") and _is_json(words)
        else cut(words, passages, mark)
    )
    if new == words:
        return literal
    written = json.dumps(new, ensure_ascii=literal.isascii() or not _can_be_utf8(new))
    return written[:-1] if open_ended else written


def _ends(literal: str) -> bool:
    """Whether its last quotation mark is its end and no escaped one."""
    return literal[-1] == '"' and (len(literal) - 1 - len(literal[:-1].rstrip("\\"))) % 2 == 0


def _is_json(text: str) -> bool:
    try:
        json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return False
    return True


def _can_be_utf8(text: str) -> bool:
    return not any("\ud800" <= char <= "\udfff" for char in text)


CACHES = (_patterns,)
"""What holds words here."""
