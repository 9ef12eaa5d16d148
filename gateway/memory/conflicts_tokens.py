"""The words of a note for `conflicts_reading`: folded, numbers and dates as details, endings as meanings. Pure.

A token is a word, a detail (`#2`, `#05-12`, `#a@example.org`), a meaning of the lexicon (`@live`) or the "."
between two sentences. Every pattern here takes time in proportion to the text, whatever it holds.
"""

import functools
import re
from collections.abc import Iterator, Mapping, Sequence

from gateway.memory import conflicts_eastern as eastern
from gateway.memory import conflicts_words as lexicon
from gateway.memory.conflicts_words import fold

END = "."

_EASTERN = r"[\u3041-\u30ff\u3400-\u9fff\uac00-\ud7a3]"
_KANA = r"[\u3041-\u30ff]"
_HAN = r"[\u3400-\u9fff]"
_HANGUL = r"[\uac00-\ud7a3]"

_TOKEN = r"""
    (?P<meaning>@[a-z]+_?)
  | (?P<mail>[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8})
  | (?P<url>https?://[^\s、。]+)
  | (?P<iso>\d{4}-\d{1,2}-\d{1,2}(?!\d))
  | (?P<east>(?:\d{4}[年년]\s?)?\d{1,2}[月월]\s?\d{1,2}[日일号])
  | (?P<time>\d{1,2}:\d{2}(?!\d))
  | (?P<phone>\+?\d[\d()\ -]{7,24}\d)
  | (?P<version>\d+(?:\.\d+)+)
  | (?P<number>\d+)(?:st|nd|rd|th)?(?![^\W\d_])|(?P<digits>\d+)
  | (?P<han>[々〆\u3400-\u9fff]+)
  | (?P<katakana>[\u30a1-\u30ff]+)
  | (?P<hiragana>[\u3041-\u309f]+)
  | (?P<hangul>[\uac00-\ud7a3]+)
  | (?P<word>(?:(?![\u3041-\u30ff\u3400-\u9fff\uac00-\ud7a3々〆])[^\W\d_])+(?:/[A-Z][A-Za-z_]+|\+\+|\#(?!\w))?)
  | (?P<colon>[:=])
  | (?P<comma>[,、])
  | (?P<end>\.(?!\S)|[!?;。\n])
    """
_TITLES = re.compile(r"\b(dr|mr|mrs|ms|prof|st|nr|sr|sra)\.", re.IGNORECASE)
CAPITAL = re.compile(r"(?<!\w)[A-ZÀ-ÖØ-ÞА-Я]\w*")
_CONTRACTED = re.compile(r"(?<=[a-z])n't\b", re.IGNORECASE)
_POSSESSIVE = re.compile(r"(?<=\w)'s\b|(?<=s)'(?=\s)", re.IGNORECASE)
_NO_MORE = re.compile(r"\b(ne\s|n')(\w{1,30})\splus\b", re.IGNORECASE)
_ELIDED = re.compile(r"\b([ldnjmtsc]|qu)'(?=\w)", re.IGNORECASE)


def is_eastern(plain: str) -> bool:
    """Whether something of it is in Japanese, Chinese or Korean."""
    return _has(_EASTERN, plain)


def tokens(plain: str) -> list[str]:
    """The tokens of a text in NFKC form, in their order."""
    text = _with_meanings(plain) if is_eastern(plain) else plain
    text = _without_short_forms(text)
    found: list[str] = []
    before, end = "", 0
    for match in _compiled(_TOKEN).finditer(text):
        kind = match.lastgroup or ""
        if kind == "word":  # as most are
            found.append(_word(match.group()))
        else:
            found += _token(match, after=before if match.start() == end else "")
        before, end = kind, match.end()
    return _with_dates(found)


def _without_short_forms(text: str) -> str:
    """`Dr.`, `doesn't`, `l'été`: what is looked for only where the sign that it has stands somewhere."""
    short = "'" in text
    text = text.replace("an't", "an not") if short else text
    text = _TITLES.sub(r"\1", text) if "." in text else text
    text = _CONTRACTED.sub(" not", text) if short else text
    text = _NO_MORE.sub(r"\1\2 pas", text) if "plus" in text.casefold() else text
    return _ELIDED.sub(r"\1 ", _POSSESSIVE.sub("", text)) if short else text


def _word(text: str) -> str:
    return lexicon.ACCENTED.get(text.casefold()) or fold(text)


def _with_meanings(plain: str) -> str:
    """Text in a script without blanks, its known endings and verbs replaced by what they mean."""
    text = eastern.COUNTED.sub(lambda found: eastern.EASTERN_NUMBERS[found[0]], plain)
    kana = _has(_KANA, text)
    if kana or _has(_HAN, text):
        text = _replaced(text, eastern.JAPANESE if kana else _JAPANESE_IN_HAN)
    if not kana and _has(_HAN, text):
        text = _replaced(eastern.CHINESE_WORK.sub(r" @work \1 ", text), eastern.CHINESE)
    if _has(_HANGUL, text):
        text = _replaced(text, eastern.KOREAN)
    return eastern.COUNTERS.sub(" ", text)


_Rows = tuple[tuple[str, str], ...]
_JAPANESE_IN_HAN: _Rows = tuple(row for row in eastern.JAPANESE if row[0] in ("@live_", "@age_"))


def _replaced(text: str, rows: _Rows) -> str:
    pattern, meanings = _pattern_of(rows)
    return pattern.sub(lambda found: meanings[found.lastgroup or ""], text)


