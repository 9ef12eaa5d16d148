"""What Discord's API demands of a call, read from the published description (discord-openapi.json).

Stricter than Discord: a field or parameter that the description does not know is an error here too. What the
description leaves out (2,000 characters, rows of buttons, names of commands) stands at the end.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

DESCRIPTION = Path(__file__).with_name("discord-openapi.json")

LONGEST_TEXT = 2000
LONGEST_MENU = 8000


class Wrong(Exception):
    """A call that Discord would refuse."""


@dataclass(frozen=True)
class Operation:
    """One method on one path, and what stood in the path's braces."""

    method: str
    template: str
    described: Mapping[str, Any] = field(repr=False)
    values: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return f"{self.method} {self.template}"


@dataclass
class Rules:
    """The paths and schemas of the API."""

    paths: list[tuple[re.Pattern[str], str, dict[str, Any]]] = field(repr=False)
    schemas: dict[str, Any] = field(repr=False)

    def operation(self, method: str, path: str) -> Operation:
        """Raises Wrong for what the API does not have. `@me` and its like win over ids."""
        for pattern, template, methods in self.paths:
            found = pattern.fullmatch(path)
            if found and method.lower() in methods:
                return Operation(method, template, methods[method.lower()], found.groupdict())
        raise Wrong(f"there is no {method} {path}")

    def check(self, operation: Operation, query: Mapping[str, str], body: Any) -> None:
        """Raises Wrong where query or body is not what the operation takes. Any: it is JSON."""
        self._check_query(operation, query)
        schema = self._body_schema(operation)
        if schema is None:
            if body is not None:
                raise Wrong(f"{operation.name} takes no body")
        elif body is None:
            raise Wrong(f"{operation.name} needs a body")
        else:
            self.require(operation.name, body, schema)

    def _check_query(self, operation: Operation, query: Mapping[str, str]) -> None:
        known = {one["name"]: one["schema"] for one in operation.described.get("parameters", ()) if "name" in one}
        for name, value in query.items():
            if name not in known:
                raise Wrong(f"{operation.name} has no parameter {name}")
            self.require(f"{operation.name}?{name}", _from_query(value, known[name]), known[name])

    def _body_schema(self, operation: Operation) -> Any:
        content = operation.described.get("requestBody", {}).get("content", {})
        return content.get("application/json", {}).get("schema")

    def require(self, where: str, value: Any, schema: dict[str, Any]) -> None:
        """Raises Wrong unless the value is one that the schema describes."""
        if "$ref" in schema:
            self.require(where, value, self.schemas[schema["$ref"].rpartition("/")[2]])
            return
        for part in schema.get("allOf", ()):
            self.require(where, value, part)
        for union in ("oneOf", "anyOf"):
            if union in schema:
                self._require_one(where, value, schema[union])
        if "const" in schema and value != schema["const"]:
            raise Wrong(f"{where} must be {schema['const']}")
        if "enum" in schema and value not in schema["enum"]:
            raise Wrong(f"{where} must be one of {schema['enum']}")
        if "type" in schema:
            self._require_type(where, value, schema)

    def _require_one(self, where: str, value: Any, schemas: list[dict[str, Any]]) -> None:
        problems = []
        for schema in schemas:
            try:
                self.require(where, value, schema)
            except Wrong as wrong:
                problems.append(str(wrong))
            else:
                return
        # The deepest problem is the one of the alternative that was meant.
        raise Wrong(max(problems, key=lambda one: one.count(".") + one.count("[")))

    def _require_type(self, where: str, value: Any, schema: dict[str, Any]) -> None:
        kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        if not any(_is_a(kind, value) for kind in kinds):
            raise Wrong(f"{where} must be {' or '.join(kinds)}")
        match value:
            case str():
                _require_text(where, value, schema)
            case bool() | None:
                pass
            case int() | float():
                _require_between(where, value, schema, "minimum", "maximum")
            case list():
                _require_between(where, len(value), schema, "minItems", "maxItems")
                for number, item in enumerate(value):
                    self.require(f"{where}[{number}]", item, schema.get("items", {}))
            case dict():
                self._require_fields(where, value, schema)

    def _require_fields(self, where: str, value: dict[str, Any], schema: dict[str, Any]) -> None:
        fields, others = schema.get("properties", {}), schema.get("additionalProperties")
        if missing := [name for name in schema.get("required", ()) if name not in value]:
            raise Wrong(f"{where} needs {missing[0]}")
        for name, item in value.items():
            if name not in fields and not isinstance(others, dict):
                raise Wrong(f"{where} has no {name}")
            self.require(f"{where}.{name}", item, fields.get(name, others))


