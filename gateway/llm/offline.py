"""The offline model: deterministic, without a network, and honest about how little it is.

It answers from the request alone (`reading`). What a message asks is `hearing`, which notes answer it is
`recalling`, how an entry is worded is `noting`, its sentences are `sayings`; here it acts on them. It uses the
tools as the request defines them and believes only their results.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from gateway.llm import hearing, merging, noting, recalling, reviewing
from gateway.llm.hearing import Ask, Chatter, Remember, Remove, Replace, Search
from gateway.llm.reading import MEMORY, SEARCH, Turn
from gateway.llm.recalling import Note
from gateway.llm.sayings import say
from gateway.ports import ModelAnswer, ModelRequest

MOST_TRIES = 3
MOST_HITS = 5


class OfflineModel:
    """A model that needs nothing and nobody."""

    @property
    def name(self) -> str:
        return "offline"

    async def think(self, request: ModelRequest) -> ModelAnswer:
        """Answer at once; the same request always gets the same answer."""
        return answer(request)

    async def reach(self) -> str:
        return ""

    async def close(self) -> None:
        return None


def answer(request: ModelRequest) -> ModelAnswer:
    """The answer to a request."""
    turn = Turn.of(request)
    if hearing.is_review(turn.asked):
        return reviewing.answer(turn)
    if hearing.is_tidy(turn.asked):
        return merging.answer(turn)
    if hearing.is_compression(turn.asked):
        return ModelAnswer(recalling.in_short(turn.asked))
    if turn.results:
        return _after_tools(turn)
    return _begin(turn)


# -- the first step of a turn ------------------------------------------------------------------------------


def _begin(turn: Turn) -> ModelAnswer:
    match turn.wish:
        case Remember() | Replace() | Remove() if not turn.targets:
            return turn.say("no_memory")
        case Remember(fact):
            text, about_person = noting.entry(fact)
            return turn.write(
                "add", turn.target(about_person=about_person), content=text, quote=_verbatim(turn, fact)
            )
        case Replace() as wish:
            return _replace(turn, wish)
        case Remove(what):
            note = recalling.naming(what, turn.known)
            text, about_person = noting.entry(what)
            target = note.target if note else turn.target(about_person=about_person)
            return turn.write("remove", target, old_text=note.text if note else text)
        case Search(query):
            return turn.call(SEARCH, {"query": query}) if turn.searches else turn.say("no_search")
        case Ask(about):
            return _recall(turn, about)
        case Chatter():
            return turn.say("offline")


def _replace(turn: Turn, wish: Replace) -> ModelAnswer:
    note = recalling.naming(wish.old, turn.known)
    text, about_person = noting.entry(wish.new)
    if note is not None:
        content = noting.put_in(note.text, wish.old, wish.new) if wish.part else text
        quote = _verbatim(turn, wish.new)
        return turn.write("replace", note.target, content=content, old_text=note.text, quote=quote)
    if wish.part:
        # A part needs the entry that it goes into, and none can be seen: an entry that is only "Oslo" says nothing.
        several = recalling.holding(wish.old, turn.known)
        return turn.say("not_changed", why=say("several" if several else "no_match", turn.language, about=wish.old))
    if wish.old == wish.new:
        return turn.say("offline")
    # The tool looks in the file as it is now.
    target = turn.target(about_person=about_person)
    return turn.write("replace", target, content=text, old_text=wish.old, quote=_verbatim(turn, wish.new))


def _verbatim(turn: Turn, clause: str) -> str:
    """The clause as evidence, if the person's message holds it just so; else "" (the whole message counts)."""
    return clause if clause in turn.asked else ""


def _recall(turn: Turn, about: str) -> ModelAnswer:
    """What the notes say. The frozen ones first: they are what a session knows."""
    everything = not about
    notes = turn.notes if everything else recalling.fitting(about, turn.notes)
    fresh = tuple(note for note in turn.written if note not in turn.notes)
    fresh = fresh if everything else recalling.fitting(about, fresh)
    if not (notes or fresh):
        said = say("nothing_at_all" if everything else "nothing", turn.language)
        more = say("only_notes" if everything or recalling.is_personal(about) else "offline", turn.language)
        return ModelAnswer(f"{said} {more}")
    parts = [_listed(turn, "noted", notes), _listed(turn, "noted_now", fresh)]
    return ModelAnswer("\n".join(part for part in parts if part))


