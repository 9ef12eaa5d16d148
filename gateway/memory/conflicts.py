"""Which entry a proposed one nearly repeats or contradicts (design.md 7.6). Pure, without a model.

The answer is a hint for a person ("replaces …?"), never a reason to merge or drop anything. Where the words leave
it open there is no hint: two different facts beside each other are worth more than a wrong guess.
How a note is read is `conflicts_reading` (its words: `conflicts_tokens`), what it knows `conflicts_words`.
"""

from collections.abc import Sequence, Set
from dataclasses import dataclass
from typing import Literal

from gateway.memory import conflicts_reading as reading
from gateway.memory import conflicts_tokens as spelling
from gateway.memory import conflicts_words as lexicon
from gateway.memory.conflicts_reading import Fact

Kind = Literal["repeat", "contradiction"]
_REPEAT: Kind = "repeat"
_CONTRADICTION: Kind = "contradiction"
_WHY = {_REPEAT: "flag.repeats", _CONTRADICTION: "flag.contradicts"}
_ALIKE = 0.5
"""Of two notes one may say more than the other, up to twice as much, and still be the same note."""


@dataclass(frozen=True, slots=True)
class Conflict:
    """An entry beside which a proposed one makes no sense, or no difference."""

    kind: Kind
    entry: str
    why: str
    """A key of the message catalog under `flag.`."""


def find(content: str, existing: Sequence[str]) -> Conflict | None:
    """The entry that a person should see beside this new one: a contradiction first, then the most alike."""
    return next(iter(find_all(content, existing)), None)


def find_all(content: str, existing: Sequence[str]) -> tuple[Conflict, ...]:
    """All such entries, the best first; of equal ones the older first."""
    new = reading.facts(content)
    found = [(entry, *_compared(new, content, entry)) for entry in existing] if new else []
    good = [(entry, kind, alike) for entry, kind, alike in found if kind is not None]
    good.sort(key=lambda row: (row[1] is _REPEAT, -row[2]))
    return tuple(Conflict(kind, entry, _WHY[kind]) for entry, kind, _ in good)


def _compared(new: Sequence[Fact], content: str, entry: str) -> tuple[Kind | None, float]:
    """What the entry is to the new facts, and how much of their words they share."""
    old = reading.facts(entry)
    pairs = [(a, b, kind) for a in old for b in new if (kind := _judged(a, b)) is not None]
    if not pairs:
        return None, 0.0  # as nearly always
    repeated = [(a, b) for a, b, kind in pairs if kind is _REPEAT]
    said = {id(fact) for pair in repeated for fact in pair}
    denied = [
        _shared(a, b) for a, b, kind in pairs if kind is not _REPEAT and id(a) not in said and id(b) not in said
    ]
    if denied:
        return _CONTRADICTION, max(denied)
    whole = any(all(id(fact) in said for fact in facts) for facts in (old, new) if facts)
    if not whole:
        return None, 0.0
    alike = max(_shared(a, b) for a, b in repeated)
    return (_CONTRADICTION if _differs_in_case(content, entry) else _REPEAT), alike


def _shared(a: Fact, b: Fact) -> float:
    ours, theirs = a.bag | a.details, b.bag | b.details
    return len(ours & theirs) / max(len(ours | theirs), 1)


def _differs_in_case(one: str, other: str) -> bool:
    """`use key ABC` and `use key abc`: with codes it matters."""
    if len(one) != len(other) or one == other or one.casefold() != other.casefold():
        return False
    pairs = [(a, b) for a, b in zip(one.split(), other.split(), strict=False) if a != b]
    return all(len(a) > 1 and {a, b} == {a.upper(), a.lower()} for a, b in pairs) and not (
        one.isupper() or other.isupper()
    )


# -- two facts -----------------------------------------------------------------------------------------------


