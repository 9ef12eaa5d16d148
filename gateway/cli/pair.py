"""`hikae pair`: letting people in, taking them out, the owner's code. What these do is `conversation.pairing`."""

from datetime import tzinfo

import click

from gateway import health, words
from gateway.cli import Group, Options, emit, json_option
from gateway.cli.opened import clock_time, columns, opened
from gateway.conversation import pairing
from gateway.conversation.access import Access, OwnerCode
from gateway.home import Home
from gateway.records.asdata import iso
from gateway.settings import Settings
from gateway.store import doorbell

TOLD_NO = ("ignored", "revoked")

pair = Group("pair", help="Let people in.")


@pair.command("code")
@json_option
@click.pass_obj
def code(options: Options) -> None:
    """A code that makes whoever sends it to the bot its owner: once, within the hour."""
    with opened(options) as core:
        made = Access(core.home, core.loaded.settings).new_owner_code(core.clock.now())
        account, zone = _bot_name(core.home), core.loaded.settings.zone()
        has_platform = _has_platform(core.loaded.settings)
    if options.json:
        emit({"code": made.code, "expires_at": iso(made.expires_at), "link": _link(account, made)})
    else:
        click.echo(invitation(made, account, zone, options.language))
        if not has_platform:
            click.echo(options.say("pair.no_platform", file=options.home.env_file))


def _has_platform(chosen: Settings) -> bool:
    """Whether there is a bot that the code could be sent to."""
    tokens = (chosen.platforms.telegram.token_env, chosen.platforms.discord.token_env)
    return any(map(chosen.secret, tokens))


@pair.command("list")
@json_option
@click.pass_obj
def list_(options: Options) -> None:
    """Who asks to be let in, and who is."""
    with opened(options) as core:
        access, zone = Access(core.home, core.loaded.settings), core.loaded.settings.zone()
        with core.db.read() as rd:
            known = pairing.known(rd, access, core.clock.now())
    if options.json:
        emit([_as_data(each) for each in known])
    elif not known:
        click.echo(words.text("pair.nobody", options.language))
    else:
        for line in columns([_cells(each, zone, options.language) for each in known]):
            click.echo(line)
        if any(each.role in TOLD_NO for each in known):
            click.echo(words.text("pair.told_no", options.language))


@pair.command()
@click.argument("code")
@click.option(
    "--as", "name", default="", metavar="NAME", help='The space of the person whose account it is: "owner", …'
)
@json_option
@click.pass_obj
def approve(options: Options, code: str, name: str) -> None:
    """Let somebody in by the code they were told; with --as, as one more account of a person."""
    with opened(options) as core:
        access = Access(core.home, core.loaded.settings)
        with core.db.write() as tx:
            approved = pairing.approve(tx, access, code, core.clock.now(), name=name)
        doorbell.ring(core.home)
    if options.json:
        emit({"person": approved.person, "space": approved.space})
    else:
        click.echo(f"✓ {approved.person} → {approved.space}")


@pair.command()
@click.argument("person", metavar="PLATFORM:ID")
@json_option
@click.pass_obj
def revoke(options: Options, person: str) -> None:
    """Let an account in no more. What is remembered of it stays as it is, closed."""
    with opened(options) as core:
        access = Access(core.home, core.loaded.settings)
        with core.db.write() as tx:
            pairing.revoke(tx, access, person, core.clock.now())
        doorbell.ring(core.home)
    if options.json:
        emit({"person": person, "revoked": True})
    else:
        click.echo(words.text("pair.revoked", options.language, person=person))


def invitation(made: OwnerCode, account: str, zone: tzinfo, language: str) -> str:
    """What to do with a code. `account` is the bot's name on Telegram, "" while it is not known."""
    until = clock_time(made.expires_at, zone)
    address = _link(account, made)
    key = "pair.invitation_link" if address else "pair.invitation"
    return words.text(key, language, code=made.code, address=address, until=until)


def _link(account: str, made: OwnerCode) -> str | None:
    """The address that opens the bot and sends the code."""
    return f"https://t.me/{account}?start={made.code}" if account else None


def _bot_name(home: Home) -> str:
    running = health.of_running(home)
    telegram = running.platforms.get("telegram") if running else None
    return telegram.account if telegram else ""


def _cells(known: pairing.Known, zone: tzinfo, language: str) -> list[str]:
    about = "config.yaml" if known.in_settings else ""
    if known.expires_at is not None:
        about = words.text("pair.until", language, code=known.code, when=clock_time(known.expires_at, zone))
    if known.role in TOLD_NO and known.since is not None:
        about = clock_time(known.since, zone)
    return [known.person, known.role, known.space or "–", about]


def _as_data(known: pairing.Known) -> dict[str, object]:
    return {
        "person": known.person,
        "role": known.role,
        "space": known.space or None,
        "since": iso(known.since),
        "code": known.code or None,
        "expires_at": iso(known.expires_at),
        "in_settings": known.in_settings,
    }
