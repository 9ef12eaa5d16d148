"""Is this text safe to show a model? Pure; used at every write and again at every load.

A text is judged in the forms a model might read it in (`forms`): NFKC, without invisible characters and accents,
look-alike letters as Latin ones, decoded. REFUSED is kept for what hides from the reader's eye (`hiding`), for
secrets (`secrets`), and for a plain command to drop the instructions. Everything else that looks wrong, by its
wording (`rules`, `phrases`) or otherwise (`markup`), is SUSPICIOUS: a person is asked, nothing is lost.
Wording cannot be caught in full; the stronger rule is where words come from (`policy`). Rates: docs/scan.md.
"""

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

from gateway.scan import forms, hiding, markup, phrases, rules, secrets
from gateway.scan.ideas import Idea


class Level(IntEnum):
    CLEAN = 0
    SUSPICIOUS = 1
    REFUSED = 2


@dataclass(frozen=True, slots=True)
class Verdict:
    """`reasons` are keys of the catalog: `flag.…` when suspicious, `reason.…` when refused."""

    level: Level
    reasons: tuple[str, ...] = ()

    @property
    def secret(self) -> bool:
        """True when the text must not be kept anywhere."""
        return SECRET in self.reasons


CLEAN = Verdict(Level.CLEAN)
SECRET = "reason.secret"


@functools.lru_cache(maxsize=512)  # every write and every prompt looks at the same few entries again
def check(text: str) -> Verdict:
    """The verdict on a text that is to enter a prompt."""
    if has_secret(text):
        return Verdict(Level.REFUSED, (SECRET,))
    if reason := hiding.reason(text):
        return Verdict(Level.REFUSED, (reason,))
    bare = _QUOTED.sub(" … ", text)
    shown = forms.visible(bare)
    if any(map(_commands, shown)):
        return Verdict(Level.REFUSED, ("reason.override",))
    flags = _flags(text, bare, shown)
    return Verdict(Level.SUSPICIOUS, flags) if flags else CLEAN


def has_secret(text: str) -> bool:
    """Whether it holds a key, a token, a password or a card number."""
    return secrets.found_in(text)


def imitates_frame(text: str) -> bool:
    """Whether a text, or a line of it, could be taken for a part of the prompt that is not its own words."""
    return any(map(markup.frames, forms.visible(text)))


# -- a plain command to drop the instructions --------------------------------------------------------------

_QUOTED = re.compile(
    r"\"[^\"]{1,400}\"|“[^”]{1,400}”|„[^“”]{1,400}[“”]|«[^»]{1,400}»|「[^」]{1,400}」|『[^』]{1,400}』|《[^》]{1,400}》|"
    r"`[^`]{1,400}`|(?<!\w)'[^'\n]{1,400}'(?!\w)|‘[^’]{1,400}’"
)
_SENTENCE = re.compile(r"[.!?;:\n…]+")
_COMMAND = re.compile(
    r"(?:(?:please|now|and|then|hey|assistant|system|important|attention|you must|you should) )*"
    r"(?:ignore|disregard|forget|override) (?:all |any |every |of |the |your |my |these |those )*"
    r"(?:previous|prior|above|earlier|preceding|former) (?:\w+ )?"
    r"(?:instructions?|prompts?|rules|directions|directives|guidelines|commands)\b"
    r"(?! (?:about|on|for|regarding|concerning|in|from|when|of|to))"
)


def _commands(form: str) -> bool:
    return bool(_DROPS.search(form)) and any(_COMMAND.match(forms.words(part)) for part in _SENTENCE.split(form))


_DROPS = re.compile("ignore|disregard|forget|override")


# -- what merely looks wrong -------------------------------------------------------------------------------


def _flags(text: str, bare: str, shown: tuple[str, ...]) -> tuple[str, ...]:
    """`bare` is the text without what it quotes, `shown` the visible forms of that."""
    told, seen = (bare, shown) if bare == text or _quotes_examples(bare) else (text, forms.visible(text))
    flags = dict.fromkeys(flag for form in seen for flag in _flags_of(form))
    if forms.has_mixed_word(text):
        flags["flag.homoglyph"] = None
    if not flags and any(_talks_to_the_model(form) for form in forms.hidden(told)):
        flags["flag.obfuscated"] = None
    return tuple(flags)


def _flags_of(form: str) -> Iterator[str]:
    yield from rules.flags(forms.words(markup.marked(form)))
    yield from phrases.flags(forms.words(form))
    yield from markup.flags(form)


def _talks_to_the_model(form: str) -> bool:
    folded = forms.fold(form)
    glued = re.sub(r"[\W_]+", "", folded)
    return any(_flags_of(folded)) or bool(_SQUEEZED.search(glued))


_SQUEEZED = re.compile(
    r"(?:ignore|disregard|forget|override)(?:all|any|every|of|the|your|my|these|those)*"
    r"(?:previous|prior|above|earlier|system|preceding|former)(?:instruction|prompt|rule|direction|guideline|command)"
)


def _quotes_examples(bare: str) -> bool:
    """Whether a text talks about attacks (a warning, a lecture): then it is judged by its own words only."""
    heard = rules.listen(forms.words(forms.fold(bare)))
    return Idea.DISCUSSED in heard and Idea.OBEY not in heard
