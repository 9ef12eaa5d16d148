"""Which settings of a Hermes Agent mean something here. Pure.

config.yaml is the person's and is never written by us: what can be set here is shown as lines to copy. Keys and
tokens are never shown; they belong into `.env`.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

import yaml
from pydantic import ValidationError

from gateway import scan
from gateway.memory.imports import Item, Kind, Verdict, lines_of
from gateway.settings import Settings

MOST_CHARS = 1_000_000
MOST_UNKNOWN = 200
_MOST_DEPTH = 4
_SECRET = re.compile(r"(?:^|_)(?:api_?key|token|secret|password|key)s?$", re.IGNORECASE)
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,60}")
_OWN_ENDPOINT = ("custom", "ollama", "vllm", "llamacpp", "lmstudio")
_ROUTER = "openrouter.ai"


@dataclass(frozen=True, slots=True)
class Mapped:
    """What was found: what can be set here, and one item for each setting there."""

    settings: Mapping[str, object] = field(default_factory=dict, repr=False)
    items: tuple[Item, ...] = ()

    @property
    def lines(self) -> str:
        return lines_of(self.settings)


def _same(value: str) -> str:
    return value


def _none_if_empty(value: str) -> str:
    return value or "none"


def _hour(value: str) -> str:
    return f"{int(value):02}:00" if value.isdecimal() else value


def _per_person(value: str) -> str:
    return {"true": "per_person", "false": "shared"}.get(value.lower(), value)


_MEANS: Mapping[str, tuple[str, Callable[[str], str]]] = {
    "model": ("model.name", _same),
    "model.default": ("model.name", _same),
    "model.model": ("model.name", _same),
    "model.base_url": ("model.base_url", _same),
    "model.context_length": ("model.context_window", _same),
    "memory.memory_enabled": ("memory.memory_enabled", _same),
    "memory.user_profile_enabled": ("memory.user_profile_enabled", _same),
    "memory.memory_char_limit": ("memory.memory_char_limit", _same),
    "memory.user_char_limit": ("memory.user_char_limit", _same),
    "memory.write_approval": ("memory.write_approval", _same),
    "memory.nudge_interval": ("memory.nudge_interval", _same),
    "memory.provider": ("memory.provider", _none_if_empty),
    "skills.write_approval": ("skills.write_approval", _same),
    "display.memory_notifications": ("display.memory_notifications", _same),
    "display.language": ("display.language", _same),
    "display.platforms.telegram.memory_notifications": (
        "display.platforms.telegram.memory_notifications",
        _same,
    ),
    "display.platforms.discord.memory_notifications": ("display.platforms.discord.memory_notifications", _same),
    "agent.max_turns": ("agent.max_tool_rounds", _same),
    "compression.enabled": ("compression.enabled", _same),
    "compression.threshold": ("compression.threshold", _same),
    "session_reset.mode": ("session.reset", _same),
    "session_reset.idle_minutes": ("session.idle_minutes", _same),
    "session_reset.at_hour": ("session.daily_at", _hour),
    "group_sessions_per_user": ("session.groups", _per_person),
    "timezone": ("session.timezone", _same),
}
"""A setting there -> the one here, and how its value is said here."""


def read(text: str) -> Mapped:
    """What the config.yaml of a Hermes Agent says. Whatever stands in it, this returns."""
    if len(text) > MOST_CHARS:
        return Mapped(items=(_left("config.yaml", "import.config_large"),))
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except (yaml.YAMLError, ValueError, OverflowError, RecursionError):
        return Mapped(items=(_left("config.yaml", "import.config_damaged"),))
    found = dict(_leaves(root, "", 0))
    settings: dict[str, object] = {}
    items = [_item(name, value, settings) for name, value in found.items()]
    _provider(found, settings, items)
    return Mapped(settings, tuple(items))


def _leaves(node: yaml.Node | None, prefix: str, depth: int) -> Iterator[tuple[str, str | None]]:
    """Each setting by its whole name; None for one that is a list or has parts that we know nothing of."""
    if not isinstance(node, yaml.MappingNode):
        return
    count = 0
    for key, value in node.value:
        name = str(key.value) if isinstance(key, yaml.ScalarNode) else ""
        if not _NAME.fullmatch(name) or name.startswith("_"):
            continue
        count += 1
        if count > MOST_UNKNOWN:
            return
        if isinstance(value, yaml.ScalarNode):
            yield f"{prefix}{name}", str(value.value)
        elif isinstance(value, yaml.MappingNode) and depth < _MOST_DEPTH and prefix + name in _sections():
            yield from _leaves(value, f"{prefix}{name}.", depth + 1)
        else:
            yield f"{prefix}{name}", None


def _sections() -> frozenset[str]:
    """The sections in which there is something that we know: no other is entered, so no file can be made deep."""
    above = (name.split(".")[:-1] for name in (*_MEANS, "model.provider"))
    return frozenset(".".join(parts[: end + 1]) for parts in above for end in range(len(parts)))


def _item(name: str, value: str | None, settings: dict[str, object]) -> Item:
    if _SECRET.search(name.rpartition(".")[2]) or (value and scan.has_secret(value)):
        return _left(name, "import.setting_secret")
    if name not in _MEANS or value is None:
        return _left(name, "import.setting_unknown")
    ours, said = _MEANS[name]
    meant = said(value.strip())
    if name.startswith("model") and not meant:
        return _left(name, "import.setting_empty")
    if not _is_accepted(ours, meant):
        return _left(name, "import.setting_not_here")
    settings[ours] = meant
    return Item(Kind.SETTING, name, Verdict.NEW, "import.setting_mapped", {"name": ours})


def _provider(found: Mapping[str, str | None], settings: dict[str, object], items: list[Item]) -> None:
    """Who answers there: a provider that we have, an endpoint of one's own, or none of ours."""
    asked = (found.get("model.provider") or "").strip().lower()
    if not asked:
        return
    items[:] = [item for item in items if item.name != "model.provider"]
    base_url = str(settings.get("model.base_url", ""))
    if _ROUTER in base_url:
        settings.pop("model.base_url", None)  # we know that one by its name
        asked = "openrouter" if asked == "auto" else asked
    meant = "openai" if asked in _OWN_ENDPOINT and base_url else asked
    if _is_accepted("model.provider", meant) and meant != "offline":
        settings["model.provider"] = meant
        items.append(
            Item(Kind.SETTING, "model.provider", Verdict.NEW, "import.setting_mapped", {"name": "model.provider"})
        )
    else:
        items.append(_left("model.provider", "import.setting_not_here"))


def _is_accepted(name: str, value: object) -> bool:
    """Whether a start of ours would take this value."""
    tree: object = value
    for part in reversed(name.split(".")):
        tree = {part: tree}
    try:
        Settings.model_validate(tree)
    except ValidationError:
        return False
    return True


def _left(name: str, reason: str) -> Item:
    return Item(Kind.SETTING, name, Verdict.LEFT, reason)
