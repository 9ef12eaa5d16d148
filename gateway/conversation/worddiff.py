"""What changes between two texts, as Markdown that Telegram and Discord read alike: ~~goes~~ and **comes**. Pure.

Word by word; sign by sign in scripts that put no blanks between words. Marks only work where readers of Markdown
see a border: a run that begins or ends with a punctuation mark inside a line takes the sign next to it along.
"""

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher

MOST_TOKENS = 2_000
MOST_CHANGES = 24
"""More places than these are read faster as two whole texts; each is up to two of Telegram's 100 formats."""
LONGEST_CRUMB = 2
LEAST_SHARED = 0.4
"""The part of both texts that must stay for a difference to be read more easily than the two."""

_UNSPACED = (
    r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
    r"\u1100-\u11ff\u3130-\u318f\uac00-\ud7ff"  # Korean
    r"\u3000-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff"
)
_JOINS = r"\u0300-\u036f\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u3099\u309a\ufe00-\ufe0f"
_TOKEN = rf"(?P<gap>\s*)(?P<word>[{_UNSPACED}][{_JOINS}]*|[^\s{_UNSPACED}]+)"


@dataclass(frozen=True, slots=True)
class _Token:
    """A word or a sign, and the white space before it."""

    gap: str
    word: str


@dataclass(frozen=True, slots=True)
class _Part:
    """A stretch that stays (`old` and `new` are the same words), or one that changes."""

    old: tuple[_Token, ...]
    new: tuple[_Token, ...]
    stays: bool = False


def marked(old: str, new: str, escape: Callable[[str], str]) -> str:
    """The new text with what went and what came marked; "" where the two are better shown whole."""
    before, after = _tokens(old), _tokens(new)
    if max(len(before), len(after)) > MOST_TOKENS or not before or not after:
        return ""
    parts = _with_borders(_without_crumbs(_parts(before, after)))
    changed = [part for part in parts if not part.stays]
    if not changed or len(changed) > MOST_CHANGES or _shared(parts, before, after) < LEAST_SHARED:
        return ""
    if any(not _can_be_marked(part) for part in changed):
        return ""
    return "".join(_shown(part, escape) for part in parts).strip()


def _tokens(text: str) -> tuple[_Token, ...]:
    return tuple(_Token(found["gap"], found["word"]) for found in re.finditer(_TOKEN, text))


def _parts(before: Sequence[_Token], after: Sequence[_Token]) -> list[_Part]:
    matcher = SequenceMatcher(None, _compared(before), _compared(after), autojunk=False)
    return [
        _Part(tuple(before[i:k]), tuple(after[j:m]), stays=how == "equal")
        for how, i, k, j, m in matcher.get_opcodes()
    ]


def _compared(tokens: Sequence[_Token]) -> list[tuple[str, bool]]:
    """A word that moved to another line has changed; one with more blanks before it has not."""
    return [(token.word, "\n" in token.gap) for token in tokens]


def _shared(parts: Sequence[_Part], before: Sequence[_Token], after: Sequence[_Token]) -> float:
    same = sum(len(token.word) for part in parts if part.stays for token in part.new)
    return 2 * same / sum(len(token.word) for token in (*before, *after))


def _without_crumbs(parts: list[_Part]) -> list[_Part]:
    """One or two signs that happen to stay between two changes, in a script without blanks, change with them."""
    inner = range(1, len(parts) - 1)
    return _joined(
        [
            replace(part, stays=part.stays and not (n in inner and _is_crumb(part, parts[n + 1])))
            for n, part in enumerate(parts)
        ]
    )


def _is_crumb(part: _Part, following: _Part) -> bool:
    signs = sum(len(token.word) for token in part.new)
    around = (*part.old, *part.new, *following.old[:1], *following.new[:1])
    return signs <= LONGEST_CRUMB and not any(token.gap for token in around)


# -- borders -------------------------------------------------------------------------------------------------


def _with_borders(parts: list[_Part]) -> list[_Part]:
    """Changes widened until each begins and ends where a mark is read as one."""
    place = 0
    while place < len(parts):
        widened = None if parts[place].stays else _widened(parts, place)
        if widened is None:
            place += 1
        else:
            parts, place = widened, 0
    return parts


def _widened(parts: list[_Part], place: int) -> list[_Part] | None:
    """The parts with one word more in this change, where it needs that; None where all is well."""
    change = parts[place]
    left = parts[place - 1] if place else None
    right = parts[place + 1] if place + 1 < len(parts) else None
    if left is not None and _clings(left, change):
        taken = _Part((left.old[-1], *change.old), (left.new[-1], *change.new))
        rest = replace(left, old=left.old[:-1], new=left.new[:-1])
        return _joined([*parts[: place - 1], rest, taken, *parts[place + 1 :]])
    if right is not None and _clings(change, right):
        taken = _Part((*change.old, right.old[0]), (*change.new, right.new[0]))
        rest = replace(right, old=right.old[1:], new=right.new[1:])
        return _joined([*parts[:place], taken, rest, *parts[place + 2 :]])
    return None


def _clings(left: _Part, right: _Part) -> bool:
    """Whether no mark could stand between these two: signs touch, and the changed one is punctuation."""
    changed, kept = (right, left) if left.stays else (left, right)
    for tokens in (changed.old, changed.new):
        if not tokens:
            continue
        gap = tokens[0].gap if left.stays else _gap(kept)
        inner, outer = (
            (tokens[0].word[0], kept.new[-1].word[-1])
            if left.stays
            else (
                tokens[-1].word[-1],
                kept.new[0].word[0],
            )
        )
        if not gap and _is_punctuation(inner) and not _is_punctuation(outer):
            return True
    return False


def _gap(kept: _Part) -> str:
    """What stands before words that stay; where the word before them went, what stood between the two."""
    return kept.new[0].gap or kept.old[0].gap


def _is_punctuation(sign: str) -> bool:
    return unicodedata.category(sign)[0] in "PS"


def _joined(parts: list[_Part]) -> list[_Part]:
    """Without empty parts, and neighbouring changes made one."""
    joined: list[_Part] = []
    for part in parts:
        if not part.old and not part.new:
            continue
        if joined and not part.stays and not joined[-1].stays:
            joined[-1] = _Part(joined[-1].old + part.old, joined[-1].new + part.new)
        else:
            joined.append(part)
    return joined


# -- showing -------------------------------------------------------------------------------------------------


def _can_be_marked(part: _Part) -> bool:
    """Platforms disagree about what ends a struck-through stretch that holds its own mark."""
    return not any("~" in token.word for token in part.old)


def _shown(part: _Part, escape: Callable[[str], str]) -> str:
    if part.stays:
        words = "".join(token.gap + escape(token.word) for token in part.new)
        return _gap(part) + words[len(part.new[0].gap) :]
    old, new = _run(part.old, "~~", escape), _run(part.new, "**", escape)
    if not (old and new):
        return old or new
    return old + (new if new[0].isspace() or not _has_blank(part) else " " + new)


def _has_blank(part: _Part) -> bool:
    return bool(part.old[0].gap) or len(part.new[0].word) > 1


def _run(tokens: Sequence[_Token], mark: str, escape: Callable[[str], str]) -> str:
    """The words between marks; a mark never spans lines."""
    if not tokens:
        return ""
    text = tokens[0].gap
    for place, token in enumerate(tokens):
        breaks = place > 0 and "\n" in token.gap
        if breaks:
            text += mark + token.gap
        if place == 0 or breaks:
            text += mark + escape(token.word)
        else:
            text += token.gap + escape(token.word)
    return text + mark