def _listed(turn: Turn, key: str, notes: Sequence[Note]) -> str:
    if not notes:
        return ""
    head = say(key, turn.language)
    if len(notes) == 1:
        return f"{head} {notes[0].text}"
    return "\n".join((head, *(f"- {note.text}" for note in notes)))


# -- after tools have run ----------------------------------------------------------------------------------


def _after_tools(turn: Turn) -> ModelAnswer:
    tried, result = turn.tried[-1], turn.results[-1]
    if isinstance(turn.wish, Search):
        return _report_hits(turn, turn.wish, result)
    if result.get("success") is True:
        return _report_write(turn, tried, result)
    return _another_try(turn, tried, result) or _report_failure(turn, tried, result)


def _report_write(turn: Turn, tried: Mapping[str, Any], result: Mapping[str, Any]) -> ModelAnswer:
    action = tried.get("action")
    text = str(tried.get("old_text" if action == "remove" else "content", ""))
    if result.get("staged"):
        return turn.say("waiting_removal" if action == "remove" else "waiting", entry=text)
    if "already exists" in str(result.get("message", "")):
        return turn.say("already", entry=text)
    return turn.say({"replace": "changed", "remove": "removed"}.get(str(action), "saved"), entry=text)


def _another_try(turn: Turn, tried: Mapping[str, Any], result: Mapping[str, Any]) -> ModelAnswer | None:
    """Where nothing matched: the entry that fits best as the file now is, else the other store."""
    if not _no_match(result) or len(turn.tried) >= MOST_TRIES:
        return None
    old = str(tried.get("old_text", ""))
    target = str(tried.get("target", ""))
    entries = result.get("current_entries")
    current = [Note(target, text) for text in entries if isinstance(text, str)] if isinstance(entries, list) else []
    wished = turn.wish
    named = wished.old if isinstance(wished, Replace) else old
    note = recalling.naming(named, current) if current else None
    if note is not None and note.text != old:
        again = {**tried, "old_text": note.text}
        if isinstance(wished, Replace) and wished.part:
            again["content"] = noting.put_in(note.text, wished.old, wished.new)
        return turn.call(MEMORY, again)
    others = [other for other in turn.targets if all(other != call.get("target") for call in turn.tried)]
    return turn.call(MEMORY, {**tried, "target": others[0]}) if others else None


def _no_match(result: Mapping[str, Any]) -> bool:
    return str(result.get("error", "")).startswith("No entry matched")


def _report_failure(turn: Turn, tried: Mapping[str, Any], result: Mapping[str, Any]) -> ModelAnswer:
    error = str(result.get("error", ""))
    about = turn.wish.old if isinstance(turn.wish, Replace) else str(turn.tried[0].get("old_text", ""))
    if _no_match(result):
        why = say("no_match", turn.language, about=about)
    elif error.startswith("Multiple entries matched"):
        why = say("several", turn.language, about=about)
    elif "exceed the limit" in error or "would put memory at" in error:
        why = say("full", turn.language, usage=str(result.get("usage", "")))
    elif error:  # the house says why, in the person's language and for the terminal once
        return turn.say("just_not_saved" if tried.get("action") == "add" else "just_not_changed")
    else:
        why = say("unknown_reason", turn.language)
    return turn.say("not_saved" if tried.get("action") == "add" else "not_changed", why=why)


def _report_hits(turn: Turn, wish: Search, result: Mapping[str, Any]) -> ModelAnswer:
    if result.get("success") is False:
        return turn.say("search_failed", error=str(result.get("error", "")))
    hits = [hit for session in _items(result, "sessions") for hit in _items(session, "hits")][:MOST_HITS]
    if not hits:
        return turn.say("found_none", query=wish.query)
    lines = (f"- {str(hit.get('at', ''))[:10]}: {_one_line(str(hit.get('snippet', '')))}" for hit in hits)
    return ModelAnswer("\n".join((say("found", turn.language, query=wish.query), *lines)))


def _items(result: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    listed = result.get(name)
    return [one for one in listed if isinstance(one, Mapping)] if isinstance(listed, list) else []


def _one_line(text: str) -> str:
    return " ".join(hearing.own_words(text).split())
