"""`hikae receipts`: what was forgotten, without the words."""

import click

from gateway import words
from gateway.cli import Group, Options, emit, json_option
from gateway.cli.opened import any_space, from_markdown, opened, services_for, space_named
from gateway.conversation import receipttext
from gateway.conversation.commands import receipts as chat
from gateway.records import Forget
from gateway.records.asdata import iso
from gateway.store import forgets, people, saidwhere
from gateway.store.transaction import Reader

MOST = 1_000


@click.group("receipts", cls=Group, invoke_without_command=True)
@any_space
@json_option
@click.pass_context
def receipts(ctx: click.Context, space_name: str | None) -> None:
    """What was forgotten, where, when, by whom, and how that was checked."""
    if ctx.invoked_subcommand is None:
        _list(ctx.obj, space_name)


def _list(options: Options, space_name: str | None) -> None:
    with opened(options) as core:
        space = space_named(core, space_name).id if space_name is not None else None
        with core.db.read() as rd:
            found = forgets.listed(rd, space, MOST)
            names = {one.id: one.name for one in people.spaces(rd)}
            data = [as_data(rd, one) for one in found] if options.json else []
        if options.json:
            emit(data)
        elif not found:
            click.echo(words.text("receipts.none", options.language))
        else:
            for line in chat.lines(found, names, services_for(core), options.language):
                click.echo(from_markdown(line))
            click.echo(options.say("receipts.how"))


@receipts.command()
@click.argument("id", type=click.IntRange(1), metavar="ID")
@json_option
@click.pass_obj
def show(options: Options, id: int) -> None:
    """One receipt in full."""
    with opened(options) as core:
        with core.db.read() as rd:
            known = chat.of_space(rd, id, None)
            data = as_data(rd, known)
        if options.json:
            emit(data)
        else:
            click.echo(from_markdown(chat.one(services_for(core), known, options.language)))


def as_data(rd: Reader, known: Forget) -> dict[str, object]:
    """A receipt in JSON (design.md 6.8), with how it was verified beside whether it was."""
    return {
        "id": known.id,
        "at": iso(known.done_at),
        "by": known.begun_by or known.by,
        "space": people.space(rd, known.space).name,
        "kind": known.kind,
        "status": known.status,
        "requested_at": iso(known.requested_at),
        "layers": [{"layer": step.layer, "erased": step.erased or 0} for step in known.steps],
        "left": [{"path": path, "found": count} for path, count in known.left],
        "left_out": list(known.left_out) if known.status == "done" else [],
        "in_chat": dict(saidwhere.counts(rd, known.id)),
        "verified": receipttext.is_clean(known),
        "how": dict(known.verified),
        "mark": known.marks,
    }
