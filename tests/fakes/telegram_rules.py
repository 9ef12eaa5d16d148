"""What the Bot API demands of a call, read from the published description (telegram-bot-api.json).

Stricter than Telegram: a parameter or field that the description does not know is an error here too.
"""

import json
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

DESCRIPTION = Path(__file__).with_name("telegram-bot-api.json")

_NOTHING = " \t\r\n\u180e\u200b\u200c\u200d\u200e\u200f\u2060\u2800\u3000\ufeff"
"""What Telegram takes for nothing, beside other blanks."""
LONGEST_TEXT = 4096
MOST_ENTITIES = 100


@dataclass
class Rules:
    """The methods and types of the Bot API."""

    methods: dict[str, Any] = field(repr=False)
    types: dict[str, Any] = field(repr=False)

    def check(self, method: str, given: dict[str, Any], *, from_form: bool) -> dict[str, Any]:
        """The parameters with their real types. Raises Wrong."""
        if method not in self.methods:
            raise Wrong(f"unknown method {method}", status=404)
        fields = {one["name"]: one for one in self.methods[method].get("fields", ())}
        if unknown := sorted(given.keys() - fields.keys()):
            raise Wrong(f"{method} has no parameter {unknown[0]}")
        if missing := [n for n, one in fields.items() if one["required"] and given.get(n) in (None, "")]:
            raise Wrong(f"{method} needs {missing[0]}")
        return {
            name: self._value(f"{method}.{name}", value, fields[name]["types"], from_form=from_form)
            for name, value in given.items()
        }

    def _value(self, where: str, value: Any, types: list[str], *, from_form: bool) -> Any:
        """The value as the first of `types` that takes it."""
        for kind in types:
            try:
                real = _from_form(value, kind) if from_form else value
                self._require(where, real, kind)
                return real
            except Wrong as wrong:
                problem = wrong
        raise problem

    def _require(self, where: str, value: Any, kind: str) -> None:
        if kind.startswith("Array of "):
            if not isinstance(value, list):
                raise Wrong(f"{where} must be an array")
            for number, item in enumerate(value):
                self._require(f"{where}[{number}]", item, kind.removeprefix("Array of "))
        elif kind in _SIMPLE:
            # In Python True is a number; for Telegram it is not.
            if not isinstance(value, _SIMPLE[kind]) or (isinstance(value, bool) and kind != "Boolean"):
                raise Wrong(f"{where} must be of type {kind}")
        else:
            self._require_object(where, value, kind)

    def _require_object(self, where: str, value: Any, kind: str) -> None:
        if not isinstance(value, dict):
            raise Wrong(f"{where} must be a {kind}")
        described = self.types[kind]
        if subtypes := described.get("subtypes"):
            self._value(where, value, subtypes, from_form=False)
            return
        fields = {one["name"]: one for one in described.get("fields", ())}
        if unknown := sorted(value.keys() - fields.keys()):
            raise Wrong(f"{where}: a {kind} has no {unknown[0]}")
        if missing := [name for name, one in fields.items() if one["required"] and name not in value]:
            raise Wrong(f"{where}: a {kind} needs {missing[0]}")
        for name, item in value.items():
            self._value(f"{where}.{name}", item, fields[name]["types"], from_form=False)


class Wrong(Exception):
    """A call that Telegram would refuse. The text is Telegram's, where a client looks at it."""

    def __init__(self, problem: str, *, status: int = 400) -> None:
        self.status = status
        super().__init__(problem)


_SIMPLE: dict[str, tuple[type, ...]] = {
    "Integer": (int,),
    "Float": (int, float),
    "String": (str,),
    "Boolean": (bool,),
    "True": (bool,),
}


def _from_form(value: Any, kind: str) -> Any:
    """A form field is text: numbers and JSON are read from it."""
    if kind == "String" or not isinstance(value, str):
        return value
    if kind == "Boolean":
        return {"true": True, "false": False}.get(value.lower(), value)
    try:
        return json.loads(value)
    except ValueError:
        return value


@lru_cache(maxsize=1)
def load() -> Rules:
    """The rules of the copied description."""
    described = json.loads(DESCRIPTION.read_text(encoding="utf-8"))
    return Rules(described["methods"], described["types"])


def check_text(text: str, entities: list[dict[str, Any]]) -> None:
    """Length, and entities that lie within the text without cutting a character in two. Raises Wrong."""
    units = text.encode("utf-16-le", "surrogatepass")
    length = len(units) // 2
    if not text.strip(_NOTHING):
        raise Wrong("Bad Request: message text is empty")
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise Wrong("Bad Request: strings must be encoded in UTF-8")
    if length > LONGEST_TEXT:
        raise Wrong("Bad Request: message is too long")
    if len(entities) > MOST_ENTITIES:
        raise Wrong(f"{len(entities)} entities: the ones after 100 are ignored")
    for entity in entities:
        start, end = entity["offset"], entity["offset"] + entity["length"]
        if start < 0 or entity["length"] <= 0 or end > length:
            raise Wrong(f"entity {start}..{end} is outside the text of {length} units")
        if any(0xDC <= units[2 * at + 1] <= 0xDF for at in (start, end) if at < length):
            raise Wrong(f"entity {start}..{end} cuts a surrogate pair")
    _check_nesting(entities)


def _check_nesting(entities: list[dict[str, Any]]) -> None:
    for one in entities:
        for other in entities:
            if one is other:
                continue
            start, end = one["offset"], one["offset"] + one["length"]
            first, last = other["offset"], other["offset"] + other["length"]
            if start < first < end < last:
                raise Wrong("entities cross")
            overlaps = start < last and first < end
            if overlaps and one["type"] in ("code", "pre") and "blockquote" not in other["type"]:
                raise Wrong("nothing but a quote may be around code, and nothing inside it")
            if overlaps and "blockquote" in one["type"] and "blockquote" in other["type"]:
                raise Wrong("quotes cannot be nested")


def check_buttons(markup: dict[str, Any] | None) -> None:
    """Each button does exactly one thing, its data has 1 to 64 bytes. Raises Wrong."""
    for row in (markup or {}).get("inline_keyboard", ()):
        for button in row:
            data = button.get("callback_data")
            if data is not None and not 1 <= len(data.encode()) <= 64:
                raise Wrong("Bad Request: BUTTON_DATA_INVALID")
            if not button["text"].strip():
                raise Wrong("Bad Request: text buttons must not be empty")
            if len(button.keys() - {"text", "style", "icon_custom_emoji_id"}) != 1:
                raise Wrong("Bad Request: a button does exactly one thing")
