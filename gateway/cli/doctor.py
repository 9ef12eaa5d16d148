"""`hikae doctor`: is this machine, and this home, as it should be? Reads only: makes, moves and repairs nothing.

What is there to check is in `checks`; here it becomes lines.
"""

import click

from gateway.cli import Options, checks, emit, json_option
from gateway.cli.opened import shown


@click.command()
@json_option
@click.pass_obj
def doctor(options: Options) -> int:
    """Check this machine and this home. Each line says ok or what to do; exit code 1 when there is something."""
    found = []
    for check in checks.everything(options.home):
        found.append(check)
        if not options.json:
            click.echo(f"{'ok' if check.ok else '!!'} {check.name}: {shown(check.says)}")
    if options.json:
        emit([{"check": check.name, "ok": check.ok, "message": check.says} for check in found])
    return 0 if all(check.ok for check in found) else 1
