"""`hikae backup`: copies of everything, and taking one back. The work is `memory.backup` and `memory.restoring`."""

import click

from gateway import settings, words
from gateway.cli import Group, Options, confirmed, emit, json_option
from gateway.cli.opened import clock_time, columns, opened
from gateway.clock import SystemClock
from gateway.errors import NotFound
from gateway.memory import backup as copies
from gateway.memory.backup import Backup
from gateway.records.asdata import iso

backup = Group("backup", help="Copies of everything that is kept.")


@backup.command()
@json_option
@click.pass_obj
def create(options: Options) -> None:
    """Copy everything but tokens and logs into backups/, while the bot runs."""
    with opened(options) as core:
        made = copies.create(core.db, core.home, core.clock, core.loaded.settings.backups.keep)
    if options.json:
        emit(_as_data(made))
    else:
        click.echo(options.say("backup.created", name=made.name, size=_size(made.bytes)))


@backup.command("list")
@json_option
@click.pass_obj
def list_(options: Options) -> int:
    """The copies that are there, oldest first."""
    found, broken = copies.listed(options.home), copies.broken(options.home)
    zone = _settings(options).zone()
    for trouble in broken:
        click.echo(options.say(trouble.key, **trouble.values), err=True)
    if options.json:
        emit([_as_data(one) for one in found])
    elif not found:
        click.echo(options.say("backup.none"))
    else:
        for line in columns([(one.name, _size(one.bytes), clock_time(one.at, zone)) for one in found]):
            click.echo(line)
    return 1 if broken else 0


@backup.command()
@click.argument("name", metavar="[NAME]", required=False)
@json_option
@click.pass_obj
def verify(options: Options, name: str | None) -> None:
    """Restore a copy for a try, beside everything, and say whether it is whole. Without a name: the newest."""
    _settings(options)
    chosen = copies.found(options.home, name or _newest(options))
    found = copies.verify(options.home, chosen, SystemClock())
    if options.json:
        emit({**_as_data(chosen), "files": found.files, "spaces": found.spaces, "whole": True})
    else:
        click.echo(options.say("backup.whole", name=chosen.name, count=found.files))


def _newest(options: Options) -> str:
    found = copies.listed(options.home)
    if not found:
        raise NotFound("backup.none")
    return found[-1].name


def _settings(options: Options) -> settings.Settings:
    """Read without opening the home; what is said from now on is said in their language."""
    chosen = settings.load(options.home).settings
    options.language = words.at_the_prompt(chosen.display.language)
    return chosen


@backup.command()
@click.argument("name", metavar="NAME|FOLDER", required=False)
@click.option("--yes", is_flag=True, help="Do not ask.")
@json_option
@click.pass_obj
def restore(options: Options, name: str | None, yes: bool) -> None:
    """Go back to a copy, without what was forgotten since. Stop the bot first.

    What is there now becomes a copy itself.
    """
    from gateway.memory import restoring

    wanted = _settings(options)
    if name is None:
        raise click.UsageError(options.say("backup.which"))
    chosen = copies.found(options.home, name)
    there = options.home.state_db.exists()
    asked = "backup.ask" if there else "backup.ask_new"
    at = clock_time(chosen.at, wanted.zone())
    if not confirmed(options.say(asked, name=chosen.name, at=at), yes=yes):
        raise click.Abort
    done = restoring.restore(options.home, chosen, SystemClock(), wanted)
    if options.json:
        emit({
            "restored": done.name,
            "before": done.before or None,
            "erased_again": done.replayed,
            "left": list(done.kept),
        })  # fmt: skip
        return
    click.echo(options.say("backup.restored", name=done.name, at=at))
    if done.before:
        click.echo(options.say("backup.before", name=done.before))
        click.echo(options.say("backup.replayed", count=done.replayed))
    else:
        click.echo(options.say("backup.no_marks"))
    for file in done.kept:
        click.echo(options.say("backup.file_left", file=file))


def _as_data(one: Backup) -> dict[str, object]:
    return {"name": one.name, "at": iso(one.at), "bytes": one.bytes}


def _size(count: int) -> str:
    if count >= 1_000_000:
        return f"{count / 1_000_000:.1f} MB"
    return f"{max(count // 1000, 1)} kB"
