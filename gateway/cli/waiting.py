"""`hikae memory pending`: what waits for a yes, and how a waiting write looks in JSON (design.md 6.8).

Apart from the other commands about memory, which it imports when one of them is used: people look often, and
looking needs none of what deciding needs.
"""

import importlib
from collections.abc import Iterator, Sequence

import click

from gateway import words
from gateway.cli import Group, Options, emit, json_option
from gateway.cli.opened import any_space, from_markdown, opened, shown, space_named
from gateway.conversation import phrases
from gateway.memory import entries
from gateway.records import Action, Write
from gateway.records.asdata import iso
from gateway.store import writes


@click.command()
@any_space
@json_option
@click.pass_obj
def pending(options: Options, space_name: str | None) -> None:
    """What waits for your yes, oldest first."""
    with opened(options) as core:
        space = space_named(core, space_name).id if space_name is not None else None
        with core.db.read() as rd:
            staged = writes.staged(rd, space, "memory")
    if options.json:
        emit([write_as_data(write) for write in staged])
    else:
        click.echo("\n".join(_pending_lines(staged, options.language)))


class _Memory(Group):
    """Everything of `memory.memory`, which is imported for all but `pending`."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return _others().list_commands(ctx)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return pending if cmd_name == pending.name else _others().get_command(ctx, cmd_name)


def _others() -> click.Group:
    group: click.Group = importlib.import_module("gateway.cli.memory").memory
    return group


memory = _Memory("memory", help="What is remembered, and what waits for your yes.")


# -- what is shown -----------------------------------------------------------------------------------------


def _pending_lines(staged: Sequence[Write], language: str) -> Iterator[str]:
    """The list of the chat, and under a line what it leaves out: nobody should approve what they cannot see."""
    if not staged:
        yield words.text("pending.none", language)
        return
    several = len({write.space for write in staged}) > 1
    yield words.text("pending.count", language, count=len(staged))
    for write in staged:
        yield from_markdown(phrases.pending_line(write, with_space=several, language=language))
        yield from (f"     {line}" for line in _details(write, language))
    yield "hikae memory approve ID…|all · hikae memory reject ID…|all"


def _details(write: Write, language: str) -> Iterator[str]:
    if not _is_whole_in_a_line(write):
        for operation in entries.pinned(write.operations, entries.split_texts(write.before)):
            yield from _marked("➖", operation.old_text)
            yield from _marked("➕", operation.content)
    for flag in write.flags:
        yield f"! {phrases.flag(flag, language)}"
    if write.reason:
        yield f"! {phrases.reason(write, language)}"


def _is_whole_in_a_line(write: Write) -> bool:
    if write.action is not Action.ADD:
        return False  # what goes is shown whole: a write may name an entry by a part of it
    text = write.operations[0].content
    return len(text) <= phrases.EXCERPT_CHARS and "\n" not in text


def _marked(mark: str, text: str) -> Iterator[str]:
    first, *others = shown(text).splitlines() or [""]
    if first or others:
        yield f"{mark} {first}"
        yield from (f"   {line}" for line in others)


# -- in JSON -----------------------------------------------------------------------------------------------


def write_as_data(write: Write) -> dict[str, object]:
    """A write as `memory pending` lists it."""
    single = write.operations[0] if len(write.operations) == 1 else None
    return {
        "id": write.id,
        "kind": write.kind,
        "space": write.space_name,
        "target": write.about,
        "action": write.action.value,
        "content": (single.content or None) if single else None,
        "old_text": (single.old_text or None) if single else None,
        "operations": None if single else [_operation_as_data(*each) for each in _parts(write)],
        "origin": write.origin.value,
        "auto": write.origin.auto,
        "evidence": {
            "message": write.evidence.message,
            "by": write.evidence.by or None,
            "quote": write.evidence.quote or None,
        },
        "flags": list(write.flags),
        "created_at": iso(write.created_at),
        "expires_at": iso(write.expires_at),
    }


def _parts(write: Write) -> Iterator[tuple[str, str, str]]:
    return ((part.action.value, part.content, part.old_text) for part in write.operations)


def _operation_as_data(action: str, content: str, old_text: str) -> dict[str, object]:
    return {"action": action, "content": content or None, "old_text": old_text or None}
