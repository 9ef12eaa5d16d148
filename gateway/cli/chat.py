"""`hikae chat`: talk in this terminal, or ask one thing and leave."""

import asyncio
import secrets
import sys

import click

from gateway import app, logs, serving
from gateway.cli import Options
from gateway.cli.run import say_start, take_any_text


@click.command()
@click.option(
    "-q", "--query", "once", metavar="TEXT|-", help="Say this one thing and leave; - reads it from stdin."
)
@click.option("--resume", "session", metavar="ID", default="", help="Go on with this session.")
@click.option("--no-review", is_flag=True, help="Do not review what was said when leaving.")
@click.pass_obj
def chat(options: Options, once: str | None, session: str, no_review: bool) -> int:
    """Talk to the bot. Answers are on stdout; `session: ID`, notices and cards on stderr."""
    take_any_text()
    if once == "-":
        once = sys.stdin.read()
    if once is not None and not once.strip():
        raise click.UsageError("There is nothing to say: give a TEXT behind -q.")
    core = app.open_core(options.home)
    options.language = core.loaded.settings.display.language
    logs.setup(core.home, to_stderr=False, secrets=core.loaded.settings.secrets())
    try:
        if session:
            serving.check_resumable(core, session)
        if once is None and sys.stdin.isatty():
            say_start(core)
        terminal = app.TerminalOptions(chat_id=secrets.token_hex(6), once=once, session=session)
        talked = asyncio.run(serving.talk(core, terminal))
        if talked.session:
            click.echo(f"session: {talked.session}", err=True)
            if not no_review:
                serving.review_rest(core, talked.session)
    finally:
        core.close()
    if talked.stopped:
        return 130
    return 0 if talked.all_kept else 1
