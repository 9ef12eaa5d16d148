"""`hikae forget`: look for words everywhere, erase them with a yes, and prove that they are gone.

The same plan, layers and receipt as `/forget` in a chat; works whether or not a gateway runs. With `--verify`
nothing is erased: every byte of the home and Redis is read for the words.
"""

import sys
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import count
from math import inf

import click

from gateway import words
from gateway.chat import TERMINAL_OWNER
from gateway.cli import Options, confirmed, emit, json_option
from gateway.cli.opened import from_markdown, one_space, opened, services_for, shown, space_named
from gateway.cli.receipts import as_data
from gateway.conversation import forgetcard, toolwords
from gateway.conversation.commands import forget as chat
from gateway.conversation.commands import receipts
from gateway.core import Core
from gateway.memory import verifying
from gateway.memory.forgetting import Plan, Scope
from gateway.memory.passages import Passage
from gateway.memory.verifying import Rightful, Verified
from gateway.records import Space
from gateway.store import doorbell, forgets

LOOKED_EVERY_SECONDS = 0.2
TRIED_EVERY_SECONDS = 1.0
EARLIER_TRIES = 5
"""So often an earlier forget is tried before another is planned."""
MOST_SHOWN = 60


@click.command()
@click.argument("text", required=False, metavar="[TEXT]")
@click.option("--also", multiple=True, metavar="TEXT", help="Another part of the same fact; may be repeated.")
@click.option("--everything", is_flag=True, help="All that is kept of a space.")
@one_space
@click.option("--verify", is_flag=True, help="Only look whether anything still holds it; 1 when something does.")
@click.option("--dry-run", is_flag=True, help="Say what would go, and change nothing.")
@click.option("--no-mark", is_flag=True, help="Leave no mark: it may be learnt again.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@json_option
@click.pass_obj
def forget(
    options: Options,
    text: str | None,
    also: tuple[str, ...],
    everything: bool,
    space_name: str,
    verify: bool,
    dry_run: bool,
    no_mark: bool,
    yes: bool,
) -> int:
    """Forget words everywhere. Without TEXT it is asked for, so that no shell history keeps it."""
    if everything and (text or also or verify):
        raise click.UsageError("--everything goes without TEXT, --also and --verify.")
    with opened(options) as core:
        space = space_named(core, space_name)
        scope = Scope(everything=True) if everything else Scope((text or _asked(options), *also))
        if verify:
            return _verify(options, core, space, scope)
        begun = [] if dry_run else _finish_begun(options, core)
        plan = core.forgetting.plan(space, scope)
        if dry_run:
            _show(options, core, plan)
            return 0
        if not chat.worth_asking(plan):
            return _finished(options, core, begun) if begun else _nothing(options, plan)
        if not options.json:
            click.echo("\n".join(_lines(_readable(core, plan, options), options.language)), err=True)
        if not _is_sure(options, plan, yes=yes):
            click.echo(options.say("forget.left_alone"), err=True)
            return 1
        id = core.forgetting.forget(space, scope, TERMINAL_OWNER.key, marks=not no_mark)
        doorbell.ring(core.home)
        _until_done(options, core, id)
        doorbell.ring(core.home)
        _tell(options, core, id)
        if text and sys.stdin.isatty():
            click.echo(options.say("forget.shell_history"), err=True)
    return 0


def _asked(options: Options) -> str:
    """The words from the keyboard, or from a pipe."""
    typed = sys.stdin.isatty()
    text = str(click.prompt(options.say("forget.what"), err=True)) if typed else sys.stdin.read()
    if not text.strip():
        raise click.UsageError(options.say("forget.no_words"))
    return text.strip()


def _is_sure(options: Options, plan: Plan, *, yes: bool) -> bool:
    """One yes; for everything the name of the space besides."""
    if not plan.scope.everything:
        return confirmed(options.say("forget.sure" if plan.found else "forget.sure_copies"), yes=yes)
    if not confirmed(options.say("forget.sure_all", space=plan.space.name), yes=yes):
        return False
    return yes or str(click.prompt(options.say("forget.sure_name"), err=True)).strip() == plan.space.name


# -- the plan ----------------------------------------------------------------------------------------------


def _show(options: Options, core: Core, plan: Plan) -> None:
    if options.json:
        emit(plan_as_data(plan))
    else:
        click.echo("\n".join(_lines(_readable(core, plan, options), options.language, asks=False)))
        click.echo(options.say("forget.dry_end"))


def _readable(core: Core, plan: Plan, options: Options) -> Plan:
    """Its excerpts in words for people."""
    with core.db.read() as rd:
        return toolwords.plan(rd, plan, options.language)


def _nothing(options: Options, plan: Plan) -> int:
    if options.json:
        emit(plan_as_data(plan))
        return 0
    if plan.left:
        files = ", ".join(one.path for one in plan.left)
        click.echo(words.text("forget.nothing_but", options.language, files=files))
    else:
        click.echo(words.text("forget.nothing", options.language))
    return 0


def plan_as_data(plan: Plan) -> dict[str, object]:
    """A plan as `forget --dry-run` prints it (design.md 6.8)."""
    return {
        "layers": [
            {
                "layer": one.layer,
                "found": one.found,
                "items": [{"ref": item.ref, "excerpt": item.excerpt} for item in one.items],
            }
            for one in plan.layers
        ],
        "left": [{"path": one.path, "found": one.found} for one in plan.left],
        "near": [{"ref": one.ref, "text": one.text} for one in plan.near],
        "backups": plan.backups,
    }


def _lines(plan: Plan, language: str, *, asks: bool = True) -> Iterator[str]:
    if not forgetcard.found(plan):
        yield words.text("forget.nothing", language)
        return
    yield words.text("forget.ask" if asks else "forget.dry", language, count=forgetcard.found(plan))
    for one in plan.layers:
        if not one.found or one.layer == "requests":
            continue
        name = words.text(f"layer.{one.layer}", language)
        yield words.text("forget.layer", language, layer=name, count=one.found)
        yield from (f"  {shown(item.excerpt)}" for item in one.items[:MOST_SHOWN] if item.excerpt)
    if plan.backups:
        yield words.text("forget.backups", language, count=plan.backups)
    if plan.left:
        files = ", ".join(f"{one.path} ({one.found})" for one in plan.left)
        yield words.text("forget.left", language, files=files)
    if plan.elsewhere:
        yield words.text("forget.elsewhere", language, count=plan.elsewhere)
    if plan.near:
        yield words.text("forget.also_near", language)
        yield from (f"  {shown(one.excerpt)}" for one in plan.near)
    if plan.scope.everything:
        key = "forget.all_goes" if plan.space.kind == "person" else "forget.all_goes_kept"
        yield words.text(key, language)


# -- erasing -------------------------------------------------------------------------------------------------


def _finish_begun(options: Options, core: Core) -> list[int]:
    """What was begun before and killed: its words still stand in its request, so they would be found again.

    Returns what is done now. What cannot be done for some time stays the gateway's, and that is said.
    """
    with core.db.read() as rd:
        begun = forgets.erasing(rd)
    for id in begun:
        _until_done(options, core, id, EARLIER_TRIES)
    waits = [id for id in begun if not _is_done(core, id)]
    if waits:
        click.echo(options.say("forget.earlier"), err=True)
    return [id for id in begun if id not in waits]


def _finished(options: Options, core: Core, ids: list[int]) -> int:
    """It had been asked for before, and is done now: the receipts say so."""
    doorbell.ring(core.home)
    for id in ids:
        _tell(options, core, id)
    return 0


def _until_done(options: Options, core: Core, id: int, tries: float = inf) -> None:
    """Erase here, or look on while the gateway does; whoever has the lock goes on. Gives up after so many tries."""
    told: set[str] = set()
    with ThreadPoolExecutor(1, "forget") as threads:
        for tried in count(1):
            going = threads.submit(core.forgetting.go_on, id)
            _look_on(options, core, id, told, going)
            if going.result() or _is_done(core, id) or tried >= tries:
                return
            if tried == 1:
                click.echo(options.say("forget.busy"), err=True)
            time.sleep(TRIED_EVERY_SECONDS)


def _look_on(options: Options, core: Core, id: int, told: set[str], going: "Future[bool]") -> None:
    while not going.done():
        time.sleep(LOOKED_EVERY_SECONDS)
        if options.json:
            continue
        with core.db.read() as rd:
            steps = forgets.get(rd, id).steps
        for step in steps:
            if step.done_at is not None and step.layer not in told:
                told.add(step.layer)
                name = words.text(f"layer.{step.layer}", options.language)
                done = options.say("forget.step", layer=name, count=step.erased) if step.erased else f"  ✓ {name}"
                click.echo(done, err=True)


def _is_done(core: Core, id: int) -> bool:
    with core.db.read() as rd:
        return forgets.get(rd, id).status == "done"


def _tell(options: Options, core: Core, id: int) -> None:
    with core.db.read() as rd:
        known = forgets.get(rd, id)
    if options.json:
        with core.db.read() as rd:
            emit(as_data(rd, known))
    else:
        click.echo(from_markdown(receipts.one(services_for(core), known, options.language)))


# -- verifying -----------------------------------------------------------------------------------------------


def _verify(options: Options, core: Core, space: Space, scope: Scope) -> int:
    """Every byte of the home and Redis; the words of other spaces count, since only the owner sees this."""
    passages = [Passage.of(text) for text in scope.passages]
    found = verifying.verify(core.home, core.db, passages, Rightful(), scope.passages, core.forgetting.redis())
    if options.json:
        emit(_verified_as_data(found))
    else:
        click.echo("\n".join(_verified(found, options.language)))
    return 0 if found.is_clean else 1


def _verified(found: Verified, language: str) -> Iterator[str]:
    for hit in found.hits:
        key, table = ("verify.hit_in", hit.place.table) if hit.place is not None else ("verify.hit", "")
        yield words.text(key, language, path=shown(hit.path), table=table, offset=hit.offset, form=hit.encoding)
    for path in found.unreadable:
        yield words.text("verify.unreadable", language, path=shown(path))
    if found.left:
        files = ", ".join(dict.fromkeys(shown(one.path) for one in found.left))
        yield words.text("forget.left", language, files=files)
    if found.inside_longer_words:
        yield words.text("receipt.inside", language, count=found.inside_longer_words)
    if found.is_clean:
        yield words.text("receipt.clean", language)
    elif found.hits:
        yield words.text("forget.verify_found", language, count=len(found.hits))


def _verified_as_data(found: Verified) -> dict[str, object]:
    return {
        "clean": found.is_clean,
        "hits": [{"path": one.path, "offset": one.offset, "encoding": one.encoding} for one in found.hits],
        "left": [{"path": one.path, "offset": one.offset} for one in found.left],
        "inside_longer_words": found.inside_longer_words,
        "unreadable": list(found.unreadable),
    }
