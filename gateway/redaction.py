"""Masks tokens in text: the ones we know, and whatever has the shape of one."""

import re
from collections.abc import Collection

MASK = "***"

_START = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrt]))"
"""Where a word begins, in plain text and after a line break in JSON."""

_SHAPES = re.compile(
    r"(?<![0-9])[0-9]{6,}:[A-Za-z0-9_-]{30,}"  # Telegram; in a URL it follows "/bot"
    rf"|{_START}[A-Za-z0-9_-]{{23,28}}\.[A-Za-z0-9_-]{{6,7}}\.[A-Za-z0-9_-]{{27,}}"  # Discord
    rf"|{_START}(?:sk|pk|xox[a-z]|gh[a-z]|glpat)[-_][A-Za-z0-9_-]{{16,}}"  # model APIs and code hosts
    r"|(?<=[Bb]earer )[A-Za-z0-9._~+/=-]{8,}"
    r"|(?<=://)[^/\s\"]*(?=@)"  # the password in an address; no quote, so that JSON stays JSON
)


class Redaction:
    """Masks `secrets` too. Very short ones are left out: masking every "a" would hide nothing."""

    def __init__(self, secrets: Collection[str] = ()) -> None:
        known = sorted((secret for secret in secrets if len(secret) >= 6), key=len, reverse=True)
        self._known = re.compile("|".join(map(re.escape, known))) if known else None

    def __call__(self, text: str) -> str:
        """The text with every token as `***`."""
        if self._known is not None:
            text = self._known.sub(MASK, text)
        return _SHAPES.sub(MASK, text)
