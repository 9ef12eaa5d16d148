"""`hikae prompt-size`: how big the prompt and the tool definitions of a new conversation are. Asks no model."""

import json

import click

from gateway.cli import Options, emit, json_option
from gateway.cli.cells import cells, pad
from gateway.cli.opened import one_space, opened, services_for, space_named
from gateway.conversation import prompt

PLATFORMS = ("telegram", "discord", "terminal", "web")


@click.command("prompt-size")
@click.option("--platform", type=click.Choice(PLATFORMS), default="telegram", show_default=True)
@one_space
@json_option
@click.pass_obj
def prompt_size(options: Options, platform: str, space_name: str) -> None:
    """Bytes and characters of every part of the prompt and of the tools, as they would be sent."""
    with opened(options) as core:
        space = space_named(core, space_name)
        freezer = services_for(core).freezer
        parts = freezer.parts(space, platform, core.clock.now())
        tools = freezer.tools(space)
    whole = prompt.join(parts)
    sizes = {
        "platform": platform,
        "space": space.name,
        "parts": [{"name": part.name, **_size(part.text)} for part in parts],
        "prompt": _size(whole),
        "tools": [{"name": name, **_size(text)} for name, text in _each_tool(tools)],
        "tool_definitions": _size(tools),
        "total": _size(whole + tools),
    }
    if options.json:
        emit(sizes)
        return
    part_head, *heads = (options.say(f"column.{name}") for name in ("part", "bytes", "characters"))
    click.echo(_cells(part_head, *heads))
    for part in parts:
        click.echo(_row(part.name, part.text))
    click.echo(_row(options.say("size.prompt"), whole))
    for name, text in _each_tool(tools):
        click.echo(_row(options.say("size.tool", name=name), text))
    click.echo(_row(options.say("size.tools"), tools))
    click.echo(_row(options.say("size.total"), whole + tools))


def _each_tool(definitions: str) -> list[tuple[str, str]]:
    """Each tool with its definition, in the form in which all of them are frozen."""
    offered = json.loads(definitions) if definitions else []
    compact = [json.dumps(tool, ensure_ascii=False, separators=(",", ":")) for tool in offered]
    return [(tool["function"]["name"], text) for tool, text in zip(offered, compact, strict=True)]


def _size(text: str) -> dict[str, int]:
    return {"bytes": len(text.encode()), "chars": len(text)}


def _row(name: str, text: str) -> str:
    size = _size(text)
    return _cells(name, f"{size['bytes']:,}", f"{size['chars']:,}")


def _cells(name: str, first: str, second: str) -> str:
    """Numbers stand at the right, under their heads."""
    return pad(name, 28) + " " * (10 - cells(first)) + first + " " * (14 - cells(second)) + second
