"""Which ideas together look like an attack, in whatever language they are said.

A text's words are looked up once (`listen`); a rule then asks whether all that it needs stands near its first idea.
Time grows with the length of the text only.
"""

import functools
import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from gateway.scan import forms, markup
from gateway.scan.ideas import Idea
from gateway.scan.vocabulary import WORDS

Spots = Sequence[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Rule:
    """`needs` (each one of several ideas) within so many characters of `first`; `after`: behind it only."""

    flag: str
    first: Idea
    needs: tuple[Idea, ...]
    within: int
    after: bool = False


OVERRIDE, PERSONA, CONCEAL = "flag.override", "flag.persona", "flag.conceal"
EXFILTRATION, APPROVAL, TEMPLATE = "flag.exfiltration", "flag.approval", "flag.template"
STEERING, AUTHORITY, ADDRESSED = "flag.steering", "flag.authority", "flag.addressed"
PERSISTENCE = "flag.persistence"

RULES = (
    Rule(OVERRIDE, Idea.DROP, (Idea.RULES, Idea.BEFORE | Idea.ALL | Idea.YOURS), 32),
    Rule(OVERRIDE, Idea.DROP, (Idea.TOLD, Idea.BEFORE | Idea.ALL), 32),
    Rule(OVERRIDE, Idea.DROP, (Idea.NEW_RULES | Idea.ONLY_THIS, Idea.BEFORE | Idea.TOLD | Idea.ALL), 60),
    Rule(OVERRIDE, Idea.NEW_RULES, (Idea.FROM_NOW, Idea.DROP | Idea.TOLD | Idea.VOID), 60),
    Rule(OVERRIDE, Idea.RULES, (Idea.VOID, Idea.BEFORE | Idea.SAFETY | Idea.YOURS), 48),
    Rule(OVERRIDE, Idea.VOID, (Idea.TOLD | Idea.THIS_TEXT, Idea.BEFORE | Idea.ALL), 60),
    Rule(OVERRIDE, Idea.DROP, (Idea.SAFETY, Idea.RULES), 40),
    Rule(OVERRIDE, Idea.ONLY_THIS, (Idea.THIS_TEXT, Idea.RULES | Idea.TOLD | Idea.OBEY), 60),
    Rule(OVERRIDE, Idea.SHOW, (Idea.HIDDEN_PROMPT,), 48),
    Rule(OVERRIDE, Idea.YOURS, (Idea.RULES, Idea.CHANGED | Idea.VOID | Idea.NEW_RULES), 40, after=True),
    Rule(OVERRIDE, Idea.SHOW, (Idea.UNSEEN, Idea.RULES), 80),
    Rule(OVERRIDE, Idea.SHOW, (Idea.ABOVE,), 40),
    Rule(OVERRIDE, Idea.OFF, (Idea.SAFETY, Idea.RULES), 40),
    Rule(OVERRIDE, Idea.FETCH, (Idea.RULES, Idea.ADDRESS), 80),
    Rule(OVERRIDE, Idea.OBEY, (Idea.RULES, Idea.ADDRESS), 80),
    Rule(
        OVERRIDE,
        Idea.WRITTEN_HERE,
        (Idea.DROP | Idea.VOID | Idea.MAKERS, Idea.ONLY_THIS | Idea.BEFORE | Idea.RULES),
        72,
    ),
    Rule(OVERRIDE, Idea.MAKERS, (Idea.WRITTEN_HERE | Idea.THIS_TEXT,), 96, after=True),
    Rule(OVERRIDE, Idea.WRITE_OUT, (Idea.UNSEEN | Idea.HIDDEN_PROMPT,), 32),
    Rule(PERSONA, Idea.REFUSE, (Idea.NEED_NOT, Idea.YOU), 32),
    Rule(PERSONA, Idea.BE, (Idea.UNBOUND,), 60),
    Rule(PERSONA, Idea.YOU, (Idea.UNBOUND,), 40),
    Rule(PERSONA, Idea.AS_AI, (Idea.UNBOUND,), 40),
    Rule(PERSONA, Idea.ACTIVATE, (Idea.MODE,), 24),
    Rule(PERSONA, Idea.NEW_ROLE, (Idea.FROM_NOW | Idea.DROP,), 40),
    Rule(PERSONA, Idea.FROM_NOW, (Idea.UNBOUND,), 80),
    Rule(CONCEAL, Idea.NOT, (Idea.TELL, Idea.USER), 40, after=True),
    Rule(CONCEAL, Idea.TELL, (Idea.USER, Idea.NOT), 40, after=True),
    Rule(CONCEAL, Idea.USER, (Idea.MUST_NOT, Idea.KNOW), 32, after=True),
    Rule(CONCEAL, Idea.USER, (Idea.KEEP_QUIET,), 24, after=True),
    Rule(CONCEAL, Idea.KEEP_QUIET, (Idea.USER,), 8),
    Rule(CONCEAL, Idea.HIDE, (Idea.USER,), 32, after=True),
    Rule(CONCEAL, Idea.WITHOUT, (Idea.USER, Idea.NOTICE), 32, after=True),
    Rule(CONCEAL, Idea.NOT, (Idea.ADMIT, Idea.THIS_TEXT), 40, after=True),
    Rule(CONCEAL, Idea.THIS_TEXT, (Idea.ADMIT | Idea.KEEP_QUIET,), 32, after=True),
    Rule(CONCEAL, Idea.ADMIT, (Idea.THIS_TEXT, Idea.CHANGED), 24, after=True),
    Rule(CONCEAL, Idea.NOT, (Idea.WARN, Idea.USER), 40, after=True),
    Rule(CONCEAL, Idea.LIE, (Idea.USER,), 24, after=True),
    Rule(CONCEAL, Idea.USER, (Idea.LIED,), 12, after=True),
    Rule(CONCEAL, Idea.SECRETLY, (Idea.SEND,), 40),
    Rule(EXFILTRATION, Idea.SEND, (Idea.GOODS, Idea.ADDRESS), 64),
    Rule(EXFILTRATION, Idea.SEND, (Idea.SECRET_FILE,), 64),
    Rule(EXFILTRATION, Idea.MACHINE, (Idea.SEND, Idea.ADDRESS), 100, after=True),
    Rule(EXFILTRATION, Idea.PASSWORDS, (Idea.ANYONE,), 40),
    Rule(EXFILTRATION, Idea.ASK, (Idea.PASSWORDS, Idea.USER), 48, after=True),
    Rule(STEERING, Idea.SWAP, (Idea.LINK, Idea.ADDRESS), 64),
    Rule(STEERING, Idea.TRUST, (Idea.ALL, Idea.ADDRESS), 64),
    Rule(STEERING, Idea.WHENEVER, (Idea.USER, Idea.PROMOTE, Idea.ADDRESS), 100),
    Rule(STEERING, Idea.ONLY, (Idea.NAME, Idea.ADDRESS), 40),
    Rule(STEERING, Idea.SWAP, (Idea.ACCOUNT, Idea.LONG_NUMBER), 48),
    Rule(APPROVAL, Idea.OFF, (Idea.APPROVAL, Idea.MEMORY), 40),
    Rule(APPROVAL, Idea.NO_ASKING, (Idea.APPROVAL, Idea.MEMORY), 48),
    Rule(APPROVAL, Idea.APPROVAL, (Idea.BY_ITSELF, Idea.ACCEPT, Idea.ALL | Idea.FROM_NOW), 40),
    Rule(APPROVAL, Idea.AGREED, (Idea.ALREADY, Idea.USER, Idea.ALL | Idea.NO_ASKING), 56),
    Rule(AUTHORITY, Idea.TREAT_AS, (Idea.OWNER, Idea.ADDRESS), 80),
    Rule(AUTHORITY, Idea.SENDER, (Idea.DO_AS_SAID,), 40),
    Rule(AUTHORITY, Idea.YOURS, (Idea.OWNER,), 8, after=True),
    Rule(AUTHORITY, Idea.WHOEVER, (Idea.OWNER, Idea.RIGHTS), 64),
    Rule(
        TEMPLATE,
        Idea.SYSTEM_SAYS,
        (Idea.ADMIN | Idea.RULES | Idea.TREAT_AS | Idea.USER | Idea.AGREED | Idea.NO_ASKING,),
        48,
        after=True,
    ),
    Rule(PERSISTENCE, Idea.ERASE, (Idea.ALL, Idea.STORE), 40),
    Rule(ADDRESSED, Idea.AS_AI, (Idea.MUST | Idea.SEND | Idea.YOU,), 60, after=True),
    Rule(ADDRESSED, Idea.MACHINE, (Idea.READS, Idea.MUST | Idea.SEND), 60),
)


def flags(words: str) -> Iterator[str]:
    """The flags of a text's words, as `forms.words` leaves them."""
    hits = listen(words)
    heard = 0
    for idea in hits:
        heard |= idea
    for rule, first, needs in _asked():
        if first & heard and all(need & heard for need in needs) and _applies(rule, first, needs, hits):
            yield rule.flag


def listen(words: str) -> dict[int, list[tuple[int, int]]]:
    """Where each idea is said: (start, end), in order."""
    padded = words + "  "
    hits: dict[int, list[tuple[int, int]]] = {}
    index = _index()
    for match in _places().finditer(words):
        place = match.start()
        if (start := padded[place]) < _FIRST_UNSPACED:
            known = index.get(padded[place : place + 3], ())
        else:
            known = index.get(padded[place : place + 2], ()) + index.get(start, ())
        for word, length, idea in known:
            if padded.startswith(word, place):
                hits.setdefault(idea, []).append((place, place + length))
    return hits


@functools.cache
def _asked() -> tuple[tuple[Rule, int, tuple[int, ...]], ...]:
    """The rules with plain numbers for ideas: members of an enumeration take twenty times as long to compare."""
    return tuple((rule, int(rule.first), tuple(map(int, rule.needs))) for rule in RULES)


_UNSPACED = "\u0600-\u06ff\u0900-\u0dff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_FIRST_UNSPACED = "\u0600"


@functools.cache  # like the index
def _places() -> re.Pattern[str]:
    """Where a word may begin."""
    return re.compile(rf"(?<!\w)\w|[{_UNSPACED}]|(?<=[{_UNSPACED}])\w")


@functools.cache  # built when the first text is scanned: most commands scan none
def _index() -> dict[str, tuple[tuple[str, int, int], ...]]:
    """The words by their first three characters, or two where no spaces are written.

    A whole word carries the space behind it.
    """
    found: dict[str, list[tuple[str, int, int]]] = {}
    for idea, listed in WORDS.items():
        for word in filter(None, map(str.strip, re.split(r"[,\n]", listed))):
            plain = forms.words(forms.fold(word.rstrip("*")))
            may_go_on = word.endswith("*") or re.match(f"[{_UNSPACED}]", plain)
            whole = plain if may_go_on else plain + " "
            start = whole[: 3 if whole < _FIRST_UNSPACED else 2]
            found.setdefault(start, []).append((whole, len(plain), int(idea)))
    for idea, word in markup.WORD_OF.items():
        found.setdefault(word[:3], []).append((word + " ", len(word), int(idea)))
    return {start: tuple(dict.fromkeys(words)) for start, words in found.items()}


def _applies(rule: Rule, first: int, needs: Sequence[int], hits: Mapping[int, Spots]) -> bool:
    needed = [_union(hits, need) for need in needs]
    return any(all(_near(spot, spots, rule) for spots in needed) for spot in _union(hits, first))


def _union(hits: Mapping[int, Spots], ideas: int) -> Spots:
    if ideas in hits:
        return hits[ideas]
    return sorted(spot for idea, spots in hits.items() if idea & ideas for spot in spots)


def _near(spot: tuple[int, int], spots: Spots, rule: Rule) -> bool:
    """Whether one of the (ordered) spots begins near enough to this one."""
    start, end = spot
    first = bisect_left(spots, (start if rule.after else start - rule.within, 0))
    return first < len(spots) and spots[first][0] <= end + rule.within
