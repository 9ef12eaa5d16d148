"""`hikae sessions delete` and `prune`: taking conversations away for good, with what rests on them named."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

import click

from gateway import words
from gateway.chat import TERMINAL_OWNER
from gateway.cli import Options, confirmed, emit, json_option, transcripts
from gateway.cli.opened import columns, from_markdown, one_line, opened, shown, space_named
from gateway.cli.waiting import write_as_data
from gateway.conversation import takebacktext
from gateway.core import Core
from gateway.errors import NotFound, Refused
from gateway.memory import clearing, passages
from gateway.memory.forgetting import Scope
from gateway.records import SessionSummary, Status, Write
from gateway.store import doorbell, pruning, resting, sessions
from gateway.store.pruning import Wanted
from gateway.store.search_fold import fold

TRIED_EVERY_SECONDS = 0.2

_dry_run = click.option("--dry-run", is_flag=True, help="Say what would go, and change nothing.")
_yes = click.option("--yes", is_flag=True, help="Do not ask.")
_with_entries = click.option(
    "--with-entries",
    is_flag=True,
    help="Forget the entries learnt from what goes, too, wherever they stand.",
)


@dataclass
class Clearing:
    """Conversations that are to go, and what came of it."""

    found: Sequence[SessionSummary]
    rests: Sequence[Write]
    troubles: list[tuple[str, Refused]] = field(default_factory=list)
    """Ids of which something could not be done, and why."""
    with_entries: bool = False
    """Whether what was learnt from them is forgotten, too."""
    wanted: Wanted | None = None
    """What they fit; None: they were named."""
    deleted: int = 0

    @property
    def messages(self) -> int:
        return sum(each.messages for each in self.found)


@click.command()
@click.argument("ids", nargs=-1, required=True, metavar="ID…")
@_with_entries
@_dry_run
@_yes
@json_option
@click.pass_obj
def delete(options: Options, ids: tuple[str, ...], with_entries: bool, dry_run: bool, yes: bool) -> int:
    """Delete conversations, with every trace in the search."""
    with opened(options) as core:
        wanted = list(dict.fromkeys(ids))
        with core.db.read() as rd:
            found = sessions.listed(rd, wanted)
        known = {each.id for each in found}
        missing: list[tuple[str, Refused]] = [
            (id, NotFound("session.unknown", id=id)) for id in wanted if id not in known
        ]
        if missing and len(wanted) == 1:
            raise missing[0][1]
        clearing_ = Clearing(found, _resting(core, found), missing, with_entries)
        return _clear(options, core, clearing_, dry_run=dry_run, yes=yes)


@click.command()
@click.option("--older-than", type=click.IntRange(0, 36_500), metavar="DAYS", help="Nothing was said since then.")
@click.option("--title", metavar="TEXT", help="The title has this in it.")
@click.option("--model", metavar="NAME", help="Begun with this model.")
@click.option("--platform", metavar="NAME", help="telegram, discord or terminal.")
@click.option("--space", "space_name", metavar="NAME", help="Only this space (default: all).")
@click.option("--containing", metavar="TEXT", help="This was said in it, by anybody.")
@_with_entries
@_dry_run
@_yes
@json_option
@click.pass_obj
def prune(
    options: Options,
    older_than: int | None,
    title: str | None,
    model: str | None,
    platform: str | None,
    space_name: str | None,
    containing: str | None,
    with_entries: bool,
    dry_run: bool,
    yes: bool,
) -> int:
    """Delete all conversations that fit everything you say here."""
    with opened(options) as core:
        wanted = Wanted(
            before=None if older_than is None else core.clock.now() - timedelta(days=older_than),
            title=_said("--title", title, options.language),
            model=_said("--model", model, options.language),
            platform=_said("--platform", platform, options.language),
            space=None if space_name is None else space_named(core, space_name).id,
            containing=_said("--containing", containing, options.language),
        )
        if wanted.is_everything:
            raise click.UsageError(words.text("prune.all", options.language))
        with core.db.read() as rd:
            found = pruning.chosen(rd, wanted)
        clearing_ = Clearing(found, _resting(core, found), with_entries=with_entries, wanted=wanted)
        return _clear(options, core, clearing_, dry_run=dry_run, yes=yes)


def _said(option: str, given: str | None, language: str) -> str:
    """What was given, "" for nothing. An option of which nothing is left to look for would fit everything."""
    text = (given or "").strip()
    if given is not None and not fold(text).strip():
        raise click.UsageError(words.text("prune.empty", language, option=option))
    return text


def _resting(core: Core, found: Sequence[SessionSummary]) -> list[Write]:
    with core.db.read() as rd:
        writes = {write.id: write for each in found for write in resting.on_session(rd, each.id)}
    return [writes[id] for id in sorted(writes)]


def _clear(options: Options, core: Core, clearing_: Clearing, *, dry_run: bool, yes: bool) -> int:
    if not options.json:
        click.echo("\n".join(_what_goes(clearing_, options.language)), err=not dry_run)
    if clearing_.found and not dry_run:
        if not confirmed(_counted("prune.question", clearing_, options.language), yes=yes):
            click.echo(options.say("reset.left"), err=True)
            return 1
        if not yes and not clearing_.with_entries and (count := len(_entries(clearing_.rests))):
            texts = options.say("count.texts", count=f"{count:,}")
            clearing_.with_entries = click.confirm(options.say("prune.with_entries", texts=texts), err=True)
        _delete(core, clearing_)
    if options.json:
        emit(_as_data(clearing_, options.language, dry_run=dry_run))
    else:
        _tell(clearing_, options.language, dry_run=dry_run)
    return 1 if clearing_.troubles else 0


def _delete(core: Core, clearing_: Clearing) -> None:
    """Forgets, so that it goes out of the backups, too, and a restore knows what went; begun before any is done."""
    begun: list[int] = []
    for name, free in _free(core, clearing_).items():
        space = space_named(core, name)
        texts = _entries(_resting(core, free)) if clearing_.with_entries else ()
        rows = tuple(f"sessions:{each.id}" for each in free)
        scopes = (Scope(rows=rows), *((Scope(texts),) if texts else ()))
        begun += [core.forgetting.forget(space, scope, TERMINAL_OWNER.key) for scope in scopes]
        clearing_.deleted += len(free)
    doorbell.ring(core.home)
    for id in begun:
        while not core.forgetting.go_on(id):  # the gateway was quicker, or somebody has begun to talk in one
            time.sleep(TRIED_EVERY_SECONDS)
    doorbell.ring(core.home)


def _free(core: Core, clearing_: Clearing) -> dict[str, list[SessionSummary]]:
    """Those that still fit and in which nothing is being answered, by space; the others are troubles.

    A person may think about the question for long, and go on talking meanwhile.
    """
    free: dict[str, list[SessionSummary]] = {}
    with core.db.read() as rd:
        chosen = None if clearing_.wanted is None else {each.id for each in pruning.chosen(rd, clearing_.wanted)}
    for each in clearing_.found:
        try:
            if chosen is not None and each.id not in chosen:
                raise Refused("prune.taken_up", id=each.id)
            clearing.refuse_busy(core.db, core.home, each.id)
        except Refused as refused:
            clearing_.troubles.append((each.id, refused))
        else:
            free.setdefault(each.space, []).append(each)
    return free


def _entries(rests: Sequence[Write]) -> tuple[str, ...]:
    """What these writes put into memory, or would; skills are taken back one by one."""
    texts = (step.content for write in rests if write.kind != "skill" for step in write.operations)
    return tuple(dict.fromkeys(text for text in texts if passages.can_be_looked_for(text)))


# -- for people --------------------------------------------------------------------------------------------


def _what_goes(clearing_: Clearing, language: str) -> Iterator[str]:
    if not clearing_.found:
        yield words.text("prune.none", language)
        return
    rows = [
        (each.id, str(each.messages), transcripts.place(each.chat), one_line(each.title, 60))
        for each in clearing_.found
    ]
    heads = (words.text(f"column.{name}", language) for name in ("said", "where", "title"))
    yield from columns([("ID", *heads), *rows])
    if clearing_.rests:
        yield ""
        key = "prune.learnt_goes" if clearing_.with_entries else "prune.learnt_stays"
        yield words.text(key, language, count=len(clearing_.rests))
        for write in clearing_.rests:
            yield f"  {from_markdown(takebacktext.line(write, language))}"
            yield f"    {_command(write)}"


def _command(write: Write) -> str:
    """How a write is taken back."""
    group = "skills" if write.kind == "skill" else "memory"
    return f"hikae {group} reject {write.id}" if write.status is Status.STAGED else f"hikae memory undo {write.id}"


def _counted(key: str, clearing_: Clearing, language: str) -> str:
    """A sentence with how many conversations go, and how many messages with them."""
    conversations = _conversations(len(clearing_.found), language)
    messages = words.text("count.messages", language, count=f"{clearing_.messages:,}")
    return words.text(key, language, conversations=conversations, messages=messages)


def _conversations(count: int, language: str) -> str:
    return words.text("count.conversations", language, count=f"{count:,}")


def _tell(clearing_: Clearing, language: str, *, dry_run: bool) -> None:
    for _, trouble in clearing_.troubles:
        click.echo(shown(words.text(trouble.key, language, **trouble.values)), err=True)
    if not clearing_.found:
        return
    if dry_run:
        click.echo(_counted("prune.would", clearing_, language))
    elif clearing_.deleted:
        click.echo(words.text("prune.deleted", language, conversations=_conversations(clearing_.deleted, language)))


# -- in JSON -----------------------------------------------------------------------------------------------


def _as_data(clearing_: Clearing, language: str, *, dry_run: bool) -> dict[str, object]:
    return {
        "dry_run": dry_run,
        "sessions": [transcripts.summary(each) for each in clearing_.found],
        "messages": clearing_.messages,
        "deleted": clearing_.deleted,
        "rests": [{**write_as_data(write), "status": write.status.value} for write in clearing_.rests],
        "errors": [
            {
                "id": id,
                "kind": type(trouble).__name__,
                "message": words.text(trouble.key, language, **trouble.values),
            }
            for id, trouble in clearing_.troubles
        ],
    }
