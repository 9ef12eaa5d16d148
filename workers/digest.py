"""What a review by another model than the chat's reads instead of the whole transcript. Pure; no model is asked.

Another model has nothing of the conversation in its cache, so each word of it is paid in full. It gets the turns
under review and a few before them as they were, and of what is older the person's own words, shortened. Words of
others are left out there: in a line of their own they would look like the person's.

Where even that is too long for the model, it gets less: a review that can never be done helps nobody.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from gateway import policy, transcript
from gateway.ports import ModelRequest, RequestMessage
from gateway.records import Message, Role

TURNS_BEFORE = 2
"""So many turns before the reviewed ones are as they were: "yes, that one" means nothing alone."""
MOST_VERBATIM_CHARS = 40_000
MOST_EARLIER_CHARS = 8_000
TIGHTEST = 3
"""So often it may be made shorter, to a quarter of the room each time."""
LEAST_CHARS = 80
"""Of one message, however little room there is."""
MOST_SAID_CHARS = 240
"""Of one older message of the person, and half of it of an answer."""

READ = "(Read.)"
"""Stands between what is shortened and what follows: APIs want an answer between two messages of a person."""
_SAID = (Role.USER, Role.ASSISTANT, Role.TOOL)
_EARLIER = "Earlier in this conversation, shortened; words of others are left out:"


@dataclass(frozen=True, slots=True)
class Digest:
    """A transcript in two parts: `earlier` in a few words ("" for nothing), the rows of `recent` as they were."""

    earlier: str
    recent: Sequence[Message]


def digest(
    rows: Sequence[Message], first_reviewed: int, whose: Collection[str] | None = None, tight: int = 0
) -> Digest:
    """Cut a transcript between two turns. `whose` as in `policy.own_words`.

    `tight`: how often it was too long; then no message is longer than its share of the room either.
    """
    said = [row for row in rows if row.role in _SAID]
    turns = [list(turn) for _, turn in groupby(said, key=lambda row: row.turn)]
    room = _within(MOST_VERBATIM_CHARS, tight)
    cut = _first_verbatim(turns, first_reviewed, room)
    recent = [row for turn in turns[cut:] for row in turn]
    share = max(LEAST_CHARS, room // max(1, len(recent)))
    earlier = _shortened(turns[:cut], whose, _within(MOST_EARLIER_CHARS, tight))
    return Digest(earlier, [_beginning(row, share) for row in recent] if tight else recent)


def answer(text: str, tight: int) -> str:
    """The last answer, in what stands behind a digest that was made so tight."""
    return _begun(text, max(LEAST_CHARS, _within(MOST_VERBATIM_CHARS, tight) // 4)) if tight else text


def request(prompt: str, tools: str, cut: Digest) -> ModelRequest:
    """The request in whose place it stands (see `transcript.request`), with the same prompt and tools."""
    recent = transcript.request(prompt, tools, cut.recent)
    if not cut.earlier:
        return recent
    told = (RequestMessage("user", cut.earlier), RequestMessage("assistant", READ))
    return replace(recent, messages=(*told, *recent.messages))


def _within(most: int, tight: int) -> int:
    return most >> 2 * tight


def _first_verbatim(turns: Sequence[Sequence[Message]], first_reviewed: int, room: int) -> int:
    """Where the turns begin that stay as they were: the newest does, however long it is."""
    first, chars = len(turns), 0
    for place in reversed(range(len(turns))):
        chars += sum(len(row.as_sent or row.text) for row in turns[place])
        too_early = turns[place][0].turn < first_reviewed - TURNS_BEFORE
        if first < len(turns) and (too_early or chars > room):
            break
        first = place
    return first


def _beginning(row: Message, most: int) -> Message:
    calls = tuple(call if len(call.arguments) <= most else replace(call, arguments="{}") for call in row.tool_calls)
    return replace(row, text=_begun(row.text, most), as_sent=_begun(row.as_sent, most), tool_calls=calls)


def _begun(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _shortened(turns: Sequence[Sequence[Message]], whose: Collection[str] | None, room: int) -> str:
    """One paragraph for each turn, the newest that there is room for."""
    told: list[str] = []
    for turn in reversed(turns):
        paragraph = _turn(turn, whose)
        room -= len(paragraph)
        if room < 0:
            break
        told.append(paragraph)
    if not told:
        return ""
    left_out = len(turns) - len(told)
    before = [f"({left_out} earlier turns are left out.)"] if left_out else []
    return "\n".join([_EARLIER, *before, *reversed(told)])


def _turn(turn: Sequence[Message], whose: Collection[str] | None) -> str:
    said = {words.message: words.text for words in policy.own_words(turn, whose)}
    return "\n".join(line for row in turn if (line := _line(row, said.get(row.id, ""))))


def _line(row: Message, own: str) -> str:
    if row.role is Role.USER:
        return f"- {_time(row)}{_cut(own, MOST_SAID_CHARS)}" if own else f"- {_time(row)}(words of others)"
    if row.role is Role.ASSISTANT and row.text.strip():
        return f"  You answered: {_cut(row.text, MOST_SAID_CHARS // 2)}"
    return ""


def _time(row: Message) -> str:
    """The time as the model was shown it."""
    stamp = re.match(r"\[[^\]\n]{0,40}\d:\d{2}[^\]\n]{0,20}\] ", row.as_sent)
    return stamp[0] if stamp else ""


def _cut(text: str, most: int) -> str:
    """One line of the beginning."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"
