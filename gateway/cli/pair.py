"""`hikae pair`: letting people in. So far the owner's code."""

from datetime import datetime, tzinfo

import click

from gateway import health, settings
from gateway.cli import Options, emit, json_option
from gateway.cli.opened import clock_time, iso
from gateway.clock import SystemClock
from gateway.conversation.access import Access, OwnerCode
from gateway.home import Home
from gateway.store import textfile

pair = click.Group("pair", help="Let people in.")


@pair.command("code")
@json_option
@click.pass_obj
def code(options: Options) -> None:
    """A code that makes whoever sends it to the bot its owner: once, within the hour."""
    home = options.home
    chosen = settings.load(home).settings
    textfile.prepare_home(home)
    made = Access(home, chosen).new_owner_code(_now())
    account = _bot_name(home)
    if options.json:
        emit({"code": made.code, "expires_at": iso(made.expires_at), "link": _link(account, made)})
    else:
        click.echo(invitation(made, account, chosen.zone()))


def invitation(made: OwnerCode, account: str, zone: tzinfo) -> str:
    """What to do with a code. `account` is the bot's name on Telegram, "" while it is not known."""
    until = clock_time(made.expires_at, zone)
    address = _link(account, made)
    how = f"Open {address}\nor send" if address else "Send"
    return f"{made.code}\n{how} `/start {made.code}` to your bot. It works once, until {until}."


def _link(account: str, made: OwnerCode) -> str | None:
    """The address that opens the bot and sends the code."""
    return f"https://t.me/{account}?start={made.code}" if account else None


def _bot_name(home: Home) -> str:
    running = health.of_running(home)
    telegram = running.platforms.get("telegram") if running else None
    return telegram.account if telegram else ""


def _now() -> datetime:
    return SystemClock().now()
