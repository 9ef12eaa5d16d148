"""What people read of a tidy that has ended: what it saved, that nothing was to do, why it came to nothing. Pure.

One that waits for a yes is a card like every other write's (`cardtext`).
"""

from gateway import words
from gateway.conversation import notices, phrases
from gateway.conversation.notices import Rendered
from gateway.records import Outgoing, Status, Target, Write


def tidied(row: Outgoing, write: Write | None, verbosity: str, language: str) -> Rendered | None:
    """None where nobody asked and this chat wants no notices."""
    file = "USER" if row.values["target"] == Target.USER else "MEMORY"
    asked = bool(row.values.get("asked"))
    if row.values["ending"] != "applied":
        return Rendered(_nothing_done(row, file, language), silent=not asked)
    if write is None or write.status is Status.FAILED:
        why = phrases.reason(write, language) if write is not None else words.text("reason.gone", language)
        return Rendered(words.text("tidy.failed", language, file=file, reason=why), silent=not asked)
    if verbosity == "off" and not asked:
        return None
    lines = [words.text("tidy.applied", language, saved=saved(row, file, language), id=write.id)]
    if verbosity == "verbose" and (told := notices.notice([write], verbosity, language)) is not None:
        lines.append(told.text)
    return Rendered("\n".join(lines), silent=True)


def saved(row: Outgoing, file: str, language: str) -> str:
    """`MEMORY: 2,041 → 1,480 characters, 9 → 6 entries`"""
    numbers = {name: row.values[name] for name in ("chars", "chars_after", "entries", "entries_after")}
    return words.text("tidy.saved", language, file=file, **{name: f"{each:,}" for name, each in numbers.items()})


def _nothing_done(row: Outgoing, file: str, language: str) -> str:
    match row.values["ending"]:
        case "nothing":
            return words.text("tidy.nothing", language, file=file)
        case "waits":
            return words.text("tidy.waits", language, file=file, id=row.values["id"])
        case _:
            why = words.text(str(row.values["reason"]), language)
            return words.text("tidy.failed", language, file=file, reason=why)
