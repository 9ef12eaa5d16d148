"""A row of `messages` as a record and back. What is done with rows is `messages`."""

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from gateway.chat import Chat, Piece
from gateway.records import Done, Message, Role, ToolCall
from gateway.store.encoding import (
    clean,
    optional_time_text,
    pieces_of,
    pieces_text,
    time_of,
    time_text,
    tool_calls_of,
    tool_calls_text,
)


@dataclass(frozen=True, slots=True)
class NewMessage:
    """A message about to be kept; see `records.Message`. As sent it is `stamp` + `text`, unless `sent`."""

    space: int
    chat: Chat
    person: str
    role: Role
    text: str
    at: datetime
    pieces: tuple[Piece, ...] = ()
    platform_id: str | None = None
    session: str = ""
    turn: int = 0
    round: int = 0
    generation: int = 0
    stamp: str = ""
    sent: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str = ""
    tool_name: str = ""
    answers: int | None = None
    done: Done | None = None
    album: str = ""
    speaker: str = ""
    via: str = ""


def place_of(chat: Chat) -> dict[str, object]:
    return {"platform": chat.platform, "chat": chat.id, "thread": chat.thread}


def columns_of(new: NewMessage) -> Mapping[str, object]:
    return {
        **place_of(new.chat),
        "person": new.person,
        "role": new.role,
        "text": clean(new.text),
        "pieces": pieces_text(new.pieces),
        "stamp": clean(new.stamp),
        "sent": None if new.sent is None else clean(new.sent),
        "at": time_text(new.at),
        "session": new.session or None,
        "turn": new.turn,
        "round": new.round,
        "generation": new.generation,
        "tool_calls": tool_calls_text(new.tool_calls),
        "tool_call_id": new.tool_call_id,
        "tool_name": new.tool_name,
        "platform_id": None if new.platform_id is None else clean(new.platform_id),
        "answers": new.answers,
        "done": new.done,
        "album": new.album,
        "speaker": clean(new.speaker),
        "via": new.via,
        "done_at": optional_time_text(new.at if new.done else None),
    }


def message_of(found: sqlite3.Row) -> Message:
    """A row of all columns. It is made a dict first: a Row compares the names of its columns at each look."""
    row = dict(zip(found.keys(), found, strict=True))
    return Message(
        id=row["id"],
        space=row["id"] >> 32,
        chat=Chat(row["platform"], row["chat"], row["thread"]),
        person=row["person"],
        role=Role(row["role"]),
        text=row["text"],
        pieces=pieces_of(row["pieces"]),
        at=time_of(row["at"]),
        session=row["session"] or "",
        turn=row["turn"],
        round=row["round"],
        generation=row["generation"],
        as_sent=row["stamp"] + row["text"] if row["sent"] is None else row["sent"],
        tool_calls=tool_calls_of(row["tool_calls"]),
        tool_call_id=row["tool_call_id"],
        tool_name=row["tool_name"],
        platform_id=row["platform_id"] or "",
        album=row["album"],
        speaker=row["speaker"],
        via=row["via"],
        part_of=row["part_of"],
        answers=row["answers"],
        done=Done(row["done"]) if row["done"] else None,
        erased=bool(row["erased"]),
    )
