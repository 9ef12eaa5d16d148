"""The forms in which a model might read a text: plain, without look-alike letters, decoded.

Pure, and linear in time.
"""

import base64
import binascii
import codecs
import html
import re
import unicodedata
from collections.abc import Callable, Iterator
from itertools import pairwise
from urllib.parse import unquote

CONTROL = re.compile("[\x00-\x08\x0b-\x0c\x0e-\x1f\x7f-\x84\x86-\x9f]")
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff]|" + CONTROL.pattern
)
_ACCENTS = re.compile("[\u0300-\u036f]")
_ACCENTED = re.compile("[\u00c0-\u052f\u1e00-\u1fff]|" + _ACCENTS.pattern)
_GAP = re.compile(r"(?:[^\w\u0300-\u036f\u0900-\u0e7f\u3099\u309a]|_)+")
_LOOK_ALIKES = str.maketrans(
    "аеорсухіјѕһԁԛԝѵⅼɡɑıαοερυνικτвкмнтᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢ",
    "aeopcyxijshdqwvlgaiaoepuviktbkmhtabcdefghijklmnoprstuvwyz",
)
_MADE_OF_LOOK_ALIKES = re.compile(
    rf"(?<!\w)(?=[a-z]{{0,60}}[^a-z\W])[a-z{''.join(map(chr, _LOOK_ALIKES))}]{{3,60}}(?!\w)"
)
"""A word with letters of another alphabet, each of which passes for a Latin one."""
_LATIN = re.compile("[a-zɡɑıⅼ\u1d00-\u1d2b\ua730\ua731ɢʜɪʟɴʀʏ]")
_DECODED_CHARS = 20_000


def without_invisible(text: str) -> str:
    return _INVISIBLE.sub("", text)


def plain(text: str) -> str:
    """NFKC, without invisible characters; case and accents stay."""
    return text if text.isascii() and text.isprintable() else unicodedata.normalize("NFKC", without_invisible(text))


def fold(text: str) -> str:
    """NFKC, lower case, no invisible characters, no accents on Latin, Greek and Cyrillic letters."""
    lower = plain(text).casefold()
    if lower.isascii() or not _ACCENTED.search(lower):
        return lower
    return unicodedata.normalize("NFC", _ACCENTS.sub("", unicodedata.normalize("NFD", lower)))


def words(form: str) -> str:
    """Words with one space between, whatever stood there."""
    return _GAP.sub(" ", form).strip()


def visible(text: str) -> tuple[str, ...]:
    """As a person reads it, with mixed words in one alphabet, and with look-alike letters as Latin ones."""
    folded = fold(text)
    if folded.isascii() or not (_LATIN.search(folded) and _OTHER.search(folded)):
        return (folded,)
    latin = folded.translate(_LOOK_ALIKES) if _MADE_OF_LOOK_ALIKES.search(folded) else folded
    return tuple(dict.fromkeys((folded, _unmixed(folded), latin)))


def hidden(text: str) -> Iterator[str]:
    """As a model could decode it. One encoding inside another is followed once."""
    for form in _decoded(text):
        yield form
        yield from _decoded(form)


# -- alphabets mixed inside a word -------------------------------------------------------------------------

_LATIN_LETTER = "a-zA-Z"
_OTHER_LETTER = "\u0370-\u03ff\u0400-\u052f"
_MIXED = re.compile(
    rf"(?<![^\W\d_])(?=[^\W\d_]*[{_LATIN_LETTER}])(?=[^\W\d_]*[{_OTHER_LETTER}])[{_LATIN_LETTER}{_OTHER_LETTER}]{{3,60}}(?![^\W\d_])"
)
_OTHER = re.compile(f"[{_OTHER_LETTER}\u0131\u0251\u0261\u217c\u1d00-\u1d2b\ua730\ua731ɢʜɪʟɴʀʏ]")
_TO_LATIN = str.maketrans(
    "аеорсухіјѕһԁԛԝѵοναυιρАВЕКМНОРСТХІЈЅΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "aeopcyxijshdqwvovauipABEKMHOPCTXIJSABEZHIKMNOPTYX"
)
_TO_CYRILLIC = str.maketrans("aeopcyxiABEKMHOPCTX", "аеорсухіАВЕКМНОРСТХ")


def has_mixed_word(text: str) -> bool:
    """Whether a word borrows letters of another alphabet that look like its own."""
    if text.isascii() or not (_OTHER.search(text) and _LATIN.search(text.casefold())):
        return False
    return any(_is_mixed(match.group()) for match in _MIXED.finditer(text))


def _is_mixed(word: str) -> bool:
    """Letters that pass for others, or another alphabet in the middle: `SMSки` merely ends in another."""
    changes = sum(before.isascii() is not after.isascii() for before, after in pairwise(word))
    return changes > 1 or _unmixed_word(word) != word


def _unmixed(text: str) -> str:
    return _MIXED.sub(lambda match: _unmixed_word(match.group()), text)


def _unmixed_word(word: str) -> str:
    """`іgnore` as Latin, `Игнopируй` as Cyrillic; `SMSки` and `μTorrent` are what they are."""
    latin = sum(char.isascii() for char in word)
    table = _TO_LATIN if 2 * latin >= len(word) else _TO_CYRILLIC
    changed = word.translate(table)
    scripts = {char.isascii() for char in changed}
    return changed if len(scripts) == 1 else word


# -- encodings ---------------------------------------------------------------------------------------------


