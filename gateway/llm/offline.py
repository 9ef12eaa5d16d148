"""The offline model: deterministic, without a network, and honest about how little it is.

It answers from the request alone. What a message asks is `hearing`, what the prompt's memory blocks say is
`recalling`, how an entry is worded is `noting`, its sentences are `sayings`; here it acts on them. It uses the
tools as the request defines them and believes only their results.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gateway.llm import hearing, noting, recalling
from gateway.llm.hearing import Ask, Chatter, Remember, Remove, Replace, Search, Wish
from gateway.llm.recalling import Note
from gateway.llm.sayings import say
from gateway.ports import ModelAnswer, ModelRequest, RequestMessage
from gateway.records import ToolCall

MEMORY = "memory"
SEARCH = "session_search"
MOST_TRIES = 3
MOST_PROPOSALS = 8
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
    turn = _Turn.of(request)
    if hearing.is_review(turn.asked):
        return _review(turn)
    if turn.results:
        return _after_tools(turn)
    return _begin(turn)


@dataclass(frozen=True, slots=True)
class _Turn:
    """What a request shows: what was asked, what was already tried for it, what is noted, which tools there are."""

    asked: str
    earlier: tuple[RequestMessage, ...]
    tried: tuple[Mapping[str, Any], ...]
    """The arguments of this turn's calls, in order."""
    results: tuple[Mapping[str, Any], ...]
    notes: tuple[Note, ...]
    """The frozen memory blocks."""
    written: tuple[Note, ...]
    """What tools have saved since, in this conversation."""
    targets: tuple[str, ...]
    """The stores that the memory tool offers."""
    quotes: bool
    """Whether it takes `evidence`."""
    searches: bool
    number: int
    """The number of messages: makes the ids of calls unique."""

    @staticmethod
    def of(request: ModelRequest) -> "_Turn":
        messages = request.messages
        at = max((at for at, message in enumerate(messages) if message.role == "user"), default=-1)
        pairs = list(_calls(messages[at + 1 :]))
        tools = _tools(request.tools)
        properties = tools.get(MEMORY, {})
        notes = recalling.blocks(request.system)
        return _Turn(
            asked=messages[at].content if at >= 0 else "",
            earlier=messages[: max(at, 0)],
            tried=tuple(arguments for _, arguments, _ in pairs),
            results=tuple(result for _, _, result in pairs),
            notes=notes,
            written=_written(messages),
            targets=_targets(properties) if MEMORY in tools else (),
            quotes="evidence" in properties,
            searches=SEARCH in tools,
            number=len(messages),
        )

    @property
    def words(self) -> str:
        return hearing.own_words(self.asked)

    @property
    def language(self) -> str:
        return hearing.language(self.words)

    @property
    def wish(self) -> Wish:
        return hearing.wish(self.words)

    @property
    def known(self) -> tuple[Note, ...]:
        """All it can know of: the frozen blocks and what was written since."""
        return (*self.written, *(note for note in self.notes if note not in self.written))

    def target(self, *, about_person: bool) -> str:
        wanted = "user" if about_person else "memory"
        return wanted if wanted in self.targets else self.targets[0]

    def say(self, key: str, **values: str) -> ModelAnswer:
        return ModelAnswer(say(key, self.language, **values))

    def call(self, tool: str, *calls: Mapping[str, Any]) -> ModelAnswer:
        return ModelAnswer(
            "",
            tuple(
                ToolCall(f"call_{self.number}_{at}", tool, json.dumps(arguments, ensure_ascii=False))
                for at, arguments in enumerate(calls)
            ),
        )

    def write(self, action: str, target: str, *, quote: str = "", **texts: str) -> ModelAnswer:
        return self.call(MEMORY, self.write_arguments(action, target, quote=quote, **texts))

    def write_arguments(self, action: str, target: str, *, quote: str = "", **texts: str) -> dict[str, Any]:
        evidence = {"evidence": quote} if quote and self.quotes else {}
        return {"action": action, "target": target, **texts, **evidence}


# -- the first step of a turn ------------------------------------------------------------------------------


def _begin(turn: _Turn) -> ModelAnswer:
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


def _replace(turn: _Turn, wish: Replace) -> ModelAnswer:
    note = recalling.naming(wish.old, turn.known)
    text, about_person = noting.entry(wish.new)
    if note is None:
        # Nothing known has these words: the tool looks in the file as it is now.
        return turn.write("replace", turn.target(about_person=about_person), content=text, old_text=wish.old)
    content = _put_in(note.text, wish) if wish.part else text
    return turn.write("replace", note.target, content=content, old_text=note.text, quote=_verbatim(turn, wish.new))


