"""A note read as facts: of whom, which relation, with what value, said or denied. Pure, and linear in the text.

This is no understanding of language: words that `conflicts_words` does not know stay words, and a note without a
known relation is a bag of them. Of a long text only the beginning is read.
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from gateway.memory import conflicts_tokens as spelling
from gateway.memory import conflicts_words as lexicon

MOST_READ = 2_000
"""Characters of a text. What comes after them is not compared."""
MOST_FACTS = 16
_QUOTES = str.maketrans("‘’‚`´＇‐‑‒–—―−", "''''''-------")


@dataclass(frozen=True, slots=True)
class Fact:
    """One clause. A detail (`#2`, `#a@example.org`) is a word that begins with `#`."""

    subject: tuple[str, ...]
    """Whom or what it is about; empty for the person."""
    relation: str
    """A meaning of the lexicon, "@be", or "" for words without one."""
    values: tuple[str, ...]
    over: tuple[str, ...]
    """What `values` are preferred to."""
    denied: bool
    eastern: bool
    """Whether it is in a script without blanks, in which the value comes before the verb."""
    bag: frozenset[str]
    """All words that are no details."""
    details: frozenset[str]
    names: frozenset[str]
    """Of the values, those written with a capital."""


@lru_cache(maxsize=512)  # every proposal is compared with the same few entries again
def facts(text: str) -> tuple[Fact, ...]:
    """The facts of a note, in its order."""
    plain = unicodedata.normalize("NFKC", text[:MOST_READ])[:MOST_READ].translate(_QUOTES)
    eastern = spelling.is_eastern(plain)
    read = _meanings(spelling.tokens(plain), eastern)
    names = frozenset(stem(lexicon.fold(word)) for word in spelling.CAPITAL.findall(plain))
    found = (_fact(clause, eastern, names) for clause in _clauses(read)[:MOST_FACTS])
    return tuple(fact for fact in found if fact is not None)


# -- meanings ------------------------------------------------------------------------------------------------


def _meanings(tokens: Sequence[str], eastern: bool) -> list[str]:
    """The tokens with known phrases as what they mean, without words that mean nothing here."""
    tokens = [token for token in tokens if token not in lexicon.ADVERBS]
    found: list[str] = []
    place = 0
    while place < len(tokens):
        token = tokens[place]
        if eastern and len(token) == 1 and token.isascii() and token.isalpha():
            found.append(token)  # `A型` is a blood group
            place += 1
            continue
        known = next(
            (
                (len(words), meaning)
                for words, meaning in lexicon.PHRASES.get(token, ())
                if tuple(tokens[place : place + len(words)]) == words
            ),
            None,
        )
        if known is not None:
            place += known[0]
            found += map(stem, known[1])
            continue
        place += 1
        if token in lexicon.NUMBERS:
            found.append("#" + lexicon.NUMBERS[token])
        elif token not in lexicon.STOPS:
            found.append(stem(token))
    return found


@lru_cache(maxsize=4096)
def stem(word: str) -> str:
    """A word without what commonly changes at its end; crude, but the same for both texts."""
    if word[:1] in "@#." or not word.isalpha():
        return word
    word = lexicon.SAME.get(word, word)
    if word.isascii() and len(word) > 3:
        for end in ("ies", "ing", "ly", "ed", "es", "s", "e"):
            if word.endswith(end) and len(word) - len(end) >= 3 and not word.endswith("ss"):
                word = word[: -len(end)]
                break
        word = word[:-1] if len(word) > 4 and word[-1] == word[-2] and word[-1] in "nmptg" else word
    elif "а" <= word[0] <= "я" and len(word) > 3:
        word = re.sub(r"(?:ами|ах|ов|ом|ой|ы|и|а|я|у|ю|е|ь)$", "", word)
    return lexicon.SAME.get(word, word)


# -- clauses -------------------------------------------------------------------------------------------------

_WEAK = frozenset({"@be", "@topic"})
_NO_RELATION = frozenset({"@not", "@and", "@comma", "@over", "@to", "@stop", "@moved", *_WEAK})


def _is_relation(token: str) -> bool:
    return token[:1] == "@" and token.rstrip("_") not in _NO_RELATION


def _clauses(tokens: Sequence[str]) -> list[list[str]]:
    """Cut at the ends of sentences, and at an "and" or comma before a further relation, which keeps the subject."""
    clauses: list[list[str]] = [[]]
    for place, token in enumerate(tokens):
        following = tokens[place + 1] if place + 1 < len(tokens) else ""
        if token == spelling.END:
            clauses.append([])
        elif token in ("@and", "@comma"):
            if _is_relation(following) and not following.endswith("_") and any(map(_is_relation, clauses[-1])):
                clauses.append(_subject(clauses[-1]))
        else:
            clauses[-1].append(token)
    return [clause for clause in clauses if clause]


def _subject(clause: Sequence[str]) -> list[str]:
    first = next((place for place, token in enumerate(clause) if token[:1] == "@"), 0)
    return list(clause[:first])


def _fact(clause: Sequence[str], eastern: bool, names: frozenset[str]) -> Fact | None:
    subject, relation, values, over = _parts([token for token in clause if token not in _DENIALS])
    if not values:
        subject, values = [], subject
    if not values:
        return None
    everything = (*subject, *values, *over)
    return Fact(
        tuple(subject),
        relation,
        tuple(values),
        tuple(over),
        denied=sum(token in _DENIALS for token in clause) % 2 == 1,
        eastern=eastern,
        bag=frozenset(word for word in everything if word[0] != "#"),
        details=frozenset(word for word in everything if word[0] == "#"),
        names=names.intersection(values),
    )


_DENIALS = frozenset({"@not", "@stop"})


def _parts(tokens: list[str]) -> tuple[list[str], str, list[str], list[str]]:
    """Subject, relation, values, and what these are preferred to."""
    if "@moved" in tokens:
        tokens = ["@live", *(token for token in tokens if token != "@moved")]
    place = next((at for at, token in enumerate(tokens) if _is_relation(token)), None)
    if place is None:
        subject, relation, values = _weakly(tokens)
        return _words(subject), relation, _words(values), []
    subject, relation, values = _strongly(tokens, place)
    values, over = _preferred(relation, values, postposed=tokens[place].endswith("_"))
    return _words(subject), "@prefer" if over else relation, _words(values), _words(over)


def _weakly(tokens: list[str]) -> tuple[list[str], str, list[str]]:
    """`A is B`, `A: B`; everything is value where nothing stands before."""
    place = next((at for at, token in enumerate(tokens) if token in _WEAK), None)
    if place is None or not _words(tokens[:place]):
        return [], "", tokens
    return tokens[:place], "@be", tokens[place + 1 :]


def _strongly(tokens: list[str], place: int) -> tuple[list[str], str, list[str]]:
    """What stands before a verb is its subject. After "favourite colour", the value comes after the "is"."""
    relation, before, after = tokens[place].rstrip("_"), tokens[:place], tokens[place + 1 :]
    if tokens[place].endswith("_"):
        topic = before.index("@topic") if "@topic" in before else 0
        return before[:topic], relation, before[topic:] + after
    weak = next((at for at, token in enumerate(after) if token in _WEAK), None)
    if weak is not None and _words(after[:weak]) and _words(after[weak:]):
        return before + after[:weak], relation, after[weak + 1 :]
    if _words(after):
        return before, relation, after
    weak = next((at for at, token in enumerate(before) if token in _WEAK), 0)
    return before[:weak], relation, before[weak:]


def _preferred(relation: str, values: list[str], *, postposed: bool) -> tuple[list[str], list[str]]:
    """The values, and what they are preferred to: "A over B", "BよりA"."""
    joint = "@over" if "@over" in values else "@to"
    meant = relation == "@prefer" or (relation == "@like" and joint == "@over")
    if not meant or joint not in values[1:]:
        return values, []
    place = values.index(joint, 1)
    before, after = values[:place], values[place + 1 :]
    return (after, before) if postposed else (before, after)


def _words(tokens: Sequence[str]) -> list[str]:
    return [token for token in tokens if token[0] != "@"]
