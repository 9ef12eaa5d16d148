"""Characters by which a text says something that a reader's eye does not see. Pure."""

import re
import unicodedata

from gateway.scan import forms

_TAGS = re.compile("[\U000e0000-\U000e007f]")
_FLAGS_OF_NATIONS = re.compile(
    "\U0001f3f4\U000e0067\U000e0062(?:\U000e0065\U000e006e\U000e0067|\U000e0073\U000e0063\U000e0074"
    "|\U000e0077\U000e006c\U000e0073)\U000e007f"
)
_OVERRIDES = re.compile("[\u202a-\u202e]")
_SELECTOR = "[\ufe00-\ufe0f\U000e0100-\U000e01ef]"
_SELECTOR_PLACES = re.compile(f"(?P<base>^|.)(?P<selectors>{_SELECTOR}+)(?=(?P<next>.|$))", re.DOTALL)
_NEVER_NEEDED = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180e\u2060-\u2064\u206a-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\U0001d173-\U0001d17a]"
)
_DIRECTION_MARKS = re.compile("[\u061c\u200e\u200f\u2066-\u2069]")
_SPECIAL = re.compile(
    "[\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff"
    "\uffa0\ufff9-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e01ef]"
)
"""Without one of these there is nothing more to look at."""
_JOINED_SCRIPTS = frozenset(
    {"ARABIC", "SYRIAC", "MANDAIC", "NKO", "MONGOLIAN", "DEVANAGARI", "BENGALI", "GURMUKHI", "GUJARATI", "ORIYA"}
    | {"TAMIL", "TELUGU", "KANNADA", "MALAYALAM", "SINHALA", "MYANMAR", "KHMER", "THAI", "LAO", "TIBETAN"}
)


def reason(text: str) -> str:
    """Why the text may say something that a reader's eye does not see; "" if it does not."""
    if forms.CONTROL.search(text):
        return "reason.control_characters"
    hidden = (
        not text.isascii()
        and _SPECIAL.search(text)
        and (
            _TAGS.search(_FLAGS_OF_NATIONS.sub("", text))
            or _OVERRIDES.search(text)
            or _NEVER_NEEDED.search(text)
            or (_DIRECTION_MARKS.search(text) and not _has_right_to_left(text))
            or any(not _selects(match) for match in _SELECTOR_PLACES.finditer(text))
            or any(not _joins(text, place) for place, char in enumerate(text) if "\u200b" <= char <= "\u200d")
        )
    )
    return "reason.hidden_characters" if hidden else ""


def _selects(match: re.Match[str]) -> bool:
    """One selector may follow what has variants: a symbol, a keycap's digit, a Chinese character."""
    base, selectors = match["base"], match["selectors"]
    if len(selectors) > 1 or not base:
        return False
    if selectors in "\ufe0e\ufe0f":
        keycap = base in "0123456789#*" and match["next"] in ("\u20e3", "", " ")
        symbol = unicodedata.category(base)[0] in "SP" and not base.isascii()
        return keycap or symbol or base == "ℹ"
    return unicodedata.category(base) in ("Lo", "Sm", "Po") and not base.isascii()


def _joins(text: str, place: int) -> bool:
    """Zero-width characters belong inside emoji and between letters of the scripts that need them."""
    before, after = text[max(place - 1, 0) : place], text[place + 1 : place + 2]
    if _script(before) in _JOINED_SCRIPTS:
        return True
    return text[place] == "\u200d" and _is_emoji(before) and _is_emoji(after)


def _script(char: str) -> str:
    return unicodedata.name(char, "").split(" ")[0] if char else ""


def _is_emoji(char: str) -> bool:
    return bool(char) and (unicodedata.category(char) in ("So", "Sk") or char in "\ufe0f\u2640\u2642\U0001f1e6")


def _has_right_to_left(text: str) -> bool:
    return any(unicodedata.bidirectional(char) in ("R", "AL") for char in text if char not in "\u200f\u061c")
