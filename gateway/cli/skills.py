"""`hikae skills`: the procedures that were learnt, what waits for a yes, and deciding about it.

The same functions as behind `/skills`. The person at this command is the owner.
"""

from collections.abc import Sequence

import click

from gateway import words
from gateway.chat import TERMINAL_OWNER
from gateway.cli import Group, Options, emit, json_option
from gateway.cli.memory import decide
from gateway.cli.opened import (
    any_space,
    columns,
    from_markdown,
    one_space,
    opened,
    services_for,
    shown,
    space_named,
)
from gateway.cli.waiting import write_as_data
from gateway.conversation import phrases, skilltext
from gateway.conversation.commands import deciding
from gateway.conversation.commands import skills as commands
from gateway.core import Core
from gateway.records import Space, Write
from gateway.skills import asking, wording
from gateway.skills.catalog import Skill
from gateway.skills.shelf import Whole
from gateway.store import doorbell, writes

skills = Group("skills", help="The procedures that were learnt, and what waits for your yes.")

_ids = click.argument("ids", nargs=-1, required=True, metavar="ID…|all")


@skills.command("list")
@one_space
@json_option
@click.pass_obj
def list_(options: Options, space_name: str) -> None:
    """Every skill, and what is wrong with it."""
    with opened(options) as core:
        space = space_named(core, space_name)
        found = services_for(core).skills.all(space)
    if options.json:
        emit([_skill_as_data(skill, space) for skill in found])
    elif not found:
        click.echo(words.text("skills.none", options.language))
    else:
        click.echo("\n".join(columns([_row(skill, options.language) for skill in found])))


@skills.command()
@click.argument("name", metavar="NAME")
@one_space
@json_option
@click.pass_obj
def show(options: Options, name: str, space_name: str) -> None:
    """One skill as it is."""
    with opened(options) as core:
        space = space_named(core, space_name)
        whole = services_for(core).skills.whole(space, name)
    if options.json:
        emit(_whole_as_data(whole, space))
        return
    for key in whole.skill.problems:
        click.echo(f"! {words.text(key, options.language)}", err=True)
    click.echo(shown(whole.text.rstrip("\n")))
    if files := [each.path for each in whole.files if each.path != "SKILL.md"]:
        click.echo(f"\n{words.text('skills.files', options.language, files=shown(', '.join(files)))}")


@skills.command()
@any_space
@json_option
@click.pass_obj
def pending(options: Options, space_name: str | None) -> None:
    """What waits for your yes, oldest first."""
    with opened(options) as core:
        space = _id_of(core, space_name)
        with core.db.read() as rd:
            staged = writes.staged(rd, space, commands.KIND)
    if options.json:
        emit([_write_as_data(write) for write in staged])
    else:
        several = len({write.space for write in staged}) > 1
        text = skilltext.pending(staged, count=len(staged), with_space=several, language=options.language)
        click.echo(from_markdown(text))


@skills.command()
@click.argument("id", metavar="ID")
@any_space
@json_option
@click.pass_obj
def diff(options: Options, id: str, space_name: str | None) -> None:
    """What a write changes, whole, line by line."""
    with opened(options) as core:
        number = deciding.ids([id], "skills.which_diff")[0]
        write = commands.write_of(services_for(core), number, _id_of(core, space_name))
    if options.json:
        emit({**_write_as_data(write), "diff": wording.diff(write)})
        return
    click.echo(f"{write.id} {from_markdown(phrases.gist(write, options.language))}")
    for flag in write.flags:
        click.echo(f"! {phrases.flag(flag, options.language)}")
    if write.reason and words.has(write.reason):
        click.echo(f"! {phrases.reason(write, options.language)}")
    click.echo(shown(wording.diff(write)))


@skills.command()
@_ids
@any_space
@json_option
@click.pass_obj
def approve(options: Options, ids: tuple[str, ...], space_name: str | None) -> int:
    """Say yes to these writes, or to all that change skills."""
    return decide(options, ids, space_name, deciding.Verdict.APPROVE, commands.KIND)


@skills.command()
@_ids
@any_space
@json_option
@click.pass_obj
def reject(options: Options, ids: tuple[str, ...], space_name: str | None) -> int:
    """Say no to these writes, or to all that change skills."""
    return decide(options, ids, space_name, deciding.Verdict.REJECT, commands.KIND)


@skills.command()
@click.argument("wanted", type=click.Choice(["on", "off"]), required=False)
@one_space
@json_option
@click.pass_obj
def approval(options: Options, wanted: str | None, space_name: str) -> None:
    """Say, or change, whether every change of a skill waits for your yes."""
    with opened(options) as core:
        space = space_named(core, space_name)
        if wanted:
            with core.db.write() as tx:
                asking.choose(tx, space.id, asks=wanted == "on", by=TERMINAL_OWNER, at=core.clock.now())
        asks = commands.asks_first(services_for(core), space)
    if options.json:
        emit({"space": space.name, "approval": asks})
    else:
        click.echo(from_markdown(words.text(f"skills.approval_{'on' if asks else 'off'}", options.language)))


@skills.command()
@click.argument("name", metavar="NAME")
@one_space
@json_option
@click.pass_obj
def restore(options: Options, name: str, space_name: str) -> None:
    """Bring a deleted skill back from the archive."""
    with opened(options) as core:
        space = space_named(core, space_name)
        skill = services_for(core).skills.restore(space, name, TERMINAL_OWNER.key)
        doorbell.ring(core.home)
    if options.json:
        emit({"space": space.name, "name": skill, "restored": True})
    else:
        click.echo(words.text("skills.restored", options.language, name=skill))


def _id_of(core: Core, space_name: str | None) -> int | None:
    return space_named(core, space_name).id if space_name is not None else None


# -- what is shown -----------------------------------------------------------------------------------------


def _row(skill: Skill, language: str) -> Sequence[str]:
    problems = [f"! {words.text(key, language)}" for key in skill.problems]
    return (shown(skill.name), " ".join((*problems, shown(skill.description))))


def _skill_as_data(skill: Skill, space: Space) -> dict[str, object]:
    return {
        "name": skill.name,
        "space": space.name,
        "description": skill.description or None,
        "offered": skill.readable,
        "problems": [words.text(key, "en") for key in skill.problems],
    }


def _whole_as_data(whole: Whole, space: Space) -> dict[str, object]:
    files = [{"path": each.path, "bytes": each.size} for each in whole.files]
    return {**_skill_as_data(whole.skill, space), "content": whole.text, "files": files}


def _write_as_data(write: Write) -> dict[str, object]:
    """A write as `memory pending` lists it, with the skill's name for its target."""
    return {**write_as_data(write), "target": write.skill, "path": write.operations[0].path or None}