def _from_query(value: str, schema: dict[str, Any]) -> Any:
    if schema.get("type") in ("boolean", "integer"):
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value


def _is_a(kind: str, value: Any) -> bool:
    """In Python True is a number; in JSON it is not."""
    if kind in ("integer", "number"):
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, _KINDS[kind])


_KINDS: dict[str, type] = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}


def _require_text(where: str, value: str, schema: dict[str, Any]) -> None:
    _require_between(where, len(value), schema, "minLength", "maxLength")
    if "pattern" in schema and not re.search(schema["pattern"], value):
        raise Wrong(f"{where} does not look like {schema['pattern']}")
    if any("\ud800" <= character <= "\udfff" for character in value):
        raise Wrong(f"{where} is not Unicode")


def _require_between(where: str, number: float, schema: dict[str, Any], least: str, most: str) -> None:
    if number < schema.get(least, number) or number > schema.get(most, number):
        raise Wrong(f"{where} is {number}, outside {schema.get(least)}..{schema.get(most)}")


@lru_cache(maxsize=1)
def load() -> Rules:
    """The rules of the copied description."""
    described = json.loads(DESCRIPTION.read_text(encoding="utf-8"))
    paths = [
        (re.compile(re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", template)), template, methods)
        for template, methods in described["paths"].items()
    ]
    paths.sort(key=lambda one: one[1].count("{"))
    return Rules(paths, described["components"]["schemas"])


# -- what the description does not say -------------------------------------------------------------------


def check_message(body: Mapping[str, Any], *, new: bool) -> None:
    """Length, blankness, pings, buttons. Raises Wrong."""
    content = body.get("content")
    if new and not (content or "").strip():
        raise Wrong("Cannot send an empty message (50006)")
    if content is not None and len(content.encode("utf-16-le")) // 2 > LONGEST_TEXT:
        raise Wrong(f"content is longer than {LONGEST_TEXT}")
    if body.get("allowed_mentions", {}).get("parse") != []:
        raise Wrong("a message that may ping people")
    if body.get("enforce_nonce") and not body.get("nonce"):
        raise Wrong("enforce_nonce without a nonce")
    _check_buttons(body.get("components") or [])


def _check_buttons(rows: list[Any]) -> None:
    if len(rows) > 5:
        raise Wrong("more than 5 rows of buttons")
    buttons = [button for row in rows for button in row["components"]]
    ids = [button.get("custom_id") for button in buttons]
    if len(set(ids)) != len(ids):
        raise Wrong("Component custom id cannot be duplicated")
    for button in buttons:
        if not button.get("custom_id") or not button.get("label"):
            raise Wrong("a button needs a custom_id and a label")


def check_menu(commands: list[Any]) -> None:
    """Names, order of options, total length. Raises Wrong."""
    if len(commands) > 100:
        raise Wrong("Maximum number of application commands reached (30032)")
    _check_names(commands)
    for command in commands:
        if len(json.dumps(command, ensure_ascii=False)) > LONGEST_MENU:
            raise Wrong(f"/{command['name']} is longer than {LONGEST_MENU}")
        _check_options(command)


def _check_options(command: Mapping[str, Any]) -> None:
    options = command.get("options") or []
    _check_names(options)
    parts = [one for one in options if one["type"] == 1]
    if parts and len(parts) != len(options):
        raise Wrong(f"{command['name']}: subcommands and other options together")
    required = [bool(one.get("required")) for one in options]
    if required != sorted(required, reverse=True):
        raise Wrong(f"{command['name']}: required options come first")
    for one in options:
        if one.get("autocomplete") and one.get("choices"):
            raise Wrong(f"{one['name']}: choices and autocompletion together")
        _check_options(one)


def _check_names(named: list[Any]) -> None:
    names = [one["name"] for one in named]
    if len(set(names)) != len(names):
        raise Wrong(f"a name twice: {names}")
    for one in named:
        if not re.fullmatch(r"[-_\w]{1,32}", one["name"]) or one["name"] != one["name"].lower():
            raise Wrong(f"{one['name']!r} is no name of a command or option")
        if not one.get("description"):
            raise Wrong(f"{one['name']} needs a description")
