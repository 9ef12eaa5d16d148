"""The `session_search` tool: what the model may ask, and what it is told (design.md 6.6).

Three shapes: find words, look around one message, list the conversations used last. Messages are told whole; where
they would be too many, some are left to be asked for, and that is said. What the scan does not like is not told
(`recalled`). Nothing here asks a model.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo

from gateway.conversation import recalled
from gateway.errors import NotFound
from gateway.records import Found, FoundSession, Message, Role, SessionSummary
from gateway.store import search, search_query
from gateway.store.transaction import Reader

SESSIONS, MOST_SESSIONS = 3, 20
EACH_SIDE, MOST_EACH_SIDE = 5, 50
MOST_CHARS = 24_000
"""So much of surrounding messages is told unasked."""
ROLES = (Role.USER, Role.ASSISTANT, Role.TOOL)

DEFINITION = {
    "type": "function",
    "function": {
        "name": "session_search",
        "description": "Search what was said in earlier conversations with this person. Three uses: `query` "
        "finds words, the best conversations first, each with snippets and the messages around the best hit; "
        "`session` with `around` (a message number) shows more of one conversation; with neither, the "
        "conversations used last are listed. What you see in this conversation is left out.",
        "parameters": {
            "type": "object",
            "properties": {
                "query": {
                    "type": "string",
                    "description": "All words must be there. OR between alternatives, NOT before what must not "
                    'be there, "quotes" for an exact phrase, begin* for beginnings. Japanese, Chinese and Korean '
                    "words are found inside longer text. Search in the language in which it was said.",
                },
                "session": {
                    "type": "string",
                    "description": "With `around`: the conversation, as a result named it.",
                },
                "around": {"type": "integer", "description": "With `session`: the number of a message in it."},
                "limit": {
                    "type": "integer",
                    "description": f"How many conversations (at most {MOST_SESSIONS}), or how many messages on "
                    f"each side of `around` (at most {MOST_EACH_SIDE}).",
                },
                "after": {"type": "string", "description": "Only from this day on, e.g. 2026-11-01."},
                "before": {"type": "string", "description": "Only before this day, e.g. 2026-12-01."},
                "role": {"type": "string", "enum": list(ROLES), "description": "Only what they said."},
            },
        },
    },
}


@dataclass(frozen=True, slots=True)
class BadCall(Exception):
    """What is wrong with the arguments, for the model."""

    error: str


@dataclass(frozen=True, slots=True)
class Asker:
    """Where the call comes from."""

    space: int
    zone: tzinfo
    context: search.Context


def result(rd: Reader, asker: Asker, arguments: Mapping[str, object]) -> str:
    """Do a call. Bad arguments are answered with what would do."""
    try:
        told = _told(rd, asker, arguments)
    except BadCall as bad:
        return _json({"success": False, "error": bad.error})
    except NotFound as missing:
        return _json({"success": False, "error": str(missing)})
    return _json({"success": True, **told})


def _told(rd: Reader, asker: Asker, arguments: Mapping[str, object]) -> dict[str, object]:
    query, session = _text(arguments, "query"), _text(arguments, "session")
    around = arguments.get("around")
    if session or around is not None:
        if not session or not isinstance(around, int) or isinstance(around, bool):
            raise BadCall("'session' (text) and 'around' (the number of a message in it) go together.")
        each = _count(arguments, EACH_SIDE, MOST_EACH_SIDE)
        shown = search.around(rd, asker.space, session, around, each)
        return {"session": session, "messages": [_message(one, asker.zone) for one in shown]}
    limit = _count(arguments, SESSIONS, MOST_SESSIONS)
    limits = search.Limits(
        after=_day(arguments, "after", asker.zone),
        before=_day(arguments, "before", asker.zone),
        role=_role(arguments),
        but=asker.context,
    )
    if query:
        return _discovered(search.find(rd, asker.space, query, limit, limits), asker.zone)
    if "query" in arguments and arguments["query"] is not None:
        raise BadCall("'query' is empty. Name words to find, or leave it out to list the conversations used last.")
    listed = [one for one in search.recent(rd, asker.space, limit + 1) if one.id != asker.context.session]
    return {"conversations": [_summary(one, asker.zone) for one in listed[:limit]]}


# -- arguments ---------------------------------------------------------------------------------------------


def _text(arguments: Mapping[str, object], name: str) -> str:
    given = arguments.get(name)
    if given is not None and not isinstance(given, str):
        raise BadCall(f"'{name}' must be text.")
    return (given or "").strip()


def _count(arguments: Mapping[str, object], usual: int, most: int) -> int:
    given = arguments.get("limit")
    if given is None:
        return usual
    if not isinstance(given, int) or isinstance(given, bool) or given < 1:
        raise BadCall("'limit' must be a whole number from 1.")
    return min(given, most)


def _day(arguments: Mapping[str, object], name: str, zone: tzinfo) -> datetime | None:
    text = _text(arguments, name)
    found = search_query.day(text, zone) if text else None
    if text and found is None:
        raise BadCall(f"'{name}' must be a day such as 2026-11-01.")
    return found


def _role(arguments: Mapping[str, object]) -> Role | None:
    text = _text(arguments, "role")
    if text and text not in ROLES:
        raise BadCall(f"'role' must be one of {', '.join(ROLES)}.")
    return Role(text) if text else None


# -- results -----------------------------------------------------------------------------------------------


def _discovered(found: Found, zone: tzinfo) -> dict[str, object]:
    room = MOST_CHARS
    sessions = []
    for session in found.sessions:
        told, room = _session(session, zone, room)
        sessions.append(told)
    notes = _notes(found)
    return {"matches": found.matches, "sessions": sessions, **({"notes": notes} if notes else {})}


def _session(session: FoundSession, zone: tzinfo, room: int) -> tuple[dict[str, object], int]:
    around, left_out = list[dict[str, object]](), list[int]()
    for message in session.around:
        if len(message.text) <= room:
            around.append(_message(message, zone))
            room -= len(message.text)
        else:
            left_out.append(message.id)
    told: dict[str, object] = {
        "session": session.id or None,
        "title": recalled.fit(session.title) or None,
        "matches": session.matches,
        "hits": [
            {
                "message": hit.message,
                "role": hit.role,
                "at": _at(hit.at, zone),
                "snippet": recalled.fit(hit.snippet),
            }
            for hit in session.hits
        ],
        "around": around,
    }
    return {**told, "too_long_to_show": left_out} if left_out else told, room


def _notes(found: Found) -> list[str]:
    """How far was looked, where that was not everywhere."""
    notes = []
    if found.ranked:
        count = f"more than {found.matches:,}" if found.more else f"{found.matches:,}"
        notes.append(f"{count} matches, ranked among the newest {found.ranked:,}.")
    if found.newest_only:
        notes.append(f"Only the newest {found.newest_only:,} messages were read for this query.")
    if found.loosely:
        notes.append("Nothing has all of it; these have a part of it.")
    if found.unindexed:
        notes.append(f"{found.unindexed:,} older messages are still being indexed; not all of them were searched.")
    return notes


def _message(message: Message, zone: tzinfo) -> dict[str, object]:
    told: dict[str, object] = {
        "message": message.id,
        "role": message.role,
        "at": _at(message.at, zone),
        "text": recalled.fit(message.text),
    }
    if message.tool_calls:
        told["calls"] = [
            {"name": recalled.fit(call.name), "arguments": recalled.fit(call.arguments)}
            for call in message.tool_calls
        ]
    return told


def _summary(summary: SessionSummary, zone: tzinfo) -> dict[str, object]:
    return {
        "session": summary.id,
        "title": recalled.fit(summary.title) or None,
        "started_at": _at(summary.started_at, zone),
        "last_at": _at(summary.last_at, zone),
        "messages": summary.messages,
    }


def _at(at: datetime, zone: tzinfo) -> str:
    return at.astimezone(zone).isoformat(timespec="seconds")


def _json(told: Mapping[str, object] | Sequence[object]) -> str:
    return json.dumps(told, ensure_ascii=False)