def _judged(a: Fact, b: Fact) -> Kind | None:
    """What one fact is to another; None where they may stand beside each other."""
    strong_a, strong_b = a.relation not in _WEAK, b.relation not in _WEAK
    if a.relation == "@prefer" or b.relation == "@prefer":
        return _preference(a, b)
    if not strong_a and not strong_b:
        return _of_notes(a, b)
    if a.relation != b.relation:
        return None
    if set(a.subject) != set(b.subject):
        same = a.bag == b.bag and a.details == b.details and a.denied == b.denied
        return _REPEAT if same and not (a.subject and b.subject) else None
    return _of_one_value(a, b) if a.relation in lexicon.FUNCTIONAL else _of_many(a, b)


_WEAK = frozenset({"", "@be"})


def _of_one_value(a: Fact, b: Fact) -> Kind | None:
    """Where there can be one value: another one is a contradiction."""
    ours, theirs = set(a.values), set(b.values)
    same = _within(ours, theirs) or _within(theirs, ours)
    if a.denied != b.denied:
        return _CONTRADICTION if same else None
    if same:
        return _REPEAT
    if not a.denied and _plain(a.values) == _plain(b.values):
        return _CONTRADICTION
    vague = a.denied or a.values[0] == b.values[0] or {a.values[0], b.values[0]} & _VAGUE
    return None if vague else _CONTRADICTION


def _of_many(a: Fact, b: Fact) -> Kind | None:
    """Where there can be many values: only another number of the same, or its denial, contradicts."""
    ours, theirs = _plain(a.values), _plain(b.values)
    close = ours == theirs or _close(ours, theirs)
    if a.denied != b.denied:
        return _CONTRADICTION if ours == theirs and a.details == b.details else None
    if not close:
        return _CONTRADICTION if not a.denied and _exclude(ours, theirs, a.relation) else None
    if _compatible(a.details, b.details):
        return _REPEAT
    exact = (ours == theirs or a.relation == "@have") and not _other_years(a, b)
    return _CONTRADICTION if exact and not a.denied else None


def _preference(a: Fact, b: Fact) -> Kind | None:
    if set(a.subject) != set(b.subject) or a.denied or b.denied:
        return None
    ours, theirs = set(a.values), set(b.values)
    if a.relation != b.relation:
        liked, preferred = (a, b) if b.relation == "@prefer" else (b, a)
        opposed = liked.relation == "@like" and liked.eastern and set(liked.values) == set(preferred.over)
        return _CONTRADICTION if opposed else None
    if (a.over and ours <= set(b.over)) or (b.over and theirs <= set(a.over)):
        return _CONTRADICTION
    if ours <= set(b.over) or theirs <= set(a.over):
        return _CONTRADICTION
    if ours == theirs or _close(_plain(a.values), _plain(b.values)):
        return _REPEAT if not a.over or not b.over or set(a.over) == set(b.over) else None
    return _CONTRADICTION if _exclude(ours, theirs, "@prefer") or _one_differs(ours, theirs) else None


def _one_differs(ours: set[str], theirs: set[str]) -> bool:
    return len(ours - theirs) == 1 == len(theirs - ours) and bool(ours & theirs)


def _of_notes(a: Fact, b: Fact) -> Kind | None:
    """Facts whose verb is not known: all the words count, and the first of them says what it is about."""
    if a.bag.isdisjoint(b.bag) and a.details.isdisjoint(b.details) and not _exclude(a.bag, b.bag, ""):
        return None
    if a.denied != b.denied:
        return _CONTRADICTION if a.bag == b.bag and a.details == b.details else None
    if a.subject and a.subject == b.subject and not a.denied and (kind := _of_the_same(a, b)):
        return kind
    if a.bag == b.bag or (_close(a.bag, b.bag) and _same_start(a, b)):
        return _of_details(a, b)
    if a.denied or set(a.subject) != set(b.subject):
        return None
    return _CONTRADICTION if a.details == b.details and _exclude(a.bag, b.bag, "") else None


def _of_the_same(a: Fact, b: Fact) -> Kind | None:
    """`X is A` and `X is B`."""
    ours, theirs = set(a.values), set(b.values)
    if _within(ours, theirs) or _within(theirs, ours):
        return _REPEAT
    if _is_one_thing(a, b) or _exclude(_plain(a.values), _plain(b.values), "@be"):
        return _CONTRADICTION
    return None


