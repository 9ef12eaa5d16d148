"""How the offline model tidies a memory file: it drops what says the same word for word. Pure."""

import re
import unicodedata
from collections.abc import Iterator

from gateway.llm.reading import MEMORY, Turn
from gateway.ports import ModelAnswer

_ENTRIES = "The entries:\n"
"""Behind this a tidy's instruction shows the file, numbered (see memory/tidying.py)."""
_ENTRY = re.compile(r"^\d+\. (.*(?:\n   .*)*)", re.MULTILINE)
_HIDDEN = "["


def answer(turn: Turn) -> ModelAnswer:
    """Remove each entry that differs from an earlier one in case, blanks and full stops only."""
    again = list(_said_again(turn.asked.partition(_ENTRIES)[2]))
    if turn.results or not turn.targets or not again:
        return turn.say("review_none")
    operations = [{"action": "remove", "old_text": text} for text in again]
    return turn.call(MEMORY, {"target": turn.targets[0], "operations": operations})


def _said_again(listed: str) -> Iterator[str]:
    said = set()
    for text in (found[1].replace("\n   ", "\n") for found in _ENTRY.finditer(listed)):
        plain = _plain(text)
        if plain in said and not text.startswith(_HIDDEN):
            yield text
        said.add(plain)


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split()).rstrip(" .!。")
