"""`hikae reviews`: background reviews that are due, running or failed, and trying failed ones again.

A review is named `SESSION:TURN`, the last turn that it looks at.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import tzinfo

import click

from gateway import words
from gateway.cli import Group, Options, emit, json_option
from gateway.cli.opened import clock_time, columns, opened, shown, space_named
from gateway.core import Core
from gateway.errors import Refused
from gateway.records import Review
from gateway.records.asdata import iso
from gateway.store import holding, people
from gateway.store import reviews as kept

ALL = "all"

reviews = Group("reviews", help="Background reviews of what was said.")


@reviews.command("list")
@click.option("--space", "space_name", metavar="NAME", help="Only this space (default: all).")
@json_option
@click.pass_obj
def list_(options: Options, space_name: str | None) -> None:
    """What is due, running or failed, oldest first."""
    with opened(options) as core:
        space = space_named(core, space_name).id if space_name is not None else None
        with core.db.read() as rd:
            found = kept.for_space(rd, space)
            names = {each.id: each.name for each in people.spaces(rd)}
        zone = core.loaded.settings.zone()
    if options.json:
        emit([_as_data(review, names[review.space]) for review in found])
    else:
        click.echo("\n".join(_lines(found, names, zone, options.language)))


@reviews.command("retry")
@click.argument("ids", nargs=-1, metavar="[ID…|all]")
@json_option
@click.pass_obj
def retry(options: Options, ids: tuple[str, ...]) -> int:
    """Try failed reviews again: these, or all."""
    with opened(options) as core:
        with core.db.read() as rd:
            named = [_id(review) for review in kept.failed(rd)] if ids in ((), (ALL,)) else list(dict.fromkeys(ids))
        results = [_retry(core, id, options.language) for id in named]
        if not all(result.error for result in results):
            from gateway import serving  # late: listing needs none of it

            serving.wake_worker(core)
    if options.json:
        told = [_result_as_data(result) for result in results]
        emit({"error": told[0]["error"]} if len(told) == 1 and told[0]["error"] else told)
    else:
        click.echo("\n".join(each.says for each in results) or options.say("review.none_failed"))
    return 1 if any(result.error for result in results) else 0


@dataclass(frozen=True, slots=True)
class _Result:
    id: str
    says: str
    error: str = ""
    """The name of the error that it is; "" when it is tried again."""


def _retry(core: Core, id: str, language: str) -> _Result:
    try:
        session, turn = _parse(id)
        with core.db.write() as tx:
            kept.get(tx, session, turn)
            if not kept.retry(tx, session, turn, core.clock.now()):
                raise Refused("review.not_failed", id=shown(id))
    except Refused as refused:
        says = words.text(refused.key, language, **refused.values)
        return _Result(shown(id), says, type(refused).__name__)
    return _Result(id, words.text("review.again", language, id=id))


def _result_as_data(result: _Result) -> dict[str, object]:
    error = {"kind": result.error, "message": result.says} if result.error else None
    return {"id": result.id, "done": not result.error, "message": result.says, "error": error}


def _id(review: Review) -> str:
    return f"{review.session}:{review.turn}"


def _parse(id: str) -> tuple[str, int]:
    session, colon, turn = id.rpartition(":")
    if not (colon and session.isascii() and turn.isascii() and turn.isdecimal() and len(turn) <= 9):
        raise Refused("review.which")
    return session, int(turn)


def _lines(found: Sequence[Review], names: dict[int, str], zone: tzinfo, language: str) -> Iterator[str]:
    if not found:
        yield words.text("review.none", language)
        return
    rows = [
        (_id(each), state, each.cause, str(each.attempts), f"{names[each.space]} {reason}".strip())
        for each, state, reason in ((each, _state(each, language), _reason(each, zone, language)) for each in found)
    ]
    heads = (words.text(f"column.{name}", language) for name in ("status", "cause", "tries", "space_wrong"))
    yield from columns([("ID", *heads), *rows])


def _state(review: Review, language: str) -> str:
    return words.text(f"review.is_{review.status}", language)


def _reason(review: Review, zone: tzinfo, language: str) -> str:
    if review.reason == holding.REASON and review.retry_at is not None:
        return words.text("review.held", language, until=clock_time(review.retry_at, zone))
    return review.reason


def _as_data(review: Review, space: str) -> dict[str, object]:
    return {
        "id": _id(review),
        "session": review.session,
        "turn": review.turn,
        "first_turn": review.first_turn,
        "space": space,
        "status": review.status,
        "cause": review.cause,
        "attempts": review.attempts,
        "reason": review.reason or None,
        "created_at": iso(review.created_at),
        "retry_at": iso(review.retry_at),
    }
