"""`hikae doctor`: is this machine, and this home, as it should be? Reads only: makes, moves and repairs nothing.

What is there to check is in `checks`; here it becomes lines.
"""

import click

from gateway import settings, words
from gateway.cli import Options, checks, emit, json_option
from gateway.cli.opened import shown
from gateway.errors import ConfigError
from gateway.home import Home


@click.command()
@json_option
@click.pass_obj
def doctor(options: Options) -> int:
    """Check this machine and this home. Each line says ok or what to do; exit code 1 when there is something."""
    language = _language(options.home)
    found = []
    for check in checks.everything(options.home):
        found.append(check)
        if not options.json:
            mark = "ok" if check.ok else "!!"
            said = words.text("check.line", language, mark=mark, name=check.name, said=check.says.said(language))
            click.echo(shown(said))
    if options.json:
        emit([{"check": check.name, "ok": check.ok, "message": check.says.said("en")} for check in found])
    return 0 if all(check.ok for check in found) else 1


def _language(home: Home) -> str:
    """`display.language`; English while the settings cannot be read, which is then one of the checks."""
    try:
        return words.at_the_prompt(settings.load(home).settings.display.language)
    except ConfigError:
        return words.at_the_prompt("en")
