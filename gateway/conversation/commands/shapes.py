"""What may follow each command, as platforms with menus of their own show it (`chat.CommandSpec`). Pure.

The sentences are `help.NAME` for a command, `help.NAME_PART` for its parts, `option.NAME` for what may follow.
"""

from collections.abc import Mapping

from gateway import words
from gateway.chat import CommandOption, CommandSpec


def option(
    name: str, *, said: str = "", required: bool = False, completes: bool = False, choices: tuple[str, ...] = ()
) -> CommandOption:
    """Something that may follow a command. `said` is its sentence where that is not its name's."""
    return CommandOption(name, _said(f"option.{said or name}"), required, completes, choices)


def spec(
    name: str, *options: CommandOption, parts: tuple[CommandSpec, ...] = (), private: bool = True
) -> CommandSpec:
    """A command as a menu shows it."""
    return CommandSpec(name, _said(f"help.{name}"), options, parts, private)


def part(of: str, name: str, *options: CommandOption) -> CommandSpec:
    """A subcommand."""
    return CommandSpec(name, _said(f"help.{of}_{name}"), options)


def _said(key: str) -> Mapping[str, str]:
    return {language: words.text(key, language) for language in words.LANGUAGES}


IDS = option("ids", required=True, completes=True)
SHAPES: Mapping[str, CommandSpec] = {
    shape.name: shape
    for shape in (
        spec("start", option("code")),
        spec(
            "memory",
            parts=(
                part("memory", "show"),
                part("memory", "pending"),
                part("memory", "approve", IDS),
                part("memory", "reject", IDS),
                part("memory", "approval", option("value", choices=("on", "off"))),
                part("memory", "edit", IDS, option("text")),
                part("memory", "undo", option("ids", completes=True)),
                part("memory", "why", option("text", required=True)),
                part("memory", "log", option("ids")),
                part("memory", "refresh"),
                part("memory", "tidy"),
            ),
        ),
        spec("remember", option("text", required=True)),
        spec(
            "skills",
            parts=(
                part("skills", "list"),
                part("skills", "show", option("text", said="skill", required=True)),
                part("skills", "pending"),
                part("skills", "diff", option("ids", said="write", required=True, completes=True)),
                part("skills", "approve", IDS),
                part("skills", "reject", IDS),
                part("skills", "approval", option("value", choices=("on", "off"))),
            ),
        ),
        spec("search", option("text", required=True)),
        spec("new", private=False),
        spec("stop", private=False),
        spec("language", option("value", choices=words.LANGUAGES)),
        spec(
            "pair",
            parts=(
                part("pair", "show"),
                part("pair", "approve", option("code", required=True), option("value")),
                part("pair", "revoke", option("value", required=True)),
                part("pair", "code"),
            ),
        ),
    )
}
"""The commands with more than a name and one line of help."""
