"""Texts that the scan is measured on: attacks and harmless notes in eight languages, disguises put on here."""

import base64
import codecs
import functools
import hashlib
import html
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from urllib.parse import quote

FOLDER = Path(__file__).parent
LANGUAGES = ("en", "ja", "zh", "ko", "es", "de", "fr", "ru")
ATTACKS = "# attacks"
HARMLESS = "# harmless"

_DISGUISE = re.compile(r"\{\{([a-z0-9+]+):(.*?)\}\}")
_CYRILLIC = str.maketrans("aeocpxiyj", "аеосрхіуј")
_LATIN = str.maketrans("аеоср", "aeocp")


class Part(StrEnum):
    TUNED = "tuned on"
    COUNTED = "not tuned on"
    """Only counted, never read, while patterns are made."""
    LATER = "written to evade"
    """Written when the patterns stood, to be unlike them; read since, and patterns made on it."""
    LAST = "written last"
    """Written when those stood too; measured before anything changed."""


@dataclass(frozen=True, slots=True)
class Sample:
    text: str
    attack: bool
    language: str
    part: Part


@functools.cache
def samples() -> tuple[Sample, ...]:
    """Every text of the corpus."""
    first = (sample for language in LANGUAGES for sample in _read(_lines(language), language))
    return (*first, *_read(_lines("later"), "", Part.LATER), *_read(_lines("last"), "", Part.LAST))


def _lines(name: str) -> list[str]:
    return (FOLDER / f"{name}.txt").read_text(encoding="utf-8").splitlines()


def _read(lines: Iterable[str], language: str, part: Part | None = None) -> list[Sample]:
    """A heading says what follows, and in the later part in which language."""
    found: list[Sample] = []
    attack = True
    for line in lines:
        if line.startswith((ATTACKS, HARMLESS)):
            attack = line.startswith(ATTACKS)
            language = line.removeprefix(ATTACKS if attack else HARMLESS).strip() or language
        else:
            text = _disguised(line.replace("\\n", "\n"))
            found.append(Sample(text, attack, language, part or _half(text)))
    return found


def _half(text: str) -> Part:
    """The rule by which the corpus was split before any pattern was made."""
    return Part.COUNTED if hashlib.sha256(text.encode("utf-8")).digest()[0] % 2 else Part.TUNED


def _disguised(line: str) -> str:
    return _DISGUISE.sub(lambda match: disguise(match[2], *match[1].split("+")), line)


def disguise(words: str, *ways: str) -> str:
    for way in ways:
        words = DISGUISES[way](words)
    return words


def _base64(words: str) -> str:
    return base64.b64encode(words.encode()).decode()


def _in_lines(words: str) -> str:
    return "\n".join(re.findall(".{1,20}", _base64(words)))


DISGUISES: Mapping[str, Callable[[str], str]] = {
    "base64": _base64,
    "base64lines": _in_lines,
    "hex": lambda words: words.encode().hex(),
    "percent": lambda words: quote(words, safe=""),
    "everypercent": lambda words: "".join(f"%{byte:02X}" for byte in words.encode()),
    "entities": lambda words: "".join(f"&#x{ord(char):x};" for char in words),
    "markup": html.escape,
    "escapes": lambda words: "".join(f"\\u{ord(char):04x}" for char in words),
    "rot13": lambda words: codecs.encode(words, "rot13"),
    "backwards": lambda words: words[::-1],
    "spaced": lambda words: "  ".join(" ".join(word) for word in words.split()),
    "homoglyph": lambda words: words.translate(_CYRILLIC),
    "latinised": lambda words: words.translate(_LATIN),
    "zerowidth": "\u200b".join,
    "tags": lambda words: "".join(chr(0xE0000 + ord(char)) for char in words),
    "join": lambda words: words.replace("|", ""),
}
"""`join` keeps made-up keys in pieces, so that no scanner for lost keys stumbles over this repository."""
