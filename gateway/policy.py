"""The pure rules: apply, stage or refuse a write; what its evidence is worth; when a review is due.

Only people make memory (design.md 7.2). Whether a text looks like an attack is `scan`; here it arrives as a
reason or as flags.
"""

import functools
import re
import unicodedata
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from gateway.chat import How
from gateway.records import Evidence, Message, Origin, Role

# -- what a write rests on ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Said:
    """Own words of the space's person (in a group: the owner) that the model saw. `by` is a person's key."""

    message: int
    by: str
    text: str


def own_words(rows: Iterable[Message], whose: Collection[str] | None = None) -> tuple[Said, ...]:
    """What the space's person said in their own words in these rows of a transcript, in their order.

    `whose`: that person's accounts where others speak, too (in a group: the owner's); None: all is theirs.
    """
    theirs = (row for row in rows if row.role is Role.USER and _is_theirs(row, whose))
    said = ((row, "\n".join(_pieces(row, own=True))) for row in theirs)
    return tuple(Said(row.id, row.person, text) for row, text in said if text)


def foreign_words(rows: Sequence[Message], whose: Collection[str] | None = None) -> tuple[str, ...]:
    """What was quoted or forwarded into these rows of a transcript, what somebody else said (`whose` as above),
    and what tools fetched; memory's own results are not foreign."""
    fetched = (row.text for row in rows if row.role is Role.TOOL and row.tool_name != "memory")
    return (*(text for row in rows if row.role is Role.USER for text in _not_theirs(row, whose)), *fetched)


def _not_theirs(row: Message, whose: Collection[str] | None) -> list[str]:
    quoted = _pieces(row, own=False)
    return quoted if _is_theirs(row, whose) else [*quoted, *_pieces(row, own=True)]


def _is_theirs(row: Message, whose: Collection[str] | None) -> bool:
    return whose is None or row.person in whose


def _pieces(row: Message, *, own: bool) -> list[str]:
    if not row.pieces:
        return [row.text] if own else []
    return [p.text for p in row.pieces if p.how is not How.ATTACHED and (p.how is How.OWN) == own]


class Rest(StrEnum):
    """How the words that a write rests on were found."""

    OWN = "own"
    """In the person's own words, or it is the person's own command."""
    FOREIGN = "foreign"
    """Only in words that were forwarded, quoted, fetched, recalled or said by somebody else."""
    NOWHERE = "nowhere"
    UNQUOTED = "unquoted"
    """A review (or nobody's turn) quoted nothing."""
    MIXED = "mixed"
    """A turn quoted nothing, and not all its words are the person's own."""


_FLAG_OF = {
    Rest.OWN: "",
    Rest.FOREIGN: "flag.foreign",
    Rest.NOWHERE: "flag.not_found",
    Rest.UNQUOTED: "flag.unquoted",
    Rest.MIXED: "flag.mixed",
}


@dataclass(frozen=True, slots=True)
class Found:
    rest: Rest
    evidence: Evidence


def find_evidence(
    quote: str | None,
    content: str,
    own: Sequence[Said],
    foreign: Sequence[str],
    message: int | None,
    heard: Sequence[str] = (),
) -> Found:
    """Look up what a write rests on, newest words first. `message` is the turn's current message.

    A quote from the person's own words is not enough when what the write says comes from foreign words of
    the same turn: "summarise this" under a forwarded "remember that …" would vouch for anything. Nor when it
    comes from what others were `heard` to say earlier: "remember that" would vouch for their words, too.
    """
    found = _rests_on(quote, content, own, foreign, message)
    if not heard:
        return found
    told = found.rest is Rest.OWN and comes_from(heard, own, content)
    quoted = found.rest is Rest.NOWHERE and any(_holds(text, (quote or "").strip()) for text in heard)
    return Found(Rest.FOREIGN, found.evidence) if told or quoted else found


def _rests_on(
    quote: str | None, content: str, own: Sequence[Said], foreign: Sequence[str], message: int | None
) -> Found:
    if not (quote or "").strip():
        return _unquoted(own, foreign, message)
    quote = (quote or "").strip()
    said = next((words for words in reversed(own) if _holds(words.text, quote, strict=bool(foreign))), None)
    if said is None:
        anywhere = any(_holds(text, quote) for text in foreign)
        return Found(Rest.FOREIGN if anywhere else Rest.NOWHERE, Evidence(None, "", quote))
    evidence = Evidence(said.message, said.by, quote)
    return Found(Rest.FOREIGN if comes_from(foreign, own, content) else Rest.OWN, evidence)


