"""The chat commands (design.md 6.4): one table that routing, help and the platforms' menus follow.

A new command is one function and one row here.
"""

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass

from gateway import words
from gateway.chat import CommandSpec
from gateway.conversation.access import Standing
from gateway.conversation.commands import (
    about,
    export,
    forget,
    journey,
    language,
    memory,
    pair,
    receipts,
    search,
    session,
    sessions,
    shapes,
    skills,
    usage,
)
from gateway.conversation.commands.call import Act, Services, View
from gateway.records import Outgoing

__all__ = ["ALIASES", "LATER", "TABLE", "VIEWS", "Command", "allowed", "nearest", "parse", "specs"]


@dataclass(frozen=True, slots=True)
class Command:
    """One command. `help` in the catalog is `help.NAME`."""

    name: str
    act: Act
    owner_only: bool = False
    members: bool = False
    """Whether everybody in a group may use it there."""
    private_only: bool = False
    """Whether it has no meaning where others read along."""
    for_owner: bool = False
    """Whether only the owner has a use for it: help does not show it to others, who may use it."""
    in_terminal: bool = True
    """Whether it has a meaning in a terminal."""
    stops_turn: bool = False
    """Whether the running turn of the chat ends with it, unsaid."""


TABLE: Mapping[str, Command] = {
    command.name: command
    for command in (
        Command("start", about.start, private_only=True),
        Command("help", about.help_, members=True),
        Command("memory", memory.memory),
        Command("remember", memory.remember),
        Command("forget", forget.forget),
        Command("receipts", receipts.receipts),
        Command("export", export.export),
        Command("skills", skills.skills),
        Command("journey", journey.journey_),
        Command("refine", session.refine),
        Command("compress", session.compress),
        Command("new", session.new, stops_turn=True),
        Command("incognito", session.incognito, stops_turn=True),
        Command("undo", sessions.undo),
        Command("retry", sessions.retry),
        Command("sessions", sessions.sessions_),
        Command("resume", sessions.resume),
        Command("title", sessions.title),
        Command("stop", session.stop, stops_turn=True, members=True),
        Command("status", about.status, members=True),
        Command("model", about.model, for_owner=True),
        Command("home", about.home, private_only=True, for_owner=True, in_terminal=False),
        Command("whoami", about.whoami),
        Command("pair", pair.pair, owner_only=True, private_only=True),
        Command("language", language.language),
        Command("search", search.find),
        Command("usage", usage.usage),
    )
}

ALIASES: Mapping[str, str] = {"reset": "new", "learning": "journey", "memory_graph": "journey"}

LATER = frozenset(
    [
        "web",
    ]
)
"""Commands that are promised and not there yet: answered so, never sent to the model."""


_COMMAND = re.compile(r"/(?P<name>\w{1,32})(?:\s(?P<rest>.*))?", re.DOTALL)
"""Any white space ends the name: phones send line breaks, Japanese keyboards a wide blank."""


def help_text(services: Services, row: Outgoing, language: str) -> str:
    """One line for each command that this person has a use for here."""
    standing = Standing(str(row.values["standing"]))
    private = bool(row.values.get("private", True))
    may = [command for command in TABLE.values() if allowed(command, standing)]
    names = [
        command.name
        for command in may
        if (private or not command.private_only)
        and (standing is Standing.OWNER or not command.for_owner)
        and (command.in_terminal or row.chat.platform != "terminal")
    ]
    return "\n".join(f"/{name} — {words.text(f'help.{name}', language)}" for name in names)


VIEWS: Mapping[str, View] = {
    **session.VIEWS,
    **sessions.VIEWS,
    **about.VIEWS,
    **memory.VIEWS,
    **forget.VIEWS,
    **receipts.VIEWS,
    **pair.VIEWS,
    **skills.VIEWS,
    **journey.VIEWS,
    **search.VIEWS,
    **usage.VIEWS,
    "help": help_text,
}


def parse(text: str) -> tuple[str, str] | None:
    """`/name rest` as (name, rest), or None for what is not a command. `/usr/bin` is not one.

    Japanese keyboards write `／`.
    """
    found = _COMMAND.fullmatch(text.replace("\uff0f", "/", 1) if text.startswith("\uff0f") else text)
    if found is None:
        return None
    name = found["name"].lower()
    return ALIASES.get(name, name), (found["rest"] or "").strip()


def allowed(command: Command, standing: Standing) -> bool:
    """Whether somebody of this standing may use it (a member: in a group, the others: where it has a meaning)."""
    match standing:
        case Standing.OWNER:
            return True
        case Standing.ALLOWED:
            return not command.owner_only
        case Standing.MEMBER:
            return command.members
        case _:
            return False


def nearest(name: str) -> str:
    """The command that an unknown word was probably meant to be; "" when none is near."""
    near = difflib.get_close_matches(name, (*TABLE, *ALIASES), n=1, cutoff=0.5)
    return near[0] if near else ""


def specs() -> tuple[CommandSpec, ...]:
    """Every command, for the platforms' own menus."""
    return tuple(shapes.SHAPES.get(name) or shapes.spec(name) for name in TABLE)
