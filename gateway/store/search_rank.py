"""How well a message fits what was asked, and the part of it that shows why. Pure.

A rare word counts more than a common one, words as they were typed more than other spellings, what people and the
model said more than what tools returned, new more than old.
"""

import math
import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

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


class Candidate(NamedTuple):
    """A message that the index found. `second`: when it was said, counted from 1970. Hundreds are made in each
    search, which a tuple makes cheaper."""

    id: int
    session: str
    role: str
    second: int
    text: str
    unseen: bool = False
    """Whether it was found without the index."""


class Scored(NamedTuple):
    """A candidate and how good it is."""

    candidate: Candidate
    score: float


def ranked(candidates: Sequence[Candidate], query: Query, *, at_least: float = 0.0) -> list[Scored]:
    """Those that really hold what was asked (or, `at_least`, such a part of it), best first."""
    terms, node = query.terms, query.node
    if not candidates or node is None:
        return []
    count = _counter(terms, node)
    counted = [(one, counts) for one in candidates if (counts := count(one)) is not None]
    if at_least:
        counted = [(one, counts) for one, counts in counted if sum(map(bool, counts)) >= at_least * len(terms)]
    if not counted:
        return []
    having = [sum(1 for _, counts in counted if counts[place]) for place in range(len(terms))]
    weights = [math.log(1.5 + len(counted) / (count or 1)) for count in having]
    whole = sum(weights)
    newest = max(one.second for one, _ in counted)
    found = [(_fit(one, counts, weights) / whole * _weight(one, newest), one.id, one) for one, counts in counted]
    found.sort(reverse=True)
    return [Scored(one, score) for score, _, one in found]


def _counter(terms: Sequence[Term], node: Node) -> Callable[[Candidate], list[float] | None]:
    """Says how often each term stands in a text, in whatever spelling. None: it does not hold what was asked.

    That a term is there in some form is known from the index, unless alternatives were asked for: so a text is
    folded only where nothing is seen in it as it stands.
    """
    spellings = [term.spellings for term in terms]
    cased = any(one.upper() != one for each in spellings for one in each)
    exact, seen = node.exact, any if isinstance(node, Any) else all

    def count(one: Candidate) -> list[float] | None:
        text = one.text[:_LONGEST_COMPARED]
        lower = text.lower() if cased else text
        counts: list[float] = [sum(map(lower.count, each)) for each in spellings]
        look = exact or one.unseen
        if not look and seen(counts):
            return counts
        folded = fold(text)
        if look and not node.holds(folded, unseen=one.unseen):
            return None
        for place, term in enumerate(terms):
            counts[place] = counts[place] or folded.count(term.folded) or (OTHERWISE if term.holds(folded) else 0.0)
        return counts

    return count


def _fit(one: Candidate, counts: Sequence[float], weights: Sequence[float]) -> float:
    length = 0.5 + 0.5 * len(one.text) / _USUAL_LENGTH
    return sum([weight * count / (count + length) for count, weight in zip(counts, weights, strict=True)])


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
    typed = [re.search(re.escape(term.text), text, re.IGNORECASE) for term in terms]
    places = [match.span() for match in typed if match]
    otherwise = [term for term, match in zip(terms, typed, strict=True) if not match]
    return min(places + _folded_places(text, otherwise), default=(0, 0))


def _folded_places(text: str, terms: Sequence[Term]) -> list[tuple[int, int]]:
    """Where terms stand that are written otherwise in a text, or in parts: each by the first part that is there."""
    text = text[:_LONGEST_COMPARED]
    whole = fold(text) if terms else ""
    parts = [(term.folded, *(piece for piece, _ in pieces(term.folded))) for term in terms]
    parts = [each for each in parts if any(one in whole for one in each)]
    if not parts:  # as often where one of several is enough
        return []
    folded, origins = "", list[tuple[int, int]]()
    for cluster in _CLUSTER.finditer(text):
        piece = fold(cluster[0])
        folded += piece
        origins += [cluster.span()] * len(piece)
    found = [next(((folded.find(one), len(one)) for one in each if one in folded), None) for each in parts]
    return [(origins[place[0]][0], origins[sum(place) - 1][1]) for place in found if place]
