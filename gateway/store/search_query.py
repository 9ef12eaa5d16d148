"""The words people type into a search, read. Pure.

What FTS5 knows: several words are all meant, OR, NOT, "a phrase", begin*, brackets. Nothing is an error: what makes
no sense as syntax is a word or nothing. SQLite gets an expression in which only quoted tokens of ours stand, so no
text can be more than a text.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time, tzinfo

from gateway.store import search_fold
from gateway.store.encoding import clean
from gateway.store.search_fold import LONGEST_TOKEN, WORD_CHARACTER, fold, pieces

LONGEST = 500
MOST_TERMS = 12
SHORTEST_PREFIX = 4
"""Fewer letters begin so many words that the index would be slower than reading what was said last."""
SHORTEST_SPLIT = 4
_DEEPEST = 8
_LEXEMES = re.compile(r'"(?P<phrase>[^"]*)(?:"(?P<star>\*)?|$)|(?P<chunk>[^\s"]+)')
_KATAKANA = {code: code + 0x60 for code in range(0x3041, 0x3097)}
_QUOTES = str.maketrans("\u201c\u201d\u201e\u201f\u2033\uff02", '""""""', "\0")


@dataclass(frozen=True, slots=True)
class Term:
    """One word or phrase."""

    text: str = field(compare=False)
    """As typed, without quotes and star."""
    folded: str
    match: str
    """How the index finds it; "" where it cannot."""
    exact: bool = False
    """Whether the index finds too much, so that each hit must be looked at."""
    prefix: bool = False
    tokens: tuple[str, ...] = ()

    def holds(self, folded: str, *, unseen: bool = False) -> bool:
        """Whether a folded text has it."""
        if self.exact and not self.prefix:
            return self.folded in folded
        parts = list(pieces(self.folded))
        return all(
            part in folded if run else _has_word(folded, part, open_end=self.prefix and place == len(parts) - 1)
            for place, (part, run) in enumerate(parts)
        )

    @property
    def spellings(self) -> tuple[str, ...]:
        """What to look for in a text that is only in lower case: kana are written in two ways."""
        other = self.folded.translate(_KATAKANA)
        return (self.folded,) if other == self.folded else (self.folded, other)

    def parts(self) -> Iterator[tuple[str, ...]]:
        """Its words and runs, each in the spellings to look for where no index helps. Signs alone are one part."""
        folded = [piece for piece, _ in pieces(self.folded)] or [self.folded]
        typed = [piece for piece, _ in pieces(self.text)] or [self.text]
        if len(typed) != len(folded):
            # Folding joined or split what was typed (a colour of an emoji goes, ½ becomes two): all as it stands.
            yield tuple(dict.fromkeys((self.folded, self.folded.translate(_KATAKANA), self.text)))
            return
        for place, piece in enumerate(folded):
            yield tuple(dict.fromkeys((piece, piece.translate(_KATAKANA), typed[place])))

    def terms(self) -> Iterator["Term"]:
        yield self


@dataclass(frozen=True, slots=True)
class All:
    """Everything of `parts` and nothing of `but`."""

    parts: tuple["Node", ...]
    but: tuple["Node", ...] = ()

    @property
    def match(self) -> str:
        """What cannot be narrowed by the index, or only too far, is left to `holds`."""
        wanted = [part.match for part in self.parts if part.match]
        unwanted = [part.match for part in self.but if part.match and not part.exact]
        found = " AND ".join(wanted)
        if not wanted or not unwanted:
            return f"({found})" if len(wanted) > 1 else found
        return f"(({found}) NOT ({' OR '.join(unwanted)}))"

    @property
    def exact(self) -> bool:
        return any(part.exact for part in (*self.parts, *self.but))

    def holds(self, folded: str, *, unseen: bool = False) -> bool:
        """What the index has excluded need not be looked at, unless it has not seen the text.

        It excludes from what it finds: where it finds nothing of `parts`, nothing was excluded.
        """
        unseen = unseen or not self.match
        if any((part.exact or unseen) and part.holds(folded, unseen=True) for part in self.but):
            return False
        return all(part.holds(folded, unseen=unseen) for part in self.parts)

    def terms(self) -> Iterator[Term]:
        for part in self.parts:
            yield from part.terms()


@dataclass(frozen=True, slots=True)
class Any:
    """One of `parts` at least."""

    parts: tuple["Node", ...]

    @property
    def match(self) -> str:
        found = [part.match for part in self.parts]
        return f"({' OR '.join(found)})" if all(found) else ""

    @property
    def exact(self) -> bool:
        return any(part.exact for part in self.parts)

    def holds(self, folded: str, *, unseen: bool = False) -> bool:
        unseen = unseen or not self.match
        return any(part.holds(folded, unseen=unseen) for part in self.parts)

    def terms(self) -> Iterator[Term]:
        for part in self.parts:
            yield from part.terms()


Node = Term | All | Any


@dataclass(frozen=True, slots=True)
class Query:
    """What is looked for: `node` is None where nothing was asked."""

    node: Node | None = None

    @property
    def terms(self) -> tuple[Term, ...]:
        """What is wanted, each once."""
        return () if self.node is None else tuple(dict.fromkeys(self.node.terms()))

    @property
    def match(self) -> str:
        """The expression for FTS5; "" where the index cannot help."""
        return "" if self.node is None else self.node.match

    @property
    def exact(self) -> bool:
        """Whether what the index finds must be looked at."""
        return self.node is not None and self.node.exact

    @property
    def single(self) -> str:
        """The one token that is all of the query; "" for anything more."""
        terms = self.terms
        plain = len(terms) == 1 and isinstance(self.node, Term) and not terms[0].prefix and not terms[0].exact
        return terms[0].tokens[0] if plain and len(terms[0].tokens) == 1 else ""

    @property
    def width(self) -> int:
        """How many tokens must be matched together, roughly: what a hit costs."""
        return sum(len(term.tokens) for term in self.terms)


def parse(text: str) -> Query:
    """Any text as a query."""
    text = clean(_cut(text)).translate(_QUOTES)
    found = _Parser(list(_lexed(text))).parsed()
    if found is None:  # nothing but operators and brackets: then they are what is looked for
        found = _all([term for word in text.replace('"', " ").split() if (term := _term(word))])
    return Query(_without_noise(found))


def _cut(text: str) -> str:
    """No longer than may be, without the beginning of a word at its end: no text has that as a word."""
    kept = text[:LONGEST]
    in_a_word = re.match(r"\w\w", text[LONGEST - 1 : LONGEST + 1])
    return (re.sub(r"\w+$", "", kept) or kept) if in_a_word else kept


def split(query: Query) -> Query | None:
    """The same with text that has no blanks cut where its scripts change, and long runs cut into pairs.

    For a query of one such text that is found nowhere as it stands: 経費申請期限 means 経費申請 and 申請期限, too.
    None where there is nothing to cut.
    """
    if not isinstance(query.node, Term) or re.search(r"[\s\W_]", query.node.folded):
        return None
    parts = list(pieces(query.node.folded))
    cut: list[str] = []
    for piece, run in parts:
        pairs = [piece[at : at + 2] for at in range(len(piece) - 1)] if run and len(piece) >= SHORTEST_SPLIT else []
        cut += pairs or [piece]
    terms = [term for piece in dict.fromkeys(cut) if (term := _term(piece))]
    return Query(Any(tuple(terms[: 2 * MOST_TERMS]))) if len(terms) > 1 else None


# -- dates -------------------------------------------------------------------------------------------------


def day(text: str, zone: tzinfo) -> datetime | None:
    """The moment at which a day begins where the person lives, or the moment that is named; None: neither."""
    text = text.strip()
    try:
        if re.fullmatch(r"\d{4}-\d\d-\d\d", text):
            return datetime.combine(date.fromisoformat(text), time(), zone)
        named = datetime.fromisoformat(text)
    except ValueError:
        return None
    return named if named.tzinfo else named.replace(tzinfo=zone)


# -- reading -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Sign:
    """An operator or a bracket."""

    name: str


def _lexed(text: str) -> Iterator[Term | _Sign]:
    depth = 0
    for found in _LEXEMES.finditer(text):
        if found["phrase"] is not None:
            if term := _term(found["phrase"], prefix=bool(found["star"])):
                yield term
            continue
        chunk = found["chunk"]
        while chunk.startswith("(") and depth < _DEEPEST:
            yield _Sign("(")
            chunk, depth = chunk[1:], depth + 1
        closing = min(len(chunk) - len(chunk.rstrip(")")), depth)
        chunk = chunk[: len(chunk) - closing]
        if chunk in ("AND", "OR", "NOT"):
            yield _Sign(chunk)
        elif term := _term(chunk.rstrip("*") or chunk, prefix=len(chunk) > 1 and chunk.endswith("*")):
            yield term
        yield from [_Sign(")")] * closing
        depth -= closing


class _Parser:
    """Reads lexemes from left to right. Operators that lack something are passed over."""

    def __init__(self, lexemes: Sequence[Term | _Sign]) -> None:
        self._lexemes = lexemes
        self._at = 0
        self._terms = 0

    def parsed(self) -> Node | None:
        found: list[Node] = []
        while self._at < len(self._lexemes):
            found += [one for one in [self._any()] if one is not None]
            self._takes(")")
        return _all(found)

    def _any(self) -> Node | None:
        found = [one for one in [self._all()] if one is not None]
        while self._takes("OR"):
            found += [one for one in [self._all()] if one is not None]
        return _any(found)

    def _all(self) -> Node | None:
        wanted: list[Node] = []
        unwanted: list[Node] = []
        while self._at < len(self._lexemes) and not self._is("OR") and not self._is(")"):
            if self._takes("AND"):
                continue
            into = unwanted if self._takes("NOT") and wanted else wanted
            found = self._one()
            if found is not None:
                into.append(found)
        return _all(wanted, unwanted)

    def _one(self) -> Node | None:
        if self._at >= len(self._lexemes):
            return None
        lexeme = self._lexemes[self._at]
        if isinstance(lexeme, Term):
            self._at += 1
            self._terms += 1
            return lexeme if self._terms <= MOST_TERMS else None
        if self._takes("("):
            found = self._any()
            self._takes(")")
            return found
        return None  # an operator after NOT

    def _is(self, name: str) -> bool:
        return self._at < len(self._lexemes) and self._lexemes[self._at] == _Sign(name)

    def _takes(self, name: str) -> bool:
        if self._is(name):
            self._at += 1
            return True
        return False


def _all(wanted: Sequence[Node], unwanted: Sequence[Node] = ()) -> Node | None:
    wanted = list(dict.fromkeys(wanted))
    if not wanted:
        return None
    return wanted[0] if len(wanted) == 1 and not unwanted else All(tuple(wanted), tuple(unwanted))


def _any(found: Sequence[Node]) -> Node | None:
    found = list(dict.fromkeys(found))
    if not found:
        return None
    return found[0] if len(found) == 1 else Any(tuple(found))


def _without_noise(node: Node | None) -> Node | None:
    """Signs alone (`-`, `:`) count only where nothing else is looked for."""
    if node is None or not any(term.tokens for term in node.terms()):
        return node
    return _pruned(node)


def _pruned(node: Node) -> Node | None:
    if isinstance(node, Term):
        return node if node.tokens else None
    parts = [part for one in node.parts if (part := _pruned(one)) is not None]
    if isinstance(node, Any):
        return _any(parts)
    return _all(parts, [part for one in node.but if (part := _pruned(one)) is not None])


def _has_word(folded: str, word: str, *, open_end: bool) -> bool:
    """Whether it stands in a text as a word, or as the beginning of one."""
    end = "" if open_end or len(word) > LONGEST_TOKEN else f"(?!{WORD_CHARACTER})"
    return re.search(f"(?<!{WORD_CHARACTER}){re.escape(word[:LONGEST_TOKEN])}{end}", folded) is not None


# -- terms -------------------------------------------------------------------------------------------------


def _term(text: str, *, prefix: bool = False) -> Term | None:
    text = text.strip()
    folded = fold(text).strip()
    if not folded:
        return None
    signs = search_fold.signed(folded)
    if signs and signs[-1] == f"~{folded}":
        return Term(text, folded, _quoted(signs[-1:]), tokens=(signs[-1],))
    tokens: list[str] = []
    alone = ""
    parts = list(pieces(folded))
    for place, (piece, run) in enumerate(parts):
        last = place == len(parts) - 1
        if not run:
            tokens.append(piece[:LONGEST_TOKEN])
        elif last and len(piece) == 1:
            alone = f"~{piece}"
        else:
            tokens += [piece[at : at + 2] for at in range(len(piece) - 1)]
            tokens += () if last else (piece[-1],)
    if not parts:
        return Term(text, folded, "", exact=True)
    return _made(text, folded, tokens, alone, prefix=_is_prefix(folded, parts, asked=prefix))


def _is_prefix(folded: str, parts: Sequence[tuple[str, bool]], *, asked: bool) -> bool:
    """Where it is asked for; and the last part of a name_like_this is read as a beginning. Runs always are one."""
    piece, run = parts[-1]
    ends_with_word = not run and folded.endswith(piece)
    return ends_with_word and len(piece) <= LONGEST_TOKEN and (asked or ("_" in folded and len(piece) >= 3))


def _made(text: str, folded: str, tokens: list[str], alone: str, *, prefix: bool) -> Term:
    if prefix and len(tokens) == 1 and len(tokens[0]) < SHORTEST_PREFIX:
        return Term(text, folded, "", exact=True, prefix=True, tokens=tuple(tokens))
    match = " AND ".join(
        [_quoted(tokens) + (" *" if prefix else "")] * bool(tokens) + [_quoted([alone])] * bool(alone)
    )
    every = (*tokens, alone) if alone else tuple(tokens)
    mixed = bool(tokens and alone)
    return Term(text, folded, f"({match})" if mixed else match, exact=mixed, prefix=prefix, tokens=every)


def _quoted(tokens: Sequence[str]) -> str:
    """Tokens hold letters, signs and symbols only; a quote cannot be in one, and would be doubled all the same."""
    return '"{}"'.format(" ".join(tokens).replace('"', '""'))
