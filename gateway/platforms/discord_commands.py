"""Slash commands: our table as Discord's menu, and what a person chose there as the words of a command. Pure.

Discord cannot have both `/memory` and `/memory pending`; the bare command is called `show` there, or `list` where
`show` names what to show.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gateway.chat import CommandOption, CommandSpec, How, IncomingMessage, Piece
from gateway.platforms import discord_updates, text
from gateway.platforms.discord_markup import clip
from gateway.platforms.discord_updates import Json

LONGEST_DESCRIPTION = 100
MOST_SUGGESTIONS = 25

_CHAT_INPUT = 1
_SUBCOMMAND, _STRING = 1, 3
_SERVER, _BOT_DM = 0, 1
_LANGUAGES = ("ja",)
"""Those that Discord has under the same name, beside English, which it shows to everybody else."""


def menu(commands: Sequence[CommandSpec]) -> list[dict[str, Any]]:
    """The commands as Discord's API takes them. Any: it is JSON."""
    return [_command(spec) for spec in commands]


def same(ours: Sequence[Json], theirs: Sequence[Json]) -> bool:
    """Whether Discord shows these commands already: it adds ids and defaults, in its own order."""
    return sorted(map(_essence, ours)) == sorted(map(_essence, theirs))


def is_private(commands: Sequence[CommandSpec], interaction: Json) -> bool:
    """Whether only who gave the command sees the answer. What we do not know (any more) is private."""
    data = interaction["data"]
    spec = next((one for one in commands if one.name == data["name"]), None)
    part = _chosen(data)
    if spec is None or part is None:
        return spec is None or spec.private
    return next((one.private for one in spec.parts if one.name == part["name"]), spec.private)


def message(commands: Sequence[CommandSpec], interaction: Json, via: str) -> IncomingMessage:
    """The command as if its words had been written."""
    user, where = who(interaction), discord_updates.place(interaction.get("channel") or {}, server(interaction))
    by = discord_updates.person(user["id"])
    return IncomingMessage(
        chat=discord_updates.chat(str(interaction["channel_id"]), where),
        person=by,
        id=f"interaction:{interaction['id']}",
        pieces=(Piece(How.OWN, by.key, words(commands, interaction)),),
        at=discord_updates.said_at(str(interaction["id"])),
        private=not where.server,
        language=str(interaction.get("locale") or interaction.get("guild_locale") or ""),
        speaker=discord_updates.speaker(user, interaction.get("member")),
        server=where.server,
        via=via,
    )


def words(commands: Sequence[CommandSpec], interaction: Json) -> str:
    """`/memory approve 17`."""
    data = interaction["data"]
    values = [text.clean(str(one["value"])).strip() for one in _values(data)]
    return " ".join(["/" + _name(commands, data), *(value for value in values if value)])


@dataclass(frozen=True, slots=True)
class Typing:
    """What a person has typed so far behind a command."""

    command: str
    typed: str


def typing(commands: Sequence[CommandSpec], interaction: Json) -> Typing:
    """For an autocompletion."""
    data = interaction["data"]
    typed = next((str(one["value"]) for one in _values(data) if one.get("focused")), "")
    return Typing(_name(commands, data), text.clean(typed))


def who(interaction: Json) -> Json:
    """The person: in a server Discord wraps them as a member."""
    user: Json = (interaction.get("member") or interaction)["user"]
    return user


def server(interaction: Json) -> str:
    """The server that it happened in, "" in a direct message."""
    return str(interaction.get("guild_id") or "")


def _command(spec: CommandSpec) -> dict[str, Any]:
    options = [_part(part) for part in _parts(spec)] if spec.parts else _options(spec)
    return {
        "type": _CHAT_INPUT,
        "name": spec.name,
        **_described(spec.summary),
        "options": options,
        "contexts": [_SERVER, _BOT_DM],
    }


def _parts(spec: CommandSpec) -> Iterator[CommandSpec]:
    """The bare command first, unless it is among the parts; it takes no options: those belong to the parts."""
    if all(part.name != _bare(spec) for part in spec.parts):
        yield CommandSpec(_bare(spec), spec.summary, private=spec.private)
    yield from spec.parts


def _bare(spec: CommandSpec) -> str:
    """The bare command's name: `show`, unless that is a part which shows something in particular."""
    return "list" if any(part.name == "show" and part.options for part in spec.parts) else "show"


def _part(spec: CommandSpec) -> dict[str, Any]:
    return {"type": _SUBCOMMAND, "name": spec.name, **_described(spec.summary), "options": _options(spec)}


def _options(spec: CommandSpec) -> list[dict[str, Any]]:
    """Discord wants the required ones first."""
    return [_option(one) for one in sorted(spec.options, key=lambda option: not option.required)]


def _option(option: CommandOption) -> dict[str, Any]:
    return {
        "type": _STRING,
        "name": option.name,
        **_described(option.summary),
        "required": option.required,
        "autocomplete": option.completes and not option.choices,
        "choices": [{"name": choice, "value": choice} for choice in option.choices],
    }


def _described(summary: Mapping[str, str]) -> dict[str, Any]:
    others = {one: clip(summary[one], LONGEST_DESCRIPTION) for one in _LANGUAGES if summary.get(one)}
    return {"description": clip(summary["en"], LONGEST_DESCRIPTION), "description_localizations": others or None}


def _essence(command: Json) -> str:
    """A command without what Discord adds, comparable."""
    return json.dumps(_stripped(command), sort_keys=True, ensure_ascii=False)


def _stripped(node: Json) -> dict[str, Any]:
    kept = {name: node[name] for name in _TOLD if node.get(name)}
    if "options" in kept:
        kept["options"] = [_stripped(one) for one in kept["options"]]
    if "contexts" in kept:
        kept["contexts"] = sorted(kept["contexts"])
    if "choices" in kept:
        kept["choices"] = [(one["name"], one["value"]) for one in kept["choices"]]
    return kept


_TOLD = (
    "type",
    "name",
    "description",
    "description_localizations",
    "options",
    "required",
    "autocomplete",
    "choices",
    "contexts",
)


def _name(commands: Sequence[CommandSpec], data: Json) -> str:
    """`memory approve`; `memory` where the bare command was chosen under its other name."""
    part = _chosen(data)
    spec = next((one for one in commands if one.name == data["name"]), None)
    if part is None or (spec is not None and spec.parts and part["name"] == _bare(spec)):
        return str(data["name"])
    return f"{data['name']} {part['name']}"


def _chosen(data: Json) -> Json | None:
    """The subcommand."""
    return next((one for one in data.get("options") or () if one["type"] == _SUBCOMMAND), None)


def _values(data: Json) -> Sequence[Json]:
    part = _chosen(data)
    values: Sequence[Json] = (part or data).get("options") or ()
    return values
