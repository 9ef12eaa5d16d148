"""How wide a text is in a terminal: cells, not characters. Japanese takes two, an accent none. Pure."""

import wcwidth


def cells(text: str) -> int:
    """How many cells of a terminal a text takes that `shown` has gone over."""
    return max(wcwidth.wcswidth(text), 0)


def clip(text: str, width: int) -> str:
    """At most so many cells, `…` where something is left out; no sign is cut in two."""
    if cells(text) <= width:
        return text
    kept, used = [], 0
    for sign in wcwidth.iter_graphemes(text):
        used += cells(sign)
        if used > width - 1:
            break
        kept.append(sign)
    return "".join(kept) + "…" if width > 0 else ""


def pad(text: str, width: int) -> str:
    """Exactly so many cells, blanks behind it."""
    return text + " " * (width - cells(text))
