"""`hikae up`, `hikae gateway`, `hikae worker`: the long-running processes."""

import asyncio
import io
import os
import secrets
import stat
import sys

import click

from gateway import app, logs, serving, words
from gateway.cli import Options
from gateway.cli.pair import invitation
from gateway.conversation.access import Access
from gateway.errors import ConfigError, Refused
from gateway.ports import Platform
from gateway.store import restoring, textfile, writes


@click.command()
@click.pass_obj
def up(options: Options) -> int:
    """Start Redis if needed, the worker and the gateway; with no chat platform, talk in this terminal."""
    return _run(options, with_worker=True)


@click.command()
@click.pass_obj
def gateway(options: Options) -> int:
    """Start the gateway alone; reviews wait until a worker runs."""
    return _run(options, with_worker=False)


@click.command()
@click.option("--burst", is_flag=True, help="Work off what is due, then end.")
@click.pass_obj
def worker(options: Options, burst: bool) -> None:
    """Start the worker alone (and Redis, if none is configured)."""
    command = [
        sys.executable,
        "-m",
        "workers",
        "--home",
        str(options.home.path),
        *(["--burst"] if burst else []),
    ]
    sys.stdout.flush()
    os.execv(sys.executable, command)


def _run(options: Options, *, with_worker: bool) -> int:
    home = options.home
    textfile.prepare_home(home)
    lock = textfile.try_lock(home.gateway_lock)
    if lock is None:
        raise Refused("gateway.running", home=home.path, pid=textfile.holder(home.gateway_lock) or "?")
    try:
        restoring.drop_unready(home)
        core = app.open_core(home)
        options.language = core.loaded.settings.display.language
        logs.setup(home, to_stderr=False, secrets=core.loaded.settings.secrets())
        try:
            return _talk_or_serve(core, with_worker=with_worker)
        finally:
            core.close()
    finally:
        lock.release()


def _talk_or_serve(core: app.Core, *, with_worker: bool) -> int:
    take_any_text()
    say_start(core)
    if app.has_platform(core):
        asyncio.run(
            serving.serve(
                core,
                with_worker=with_worker,
                ready=lambda platform: _say_ready(core, platform),
                slow=lambda platform: _say(core, "start.slow", platform=platform.name),
            )
        )
        return 0
    if not (with_worker and _has_input()):
        raise ConfigError(
            [words.text("start.no_door", core.loaded.settings.display.language, file=core.home.env_file)]
        )
    _say(core, "start.talk_here")
    terminal = app.TerminalOptions(chat_id=secrets.token_hex(6), holds_home=True)
    asyncio.run(serving.talk(core, terminal, with_worker=True))
    return 0


def _say_ready(core: app.Core, platform: Platform) -> None:
    """Say that the bot receives; while it has no owner, also how to become that (the code only in a terminal)."""
    _say(core, "start.ready", platform=platform.name)
    access = Access(core.home, core.loaded.settings)
    if access.has_owner(core.db):
        return
    if not sys.stdout.isatty():
        _say(core, "start.ownerless")
    else:
        made = access.new_owner_code(core.clock.now())
        language = core.loaded.settings.display.language
        click.echo(words.text("start.owner_code", language))
        click.echo(invitation(made, platform.health().account, core.loaded.settings.zone(), language))


def _has_input() -> bool:
    """Whether somebody can talk to us here: a terminal, or words piped in. /dev/null and the like are neither."""
    try:
        kind = os.fstat(sys.stdin.fileno()).st_mode
    except (OSError, ValueError, AttributeError):
        return False
    return sys.stdin.isatty() or stat.S_ISFIFO(kind) or stat.S_ISREG(kind) or stat.S_ISSOCK(kind)


def take_any_text() -> None:
    """Let no byte that is typed and no sign that is answered break a chat: what cannot be shown becomes a mark."""
    for stream in (sys.stdin, sys.stdout):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def say_start(core: app.Core) -> None:
    """What the person who starts the bot should know: the model, warnings, and how to become the owner."""
    model = core.loaded.settings.chat_model()
    core.loaded.settings.compression_model()
    core.loaded.settings.review_model()  # what it lacks is said now, not by a worker's log
    _say(core, "start.head", home=core.home.path, model=model.name or model.provider)
    _say(core, "start.why", why=model.why.said(core.loaded.settings.display.language))
    for warning in core.loaded.warnings:
        _say(core, "start.note", warning=warning)
    with core.db.read() as rd:
        pending = writes.count_staged(rd, None)
    if pending:
        _say(core, "start.pending", count=pending)


def _say(core: app.Core, key: str, **values: object) -> None:
    click.echo(words.text(key, core.loaded.settings.display.language, **values), err=True)
