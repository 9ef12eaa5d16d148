"""`hikae import`: what another bot has learnt, brought into the owner's memory.

It is shown first, thing by thing. Nothing is ever written in the other bot's folder.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import click

from gateway import words
from gateway.chat import TERMINAL_OWNER
from gateway.cli import Group, Options, confirmed, emit, json_option
from gateway.cli.opened import OWNER, one_line, opened, services_for, shown, space_named
from gateway.conversation import prompt
from gateway.core import Core
from gateway.errors import NotFound, Refused
from gateway.memory import imports_hermes
from gateway.memory.imports import Item, Kind, Report, Source, Verdict
from gateway.memory.imports_run import Import
from gateway.memory.imports_talks import Frozen
from gateway.store import doorbell

MOST_LISTED = 40
"""Of one kind that has the same fate; JSON has all."""

import_ = Group("import", help="Bring memory, skills and conversations from another bot.")


@import_.command()
@click.argument("path", metavar="PATH", type=click.Path())
@click.option("--dry-run", is_flag=True, help="Only show what it would bring.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@json_option
@click.pass_obj
def hermes(options: Options, path: str, dry_run: bool, yes: bool) -> None:
    """From the home of a Hermes Agent (~/.hermes): MEMORY.md, USER.md, skills, conversations."""
    if dry_run and yes:
        raise click.UsageError("--dry-run and --yes are two different things. Name one of them.")
    with opened(options) as core:
        home = _home(path, core)
        source = imports_hermes.read(home, core.clock.now())
        todo = None if yes else _import(core).run(source, home / "state.db", dry=True)
        if todo is not None and (dry_run or options.json):
            _show(options, todo, dry=True)
        elif todo is None or _agreed(options, todo):
            _show(options, _run(core, source, home), dry=False)


@import_.command()
@click.argument("path", metavar="PATH", required=False)
@json_option
@click.pass_obj
def openclaw(options: Options, path: str | None) -> None:
    """Not yet available."""
    raise Refused("import.not_yet", name="openclaw")


def _home(path: str, core: Core) -> Path:
    """The folder that is meant. Raises NotFound where no Hermes Agent keeps anything."""
    home = Path(os.path.realpath(os.path.expanduser(path)))
    if home == Path(os.path.realpath(core.home.path)):
        raise Refused("import.own_home", path=shown(str(home)))
    if not home.is_dir() or not imports_hermes.is_one(home):
        raise NotFound("import.no_home", path=shown(str(home)))
    return home


def _import(core: Core) -> Import:
    services, space = services_for(core), space_named(core, OWNER)

    def frozen() -> Frozen:
        parts = services.freezer.parts(space, "terminal", core.clock.now())
        return Frozen(prompt.join(parts), services.freezer.tools(space), services.model_name)

    settings = core.loaded.settings
    return Import(core.db, core.home, core.clock, settings, core.memory, space, TERMINAL_OWNER.key, frozen)


def _agreed(options: Options, todo: Report) -> bool:
    """Show what would be done, and ask where anything would. Raises Refused for a no."""
    _show(options, todo, dry=True)
    if not _is_work(todo):
        return False
    if not confirmed(words.text("import.question", options.language), yes=False):
        raise Refused("import.not_done")
    return True


def _is_work(todo: Report) -> bool:
    """Whether a run would do anything: what waits already (it has a number) goes on waiting."""
    return todo.is_news or any(item.write is None for item in todo.of(Verdict.WAITS))


def _run(core: Core, source: Source, home: Path) -> Report:
    """Bring it; who waits for a message of ours is told when it is done."""
    report = _import(core).run(source, home / "state.db", dry=False)
    doorbell.ring(core.home)
    return report


# -- what is shown -------------------------------------------------------------------------------------------


def _show(options: Options, report: Report, *, dry: bool) -> None:
    if options.json:
        emit(_as_data(report, dry=dry))
    else:
        click.echo("\n".join(_lines(report, options.language, dry=dry)))


def _lines(report: Report, language: str, *, dry: bool) -> Iterator[str]:
    has_news = bool(report.is_news or report.of(Verdict.WAITS))
    yield words.text("import.head_dry" if dry else "import.head" if has_news else "import.nothing", language)
    for kind in Kind:
        yield from _of_kind(report, kind, language)
    if dry and not has_news:
        yield "\n" + words.text("import.nothing", language)
    if report.of(Verdict.WAITS) and not dry:
        yield "\n" + words.text("import.pending", language)
    if report.settings:
        yield "\n" + words.text("import.config", language) + "\n"
        yield from (f"    {shown(line)}" for line in report.settings.split("\n"))
    yield "\n" + words.text("import.tokens", language)


def _of_kind(report: Report, kind: Kind, language: str) -> Iterator[str]:
    """The counts, and under them each thing with its fate."""
    found = {verdict: report.count(kind, verdict) for verdict in Verdict}
    counts = [
        words.text("import.count", language, count=count, fate=_fate(kind, verdict, language))
        for verdict, count in found.items()
        if count
    ]
    if not counts:
        return
    joined = words.text("cli.and", language).join(counts)
    yield "\n" + words.text("import.counts", language, head=_head(kind, language), counts=joined)
    for verdict in Verdict:
        items = [item for item in report.of(verdict) if item.kind is kind]
        yield from (_line(item, language) for item in items[:MOST_LISTED])
        if left := len(items) - MOST_LISTED:
            yield from [f"  … {left}"] if left > 0 else []


def _head(kind: Kind, language: str) -> str:
    is_file = kind in (Kind.MEMORY, Kind.USER)
    return kind.value.upper() if is_file else words.text(f"import.{kind}", language)


def _fate(kind: Kind, verdict: Verdict, language: str) -> str:
    """A setting is never brought, only shown."""
    usable = kind is Kind.SETTING and verdict is Verdict.NEW
    return words.text("import.usable" if usable else f"import.{verdict}", language)


_MARKS = {
    Verdict.NEW: "+",
    Verdict.WAITS: "?",
    Verdict.ALREADY: "=",
    Verdict.BEFORE: "=",
    Verdict.REFUSED: "!",
    Verdict.LEFT: "-",
}


def _line(item: Item, language: str) -> str:
    said = [_reason(item, language)] if item.reason else []
    said += [words.text("import.messages", language, count=item.count)] if item.count else []
    joined = words.text("gist.joint", language).join(said)
    behind = words.text("import.behind", language, said=joined) if said else ""
    return f"  {_MARKS[item.verdict]} {one_line(item.name, 100)}{behind}"


def _reason(item: Item, language: str) -> str:
    try:
        return shown(words.text(item.reason, language, **item.values))
    except KeyError:  # of an older row
        return item.reason


def _as_data(report: Report, *, dry: bool) -> dict[str, object]:
    return {
        "dry_run": dry,
        "counts": {
            kind.value: {verdict.value: report.count(kind, verdict) for verdict in Verdict} for kind in Kind
        },
        "items": [
            {
                "kind": item.kind.value,
                "name": item.name,
                "verdict": item.verdict.value,
                "reason": _reason(item, "en") if item.reason else None,
                "write": item.write,
                "messages": item.count or None,
            }
            for item in report.items
        ],
        "settings": report.settings or None,
    }
