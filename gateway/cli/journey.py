"""`hikae journey` (also `learning`, `memory-graph`): what was learnt, on a time line, and changing it by its ids.

The same functions as behind `/journey`. How the line is drawn is `timeline`.
"""

import secrets
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator

import click

from gateway import settings, words
from gateway.chat import TERMINAL_OWNER
from gateway.cli import Group, Options, confirmed, emit, json_option, timeline
from gateway.cli.opened import (
    clock_time,
    columns,
    from_markdown,
    one_line,
    one_space,
    opened,
    services_for,
    shown,
    space_named,
)
from gateway.conversation import journeytext
from gateway.conversation.commands import journey as commands
from gateway.core import Core
from gateway.errors import Refused
from gateway.memory.journey import Journey
from gateway.memory.journeys import Deed, Order, Thing
from gateway.records import Space
from gateway.records.asdata import iso
from gateway.skills import changes
from gateway.store import doorbell, writes

_UP = "\x1b[{lines}F\x1b[J"
_HIDE, _SHOW = "\x1b[?25l", "\x1b[?25h"


@click.group("journey", cls=Group, invoke_without_command=True)
@click.option("--play", is_flag=True, help="Let it come to be once more.")
@click.option("--fps", type=click.IntRange(1, 60), default=12, show_default=True, help="Pictures in a second.")
@click.option("--width", type=click.IntRange(timeline.LEAST_WIDTH, 500), help="Cells (default: the terminal's).")
@click.option("--height", type=click.IntRange(3, 1000), help="Lines (default: all; with --play the terminal's).")
@click.option("--no-color", is_flag=True, help="Without colours (also: NO_COLOR, and where there is no terminal).")
@one_space
@json_option
@click.pass_context
def journey(
    ctx: click.Context,
    play: bool,
    fps: int,
    width: int | None,
    height: int | None,
    no_color: bool,
    space_name: str,
) -> None:
    """All that was learnt, on a time line: when, and from what."""
    if (
        ctx.invoked_subcommand is not None
    ):  # `journey --space NAME list` means what `journey list --space NAME` does
        ctx.default_map = {name: {"space_name": space_name} for name in ("list", "edit", "delete")}
        return
    options = ctx.ensure_object(Options)
    found, core = _found(options, space_name)
    if options.json:
        emit(_as_data(found))
        return
    if not found.nodes:
        click.echo(words.text("journey.none", options.language))
        return
    is_terminal, screen = sys.stdout.isatty(), shutil.get_terminal_size((80, 24))
    picture = timeline.Picture(
        width=width or max(screen.columns, timeline.LEAST_WIDTH),
        height=height or (screen.lines - 1 if play and is_terminal else 0),
        zone=core.loaded.settings.zone(),
        language=options.language,
        colours=is_terminal and not no_color and not settings.wants_plain_output(),
    )
    moves = play and is_terminal and not settings.wants_plain_output()
    if moves:
        show_frames(timeline.frames(found, picture), 1 / fps, _write, time.sleep)
    else:
        click.echo("\n".join(timeline.draw(found, picture)), color=picture.colours)


learning = memory_graph = journey


def show_frames(
    frames: Iterable[list[str]], seconds: float, write: Callable[[str], None], wait: Callable[[float], None]
) -> None:
    """One picture over the other; whatever ends it, the cursor is there again."""
    above = 0
    write(_HIDE)
    try:
        for number, lines in enumerate(frames):
            if number:
                wait(seconds)
            write((_UP.format(lines=above) if above else "") + "\n".join(lines) + "\n")
            above = len(lines)
    finally:
        write(_SHOW)


def _write(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


@journey.command("list")
@one_space
@json_option
@click.pass_obj
def list_(options: Options, space_name: str) -> None:
    """Every entry and skill with the id that edit and delete take."""
    found, core = _found(options, space_name)
    if options.json:
        emit(_as_data(found))
    elif not found.nodes:
        click.echo(words.text("journey.none", options.language))
    else:
        click.echo("\n".join(_rows(found, core, options.language)))


@journey.command()
@click.argument("id", metavar="ID")
@one_space
@json_option
@click.pass_obj
def edit(options: Options, id: str, space_name: str) -> None:
    """Change what an entry or a skill says, in your editor."""
    with opened(options) as core:
        thing = services_for(core).memory.journeys.thing(space_named(core, space_name), id)
    try:
        text = click.edit(thing.text.rstrip("\n") + "\n", extension=".md")
    except click.ClickException as error:
        raise Refused("journey.editor_failed") from error
    if text is None or _plain(text) == _plain(thing.text):
        raise Refused("journey.unchanged")
    with opened(options) as core:  # again: nobody is kept waiting by an open editor
        space = space_named(core, space_name)
        deed = services_for(core).memory.journeys.edit(space, thing, _plain(text), _order(space))
        _say(options, core, thing, deed, "journey.edited")


@journey.command()
@click.argument("id", metavar="ID")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@one_space
@json_option
@click.pass_obj
def delete(options: Options, id: str, yes: bool, space_name: str) -> None:
    """Delete an entry, or move a skill to the archive. Both can be taken back."""
    with opened(options) as core:
        thing = services_for(core).memory.journeys.thing(space_named(core, space_name), id)
    key = "journey.delete_entry" if thing.entry else "journey.delete_skill"
    question = words.text(key, options.language, text=one_line(thing.skill or thing.text, 80))
    if not confirmed(question, yes=yes):
        raise Refused("journey.not_deleted")
    with opened(options) as core:  # again: nobody is kept waiting by a question
        space = space_named(core, space_name)
        deed = services_for(core).memory.journeys.delete(space, thing, _order(space))
        _say(options, core, thing, deed, "journey.deleted")


def _found(options: Options, space_name: str) -> tuple[Journey, Core]:
    with opened(options) as core:
        return services_for(core).memory.journeys.of(space_named(core, space_name)), core


def _plain(text: str) -> str:
    return changes.plain(text).strip("\n")


def _order(space: Space) -> Order:
    """Each run of the command is an order of its own."""
    return Order(TERMINAL_OWNER.key, f"journey-cli-{space.id}-{secrets.token_hex(8)}")


def _say(options: Options, core: Core, thing: Thing, deed: Deed, key: str) -> None:
    doorbell.ring(core.home)
    if deed.write is None:
        line = words.text("journey.nothing", options.language)
    else:
        with core.db.read() as rd:
            write = writes.get(rd, deed.write)
        line = from_markdown(commands.said_of(write, "journey.waits" if deed.waits else key, options.language))
    if options.json:
        emit({"id": thing.id, "write": deed.write, "done": not deed.waits, "message": line, "error": None})
    else:
        click.echo(line)


# -- what is shown -----------------------------------------------------------------------------------------


def _rows(found: Journey, core: Core, language: str) -> Iterator[str]:
    zone = core.loaded.settings.zone()
    rows = [
        (
            shown(node.id),
            clock_time(node.at, zone) if node.at else "-",
            journeytext.origin(node, language),
            timeline.said(node),
        )
        for node in found.nodes
    ]
    yield from columns(rows)


def _as_data(found: Journey) -> dict[str, object]:
    return {
        "nodes": [
            {
                "id": node.id,
                "kind": node.kind,
                "label": node.label,
                "at": iso(node.at),
                "sessions": list(node.sessions),
                "origin": node.origin.value,
                "write": node.write,
            }
            for node in found.nodes
        ],
        "edges": [list(edge) for edge in found.edges],
    }
