"""What of an old conversation a model may be shown again (design.md 7.5). Pure.

What was said once may have been an attack that somebody forwarded, or a secret: a line that the scan does not like
gives way to a note. The conversation keeps it, and its person can read it there.
"""

from gateway import scan

NOTE = "[not shown: it looks like an attack, a secret or hidden text; the person can read it in that conversation]"


def fit(text: str) -> str:
    """The text, with a note in place of each line that may not be shown, or of all of it."""
    if _is_clean(text):
        return text
    lines = text.splitlines()
    fits = [_is_clean(line) for line in lines]
    kept = "\n".join(line for line, good in zip(lines, fits, strict=True) if good)
    if not kept.strip() or not _is_clean(kept):
        return NOTE
    return "\n".join(line if good else NOTE for line, good in zip(lines, fits, strict=True))


def _is_clean(text: str) -> bool:
    return scan.check(text).level is scan.Level.CLEAN
