"""`hikae sessions`: the conversations, one whole conversation, its title, and finding words in them.

Deleting them is `clearing`, what a file of one looks like is `transcripts`.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, tzinfo

import click

from gateway import words
from gateway.cli import Group, Options, clearing, emit, json_option, transcripts
from gateway.cli.opened import OWNER, clock_time, columns, one_line, opened, shown, space_named
from gateway.conversation import titling, toolwords
from gateway.conversation.commands.search import how_far, kept_form
from gateway.records import Found, Hit, Message, Role, Session, SessionSummary
from gateway.records.asdata import iso
from gateway.store import lists, messages, people, search, search_query
from gateway.store import sessions as kept
from gateway.store.transaction import Reader

_NAME = 60
"""So many characters of what a conversation is about."""

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
            names = {each.id: _named(rd, each, options.language) for each in found} if not options.json else {}
        zone = core.loaded.settings.zone()
    if options.json:
        emit([transcripts.summary(summary) for summary in found])
    else:
        click.echo("\n".join(_list_lines(found, names, zone, options.language)))


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
        rows = [transcripts.message(row) for row in said]
        emit({**_session_as_data(session, space, len(said)), "transcript": rows})
    else:
        click.echo("\n".join(_transcript(session, space, said, zone, options.language)))


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
            told = _told(rd, found, options.language)
    if options.json:
        emit([_hit_as_data(hit) for hit in found.hits])
    else:
        click.echo("\n".join(_found_lines(found, told, zone, options.language)))


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
        click.echo(f"✓ {one_line(named, 120)}" if named else options.say("conversation.title_gone"))


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
    made = transcripts.markdown(session, space, said, zone, options.language) if format_ == "markdown" else None
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


def _list_lines(
    found: Sequence[SessionSummary], names: Mapping[str, str], zone: tzinfo, language: str
) -> Iterator[str]:
    """What a conversation is about stands before where it was: the end of a line has no room."""
    if not found:
        yield words.text("conversation.none", language)
        return
    last_used, said, about = (
        words.text(f"column.{name}", language) for name in ("last_used", "said", "title_where")
    )
    open_ = words.text("conversation.open", language)
    rows = [
        (
            each.id,
            clock_time(each.last_at, zone),
            "" if each.ended_at else open_,
            str(each.messages),
            " · ".join(part for part in (names[each.id], transcripts.place(each.chat), _other_space(each)) if part),
        )
        for each in found
    ]
    yield from columns([("ID", last_used, "", said, about), *rows])


def _named(rd: Reader, each: SessionSummary, language: str) -> str:
    """Its title, else what was said first in it."""
    if each.title:
        return one_line(each.title, _NAME)
    first = one_line(lists.first_words(rd, each.id), _NAME)
    return words.text("sessions.first_words" if first else "sessions.nothing_said", language, text=first)


def _other_space(summary: SessionSummary) -> str:
    return "" if summary.space == OWNER else summary.space


def _transcript(
    session: Session, space: str, said: Sequence[Message], zone: tzinfo, language: str
) -> Iterator[str]:
    frozen = clock_time(session.frozen_at, zone)
    yield words.text("conversation.head", language, id=session.id, chat=session.chat.key, space=space, when=frozen)
    for message in said:
        yield ""
        yield f"{clock_time(message.at, zone)}  {_speaker(message, language)}"
        yield from (f"  {line}" for line in shown(message.text).splitlines())
        for call in message.tool_calls:
            yield "  " + words.text("conversation.calls", language, name=one_line(call.name, 40))


def _speaker(message: Message, language: str) -> str:
    if message.role is Role.TOOL:
        return words.text("conversation.tool", language, name=one_line(message.tool_name, 40))
    return shown(message.person) if message.role is Role.USER else "hikae"


def _told(rd: Reader, found: Found, language: str) -> dict[int, tuple[str, str]]:
    """Each hit by its message, as who and what: what a tool was asked is a sentence, not its arguments."""
    read = ((messages.get(rd, hit.message), hit.place) for hit in found.hits)
    return {
        message.id: (toolwords.speaker(message, language), toolwords.snippet(message, place, language))
        for message, place in read
    }


def _found_lines(found: Found, told: Mapping[int, tuple[str, str]], zone: tzinfo, language: str) -> Iterator[str]:
    if not found.sessions:
        yield words.text("search.none", language)
    for session in found.sessions:
        count = words.text("conversation.matches", language, count=f"{session.matches:,}")
        yield f"{session.id or '-'}  {one_line(session.title, 60)}".rstrip() + f"  {count}"
        for hit in session.hits:
            who, said = told[hit.message]
            yield f"  {clock_time(hit.at, zone)}  {who}"
            yield f"    {one_line(said, 200)}"
    yield from how_far(kept_form(found), language)


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


def _hit_as_data(hit: Hit) -> dict[str, object]:
    return {
        "session": hit.session or None,
        "message": hit.message,
        "role": hit.role,
        "at": iso(hit.at),
        "snippet": hit.snippet,
    }
