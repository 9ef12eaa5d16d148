"""`hikae export`: everything that is kept of a space, as JSON on standard output."""

import click

from gateway.cli import Options, json_option
from gateway.cli.opened import one_space, opened, services_for, space_named


@click.command()
@one_space
@json_option
@click.pass_obj
def export(options: Options, space_name: str) -> None:
    """Print everything that is kept of a space as one JSON value."""
    with opened(options) as core:
        space = space_named(core, space_name)
        for piece in services_for(core).exporting.text(space):
            click.echo(piece.encode("utf-8", "replace").decode(), nl=False)
