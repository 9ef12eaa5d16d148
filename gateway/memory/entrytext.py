"""The text of one part of a memory file: what it shows, its edges, where it can be cut. Pure.

A part is what stands between two separator lines, byte for byte; what it shows has no blanks around it, `\\n` for
every line end and U+FFFD for a bad byte. Whole files are `entries`.
"""

import re
import unicodedata
from functools import lru_cache

_BLANK = r"(?:[^\S\r\n]|\ufeff)"
BLANKS = "".join(chr(code) for code in range(0x3001) if chr(code).isspace()) + "\ufeff"
SEPARATOR = re.compile(rf"((?<![^\r\n]){_BLANK}*§{_BLANK}*(?:\r\n|\r|\n|\Z))")
LINE_END = re.compile(r"\r\n|\r|\n")


def clean(content: str) -> str:
    """Content as an entry can show it: no blanks around, `\\n` line ends, no lone surrogates."""
    return shown(content.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))


@lru_cache(maxsize=1024)
def shown(part: str) -> str:
    """As people and the model see it."""
    core = edges(part)[1]
    return LINE_END.sub("\n", core.encode("utf-8", "surrogateescape").decode("utf-8", "replace"))


def edges(part: str) -> tuple[str, str, str]:
    """Blanks, what is between, blanks."""
    rest = part.lstrip(BLANKS)
    core = rest.rstrip(BLANKS)
    return part[: len(part) - len(rest)], core, rest[len(core) :]


def is_blank(part: str) -> bool:
    """Whether it is no entry."""
    return not part.strip(BLANKS)


def bad_bytes(part: str) -> int:
    """How many bytes are no UTF-8."""
    return sum("\udc80" <= char <= "\udcff" for char in part)


def cut(part: str, head: str) -> tuple[str, str]:
    """A part in two, after its first lines, of which `head` is what is shown."""
    start, core, end = edges(part)
    lines = head.count("\n") + 1
    position = [match.end() for match in LINE_END.finditer(core)][lines - 1]
    return start + core[:position], core[position:] + end


def line_end_of(text: str) -> str:
    """The first line end of a text, for what is put into it."""
    found = LINE_END.search(text)
    return found.group() if found else "\n"


_QUOTES = dict.fromkeys(map(ord, "‘’‚‛′`´ʼ"), "'") | dict.fromkeys(map(ord, "“”„‟″«»「」『』"), '"')
_DASHES = dict.fromkeys(map(ord, "‐‑‒–—―−－"), "-")


def alike(text: str) -> str:
    """A form in which a model's plain copy equals the typographic original. Case still counts."""
    plain = unicodedata.normalize("NFKC", text.translate(_QUOTES | _DASHES)).translate(_QUOTES | _DASHES)
    return " ".join(plain.split())
