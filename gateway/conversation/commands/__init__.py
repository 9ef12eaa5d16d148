"""The chat commands (design.md 6.4): one table that routing, help and the platforms' menus follow.

A new command is one function and one row here.
"""

import difflib
from collections.abc import Mapping
from dataclasses import dataclass

from gateway import words
from gateway.conversation.access import Standing
from gateway.conversation.commands import about, memory, session
from gateway.conversation.commands.call import Act, View

__all__ = ["ALIASES", "LATER", "TABLE", "VIEWS", "Command", "allowed", "menu", "nearest", "parse"]


@dataclass(frozen=True, slots=True)
class Command:
    """One command. `help` in the catalog is `help.NAME`."""

    name: str
    act: Act
    owner_only: bool = False
    stops_turn: bool = False
    """Whether the running turn of the chat ends, unsaid, before it acts."""


TABLE: Mapping[str, Command] = {
    command.name: command
    for command in (
        Command("start", about.start),
        Command("help", about.help_),
        Command("memory", memory.memory),
        Command("remember", memory.remember),
        Command("refine", session.refine),
        Command("new", session.new, stops_turn=True),
        Command("stop", session.stop, stops_turn=True),
        Command("status", about.status),
        Command("model", about.model),
        Command("home", about.home),
        Command("whoami", about.whoami),
    )
}

ALIASES: Mapping[str, str] = {"reset": "new"}

LATER = frozenset(
    [
        "forget",
        "receipts",
        "incognito",
        "skills",
        "journey",
        "learning",
        "memory_graph",
        "export",
        "web",
        "sessions",
        "resume",
        "title",
        "search",
        "compress",
        "undo",
        "retry",
        "usage",
        "pair",
        "language",
    ]
)
"""Commands that are promised and not there yet: answered so, never sent to the model."""

VIEWS: Mapping[str, View] = {**about.VIEWS, **memory.VIEWS, **session.VIEWS}


def parse(text: str) -> tuple[str, str] | None:
    """`/name rest` as (name, rest), or None for what is not a command. `/usr/bin` is not one."""
    if not text.startswith("/"):
        return None
    name, _, rest = text[1:].partition(" ") if "\n" not in text.split(" ")[0] else text[1:].partition("\n")
    name = name.lower()
    if not name or not name.replace("_", "").isalnum() or len(name) > 32:
        return None
    return ALIASES.get(name, name), rest.strip()


def allowed(command: Command, standing: Standing) -> bool:
    """Whether somebody of this standing may use it in private."""
    return standing is Standing.OWNER or (standing is Standing.ALLOWED and not command.owner_only)


def nearest(name: str) -> str:
    """The command that an unknown word was probably meant to be; "help" when none is near."""
    near = difflib.get_close_matches(name, (*TABLE, *ALIASES), n=1, cutoff=0.5)
    return near[0] if near else "help"


def menu(language: str) -> tuple[tuple[str, str], ...]:
    """Name and one-line description of each command, for a platform's menu."""
    return tuple((name, words.text(f"help.{name}", language)) for name in TABLE)
