"""How conversations look in JSON, and one of them as a file: JSON Lines for programs, Markdown for people. Pure."""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import tzinfo

from gateway import words
from gateway.chat import Chat
from gateway.cli.opened import chat_id, clock_time, one_line, shown
from gateway.records import Message, Role, Session, SessionSummary, asdata
from gateway.records.asdata import iso

FORMATS = ("jsonl", "markdown")
_LONGEST_NAME = 200


def head(session: Session, space: str, count: int) -> dict[str, object]:
    """What stands above the messages of a conversation."""
    return {
        "session": session.id,
        "title": session.title or None,
        "platform": session.chat.platform,
        "chat": chat_id(session.chat),
        "space": space,
        "model": session.model or None,
        "started_at": iso(session.opened_at),
        "last_at": iso(session.last_at),
        "ended_at": iso(session.ended_at),
        "messages": count,
    }


def message(row: Message) -> dict[str, object]:
    """One message of a conversation."""
    return {"message": row.id, **asdata.message(row)}


def summary(each: SessionSummary) -> dict[str, object]:
    """A conversation as `sessions list` lists it."""
    return {
        "id": each.id,
        "title": each.title or None,
        "platform": each.chat.platform,
        "chat": chat_id(each.chat),
        "space": each.space,
        "started_at": iso(each.started_at),
        "last_at": iso(each.last_at),
        "ended_at": iso(each.ended_at),
        "messages": each.messages,
    }


def json_lines(session: Session, space: str, said: Sequence[Message]) -> Iterator[str]:
    """One JSON object on each line: the conversation, then its messages in order."""
    yield _json(head(session, space, len(said)))
    yield from (_json(message(row)) for row in said)


def markdown(session: Session, space: str, said: Sequence[Message], zone: tzinfo, language: str) -> Iterator[str]:
    """A document to read. What was said is quoted, so that no word of it becomes a heading of ours.

    Read in a terminal, too: nothing in it moves the cursor.
    """
    yield f"# {one_line(session.title, _LONGEST_NAME) or session.id}"
    yield ""
    began, last = (clock_time(at, zone) for at in (session.opened_at, session.last_at))
    where = {"id": session.id, "chat": session.chat.key, "space": space}
    yield words.text("conversation.file_head", language, **where, began=began, last=last)
    for row in said:
        yield ""
        yield f"## {clock_time(row.at, zone)} {_speaker(row, language)}"
        yield ""
        yield from (f"> {shown(line)}".rstrip() for line in row.text.splitlines())
        yield from (f"> `{_name(call.name)}` {shown(' '.join(call.arguments.split()))}" for call in row.tool_calls)


def place(chat: Chat) -> str:
    """Where a conversation was, for people: the number of a terminal tells nobody anything."""
    return chat.platform if chat.platform == "terminal" else chat.key


def _speaker(row: Message, language: str) -> str:
    match row.role:
        case Role.USER:
            return _name(f"{row.speaker} ({row.person})" if row.speaker else row.person)
        case Role.TOOL:
            return words.text("conversation.tool", language, name=_name(row.tool_name))
        case _:
            return "hikae"


def _name(text: str) -> str:
    return one_line(text, _LONGEST_NAME)


def _json(value: Mapping[str, object]) -> str:
    return json.dumps(value, ensure_ascii=False)
