"""What the model is answered when it calls the `memory` tool, and when that failed too often (design.md 6.6). Pure.

What it asked is `tool`. All of it is English, and JSON.
"""

import json
from collections.abc import Iterable, Mapping, Sequence

from gateway import words
from gateway.memory import entries, snapshot
from gateway.memory.proposals import Ending, Outcome
from gateway.memory.tool import BadCall
from gateway.records import Action

_CONSOLIDATE = (
    "Consolidate now: use 'replace' to merge overlapping entries into shorter ones or 'remove' stale or less "
    "important entries (see current_entries below), then retry this add — all in this turn."
)
_ON_DISK = "It is on disk now; the prompt shows it from the next session on."
_AT_THE_END = "It is written when this review ends."
_DONE = {
    Action.ADD: "Entry added.",
    Action.REPLACE: "Entry replaced as a whole.",
    Action.REMOVE: "Entry removed.",
    Action.BATCH: "All operations done.",
}
DONE_TEXT = (
    "Memory consolidation failed 4 times this turn. Stop retrying memory calls — leave memory unchanged for now "
    "and continue with your reply to the user. The fact can be saved in a later turn."
)


def result(outcome: Outcome) -> str:
    """The answer to a call, as JSON text."""
    if outcome.ending is Ending.STAGED:
        return _json(_staged(outcome))
    return _json(_success(outcome) if outcome.ending.good else _error(outcome))


def bad_call(bad: BadCall, shown: Sequence[str], chars: int, limit: int) -> str:
    """The answer to a call that could not be read."""
    return _json({"success": False, "error": bad.error} | _state(shown, chars, limit))


def refusal(error: str) -> str:
    """The answer to a call that is about no store at all."""
    return _json({"success": False, "error": error})


def _success(outcome: Outcome) -> dict[str, object]:
    written = outcome.ending is Ending.APPLIED
    recorded = {"id": outcome.write} if outcome.write is not None else {}
    when = _ON_DISK if recorded else _AT_THE_END
    message = f"{_DONE[outcome.action]} {when}" if written else "Entry already exists (no duplicate added)."
    return {
        "success": True,
        **recorded,
        "origin": outcome.origin.value,
        "target": outcome.target.value,
        "usage": snapshot.usage(outcome.chars, outcome.limit),
        "entry_count": outcome.entry_count,
        "message": message + _beside(outcome) + _hint(outcome),
    }


def _beside(outcome: Outcome) -> str:
    """A neighbour that the model may not have meant; it decides, nothing is merged by itself."""
    if outcome.beside is None or outcome.beside_in is None:
        return ""
    how = "may contradict" if outcome.beside.kind == "contradiction" else "nearly repeats"
    named = f"this entry of `{outcome.beside_in}`: '{entries.preview(outcome.beside.entry)}'"
    return f" It {how} {named}. Replace or remove what is wrong or said twice; if both are true, leave both."


def _hint(outcome: Outcome) -> str:
    percent = snapshot.percent(outcome.chars, outcome.limit)
    if percent < snapshot.NEARLY_FULL_PERCENT:
        return ""
    return f" Memory is {percent}% full: merge overlapping entries or remove stale ones soon."


def _staged(outcome: Outcome) -> dict[str, object]:
    recorded = {"pending_id": outcome.write} if outcome.write is not None else {}
    return {
        "success": True,
        "staged": True,
        **recorded,
        "origin": outcome.origin.value,
        "message": "It waits for the person's approval and is not in memory yet. Do not propose it again.",
    }


def _error(outcome: Outcome) -> dict[str, object]:
    matches = [entries.preview(text) for text in outcome.matches]
    return {
        "success": False,
        "error": _error_text(outcome),
        **({"matches": matches} if outcome.ending is Ending.AMBIGUOUS else {}),
        **_state(outcome.shown, outcome.chars, outcome.limit),
    }


def _error_text(outcome: Outcome) -> str:
    match outcome.ending:
        case Ending.NO_MATCH:
            return f"No entry matched '{outcome.old_text}'. See current_entries for what is there."
        case Ending.AMBIGUOUS:
            return f"Multiple entries matched '{outcome.old_text}'. Be more specific."
        case Ending.OVER_BUDGET:
            return _over_budget(outcome)
        case _:
            return words.text(outcome.reason, "en", **outcome.values)


def _over_budget(outcome: Outcome) -> str:
    usage = _usage(outcome.chars, outcome.limit)
    would_be = _usage(_number(outcome, "after"), outcome.limit)
    match outcome.action:
        case Action.ADD:
            adding = f"{_number(outcome, 'adding'):,}"
            said = f"Memory at {usage} chars. Adding this entry ({adding} chars) would exceed the limit."
        case Action.REPLACE:
            said = f"Replacement would put memory at {would_be} chars."
        case _:
            said = f"These operations would put memory at {would_be} chars; nothing was changed."
    return f"{said} {_CONSOLIDATE}"


def _number(outcome: Outcome, name: str) -> int:
    return int(str(outcome.values[name]))


def _state(shown: Sequence[str], chars: int, limit: int) -> dict[str, object]:
    return {"current_entries": list(shown), "usage": _usage(chars, limit)}


def _usage(chars: int, limit: int) -> str:
    return f"{chars:,}/{limit:,}"


def _json(value: Mapping[str, object]) -> str:
    return json.dumps(value, ensure_ascii=False)


# -- three failures in a turn ------------------------------------------------------------------------------


class Breaker:
    """Counts the failed memory calls of one turn; the fourth failure and every call after it get DONE_TEXT.

    A turn that goes on after a restart makes it again from the results it has committed.
    """

    def __init__(self, results: Iterable[str] = ()) -> None:
        self._failures = sum(map(_failed, results))

    @property
    def open(self) -> bool:
        """True when calls are no longer carried out: answer them with `done()`."""
        return self._failures > _FAILURES

    def answer(self, result: str) -> str:
        """What to send for a call that ended so."""
        self._failures += _failed(result)
        return self.done() if _failed(result) and self.open else result

    @staticmethod
    def done() -> str:
        return _json({"success": False, "done": True, "error": DONE_TEXT})


_FAILURES = 3


def _failed(result: str) -> bool:
    try:
        answer = json.loads(result)
    except ValueError:
        return False
    return isinstance(answer, dict) and answer.get("success") is False
