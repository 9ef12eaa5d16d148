"""config.yaml as text: which settings stand in it, and in which line. No disk; what they mean is `settings`.

It follows the sections that we know and nothing else, so no alias and no nesting can make it large.
"""

import difflib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeGuard

import yaml
from pydantic import BaseModel

from gateway import fields


@dataclass(frozen=True)
class Given:
    """A value that somebody set, still as text, and where it stands."""

    value: object
    source: str
    where: str
    items: tuple[str, ...] = ()
    """For a list: where each item stands."""


def read(text: str, settings: type[BaseModel], problems: list[str]) -> dict[str, Given]:
    """What is set, by key (`memory.nudge_interval`). Adds a sentence to `problems` for what is not ours."""
    given: dict[str, Given] = {}
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        problems.append(_not_yaml(error))
    except (yaml.YAMLError, ValueError, OverflowError):
        problems.append("config.yaml is not valid YAML: it holds characters that YAML does not allow.")
    except RecursionError:
        problems.append("config.yaml is not valid YAML: it is nested too deeply.")
    else:
        if root is not None:
            _Walk(settings, given, problems).section(root, settings, "")
    return given


def _not_yaml(error: yaml.MarkedYAMLError) -> str:
    mark = error.problem_mark or error.context_mark
    what = error.problem or error.context or "it cannot be read"
    advice = " Indent with spaces, not with tabs." if "'\\t'" in what else ""
    line = mark.line + 1 if mark else 1
    return f"config.yaml is not valid YAML: {what}.{advice} (config.yaml, line {line})"


@dataclass(frozen=True)
class _Walk:
    """One pass over the file: fills `given` and `problems`."""

    settings: type[BaseModel]
    given: dict[str, Given]
    problems: list[str]

    def section(self, node: yaml.Node, section: type[BaseModel], prefix: str) -> None:
        """Everything below one section. One that is empty (all commented out) is all defaults."""
        if _is_null(node):
            return
        if not isinstance(node, yaml.MappingNode):
            name = prefix.rstrip(".") or "config.yaml"
            self._say(node, f"{name} is {_kind(node)}. It must be lines of `name: value`.")
            return
        lines: dict[str, int] = {}
        for key, value in node.value:
            name = _name(key)
            if name in lines:
                twice = f"{_quoted(prefix + name)} is set twice, first in line {lines[name]}. Keep one."
                self._say(key, twice)
            else:
                lines[name] = _line(key)
                self._entry(key, value, section, prefix)

    def _entry(self, key: yaml.Node, value: yaml.Node, section: type[BaseModel], prefix: str) -> None:
        name = _name(key)
        known = section.model_fields.get(name)
        if known is None:
            self._say(key, self._unknown(name, section, prefix))
        elif _is_section(known.annotation):
            self.section(value, known.annotation, f"{prefix}{name}.")
        elif _is_strange(value):
            self._say(key, f"{prefix}{name} has the tag {fields.shown(value.tag)}. Leave the tag out.")
        elif not (_is_null(value) and known.default in ("", (), None)):
            self.given[prefix + name] = _leaf(key, value)

    def _unknown(self, name: str, section: type[BaseModel], prefix: str) -> str:
        """A key we do not know: with its place elsewhere, or the near miss here, or what is known here."""
        elsewhere = [key for key in keys(self.settings) if key.rpartition(".")[2] == name]
        near = difflib.get_close_matches(name[:100], section.model_fields, 1)
        meant = elsewhere[0] if len(elsewhere) == 1 else prefix + near[0] if near else ""
        hint = f'; did you mean "{meant}"?' if meant else f". Known here: {', '.join(section.model_fields)}."
        return f"unknown key {_quoted(prefix + name)}{hint}"

    def _say(self, node: yaml.Node, sentence: str) -> None:
        self.problems.append(f"{sentence} ({_where(node)})")


def keys(section: type[BaseModel]) -> Iterator[str]:
    """The key of every setting below a section, in the order of design.md."""
    for name, known in section.model_fields.items():
        if _is_section(known.annotation):
            yield from (f"{name}.{below}" for below in keys(known.annotation))
        else:
            yield name


def _is_section(annotation: object) -> TypeGuard[type[BaseModel]]:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


def _leaf(key: yaml.Node, node: yaml.Node) -> Given:
    items = node.value if isinstance(node, yaml.SequenceNode) else []
    return Given(_raw(node), "config.yaml", _where(key), tuple(_where(item) for item in items))


def _raw(node: yaml.Node) -> object:
    """A scalar as its text, a list as the texts in it; what stands deeper cannot be meant."""
    if isinstance(node, yaml.SequenceNode):
        return [each.value if _is_text(each) else fields.Nested() for each in node.value]
    if isinstance(node, yaml.MappingNode):
        return fields.Nested()
    return None if _is_null(node) else node.value


def _is_text(node: yaml.Node) -> bool:
    return isinstance(node, yaml.ScalarNode) and not _is_null(node) and not _is_strange(node)


def _is_null(node: yaml.Node) -> bool:
    return isinstance(node, yaml.ScalarNode) and node.tag == "tag:yaml.org,2002:null"


def _is_strange(node: yaml.Node) -> bool:
    """Whether it has a tag such as `!secret`, which promises something that we would not do."""
    known = ("str", "int", "float", "bool", "null", "timestamp", "seq", "map", "merge", "value")
    return node.tag not in [f"tag:yaml.org,2002:{kind}" for kind in known]


def _name(key: yaml.Node) -> str:
    return str(key.value) if isinstance(key, yaml.ScalarNode) else ""


def _quoted(name: str) -> str:
    """A key as it was written, unless it cannot be one: a token that lost its place is not repeated."""
    return f'"{name}"' if re.fullmatch(r"[A-Za-z][\w. -]{0,60}", name) else "that is not a name"


def _kind(node: yaml.Node) -> str:
    return "a list" if isinstance(node, yaml.SequenceNode) else fields.shown(node.value)


def _where(node: yaml.Node) -> str:
    return f"config.yaml, line {_line(node)}"


def _line(node: yaml.Node) -> int:
    return int(node.start_mark.line) + 1