def _unquoted(own: Sequence[Said], foreign: Sequence[str], message: int | None) -> Found:
    current = [words for words in own if words.message == message]
    if message is None or not current:
        return Found(Rest.MIXED if message is not None else Rest.UNQUOTED, Evidence(message, "", ""))
    text = "\n".join(words.text for words in current)
    return Found(Rest.MIXED if foreign else Rest.OWN, Evidence(message, current[0].by, text))


def comes_from(foreign: Sequence[str], own: Sequence[Said], content: str) -> bool:
    """Whether a text says mostly what foreign words say, or an address or number only they hold.

    Beside foreign words a text that shares nothing with the person's own is theirs in other words, for all we
    can tell: "good morning" vouches for no paraphrase.
    """
    if not any(text.strip() for text in foreign):
        return False
    ours, said = _tokens("\n".join(words.text for words in own)), _tokens(content)
    theirs = _tokens("\n".join(foreign)) - ours
    if said and said.isdisjoint(ours):
        return True
    taken = said & theirs
    return len(taken) * 2 > len(said) or any(re.search(r"\d{3}|[@/]", token) for token in taken)


_STRICT = 8
"""How much a quote must say where foreign words could have told the model to quote "the"."""
_TOKEN = re.compile(r"[\w.+-]+@[\w.-]+|https?://\S+|[^\W_]{3,}")
_QUOTES_AND_DASHES = str.maketrans("‘’‚“”„«»`´‐‑‒–—―−", "''''''''''" + "-------")


def _holds(text: str, quote: str, *, strict: bool = False) -> bool:
    sought, words = _plain(quote), _plain(text)
    if sought == words:
        return True
    is_wide = _wide().match
    weight = sum(2 if is_wide(char) else 1 for char in sought if char.isalnum())
    return weight >= (_STRICT if strict else 2) and sought in words


def _plain(text: str) -> str:
    """A form in which a verbatim quote equals its source whatever happened to blanks, quotes and width."""
    plain = unicodedata.normalize("NFKC", text).translate(_QUOTES_AND_DASHES).casefold().replace('"', "'")
    return " ".join(plain.split()).strip(" .…'")


def _tokens(text: str) -> set[str]:
    plain = unicodedata.normalize("NFKC", text).casefold()
    wide = "".join(char if _wide().match(char) else " " for char in plain).split()
    pairs = {run[place : place + 2] for run in wide for place in range(len(run) - 1)}
    narrow = {token.rstrip(".,;:!?)") for token in _TOKEN.findall(_wide().sub(" ", plain))}
    return narrow | pairs


@functools.cache  # compiled when the first write is judged: most commands judge none
def _wide() -> re.Pattern[str]:
    """A character that says about as much as two: Thai and the scripts of the Far East."""
    return re.compile(r"[\u0e00-\u0e7f\u1100-\u11ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


# -- apply, stage or refuse --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Apply:
    """Write it now; nobody is asked."""


@dataclass(frozen=True, slots=True)
class Stage:
    """Ask a person first, and show the flags."""

    flags: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Refuse:
    """Do not write it. `reason` is a key of the catalog."""

    reason: str


def decide(
    origin: Origin, *, approval_required: bool, rest: Rest, refused: str = "", flags: Sequence[str] = ()
) -> Apply | Stage | Refuse:
    """What becomes of a write. `refused` and `flags` are what the scan says of its text.

    A person's own command needs no yes of that person, unless the scan flags it.
    """
    if refused:
        return Refuse(refused)
    if origin in (Origin.PERSON, Origin.IMPORT):
        return Stage(tuple(flags)) if flags else Apply()
    doubts = tuple(flags) + ((_FLAG_OF[rest],) if _FLAG_OF[rest] else ())
    return Stage(doubts) if doubts or approval_required else Apply()


# -- reviews -----------------------------------------------------------------------------------------------


def review_due(unreviewed_turns: int, nudge_interval: int) -> bool:
    """Whether the answer just given makes a review due. An interval of 0 switches reviews off."""
    return 0 < nudge_interval <= unreviewed_turns
