"""`hikae sessions`: the conversations, one whole conversation, its title, and finding words in them.

Deleting them is `clearing`, what a file of one looks like is `transcripts`.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime, tzinfo

import click

from gateway.cli import Group, Options, clearing, emit, json_option, transcripts
from gateway.cli.opened import OWNER, clock_time, columns, iso, one_line, opened, shown, space_named
from gateway.conversation import titling
from gateway.records import Found, Hit, Message, Role, Session, SessionSummary
from gateway.store import messages, people, search, search_query
from gateway.store import sessions as kept

sessions = Group("sessions", help="The conversations.")

_limit = click.option("--limit", type=click.IntRange(1, 100_000), default=50, show_default=True, help="At most.")


@sessions.command("list")
@click.option("--space", "space_name", metavar="NAME", help="Only this space (default: all).")
@_limit
@json_option
@click.pass_obj
def list_(options: Options, space_name: str | None, limit: int) -> None:
    """The conversations used last, newest first."""
    with opened(options) as core:
        space = space_named(core, space_name).id if space_name is not None else None
        with core.db.read() as rd:
            found = kept.recent(rd, space, limit)
        zone = core.loaded.settings.zone()
    if options.json:
        emit([transcripts.summary(summary) for summary in found])
    else:
        click.echo("\n".join(_list_lines(found, zone)))


@sessions.command("show")
@click.argument("id", metavar="ID")
@json_option
@click.pass_obj
def show(options: Options, id: str) -> None:
    """One conversation, message by message."""
    with opened(options) as core:
        with core.db.read() as rd:
            session = kept.get(rd, id)
            said = messages.of_session(rd, session.id)
            space = people.space(rd, session.space).name
        zone = core.loaded.settings.zone()
    if options.json:
        emit({**_session_as_data(session, space, len(said)), "transcript": [_message_as_data(m) for m in said]})
    else:
        click.echo("\n".join(_transcript(session, space, said, zone)))


@sessions.command("search")
@click.argument("text", metavar="TEXT")
@click.option("--space", "space_name", metavar="NAME", default=OWNER, help="Whose conversations (default: yours).")
@click.option("--after", metavar="DAY", help="Only from this day on, e.g. 2026-11-01.")
@click.option("--before", metavar="DAY", help="Only before this day.")
@click.option("--role", type=click.Choice(["user", "assistant", "tool"]), help="Only what they said.")
@click.option(
    "--limit", type=click.IntRange(1, 1000), default=10, show_default=True, help="Conversations, at most."
)
@json_option
@click.pass_obj
def find(
    options: Options,
    text: str,
    space_name: str,
    after: str | None,
    before: str | None,
    role: str | None,
    limit: int,
) -> None:
    """Messages that hold all these words, the best conversations first.

    OR between alternatives, NOT before what must not be there, "a phrase", begin*.
    """
    with opened(options) as core:
        space = space_named(core, space_name)
        zone = core.loaded.settings.zone()
        limits = search.Limits(_day(after, zone), _day(before, zone), Role(role) if role else None)
        with core.db.read() as rd:
            found = search.find(rd, space.id, text, limit, limits)
    if options.json:
        emit([_hit_as_data(hit) for hit in found.hits])
    else:
        click.echo("\n".join(_found_lines(found, zone)))


@sessions.command("title")
@click.argument("id", metavar="ID")
@click.argument("text", metavar="TEXT")
@json_option
@click.pass_obj
def title(options: Options, id: str, text: str) -> None:
    """Give a conversation a title ("" takes it away)."""
    with opened(options) as core:
        named = titling.by_hand(text)
        with core.db.write() as tx:
            kept.rename(tx, id, named)
    if options.json:
        emit({"id": id, "title": named or None})
    else:
        click.echo(f"✓ {one_line(named, 120)}" if named else "✓ The title is gone.")


@sessions.command("export")
@click.argument("id", metavar="ID")
@click.option(
    "--format",
    "format_",
    type=click.Choice(transcripts.FORMATS),
    default="jsonl",
    show_default=True,
    help="For programs, or to read.",
)
@json_option
@click.pass_obj
def export(options: Options, id: str, format_: str) -> None:
    """Write one conversation to standard output, as a file."""
    with opened(options) as core:
        with core.db.read() as rd:
            session = kept.get(rd, id)
            said = messages.of_session(rd, session.id)
            space = people.space(rd, session.space).name
        zone = core.loaded.settings.zone()
    if options.json:
        rows = [transcripts.message(row) for row in said]
        emit({**transcripts.head(session, space, len(said)), "transcript": rows})
        return
    made = transcripts.markdown(session, space, said, zone) if format_ == "markdown" else None
    for line in made or transcripts.json_lines(session, space, said):
        click.echo(line.encode("utf-8", "replace").decode())


sessions.add_command(clearing.delete)
sessions.add_command(clearing.prune)


def _day(text: str | None, zone: tzinfo) -> datetime | None:
    if text is None:
        return None
    day = search_query.day(text, zone)
    if day is None:
        raise click.BadParameter(f"{text!r} is no day. Write it as 2026-11-01.")
    return day


# -- for people --------------------------------------------------------------------------------------------


def _list_lines(found: Sequence[SessionSummary], zone: tzinfo) -> Iterator[str]:
    if not found:
        yield "There are no conversations yet."
        return
    head = ("ID", "LAST USED", "", "SAID", "WHERE, TITLE")
    rows = [
        (
            each.id,
            clock_time(each.last_at, zone),
            "" if each.ended_at else "open",
            str(each.messages),
            " ".join(part for part in (each.chat.key, _other_space(each), each.title) if part),
        )
        for each in found
    ]
    yield from columns([head, *rows])


def _other_space(summary: SessionSummary) -> str:
    return "" if summary.space == OWNER else f"({summary.space})"


def _transcript(session: Session, space: str, said: Sequence[Message], zone: tzinfo) -> Iterator[str]:
    yield f"{session.id} · {session.chat.key} · space {space} · memory as of {clock_time(session.frozen_at, zone)}"
    for message in said:
        yield ""
        yield f"{clock_time(message.at, zone)}  {_speaker(message)}"
        yield from (f"  {line}" for line in shown(message.text).splitlines())
        yield from (f"  (calls {one_line(call.name, 40)})" for call in message.tool_calls)


def _speaker(message: Message) -> str:
    if message.role is Role.TOOL:
        return f"tool {one_line(message.tool_name, 40)}"
    return shown(message.person) if message.role is Role.USER else "hikae"


def _found_lines(found: Found, zone: tzinfo) -> Iterator[str]:
    if not found.sessions:
        yield "Nothing found."
    for session in found.sessions:
        yield f"{session.id or '-'}  {one_line(session.title, 60)}".rstrip() + f"  ({session.matches:,} found)"
        for hit in session.hits:
            yield f"  {clock_time(hit.at, zone)}  {hit.role}"
            yield f"    {one_line(hit.snippet, 200)}"
    yield from _how_far(found)


def _how_far(found: Found) -> Iterator[str]:
    """Where not everything was looked at."""
    if found.ranked:
        count = f"more than {found.matches:,}" if found.more else f"{found.matches:,}"
        yield f"{count} matches, ranked among the newest {found.ranked:,}."
    if found.newest_only:
        yield f"Only the newest {found.newest_only:,} messages were read."
    if found.loosely:
        yield "Nothing has all of it; these have a part of it."
    if found.unindexed:
        yield f"{found.unindexed:,} older messages are still being indexed; not all of them were searched."


# -- in JSON -----------------------------------------------------------------------------------------------


def _session_as_data(session: Session, space: str, count: int) -> dict[str, object]:
    return transcripts.summary(
        SessionSummary(
            id=session.id,
            title=session.title,
            chat=session.chat,
            space=space,
            started_at=session.opened_at,
            last_at=session.last_at,
            ended_at=session.ended_at,
            messages=count,
        )
    )


def _message_as_data(message: Message) -> dict[str, object]:
    return {
        "message": message.id,
        "turn": message.turn,
        "role": message.role.value,
        "person": message.person or None,
        "at": iso(message.at),
        "text": message.text,
        "tool": message.tool_name or None,
        "tool_calls": [{"name": call.name, "arguments": call.arguments} for call in message.tool_calls],
    }


def _hit_as_data(hit: Hit) -> dict[str, object]:
    return {
        "session": hit.session or None,
        "message": hit.message,
        "role": hit.role,
        "at": iso(hit.at),
        "snippet": hit.snippet,
    }
