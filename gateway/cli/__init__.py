"""The `hikae` command. One file per group, thin: each calls what the chat commands call.

Groups are imported only when they are used, so that `hikae --version` stays quick. What goes wrong is printed in
one place (`main`): exit codes are 0 done, 1 refused or failed, 2 usage or configuration, 130 interrupted.
"""

import difflib
import importlib
import json
import keyword
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from gateway import __version__, words
from gateway.errors import ConfigError, GatewayError, NotAllowed, Refused

if TYPE_CHECKING:
    from gateway.home import Home

GROUPS: Mapping[str, tuple[str, str]] = {
    "up": ("run", "Start everything: Redis if needed, the worker and the gateway. Ctrl-C stops all."),
    "gateway": ("run", "Start the gateway alone."),
    "worker": ("run", "Start the worker alone."),
    "chat": ("chat", "Talk to the bot in this terminal."),
    "memory": ("waiting", "Show, approve and change what is remembered."),
    "skills": ("skills", "Show, approve and restore the procedures that were learnt."),
    "journey": ("journey", "All that was learnt, on a time line; edit and delete it."),
    "learning": ("journey", "The same as journey."),
    "memory-graph": ("journey", "The same as journey."),
    "sessions": ("sessions", "List, show, name, export and delete conversations."),
    "forget": ("forget", "Forget words everywhere, with a receipt; or look whether they are gone (--verify)."),
    "receipts": ("receipts", "What was forgotten, and how that was checked."),
    "export": ("export", "Everything that is kept of a space, as JSON."),
    "reviews": ("reviews", "List background reviews and retry failed ones."),
    "pair": ("pair", "Let people in and take them out; the owner's code."),
    "usage": ("usage", "What the model has read and written, by day and task."),
    "backup": ("backup", "Make copies of everything, check them and take one back."),
    "import": ("imports", "Bring memory, skills and conversations from another bot."),
    "prompt-size": ("prompt_size", "How big the prompt and the tools are, part by part."),
    "config": ("config", "Show and check the settings."),
    "status": ("status", "How the bot is doing."),
    "doctor": ("doctor", "Check this machine and this home; each line says ok or what to do."),
}
"""Command -> the module it lives in and its line in `hikae --help`."""


@dataclass
class Options:
    """What stands before the command: the home, and whether to print JSON."""

    home_path: str | None = None
    profile: str | None = None
    json: bool = False
    language: str = words.at_the_prompt("en")
    """In which answers and refusals are printed: `display.language`, once the settings are read."""

    @property
    def home(self) -> "Home":
        from gateway import settings

        return settings.find_home(home=self.home_path, profile=self.profile)

    def say(self, key: str, **values: object) -> str:
        """A sentence of the catalog in the language of the answers."""
        return words.text(key, self.language, **values)


_WHOLE = 1_000
"""Longer than any help line, in characters."""


class Group(click.Group):
    """A command with subcommands. For a mistyped one it names the nearest."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if not name.startswith("-") and self.get_command(ctx, name) is None:
            raise click.UsageError(_unknown(name, ctx.command_path, self.list_commands(ctx)), ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Each with its whole line: where it has no room, it goes on in the next."""
        found = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl([(name, one.get_short_help_str(_WHOLE)) for name, one in found if one is not None])


def _unknown(name: str, path: str, names: Iterable[str]) -> str:
    near = difflib.get_close_matches(name.lower(), names, n=1, cutoff=0.5)
    meant = f'Did you mean "{path} {near[0]}"?' if near else f'"{path} --help" lists what there is.'
    return f'There is no "{path} {name}". {meant}'


class _LazyGroup(Group):
    """Imports a command's module when the command is used; help lines come from the table."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(GROUPS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in GROUPS:
            return None
        module = importlib.import_module(f"gateway.cli.{GROUPS[cmd_name][0]}")
        name = cmd_name.replace("-", "_")
        command: click.Command = getattr(module, f"{name}_" if keyword.iskeyword(name) else name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in GROUPS.items()])


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="hikae")
@click.option("--home", "home_path", metavar="PATH", help="The bot's home (default: $HIKAE_HOME or ~/.hikae).")
@click.option("--profile", metavar="NAME", help="Use ~/.hikae/profiles/NAME as home.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON value and nothing else.")
@click.pass_context
def hikae(ctx: click.Context, home_path: str | None, profile: str | None, as_json: bool) -> None:
    """A messaging bot that remembers, asks first, and can prove that it has forgotten."""
    options = ctx.ensure_object(Options)
    options.home_path, options.profile, options.json = home_path, profile, as_json


def _turn_on_json(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    if value:
        ctx.ensure_object(Options).json = True


json_option = click.option(
    "--json",
    is_flag=True,
    expose_value=False,
    callback=_turn_on_json,
    help="Print one JSON value and nothing else.",
)
"""`--json` behind a command means the same as before it."""


def emit(value: object) -> None:
    """Print one JSON value."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    # An argument that is no UTF-8 comes back in its error as half a surrogate pair, which cannot be printed.
    click.echo(text.encode("utf-8", "replace").decode())


def main(arguments: list[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    given = sys.argv[1:] if arguments is None else arguments
    options = Options()
    try:
        result = hikae.main(args=given, prog_name="hikae", obj=options, standalone_mode=False)
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.Abort:
        click.echo(options.say("cli.interrupted"), err=True)
        return 130
    except KeyboardInterrupt:
        return 130
    except click.ClickException as wrong:
        return _fail("Usage", wrong.format_message(), 2, given)
    except ConfigError as wrong:
        return _fail("ConfigError", str(wrong), 2, given)
    except Refused as wrong:
        return _fail(type(wrong).__name__, words.text(wrong.key, options.language, **wrong.values), 1, given)
    except GatewayError as wrong:
        return _fail(type(wrong).__name__, str(wrong), 1, given)
    return result if isinstance(result, int) else 0


def _fail(kind: str, message: str, code: int, given: list[str]) -> int:
    if "--json" in given:
        emit({"error": {"kind": kind, "message": message}})
    else:
        click.echo(message, err=True)
    return code


def confirmed(question: str, *, yes: bool) -> bool:
    """Ask before something that cannot be taken back. Without a terminal only `--yes` counts."""
    if yes:
        return True
    if not sys.stdin.isatty():
        raise NotAllowed("cli.no_terminal", question=question)
    return bool(click.confirm(question, err=True))
