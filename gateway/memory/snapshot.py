"""The memory blocks of a prompt, and what of an entry a model may see at all. Pure.

Entries are scanned again here, because a file can be edited or synced past every write: what the scan does
not like is replaced by a note, unless a person approved exactly these words (`vouched`). The file keeps it.
Whatever is shown is data: an entry that imitates the frame of a prompt, or a note of ours, stands behind bars.
"""

import functools
import re
from collections.abc import Collection

from gateway import scan
from gateway.memory import entries
from gateway.memory.entries import Document
from gateway.records import Target

_RULE = "═" * 46
_TITLES = {
    Target.MEMORY: "MEMORY (your personal notes)",
    Target.USER: "USER PROFILE (who the user is)",
}
_OPENING = re.compile(r"[<\[(|#@＜［（｜＃](?! )")
_RUN_OF_RULES = re.compile("[═━=]{2,}")
NEARLY_FULL_PERCENT = 80
"""From here on the model is told, and the file is tidied."""
_SHOWN_BUDGETS = 2
"""Of a file over this many times its budget only the top is shown."""


def block(target: Target, doc: Document, limit: int, vouched: Collection[str] = ()) -> str:
    """The block as it stands in the prompt; "" for a file without entries."""
    if not doc.entries:
        return ""
    title = f"{_TITLES[target]} [{usage(entries.chars(doc), limit)}]"
    return "\n".join((_RULE, title, _RULE, entries.JOINT.join(shown(doc, limit, vouched))))


def usage(chars: int, limit: int) -> str:
    """`67% — 1,474/2,200 chars`. Rounded down; may pass 100."""
    return f"{percent(chars, limit)}% — {chars:,}/{limit:,} chars"


def percent(chars: int, limit: int) -> int:
    return chars * 100 // max(limit, 1)


def shown(doc: Document, limit: int, vouched: Collection[str] = ()) -> tuple[str, ...]:
    """The entries as a model may see them: whole ones from the top, then a line on how many are left out."""
    missing = left_out(doc, limit)
    texts = tuple(_as_data(text) if is_fit(text, vouched) else _note(text) for text in top(doc, limit))
    return (*texts, _left_out_line(missing)) if missing else texts


def top(doc: Document, limit: int) -> tuple[str, ...]:
    """The entries that there is room for, as they are."""
    return doc.texts[: len(doc.texts) - left_out(doc, limit)]


def left_out(doc: Document, limit: int) -> int:
    """How many entries at the end are not shown, since the file is over twice its budget."""
    room = _SHOWN_BUDGETS * limit
    if entries.chars(doc) <= room:
        return 0
    for count, text in enumerate(doc.texts):
        room -= len(text) + (len(entries.JOINT) if count else 0)
        if room < 0:
            return len(doc.texts) - count
    return 0


def is_fit(text: str, vouched: Collection[str] = ()) -> bool:
    """Whether an entry may be shown to the model as it is."""
    level = scan.check(text).level
    return level is scan.Level.CLEAN or (level is scan.Level.SUSPICIOUS and text in vouched)


def hidden(doc: Document, limit: int, vouched: Collection[str] = ()) -> tuple[str, ...]:
    """The entries that a note stands for; people are told about these.

    What there is no room for is not scanned: a file of megabytes would take minutes.
    """
    return tuple(text for text in top(doc, limit) if not is_fit(text, vouched))


@functools.lru_cache(maxsize=512)  # every prompt shows the same few entries again
def _as_data(text: str) -> str:
    """An entry that cannot pass for a block's head, for a turn of somebody or for a note of ours."""
    return "\n".join(map(_barred, text.splitlines())) if scan.imitates_frame(text) else text


def _barred(line: str) -> str:
    """Behind a bar, and with its signs pulled apart: `<|im_start|>` is no token any more."""
    return "| " + _RUN_OF_RULES.sub("═", _OPENING.sub(r"\g<0> ", line))


def _note(text: str) -> str:
    return (
        f"[entry {entries.fingerprint(text)} is not shown: its text looks like an attack, a secret or hidden "
        "text and no person has approved it. It is still in the file.]"
    )


def _left_out_line(missing: int) -> str:
    which = "1 more entry is" if missing == 1 else f"{missing:,} more entries are"
    return f"[{which} left out: the file is over twice its budget.]"


CACHES = (_as_data,)
"""What keeps words of people in this process (`memory.caches`)."""
