"""`/search TEXT`: the best conversations of this space, without a model.

The answer's row names messages and places in them, never words: those are read again when it is shown.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime, tzinfo

from gateway import words
from gateway.conversation import phrases, toolwords
from gateway.conversation.commands.call import Call, Said, Services, View
from gateway.errors import NotFound, Refused
from gateway.records import Found, Outgoing, Role
from gateway.store import lists, messages, search, search_query, sessions

SESSIONS = 5
_FILTER = re.compile(r"(?<!\S)(?P<name>after|before|role):(?P<value>\S+)")
_ROLES: Mapping[str, Role] = {
    "me": Role.USER,
    "user": Role.USER,
    "bot": Role.ASSISTANT,
    "assistant": Role.ASSISTANT,
    "tool": Role.TOOL,
}


def find(services: Services, call: Call) -> Said:
    """Look for it now; what is said of it names what was found."""
    zone = services.settings.zone()
    text, limits = read(call.rest, zone)
    if not text:
        raise Refused("search.usage")
    with services.db.read() as rd:
        found = search.find(rd, call.space.id, text, SESSIONS, limits)
    return Said("search", kept_form(found))


def read(text: str, zone: tzinfo) -> tuple[str, search.Limits]:
    """`after:2026-11-01 before:2026-12-01 role:me` out of what was typed; what is none of these is looked for."""
    given: dict[str, datetime | Role] = {}

    def taken(found: re.Match[str]) -> str:
        name, value = found["name"], found["value"]
        read_as = _ROLES.get(value.lower()) if name == "role" else search_query.day(value, zone)
        if read_as is None:
            return found[0]
        given[name] = read_as
        return ""

    left = _FILTER.sub(taken, text).strip()
    after, before, role = given.get("after"), given.get("before"), given.get("role")
    limits = search.Limits(
        after=after if isinstance(after, datetime) else None,
        before=before if isinstance(before, datetime) else None,
        role=role if isinstance(role, Role) else None,
    )
    return left, limits


def kept_form(found: Found) -> Mapping[str, object]:
    """Numbers alone, for the outbox."""
    return {
        "sessions": [
            {"matches": each.matches, "hits": [[hit.message, *hit.place] for hit in each.hits]}
            for each in found.sessions
        ],
        "matches": found.matches,
        "more": found.more,
        "ranked": found.ranked,
        "newest_only": found.newest_only,
        "loosely": found.loosely,
        "unindexed": found.unindexed,
    }


def found_text(services: Services, row: Outgoing, language: str) -> str:
    """The hits by conversation, best first, under what was found in all and over how far was looked."""
    listed = row.values["sessions"]
    assert isinstance(listed, Sequence)
    blocks = [block for each in listed if (block := _session_text(services, row.space, each, language))]
    if not blocks:
        blocks = [words.text("search.none", language)]
    elif not row.values.get("ranked"):
        head = words.text("search.found", language, count=f"{row.values['matches']:,}")
        blocks.insert(0, head)
    return "\n\n".join((*blocks, *how_far(row.values, language)))


def _session_text(services: Services, space: int, each: Mapping[str, object], language: str) -> str:
    """One conversation; "" when all that was found of it has gone."""
    zone = services.settings.zone()
    places = each["hits"]
    assert isinstance(places, Sequence)
    lines = []
    title, first, day = "", "", ""
    for id, start, end in places:
        with services.db.read() as rd:
            try:
                message = messages.get(rd, id)
                title = sessions.get(rd, message.session).title if message.session else ""
                first = lists.first_words(rd, message.session) if message.session and not title else ""
            except NotFound:
                continue
        if message.space == space:
            day = max(day, f"{message.at.astimezone(zone):%Y-%m-%d}")
            when = f"{message.at.astimezone(zone):%Y-%m-%d %H:%M}"
            lines.append(toolwords.hit_line(message, (start, end), when, language))
    if not lines:
        return ""
    matches = int(str(each["matches"]))
    count = words.text("search.in_session", language, count=matches, day=phrases.escape(day))
    if left := matches - len(lines):
        lines.append(words.text("search.more_in_session", language, count=left))
    return "\n".join((f"{_heading(title, first, language)} · {count}", *lines))


def _heading(title: str, first: str, language: str) -> str:
    """What the conversation is called, else what was said first in it."""
    if title:
        return f"*{phrases.escape(title)}*"
    key = "sessions.first_words" if first else "sessions.nothing_said"
    return words.text(key, language, text=phrases.excerpt(first))


def how_far(values: Mapping[str, object], language: str) -> list[str]:
    """Where not everything was looked at; `values` as `kept_form` keeps them."""
    notes = []
    if values.get("ranked"):
        key = "search.ranked_of_more" if values.get("more") else "search.ranked"
        notes.append(words.text(key, language, matches=f"{values['matches']:,}", ranked=f"{values['ranked']:,}"))
    if values.get("newest_only"):
        notes.append(words.text("search.newest_only", language, count=f"{values['newest_only']:,}"))
    if values.get("loosely"):
        notes.append(words.text("search.loosely", language))
    if values.get("unindexed"):
        notes.append(words.text("search.unindexed", language, count=f"{values['unindexed']:,}"))
    return notes


VIEWS: Mapping[str, View] = {"search": found_text}
