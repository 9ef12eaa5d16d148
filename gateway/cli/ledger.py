"""`hikae memory why`, `log`, `undo` and `edit`, and how decided writes and entries look in JSON (design.md 6.8)."""

import click

from gateway import words
from gateway.chat import TERMINAL_OWNER, Chat
from gateway.cli import Options, emit, json_option
from gateway.cli.opened import OWNER, any_space, from_markdown, one_space, opened, services_for, space_named
from gateway.cli.waiting import write_as_data
from gateway.conversation import ledgertext
from gateway.conversation.commands import deciding, ledger
from gateway.conversation.commands.call import Services
from gateway.decisions import DecisionEnding
from gateway.errors import AlreadyDecided, Ambiguous, NotFound, Refused
from gateway.memory import entries, tracing
from gateway.records import Status, Target, Write
from gateway.records.asdata import iso
from gateway.store import doorbell, writes
from gateway.store.transaction import Reader

MOST_LOGGED = 100
_HERE = Chat("terminal", "owner")
"""Whoever reads the command line: the owner."""


@click.command()
@click.argument("text", nargs=-1, required=True)
@one_space
@json_option
@click.pass_obj
def why(options: Options, text: tuple[str, ...], space_name: str) -> int:
    """Where an entry comes from: which message, proposed by what, approved by whom."""
    with opened(options) as core:
        services, space = services_for(core), space_named(core, space_name)
        traced = [services.memory.trace(space, id) for id in ledger.named(services, space, " ".join(text))]
        if len(traced) > 1 and options.json:
            raise Ambiguous("why.ambiguous", ids=", ".join(one.id for one in traced))
        if len(traced) > 1:
            found = [(one.id, one.entry.text) for one in traced]
            click.echo(from_markdown(ledgertext.which(found, options.language)))
            return 1
        one = traced[0]
        said = ledger.traced_text(services, one, _HERE, options.language)
    if options.json:
        source = one.writes[0] if one.writes else None
        entry = {"space": space.name, **entry_as_data(one.target, one.entry, source)}
        emit({"entry": entry, "write": logged_as_data(source) if source else None})
    else:
        click.echo(from_markdown(said))
    return 0


@click.command()
@click.argument("below", metavar="[ID]", required=False)
@any_space
@click.option("--limit", type=click.IntRange(min=1), default=MOST_LOGGED, help="How many (default: 100).")
@json_option
@click.pass_obj
def log(options: Options, below: str | None, space_name: str | None, limit: int) -> None:
    """Every change of memory and skills that was ever proposed, newest first; with an ID, what is older."""
    with opened(options) as core:
        older = deciding.ids([below], "log.usage")[0] if below else None
        services = services_for(core)
        space = space_named(core, space_name).id if space_name is not None else None
        services.memory.notice_all_hand_edits()
        with core.db.read() as rd:
            rows = writes.log(rd, space, limit, older) if options.json else []
            text = "" if options.json else _page(services, rd, space, older, limit, options.language)
    if options.json:
        emit([logged_as_data(write) for write in rows])
    else:
        click.echo(from_markdown(text))


def _page(services: Services, rd: Reader, space: int | None, older: int | None, limit: int, language: str) -> str:
    return ledger.page(services, rd, space, _HERE, language, below=older, most=limit)


@click.command()
@click.argument("id", metavar="[ID]", required=False)
@click.option("--space", "space_name", metavar="NAME", help="Whose (default: yours; an ID is found in all).")
@json_option
@click.pass_obj
def undo(options: Options, id: str | None, space_name: str | None) -> None:
    """Take a change back: the newest, or the one with this id (`log` shows them)."""
    with opened(options) as core:
        services = services_for(core)
        space = space_named(core, OWNER if space_name is None else space_name)
        write = ledger.meant_by_undo(services, space, deciding.ids([id], "undo.usage")[0] if id else None)
        if space_name is not None and write.space != space.id:
            raise NotFound("write.unknown", id=write.id)
        services.door(write).undo(write.id, TERMINAL_OWNER.key)
        doorbell.ring(core.home)
        line = from_markdown(ledger.taken_back_text(services, write.id, options.language))
    _say(options, write.id, line)


@click.command()
@click.argument("id", metavar="ID")
@click.argument("words_", metavar="[TEXT]", nargs=-1)
@json_option
@click.pass_obj
def edit(options: Options, id: str, words_: tuple[str, ...]) -> int:
    """Change the text of what waits: to TEXT, or in your editor. It waits on, and is checked again."""
    with opened(options) as core:
        number = deciding.ids([id], "edit.usage")[0]
        services = services_for(core)
        with core.db.read() as rd:
            write = ledger.refuse_uneditable(writes.get(rd, number))
        before = write.operations[0].content
    text = " ".join(words_) if words_ else click.edit(before + "\n", extension=".md")
    if text is None or entries.clean(text) == entries.clean(before):
        click.echo(words.text("edit.unchanged", options.language), err=True)
        return 1
    with opened(options) as core:  # again: nobody is kept waiting by an open editor
        services = services_for(core)
        with core.db.read() as rd:
            now = writes.get(rd, number)
        if not words_ and now.status is Status.STAGED and now.operations[0].content != before:
            raise Refused("edit.overtaken", id=number)
        decision = services.door(write).edit(number, entries.clean(text), TERMINAL_OWNER.key)
        if decision.ending is not DecisionEnding.EDITED:
            raise AlreadyDecided("edit.decided", id=number)
        doorbell.ring(core.home)
        line = from_markdown(ledger.said_now_text(services, number, options.language))
    _say(options, number, line)
    return 0


def _say(options: Options, id: int, line: str) -> None:
    if options.json:
        emit({"id": id, "done": True, "message": line, "error": None})
    else:
        click.echo(line)


# -- in JSON -----------------------------------------------------------------------------------------------


def logged_as_data(write: Write) -> dict[str, object]:
    """The same with what became of it."""
    return {
        **write_as_data(write),
        "status": write.status.value,
        "reason": write.reason or None,
        "before": write.before or None,
        "after": write.after or None,
        "decided_by": write.decided_by or None,
        "decided_at": iso(write.decided_at),
        "edited_by": write.edited_by or None,
        "edited_at": iso(write.edited_at),
        "undone_by": write.undone_by or None,
        "undone_at": iso(write.undone_at),
    }


def entry_as_data(target: Target, entry: entries.Entry, source: Write | None) -> dict[str, object]:
    """An entry that no write brought was put there by hand since hikae last looked."""
    return {
        "id": tracing.entry_id(target, entry),
        "text": entry.text,
        "origin": source.origin.value if source else "hand_edit",
        "write": source.id if source else None,
        "at": iso(source.decided_at or source.created_at) if source else None,
    }
