"""`hikae memory`: what is remembered, what waits for a yes, and deciding about it.

The same functions as behind `/memory`. The person at this command is the owner.
"""

from collections.abc import Sequence
from contextlib import suppress

import click

from gateway import words
from gateway.chat import TERMINAL_OWNER
from gateway.cli import Group, Options, confirmed, emit, json_option, ledger, waiting
from gateway.cli.opened import any_space, from_markdown, one_space, opened, services_for, space_named
from gateway.conversation.commands import deciding, tidy
from gateway.conversation.commands import memory as commands
from gateway.conversation.commands.call import Services
from gateway.errors import NotFound, Refused, StoreBusy
from gateway.memory import asking, entries
from gateway.records import Space, Target, Write
from gateway.store import doorbell, filewrites, people, sessions, writes

MOST_SESSIONS = 100_000

memory = Group("memory", help="What is remembered, and what waits for your yes.")
for _command in (waiting.pending, ledger.why, ledger.log, ledger.undo, ledger.edit):
    memory.add_command(_command)


@memory.command()
@one_space
@json_option
@click.pass_obj
def show(options: Options, space_name: str) -> None:
    """What is remembered, as the files have it now."""
    with opened(options) as core:
        services, space = services_for(core), space_named(core, space_name)
        if options.json:
            emit([_file_as_data(services, space, target) for target in services.memory.targets(space)])
            return
        click.echo(from_markdown(commands.space_text(services, space, options.language)))
        with core.db.read() as rd:
            others = [other.name for other in people.spaces(rd) if other.id != space.id]
        if others:
            click.echo("\n" + options.say("memory.others", names=", ".join(others)))


@memory.command()
@click.argument("ids", nargs=-1, required=True, metavar="ID…|all")
@any_space
@json_option
@click.pass_obj
def approve(options: Options, ids: tuple[str, ...], space_name: str | None) -> int:
    """Say yes to these writes, or to all that wait."""
    return decide(options, ids, space_name, deciding.Verdict.APPROVE)


@memory.command()
@click.argument("ids", nargs=-1, required=True, metavar="ID…|all")
@any_space
@json_option
@click.pass_obj
def reject(options: Options, ids: tuple[str, ...], space_name: str | None) -> int:
    """Say no to these writes, or to all that wait."""
    return decide(options, ids, space_name, deciding.Verdict.REJECT)


@memory.command()
@click.argument("wanted", type=click.Choice(["on", "off"]), required=False)
@one_space
@json_option
@click.pass_obj
def approval(options: Options, wanted: str | None, space_name: str) -> None:
    """Say, or change, whether every write waits for your yes."""
    with opened(options) as core:
        space = space_named(core, space_name)
        if wanted:
            with core.db.write() as tx:
                asking.choose(tx, space.id, asks=wanted == "on", by=TERMINAL_OWNER, at=core.clock.now())
        asks = services_for(core).asks_first(space.id)
    if options.json:
        emit({"space": space.name, "approval": asks})
    else:
        click.echo(from_markdown(words.text(f"answer.approval_{'on' if asks else 'off'}", options.language)))


@memory.command()
@one_space
@json_option
@click.pass_obj
def refresh(options: Options, space_name: str) -> None:
    """Let the open conversations see the memory as it is now."""
    with opened(options) as core:
        services, space = services_for(core), space_named(core, space_name)
        with core.db.read() as rd:
            found = sessions.recent(rd, space.id, MOST_SESSIONS)
        ids = [session.id for session in found if session.ended_at is None]
        for id in ids:
            with core.db.write() as tx:
                services.freezer.refreeze(tx, sessions.get(tx, id), core.clock.now())
    if options.json:
        emit({"space": space.name, "refreshed": ids})
    else:
        click.echo(words.text("refresh.done", options.language, count=len(ids)))


@memory.command("tidy")
@one_space
@json_option
@click.pass_obj
def tidy_(options: Options, space_name: str) -> None:
    """Have what can be merged or shortened looked for, in the background."""
    with opened(options) as core:
        services, space = services_for(core), space_named(core, space_name)
        targets, waiting = services.memory.tidies.wanted(space)
        with core.db.read() as rd:
            home = people.home_chat(rd, people.owner_keys(rd, core.loaded.settings.access.owners))
        if targets:
            key = f"{core.clock.now():%Y%m%dT%H%M%S%f}"
            with core.db.write() as tx:
                tidy.make_due(services, tx, space, targets, home or tidy.NEXT_TERMINAL, key)
            from gateway import serving  # late: what shows memory needs none of it

            serving.wake_worker(core)
    if options.json:
        files = [target.value for target in targets]
        emit({"space": space.name, "begun": files, "waiting": [write.id for write in waiting]})
        return
    said = [words.text("tidy.begun_cli", options.language, files=tidy.names(targets))] if targets else []
    ids = ", ".join(str(write.id) for write in waiting)
    said += [words.text("tidy.wait", options.language, ids=ids)] if ids else []
    click.echo("\n".join(said or [words.text("tidy.empty", options.language)]))