def _is_one_thing(a: Fact, b: Fact) -> bool:
    """Whether both say which one it is: the server is atlas, the laptop is a ThinkPad; not that it is slow."""
    ours, theirs = set(a.values), set(b.values)
    if _HEADS & set(a.subject) and (max(len(ours), len(theirs)) == 1 or _one_differs(ours, theirs)):
        return True
    return all(
        fact.names and fact.names == _plain(fact.values) and not _tells_origin(fact.names) for fact in (a, b)
    )


def _tells_origin(names: frozenset[str]) -> bool:
    return any(name.endswith(("ish", "ian", "ean", "ese", "es", "german", "french", "dutch")) for name in names)


def _of_details(a: Fact, b: Fact) -> Kind | None:
    """The same words: with other numbers they contradict, unless the numbers name what it is about."""
    if _compatible(a.details, b.details):
        return _REPEAT
    named = set(a.subject) != set(b.subject) or a.bag & _EVENTS or a.bag != b.bag or not a.bag or _other_years(a, b)
    return None if a.denied or named else _CONTRADICTION


# -- words and details ---------------------------------------------------------------------------------------


def _stems(words: frozenset[str]) -> frozenset[str]:
    return frozenset(reading.stem(spelling.as_hiragana(word)) for word in words)


_OPPOSITES = tuple(_stems(group) for group in lexicon.OPPOSITES)
_KINDS = tuple(_stems(group) for group in lexicon.KINDS)
_HEADS = _stems(lexicon.HEADS)
_EVENTS = _stems(lexicon.EVENTS)
_VAGUE = _stems(lexicon.VAGUE)


def _plain(words: Sequence[str]) -> frozenset[str]:
    return frozenset(word for word in words if word[0] != "#")


def _close(ours: frozenset[str], theirs: frozenset[str]) -> bool:
    """Whether one says what the other does, and not much more."""
    less, more = sorted((ours, theirs), key=len)
    return bool(less) and less <= more and len(less) >= _ALIKE * len(more)


def _same_start(a: Fact, b: Fact) -> bool:
    """`Anna drinks coffee` is not about whom `Drinks coffee` is."""
    less, more = sorted((a, b), key=lambda fact: len(fact.bag))
    first = next((word for word in (*more.subject, *more.values) if word[0] != "#"), "")
    return first in less.bag and len(less.bag) > 1


def _within(ours: Set[str], theirs: Set[str]) -> bool:
    return ours <= theirs or all(word in theirs or _same_date(word, theirs) for word in ours)


def _same_date(detail: str, others: Set[str]) -> bool:
    """12 May and 12 May 1990."""
    return detail[0] == "#" and len(detail) == 6 and any(other.endswith("-" + detail[1:]) for other in others)


def _compatible(ours: frozenset[str], theirs: frozenset[str]) -> bool:
    return _within(ours, theirs) or _within(theirs, ours)


def _other_years(a: Fact, b: Fact) -> bool:
    """Whether they differ in the year only: what was done in 2019 may have been done again in 2021."""
    return all(len(detail) == 5 and detail[1:3] in ("19", "20") for detail in a.details ^ b.details)


def _exclude(ours: frozenset[str] | set[str], theirs: frozenset[str] | set[str], relation: str) -> bool:
    """Whether they say opposite things of the same: all but one word of each is shared."""
    if len(ours) != len(theirs) or (len(ours) != 1 and ours.isdisjoint(theirs)):
        return False  # as nearly always
    mine, yours = ours - theirs, theirs - ours
    if len(mine) != 1 or len(yours) != 1:
        return False
    two = mine | yours
    if any(two <= group for group in _OPPOSITES):
        return True
    told = relation in ("@be", "@prefer", "@use") or bool(ours & theirs)
    return told and relation not in lexicon.MANY and any(two <= group for group in _KINDS)
