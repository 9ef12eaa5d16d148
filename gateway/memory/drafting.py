"""The parts of a memory file while operations change them, and which entry an operation means. Pure.

Bytes that no operation is about stay as they are. What a whole change comes to is `entries.apply`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gateway.memory import entrytext
from gateway.memory.entrytext import alike, clean
from gateway.records import Action, Operation


@dataclass(frozen=True, slots=True)
class NoMatch:
    old_text: str


@dataclass(frozen=True, slots=True)
class Matches:
    """Several different entries hold `old_text`; `texts` are they, whole."""

    old_text: str
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Invalid:
    """What is wrong with the request: a key of the catalog under `reason.`"""

    why: str


class Draft:
    """The parts of a document while operations change them, and what they took away and put in."""

    def __init__(self, parts: list[str], glued: Mapping[str, str]) -> None:
        self.parts = parts
        self.glued = glued
        self.before: list[str] = []
        self.after: list[str] = []
        self.places: list[int] = []
        self.touched = False
        self.unreadable = False
        self.line_end = entrytext.line_end_of("".join(parts))

    def do(self, operation: Operation) -> NoMatch | Matches | Invalid | None:
        content = clean(operation.content)
        if why := why_invalid(operation):
            return Invalid(why)
        if operation.action is Action.ADD:
            self._add(content)
            return None
        place = self._locate(operation.old_text)
        if not isinstance(place, int):
            return place
        if operation.action is Action.REMOVE:
            self._remove(place)
        else:
            self._replace(place, content)
        return None

    def finished_parts(self) -> list[str]:
        """We end a file with a newline; a file without entries is empty."""
        if all(entrytext.is_blank(part) for part in self.parts[::2]):
            return [""]
        if not self.parts[-1].endswith(("\n", "\r")) and not entrytext.is_blank(self.parts[-1]):
            self.parts[-1] += self.line_end
        return self.parts

    def _add(self, content: str) -> None:
        if content in self._texts():
            return
        last = self.parts[-1]
        if not entrytext.is_blank(last):
            self.parts[-1] = last if last.endswith(("\n", "\r")) else last + self.line_end
            self.parts += ["§" + self.line_end, ""]
        elif len(self.parts) > 1 and not self.parts[-2].endswith(("\n", "\r")):
            self.parts[-2] += self.line_end
        self.parts[-1] += self._with_line_ends(content) + self.line_end
        self._changed(put_in=content)

    def _replace(self, place: int, content: str) -> None:
        old = entrytext.shown(self.parts[place])
        if content == old:
            self._note(place)
            self.after.append(content)
            return
        if content in self._texts():
            self._remove(place)  # the file says it already; a second copy would help nobody
            return
        self._take(place)
        start, _, end = entrytext.edges(self.parts[place])
        self.parts[place] = start + self._with_line_ends(content) + end
        self._changed(put_in=content)

    def _remove(self, place: int) -> None:
        self._take(place)
        if place > 0:
            del self.parts[place - 1 : place + 1]
        else:
            mark = "\ufeff" if self.parts[0].startswith("\ufeff") else ""
            del self.parts[:2]
            self.parts[:1] = [mark + "".join(self.parts[:1])]
        self._changed()

    def _take(self, place: int) -> None:
        self._note(place)
        self.unreadable = self.unreadable or entrytext.bad_bytes(self.parts[place]) > 0

    def _note(self, place: int) -> None:
        self.before.append(entrytext.shown(self.parts[place]))
        self.places.append(sum(not entrytext.is_blank(part) for part in self.parts[:place:2]))

    def _changed(self, put_in: str = "") -> None:
        self.touched = True
        self.after += [put_in] if put_in else []

    def _locate(self, old_text: str) -> int | NoMatch | Matches:
        place = _find(self.parts, clean(old_text))
        if isinstance(place, int) and self._unglue(place, clean(old_text)):
            return _find(self.parts, clean(old_text))
        return place

    def _unglue(self, place: int, old_text: str) -> bool:
        """Put back a separator that got lost between a known entry and what was appended to it."""
        text = entrytext.shown(self.parts[place])
        if text == old_text or text not in self.glued:
            return False
        head, tail = entrytext.cut(self.parts[place], self.glued[text])
        self.parts[place : place + 1] = [head, "§" + self.line_end, tail]
        return True

    def _texts(self) -> list[str]:
        return [entrytext.shown(part) for part in self.parts[::2] if not entrytext.is_blank(part)]

    def _with_line_ends(self, content: str) -> str:
        return content.replace("\n", self.line_end)


def why_invalid(operation: Operation) -> str:
    """What is wrong with an operation whatever the file holds: a key under `reason.`, "" for nothing."""
    content = clean(operation.content)
    if operation.action is not Action.ADD and not clean(operation.old_text):
        return "reason.old_text_missing"
    if operation.action is Action.REMOVE:
        return ""
    if not content:
        return "reason.content_missing"
    return "reason.separator" if entrytext.SEPARATOR.search(content) else ""


def _find(parts: Sequence[str], old_text: str) -> int | NoMatch | Matches:
    """The place of the one entry that `old_text` names: a whole entry, else part of one, else one that
    differs only in quotes, dashes, blanks or width."""
    places = {
        place: entrytext.shown(parts[place])
        for place in range(0, len(parts), 2)
        if not entrytext.is_blank(parts[place])
    }
    whole = [place for place, text in places.items() if text == old_text]
    if whole:
        return whole[0]
    form = alike(old_text)
    loosely = {place: alike(text) for place, text in places.items()} if form else {}
    found = (
        [place for place, text in places.items() if old_text in text]
        or [place for place, text in loosely.items() if text == form]
        or [place for place, text in loosely.items() if form in text]
    )
    if not found:
        return NoMatch(old_text)
    different = tuple(dict.fromkeys(places[place] for place in found))
    return found[0] if len(different) == 1 else Matches(old_text, different)
