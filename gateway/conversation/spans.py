"""How long something took or is ago, as people say it. Pure."""

from gateway import words

_UNITS = (("days", 86_400), ("hours", 3_600), ("minutes", 60))


def rounded(seconds: int, language: str) -> str:
    """In the largest unit of which it has one: `3 h`."""
    unit, length = next(((unit, length) for unit, length in _UNITS if seconds >= length), ("seconds", 1))
    return words.text(f"span.{unit}", language, count=max(seconds, 0) // length)


def exact(minutes: int, language: str) -> str:
    """In the largest unit that leaves nothing over: `90 min`, `24 h`."""
    unit, length = ("hours", 60) if minutes % 60 == 0 else ("minutes", 1)
    return words.text(f"span.{unit}", language, count=minutes // length)