def _decoded(text: str) -> Iterator[str]:
    text = plain(text)[:_DECODED_CHARS]
    for promises, decode in _DECODERS:
        if promises(text):
            decoded = decode(text)
            if decoded and decoded != text:
                yield decoded


_BASE64 = re.compile(
    r"[A-Za-z0-9+/_-]{4,}={0,2}(?:[ \t]*\r?\n[ \t]*[A-Za-z0-9+/_-]{2,}={0,2})+"  # over lines
    r"|[A-Za-z0-9+/_-]{8,}={0,2}(?: [A-Za-z0-9+/_-]{8,}={0,2})+"  # in groups
    r"|[A-Za-z0-9+/_-]{14,}={0,2}"
)


def _from_base64(text: str) -> str:
    runs = [match.group() for match in _BASE64.finditer(text)]
    tokens = [token for run in runs for token in run.split() if len(token) >= 14]
    return "\n".join(
        filter(None, (_base64_text(re.sub(r"[\s=]", "", run)) for run in dict.fromkeys(runs + tokens)))
    )


def _base64_text(token: str) -> str:
    body = token.replace("-", "+").replace("_", "/")
    try:
        return _readable(base64.b64decode(body + "=" * (-len(body) % 4)))
    except binascii.Error:
        return ""


_HEX = re.compile(r"(?:(?:0x|\\x)?[0-9A-Fa-f]{2}[ ,:\n]{0,2}){8,}")


def _from_hex(text: str) -> str:
    digits = (re.sub(r"0x|\\x|[ ,:\n]", "", match.group()) for match in _HEX.finditer(text))
    return "\n".join(filter(None, (_readable(bytes.fromhex(run)) for run in digits if len(run) % 2 == 0)))


def _readable(data: bytes) -> str:
    """The bytes as text, "" when they are none."""
    try:
        text = data.decode("utf-16-le" if data[1:8:2] == b"\0\0\0\0" else "utf-8")
    except UnicodeDecodeError:
        return ""
    return text if sum(char.isprintable() or char == "\n" for char in text) > 0.9 * len(text) else ""


_ESCAPES = re.compile(r"\\x([0-9a-fA-F]{2})|\\u\{?([0-9a-fA-F]{4,6})\}?")


def _from_escapes(text: str) -> str:
    """`%69`, `&#105;`, `\\x69` and `\\u0069` as the letters they stand for."""
    return _ESCAPES.sub(_letter, html.unescape(unquote(text)))


def _letter(match: re.Match[str]) -> str:
    code = int(match[1] or match[2], 16)
    return chr(code) if code < 0xD800 or 0xE000 <= code < 0x110000 else ""


_NUMBERS = re.compile(r"(?:\b1?\d\d[ ,;]{1,2}){8,}1?\d\d\b")


def _from_numbers(text: str) -> str:
    """`105 103 110 …`: letters by their numbers."""
    runs = (re.findall(r"\d+", match.group()) for match in _NUMBERS.finditer(text))
    return "\n".join("".join(chr(int(number)) for number in run) for run in runs)


_LEET_LETTERS = str.maketrans("013457@$!|", "oieastasil")


def _from_leet(text: str) -> str:
    return text.casefold().translate(_LEET_LETTERS)


_SPACED = re.compile(r"(?:\b\w[ .\-_*|/]){3,}\w\b")


def _pushed_together(text: str) -> str:
    """`i g n o r e` and `i.g.n.o.r.e` as one word; wider gaps stay gaps."""
    return _SPACED.sub(lambda match: re.sub(r"[\W_]", "", match.group()), text)


_SIGNS = (
    *(
        "ignore",
        "instruct",
        "disregard",
        "forget",
        "previous",
        "password",
        "override",
        "secret",
        "ignor",
        "anweisung",
    ),
    *(
        "consigne",
        "instruccion",
        "инструкци",
        "правила",
        "пользовател",
        "指示",
        "命令",
        "無視",
        "忽略",
        "指令",
        "规则",
    ),
    *("지시", "무시", "규칙", "プロンプト", "ルール"),
)
"""What a text turned round or rotated would say, most likely."""


def _is_leet(text: str) -> bool:
    """Whether it says something only when its digits are read as letters."""
    lower = text.casefold()
    read = lower.translate(_LEET_LETTERS)
    return any(sign in read and sign not in lower for sign in _SIGNS)


def _turned(*signs: str) -> Callable[[str], bool]:
    def holds(text: str) -> bool:
        lower = text.casefold()
        return any(sign in lower for sign in signs)

    return holds


def _from_rot13(text: str) -> str:
    return codecs.decode(text, "rot13")


def _backwards(text: str) -> str:
    return text[::-1]


_DECODERS: tuple[tuple[Callable[[str], object], Callable[[str], str]], ...] = (
    (_BASE64.search, _from_base64),
    (_HEX.search, _from_hex),
    (re.compile(r"%[0-9A-Fa-f]{2}|&[#a-z]|\\[xu]").search, _from_escapes),
    (_NUMBERS.search, _from_numbers),
    (_is_leet, _from_leet),
    (_SPACED.search, _pushed_together),
    (_turned(*(codecs.encode(sign, "rot13") for sign in _SIGNS if sign.isascii())), _from_rot13),
    (_turned(*(sign[::-1] for sign in _SIGNS)), _backwards),
)
"""What must be there before it is worth decoding, and the decoding."""
