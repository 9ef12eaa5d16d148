"""What people see as one character: where a text may be cut without tearing one. Pure."""

import unicodedata

ZERO_WIDTH_JOINER = "\u200d"


def is_border(text: str, position: int) -> bool:
    """Whether a cut at `position` leaves whole what people see as one character.

    Follows the rules of Unicode's extended grapheme clusters as far as the standard library knows them.
    """
    if position <= 0 or position >= len(text):
        return True
    before, after = text[position - 1], text[position]
    if before == "\r" and after == "\n":
        return False
    if _extends(after) or before == ZERO_WIDTH_JOINER:
        return False
    if _is_flag_letter(before) and _is_flag_letter(after):
        return _flag_letters_before(text, position) % 2 == 0
    return not _same_syllable(before, after)


def _extends(character: str) -> bool:
    """Accents, joiners, variation selectors, skin tones and tags belong to what stands before them."""
    return (
        unicodedata.category(character) in ("Mn", "Me", "Mc")
        or character in (ZERO_WIDTH_JOINER, "\u200c")
        or "\U0001f3fb" <= character <= "\U0001f3ff"
        or "\U000e0020" <= character <= "\U000e007f"
    )


def _is_flag_letter(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"


def _flag_letters_before(text: str, position: int) -> int:
    start = position
    while start and _is_flag_letter(text[start - 1]):
        start -= 1
    return position - start


def _same_syllable(before: str, after: str) -> bool:
    """Korean letters that are drawn as one syllable; an Indic consonant after its joiner."""
    if unicodedata.combining(before) == 9 and unicodedata.category(after) == "Lo":
        return True
    vowel_or_final = "\u1160" <= after <= "\u11ff"
    leading = "\u1100" <= after <= "\u115f"
    if "\u1100" <= before <= "\u115f":
        return leading or vowel_or_final or "\uac00" <= after <= "\ud7a3"
    return vowel_or_final and ("\u1160" <= before <= "\u11ff" or "\uac00" <= before <= "\ud7a3")