@functools.cache
def _pattern_of(rows: _Rows) -> tuple[re.Pattern[str], Mapping[str, str]]:
    """One pattern of all rows; the first row that fits a place is meant."""
    pattern = "|".join(f"(?P<r{number}>{row[1]})" for number, row in enumerate(rows))
    return re.compile(pattern), {f"r{number}": f" {row[0]} " for number, row in enumerate(rows)}


def _has(pattern: str, text: str) -> bool:
    return _compiled(pattern).search(text) is not None


@functools.cache  # compiled when the first note is compared: most commands compare none
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.VERBOSE)


def _token(found: re.Match[str], *, after: str) -> Iterator[str]:
    text = found.group()
    match found.lastgroup:
        case "meaning":
            yield text
        case "version" if re.fullmatch(r"\d{1,2}\.\d{1,2}\.\d{4}", text):
            day, month, year = text.split(".")
            yield f"#{year}-{int(month):02}-{int(day):02}"
        case "mail" | "url" | "time" | "version":
            yield "#" + text.casefold().rstrip(".,;)/")
        case "digits":
            yield "#" + (text.lstrip("0") or "0")
        case "number":
            yield "#" + (found["number"].lstrip("0") or "0")
        case "iso":
            yield "#" + "-".join(f"{int(part):02}" for part in text.split("-"))
        case "east":
            yield "#" + "-".join(f"{int(part):02}" for part in re.findall(r"\d+", text))
        case "phone":
            yield "#" + re.sub(r"\D", "", text)
        case "colon":
            yield "@be"
        case "comma":
            yield "@comma"
        case "end":
            yield END
        case "hiragana":
            yield from _hiragana(text, after)
        case "katakana":
            yield as_hiragana(text)
        case "han":
            yield _HAN_SUFFIX.sub("", text)
        case "hangul":
            yield from _hangul(text)
        case _:
            yield _word(text)


_PARTICLES = "をがにでとのもへはや"
_OKURIGANA = re.compile(
    r"[くぐすつぬぶむるうえけげせてでねべめれきぎいしちにびみりわかがさたっらなまばんだよいそ]{1,3}(?:ます|ました|て|た|る|いる)?"
)
_AUXILIARIES = (
    "する",
    "して",
    "します",
    "ます",
    "から",
    "まで",
    "など",
    "よく",
    "とても",
    "ている",
    "てい",
    "という",
    "ください",
    "おり",
)
_HAN_SUFFIX = re.compile(r"(?<=..)[都府県市]$")


def _hiragana(run: str, after: str) -> Iterator[str]:
    """The word in a run of hiragana, without the particles around it and without endings."""
    if after == "han" and run[0] not in _PARTICLES and len(run) <= 5 and _OKURIGANA.fullmatch(run):
        return
    word = (run[1:] if after and run[0] in _PARTICLES else run).rstrip(_PARTICLES)
    if len(word) > (2 if after == "han" else 1) and word not in _AUXILIARIES:
        yield word


def as_hiragana(text: str) -> str:
    """Katakana as hiragana: `りんご` and `リンゴ` are one word."""
    return "".join(chr(ord(char) - 0x60) if "ァ" <= char <= "ヶ" else char for char in text)


def _hangul(word: str) -> Iterator[str]:
    if len(word) > 1 and word[-1] in "은는":
        yield word[:-1]
        yield "@topic"
        return
    bare = _korean_stem(word)
    while len(bare) > 2 and bare[-1] in "이가을를에의도로와과":
        bare = bare[:-1]
    yield bare


def _korean_stem(word: str) -> str:
    """`마신다`, `마십니다` and `마시` are one verb. A syllable's last consonant is its code modulo 28."""
    for end, consonant, syllable in (("니다", 17, "습"), ("다", 4, "는")):
        if word.endswith(end) and len(word) > len(end) + 1:
            bare = word.removesuffix(end)
            if bare.endswith(syllable):
                return bare[:-1]
            if (ord(bare[-1]) - 0xAC00) % 28 == consonant:
                return bare[:-1] + chr(ord(bare[-1]) - consonant)
            return bare
    return word


def _with_dates(tokens: Sequence[str]) -> list[str]:
    """`12 May`, `May 12`, `12. Mai 1990`, `12 de mayo` as one detail."""
    found: list[str] = []
    place = 0
    while place < len(tokens):
        month = lexicon.MONTHS.get(tokens[place])
        if month is None:
            found.append(tokens[place])
            place += 1
            continue
        while found and found[-1] in (END, "de"):
            found.pop()
        ahead = place + 1
        while ahead < len(tokens) and tokens[ahead] in ("de", "@comma"):
            ahead += 1
        if found and _is_day(found[-1]):
            day = found.pop()
        elif ahead < len(tokens) and _is_day(tokens[ahead]):
            day, ahead = tokens[ahead], ahead + 1
            while ahead < len(tokens) and tokens[ahead] == "@comma":
                ahead += 1
        else:
            found.append(tokens[place])
            place += 1
            continue
        year = tokens[ahead] if ahead < len(tokens) and re.fullmatch(r"#\d{4}", tokens[ahead]) else ""
        found.append("#" + (year[1:] + "-" if year else "") + f"{month}-{int(day[1:]):02}")
        place = ahead + 1 if year else (ahead if tokens[ahead - 1].startswith("#") else place + 1)
    return found


def _is_day(token: str) -> bool:
    return token[:1] == "#" and token[1:].isascii() and token[1:].isdigit() and len(token) <= 3