def _put_in(text: str, wish: Replace) -> str:
    """The note with the new words in place of the old, or the new words alone where the old are not in it."""
    at = text.casefold().find(wish.old.casefold())
    if at < 0 or len(text.casefold()) != len(text):
        return noting.entry(wish.new)[0]
    return text[:at] + wish.new + text[at + len(wish.old) :]


def _verbatim(turn: _Turn, clause: str) -> str:
    """The clause as evidence, if the person's message holds it just so; else "" (the whole message counts)."""
    return clause if clause in turn.asked else ""


def _recall(turn: _Turn, about: str) -> ModelAnswer:
    """What the notes say. The frozen ones first: they are what a session knows."""
    everything = not about
    notes = turn.notes if everything else recalling.fitting(about, turn.notes)
    fresh = tuple(note for note in turn.written if note not in turn.notes)
    fresh = fresh if everything else recalling.fitting(about, fresh)
    if not (notes or fresh):
        said = say("nothing_at_all" if everything else "nothing", turn.language)
        return ModelAnswer(f"{said} {say('only_notes', turn.language)}")
    parts = [_listed(turn, "noted", notes), _listed(turn, "noted_now", fresh)]
    return ModelAnswer("\n".join(part for part in parts if part))


def _listed(turn: _Turn, key: str, notes: Sequence[Note]) -> str:
    if not notes:
        return ""
    head = say(key, turn.language)
    if len(notes) == 1:
        return f"{head} {notes[0].text}"
    return "\n".join((head, *(f"- {note.text}" for note in notes)))


# -- after tools have run ----------------------------------------------------------------------------------


def _after_tools(turn: _Turn) -> ModelAnswer:
    tried, result = turn.tried[-1], turn.results[-1]
    if isinstance(turn.wish, Search):
        return _report_hits(turn, turn.wish, result)
    if result.get("success") is True:
        return _report_write(turn, tried, result)
    return _another_try(turn, tried, result) or _report_failure(turn, tried, result)


def _report_write(turn: _Turn, tried: Mapping[str, Any], result: Mapping[str, Any]) -> ModelAnswer:
    action = tried.get("action")
    text = str(tried.get("old_text" if action == "remove" else "content", ""))
    if result.get("staged"):
        return turn.say("waiting_removal" if action == "remove" else "waiting", entry=text)
    if "already exists" in str(result.get("message", "")):
        return turn.say("already", entry=text)
    return turn.say({"replace": "changed", "remove": "removed"}.get(str(action), "saved"), entry=text)


def _another_try(turn: _Turn, tried: Mapping[str, Any], result: Mapping[str, Any]) -> ModelAnswer | None:
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
        content = tried.get("content")
        if isinstance(wished, Replace) and wished.part:
            content = _put_in(note.text, wished)
        again = {**tried, "old_text": note.text}
        return turn.call(MEMORY, again if content is None else {**again, "content": content})
    others = [other for other in turn.targets if all(other != call.get("target") for call in turn.tried)]
    return turn.call(MEMORY, {**tried, "target": others[0]}) if others else None


def _no_match(result: Mapping[str, Any]) -> bool:
    return str(result.get("error", "")).startswith("No entry matched")


def _report_failure(turn: _Turn, tried: Mapping[str, Any], result: Mapping[str, Any]) -> ModelAnswer:
    error = str(result.get("error", ""))
    about = turn.wish.old if isinstance(turn.wish, Replace) else str(turn.tried[0].get("old_text", ""))
    if _no_match(result):
        why = say("no_match", turn.language, about=about)
    elif error.startswith("Multiple entries matched"):
        why = say("several", turn.language, about=about)
    elif "exceed the limit" in error or "would put memory at" in error:
        why = say("full", turn.language, usage=str(result.get("usage", "")))
    else:
        why = error or say("unknown_reason", turn.language)
    return turn.say("not_saved" if tried.get("action") == "add" else "not_changed", why=why)


def _report_hits(turn: _Turn, wish: Search, result: Mapping[str, Any]) -> ModelAnswer:
    if result.get("success") is False:
        return turn.say("search_failed", error=str(result.get("error", "")))
    listed = next((result[key] for key in ("hits", "results") if isinstance(result.get(key), list)), [])
    hits = [hit for hit in listed if isinstance(hit, Mapping)][:MOST_HITS]
    if not hits:
        return turn.say("found_none", query=wish.query)
    lines = (f"- {str(hit.get('at', ''))[:10]}: {_one_line(str(hit.get('snippet', '')))}" for hit in hits)
    return ModelAnswer("\n".join((say("found", turn.language, query=wish.query), *lines)))


