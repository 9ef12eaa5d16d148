"""`hikae usage`: what the model has read and written, by day and task. Asks no model."""

from collections.abc import Iterator, Sequence

import click

from gateway import days, words
from gateway.cli import Options, emit, json_option
from gateway.cli.opened import columns, opened
from gateway.memory import dailytokens
from gateway.memory.dailytokens import Today
from gateway.records import UsageDay
from gateway.store import usage as calls

MOST_DAYS = 3660


@click.command("usage")
@click.option(
    "--days",
    "count",
    type=click.IntRange(1, MOST_DAYS),
    default=7,
    show_default=True,
    help="How many, up to today.",
)
@json_option
@click.pass_obj
def usage(options: Options, count: int) -> None:
    """Calls and tokens by day and task, newest day first; days begin at midnight in session.timezone."""
    with opened(options) as core:
        chosen = core.loaded.settings
        zone, now = chosen.zone(), core.clock.now()
        with core.db.read() as rd:
            newest = days.named(days.latest(now, days.MIDNIGHT, zone), zone)
            found = calls.by_day(rd, newest, count, zone)
            today = dailytokens.today(rd, chosen, now)
    if options.json:
        emit([_as_data(each) for each in found])
    else:
        click.echo("\n".join([*_lines(found, count, options.language), *_bound_lines(today, options.language)]))


def _bound_lines(today: Today, language: str) -> Iterator[str]:
    """What background work may still use today, where it has a bound."""
    if today.bound:
        key = "usage.bound_today_up" if today.used_up else "usage.bound_today"
        yield words.text(key, language, used=f"{today.used:,}", bound=f"{today.bound:,}")


def _lines(found: Sequence[UsageDay], count: int, language: str) -> Iterator[str]:
    if not found:
        yield words.text("usage.none_days" if count > 1 else "usage.none_today", language, days=count)
        return
    heads = [words.text(key, language) for key in _HEADS]
    rows = [_row(each.day, each.task, each.calls, each.input, each.output, each.cached) for each in found]
    together = _row(
        words.text("usage.together", language),
        "",
        *(sum(getattr(each, name) for each in found) for name in ("calls", "input", "output", "cached")),
    )
    yield from columns([heads, *rows, together])


_HEADS = ("column.day", "column.task", "column.calls", "column.read", "column.written", "column.cached")


def _row(day: str, task: str, *numbers: int) -> tuple[str, ...]:
    return (day, task, *(f"{number:,}" for number in numbers))


def _as_data(each: UsageDay) -> dict[str, object]:
    return {
        "day": each.day,
        "task": each.task,
        "calls": each.calls,
        "in": each.input,
        "out": each.output,
        "cached": each.cached,
    }