@memory.command()
@click.option("--target", type=click.Choice(["memory", "user", "all"]), required=True, help="Which file.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@one_space
@json_option
@click.pass_obj
def reset(options: Options, target: str, yes: bool, space_name: str) -> int:
    """Delete MEMORY.md, USER.md or both: the file itself."""
    with opened(options) as core:
        services, space = services_for(core), space_named(core, space_name)
        targets = services.memory.targets(space) if target == "all" else (Target(target),)
        if not targets:
            raise Refused("remember.off")
        files = [core.home.memory_file(space.name, each) for each in targets]
        there = [file.exists() for file in files]
        named = words.text("reset.joint", options.language).join(map(str, files))
        if not confirmed(words.text("reset.question", options.language, files=named), yes=yes):
            click.echo(words.text("reset.left", options.language), err=True)
            return 1
        services.memory.reset(space, targets, TERMINAL_OWNER.key)
        doorbell.ring(core.home)
    if options.json:
        data = zip(targets, there, strict=True)
        emit([{"space": space.name, "target": each.value, "deleted": was} for each, was in data])
    else:
        for file, was in zip(files, there, strict=True):
            click.echo(words.text("reset.deleted" if was else "reset.not_there", options.language, file=file))
    return 0


# -- deciding ----------------------------------------------------------------------------------------------


def decide(
    options: Options,
    named: Sequence[str],
    space_name: str | None,
    verdict: deciding.Verdict,
    kind: str = "memory",
) -> int:
    """Decide about the named writes, or about all of a kind, and print what came of each."""
    with opened(options) as core:
        services = services_for(core)
        space = space_named(core, space_name) if space_name is not None else None
        results = [
            _decided(services, verdict, each)
            if space is None or _is_of(services, each.id, space)
            else deciding.Result(each.id, "write.unknown", {"id": each.id}, NotFound.__name__)
            for each in deciding.meant_at_once(services, named, space.id if space else None, kind)
        ]
        doorbell.ring(core.home)
        lines = [from_markdown(deciding.line(services, result, options.language)) for result in results]
    if options.json:
        told = [_result_as_data(*each) for each in zip(results, lines, strict=True)]
        emit({"error": told[0]["error"]} if len(told) == 1 and told[0]["error"] else told)
    else:
        click.echo("\n".join(lines or [words.text(deciding.nothing_waits(kind), options.language)]))
    return 1 if any(result.error for result in results) else 0


def _decided(services: Services, verdict: deciding.Verdict, named: deciding.Named) -> deciding.Result:
    """Where the memory is busy this one waits, and what was decided before it is said."""
    try:
        return deciding.decide(services, TERMINAL_OWNER, verdict, named)
    except StoreBusy as busy:
        return deciding.Result(named.id, "decision.busy", {}, type(busy).__name__)


def _is_of(services: Services, id: int, space: Space) -> bool:
    with suppress(NotFound), services.db.read() as rd:
        return writes.get(rd, id).space == space.id
    return False


def _result_as_data(result: deciding.Result, line: str) -> dict[str, object]:
    error = {"kind": result.error, "message": line} if result.error else None
    return {"id": result.write, "done": not result.error, "message": line, "error": error}


# -- what is shown -----------------------------------------------------------------------------------------


def _file_as_data(services: Services, space: Space, target: Target) -> dict[str, object]:
    doc = services.memory.read(space, target)
    with services.db.read() as rd:
        sources = filewrites.sources(rd, space.id, target)
    came_from: dict[str, Write] = {}
    for write in sources:  # newest first
        for text in entries.split_texts(write.after):
            came_from.setdefault(text, write)
    return {
        "space": space.name,
        "target": target.value,
        "chars": entries.chars(doc),
        "limit": services.settings.budget(target),
        "entries": [ledger.entry_as_data(target, entry, came_from.get(entry.text)) for entry in doc.entries],
    }
