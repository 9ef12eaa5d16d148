"""How well a message fits what was asked, and the part of it that shows why. Pure.

A rare word counts more than a common one, words as they were typed more than other spellings, what people and the
model said more than what tools returned, new more than old.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from gateway.store.search_fold import fold, pieces
from gateway.store.search_query import Any, Node, Query, Term

AROUND = 60
"""Characters shown on each side of a hit."""
_HALF_LIFE_SECONDS = 60 * 86_400.0
OTHERWISE = 0.5
"""What a term counts that is there with other signs between its words."""
TOOLS_COUNT = 0.7
MANY_HITS = 0.1
ABOUT_IT = 0.5
_USUAL_LENGTH = 260
_LONGEST_COMPARED = 50_000
_CLUSTER = re.compile(".[\u0300-\u036f\u3099\u309a\uff9e\uff9f]*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A message that the index found. `second`: when it was said, counted from 1970."""

    id: int
    session: str
    role: str
    second: int
    text: str
    unseen: bool = False
    """Whether it was found without the index."""


@dataclass(frozen=True, slots=True)
class Scored:
    """A candidate and how good it is."""

    candidate: Candidate
    score: float


def ranked(candidates: Sequence[Candidate], query: Query, *, at_least: float = 0.0) -> list[Scored]:
    """Those that really hold what was asked (or, `at_least`, such a part of it), best first."""
    terms, node = query.terms, query.node
    if not candidates or node is None:
        return []
    spellings = [term.spellings for term in terms]
    counted = [(one, counts) for one in candidates if (counts := _counts(one, terms, spellings, node)) is not None]
    if at_least:
        counted = [(one, counts) for one, counts in counted if sum(map(bool, counts)) >= at_least * len(terms)]
    if not counted:
        return []
    having = [sum(1 for _, counts in counted if counts[place]) for place in range(len(terms))]
    weights = [math.log(1.5 + len(counted) / (count or 1)) for count in having]
    whole = sum(weights)
    newest = max(one.second for one, _ in counted)
    found = [Scored(one, _fit(one, counts, weights) / whole * _weight(one, newest)) for one, counts in counted]
    return sorted(found, key=lambda scored: (-scored.score, -scored.candidate.id))


def _counts(
    one: Candidate, terms: Sequence[Term], spellings: Sequence[tuple[str, ...]], node: Node
) -> list[float] | None:
    """How often each term stands in a text, in whatever spelling. None: it does not hold what was asked.

    That a term is there in some form is known from the index, unless alternatives were asked for: so a text is
    folded only where nothing is seen in it as it stands.
    """
    text = one.text[:_LONGEST_COMPARED]
    lower = text.lower()
    counts: list[float] = [sum(map(lower.count, each)) for each in spellings]
    alternatives = isinstance(node, Any)
    if node.exact or one.unseen or (not any(counts) if alternatives else not all(counts)):
        folded = lower if text.isascii() else fold(text)
        if (node.exact or one.unseen) and not node.holds(folded, unseen=one.unseen):
            return None
        for place, term in enumerate(terms):
            counts[place] = counts[place] or folded.count(term.folded) or (OTHERWISE if term.holds(folded) else 0.0)
    return counts


def _fit(one: Candidate, counts: Sequence[float], weights: Sequence[float]) -> float:
    length = 0.5 + 0.5 * len(one.text) / _USUAL_LENGTH
    fits = 0.0
    for count, weight in zip(counts, weights, strict=True):
        fits += weight * count / (count + length)
    return fits


def _weight(one: Candidate, newest: int) -> float:
    recent = 0.5 + 0.5 * 2.0 ** ((one.second - newest) / _HALF_LIFE_SECONDS)
    return float(recent * TOOLS_COUNT) if one.role == "tool" else float(recent)


def of_session(best: float, matches: int, *, about: bool) -> float:
    """How good a session is: as its best message, better the more it has, best when it is about little else."""
    return best + MANY_HITS * math.log(1 + matches) + (ABOUT_IT if about else 0.0)


# -- snippets ----------------------------------------------------------------------------------------------


def snippet(text: str, place: tuple[int, int]) -> str:
    """What stands at a place, with a little around it, on one line."""
    start, end = min(place[0], len(text)), min(place[1], len(text))
    before, after = max(0, start - AROUND), min(len(text), end + AROUND)
    shown = " ".join(text[before:after].split())
    return ("… " if before else "") + shown + (" …" if after < len(text) else "")


def first_place(text: str, terms: Sequence[Term]) -> tuple[int, int]:
    """Where the first of what was asked stands."""
    return min((place for term in terms if (place := _place(text, term))), default=(0, 0))


def _place(text: str, term: Term) -> tuple[int, int] | None:
    """Where a term stands in a text, as it was written there."""
    if match := re.search(re.escape(term.text), text, re.IGNORECASE):
        return match.span()
    folded, origins = "", list[tuple[int, int]]()
    for cluster in _CLUSTER.finditer(text[:_LONGEST_COMPARED]):
        piece = fold(cluster[0])
        folded += piece
        origins += [cluster.span()] * len(piece)
    wanted = [term.folded, *(piece for piece, _ in pieces(term.folded))]
    for one in wanted:
        at = folded.find(one)
        if at >= 0:
            return origins[at][0], origins[at + len(one) - 1][1]
    return None