def _one_line(text: str) -> str:
    return " ".join(hearing.own_words(text).split())


# -- reviews -----------------------------------------------------------------------------------------------


def _review(turn: _Turn) -> ModelAnswer:
    """Propose the plain facts of the messages under review that are not noted, proposed or saved yet."""
    if turn.results:
        return turn.say("review_done")
    if not turn.targets:
        return turn.say("review_none")
    said = [hearing.own_words(message.content) for message in turn.earlier if message.role == "user"]
    proposals = list(_proposals(turn, said[-hearing.newest(turn.asked) :]))
    return turn.call(MEMORY, *proposals[:MOST_PROPOSALS]) if proposals else turn.say("review_none")


def _proposals(turn: _Turn, said: Sequence[str]) -> Iterator[Mapping[str, Any]]:
    now = recalling.blocks(turn.asked)
    notes = (*now, *(note for note in turn.known if note not in now))
    taken = {note.text.casefold() for note in notes}
    taken.update(text.casefold() for text in _proposed(turn.earlier))
    for fact in (fact for text in said for fact in noting.facts(text)):
        if fact.entry.casefold() in taken or fact.entry.casefold() in turn.asked.casefold():
            continue
        taken.add(fact.entry.casefold())
        old = _older(fact, now or notes)
        if old is not None and old.target in turn.targets:
            yield turn.write_arguments(
                "replace", old.target, content=fact.entry, old_text=old.text, quote=fact.quote
            )
        else:
            target = turn.target(about_person=fact.about_person)
            yield turn.write_arguments("add", target, content=fact.entry, quote=fact.quote)


def _older(fact: noting.Fact, notes: Sequence[Note]) -> Note | None:
    """The note that a fact outdates, where a person has one such thing only."""
    if not fact.single:
        return None
    outdated = [note for note in notes if noting.single(note.text) == fact.single]
    return outdated[0] if len(outdated) == 1 else None


# -- reading the request -----------------------------------------------------------------------------------


def _calls(
    messages: Sequence[RequestMessage],
) -> Iterator[tuple[str, Mapping[str, Any], Mapping[str, Any]]]:
    """The tool calls that have a result: (tool, arguments, result)."""
    results = {message.tool_call_id: message.content for message in messages if message.role == "tool"}
    for message in messages:
        for call in message.tool_calls:
            if call.id in results:
                yield call.name, _object(call.arguments), _object(results[call.id])


def _written(messages: Sequence[RequestMessage]) -> tuple[Note, ...]:
    """What the memory tool has really saved in this conversation and not removed again."""
    notes: list[Note] = []
    for tool, arguments, result in _calls(messages):
        if tool != MEMORY or result.get("success") is not True or result.get("staged"):
            continue
        target = str(result.get("target") or arguments.get("target") or "memory")
        old = arguments.get("old_text")
        if isinstance(old, str) and old:
            notes = [note for note in notes if note.target != target or old not in note.text]
        if isinstance(arguments.get("content"), str) and arguments.get("action") != "remove":
            notes.append(Note(target, arguments["content"]))
    return tuple(notes)


def _proposed(messages: Sequence[RequestMessage]) -> Iterator[str]:
    """Every text that was ever handed to the memory tool: what was refused once is not proposed again."""
    for message in messages:
        for call in message.tool_calls:
            content = _object(call.arguments).get("content")
            if isinstance(content, str):
                yield content


def _tools(definitions: str) -> dict[str, Mapping[str, Any]]:
    """The properties of each tool on offer, by its name."""
    found: dict[str, Mapping[str, Any]] = {}
    listed = json.loads(definitions) if definitions else []
    for definition in listed if isinstance(listed, list) else ():
        function = definition.get("function", {})
        found[function.get("name", "")] = function.get("parameters", {}).get("properties", {})
    return found


def _targets(properties: Mapping[str, Any]) -> tuple[str, ...]:
    offered = properties.get("target", {}).get("enum")
    return tuple(map(str, offered)) if offered else (MEMORY,)


def _object(text: str) -> Mapping[str, Any]:
    try:
        parsed = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return {}
    return parsed if isinstance(parsed, dict) else {}
