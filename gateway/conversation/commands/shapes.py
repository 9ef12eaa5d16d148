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
SKILL_IDS = option("ids", said="skill_ids", required=True, completes=True)
SHAPES: Mapping[str, CommandSpec] = {
    shape.name: shape
    for shape in (
        spec("start", option("code", said="start_code")),
        spec(
            "memory",
            parts=(
                part("memory", "show"),
                part("memory", "pending"),
                part("memory", "approve", IDS),
                part("memory", "reject", IDS),
                part("memory", "approval", option("value", said="approval", choices=("on", "off"))),
                part(
                    "memory",
                    "edit",
                    option("ids", said="waiting", required=True, completes=True),
                    option("text", said="new_text"),
                ),
                part("memory", "undo", option("ids", said="change", completes=True)),
                part("memory", "why", option("text", said="entry", required=True)),
                part("memory", "log", option("ids", said="older")),
                part("memory", "refresh"),
                part("memory", "tidy"),
            ),
        ),
        spec("remember", option("text", said="remember", required=True)),
        spec("forget", option("text", said="forget", required=True)),
        spec("receipts", option("ids", said="receipt")),
        spec(
            "skills",
            parts=(
                part("skills", "list"),
                part("skills", "show", option("text", said="skill", required=True)),
                part("skills", "pending"),
                part("skills", "diff", option("ids", said="write", required=True, completes=True)),
                part("skills", "approve", SKILL_IDS),
                part("skills", "reject", SKILL_IDS),
                part("skills", "approval", option("value", said="approval", choices=("on", "off"))),
            ),
        ),
        spec(
            "journey",
            parts=(
                part("journey", "show"),
                part("journey", "list"),
                part(
                    "journey",
                    "edit",
                    option("ids", said="node", required=True, completes=True),
                    option("text", said="new_text"),
                ),
                part("journey", "delete", option("ids", said="node", required=True, completes=True)),
            ),
        ),
        spec("search", option("text", said="search", required=True)),
        spec("resume", option("text", said="session", required=True, completes=True), private=False),
        spec("title", option("text", said="title")),
        spec("undo", private=False),
        spec("retry", private=False),
        spec("new", private=False),
        spec("incognito", private=False),
        spec("stop", private=False),
        spec("language", option("value", said="language", choices=words.LANGUAGES)),
        spec(
            "pair",
            parts=(
                part("pair", "show"),
                part("pair", "approve", option("code", said="asker", required=True), option("value", said="whose")),
                part("pair", "revoke", option("value", said="account", required=True)),
                part("pair", "code"),
            ),
        ),
    )
}
"""The commands with more than a name and one line of help."""
