"""A review tries its calls on a draft; nothing leaves it before the end."""

import json

import pytest

from gateway.chat import Chat
from gateway.memory import entries, review
from gateway.memory.review import Ground, Overlay, Store
from gateway.policy import Said
from gateway.records import Origin, Space, Target, ToolCall

OWNER = Space(1, "owner", "owner")
BOTH = (Target.MEMORY, Target.USER)
GROUND = Ground(
    OWNER,
    "20261130_090007_57bbf6",
    12,
    own=(Said(400, "telegram:123", "I moved to Bergen"), Said(412, "telegram:123", "Keep answers short, please")),
    card_chat=Chat("telegram", "123"),
)


def overlay(memory: str = "", user: str = "", *, limit: int = 2200, ground: Ground = GROUND) -> Overlay:
    texts = {Target.MEMORY: memory, Target.USER: user}
    return Overlay(ground, {target: Store(entries.parse(text), limit) for target, text in texts.items()})


def call(draft: Overlay, **arguments: object) -> dict[str, object]:
    answer = json.loads(draft.answer(ToolCall("1", "memory", json.dumps(arguments))))
    assert isinstance(answer, dict)
    return answer


def test_results_are_computed_on_the_files_plus_own_proposals() -> None:
    """Otherwise the second call would not know of the first."""
    draft = overlay("Lives in Oslo\n")
    replaced = call(draft, action="replace", old_text="Oslo", content="Lives in Bergen", evidence="moved to Bergen")
    assert (replaced["success"], replaced["usage"], "id" in replaced) == (True, "0% — 15/2,200 chars", False)
    assert str(replaced["message"]).endswith("It is written when this review ends.")
    again = call(draft, action="add", content="Lives in Bergen", evidence="moved to Bergen")
    assert again["message"] == "Entry already exists (no duplicate added)."
    assert call(draft, action="remove", old_text="Oslo")["success"] is False
    assert len(draft.proposals) == 1


def test_proposals_carry_where_they_come_from() -> None:
    """Session, turn, evidence and a key that makes them happen once."""
    draft = overlay()
    call(draft, action="add", target="user", content="Likes short answers", evidence="Keep answers short")
    call(draft, action="add", content="x")
    first, second = draft.proposals
    assert (first.origin, first.session, first.review_turn, first.quotes) == (
        Origin.REVIEW,
        "20261130_090007_57bbf6",
        12,
        ("Keep answers short",),
    )
    assert [first.dedupe, second.dedupe] == [
        "review-20261130_090007_57bbf6-12-1",
        "review-20261130_090007_57bbf6-12-2",
    ]
    assert first.card_chat == Chat("telegram", "123")


def test_what_rests_on_nothing_is_said_to_wait() -> None:
    """A review's guess is never applied silently (PI-151, PI-153)."""
    draft = overlay()
    assert call(draft, action="add", content="Probably a baker")["staged"] is True
    assert call(draft, action="add", content="Loves Oslo", evidence="I love Oslo")["staged"] is True


def test_refusals_are_proposals_too() -> None:
    """They become rows of the ledger: a person is told what could not be kept (PI-040)."""
    draft = overlay(limit=10)
    told = call(draft, action="add", content="Likes short answers", evidence="Keep answers short")
    assert str(told["error"]).startswith("Memory at 0/10 chars. Adding this entry (19 chars)")
    call(draft, action="add", content="Likes short answers", evidence="Keep answers short")
    assert len(draft.proposals) == 1


@pytest.mark.parametrize("name", ["session_search", "terminal", ""])
def test_other_tools_are_answered_with_an_error(name: str) -> None:
    """The request repeats the turn's tools; a review may use one of them."""
    answer = json.loads(overlay().answer(ToolCall("1", name, "{}")))
    assert answer == {"success": False, "error": "Only the memory tool can be used in a review."}


def test_a_review_in_a_loop_is_stopped() -> None:
    """Bounded, like a turn (PI-144)."""
    draft = overlay()
    answers = [json.loads(draft.answer(ToolCall("1", "memory", "{"))) for _ in range(6)]
    assert [answer.get("done", False) for answer in answers] == [False, False, False, True, True, True]


@pytest.mark.parametrize("content", [{"text": "x"}, 7, ["x"]])
def test_a_value_of_another_type_stops_nothing_else(content: object) -> None:
    """Elsewhere it crashed at each attempt (PI-150)."""
    draft = overlay()
    assert call(draft, action="add", content=content)["success"] is False
    assert call(draft, action="add", content="x")["success"] is True


def test_the_instruction_says_what_is_there_and_what_waits() -> None:
    """A review that does not see memory and queue proposes them again (PI-160, PI-183)."""
    text = review.instruction(BOTH, turns=10, blocks=("MEMORY BLOCK", ""), pending=("user: Likes tea",))
    assert "the last 10 messages of the person" in text
    assert "MEMORY BLOCK" in text and "user: Likes tea" in text
    assert "`user` (" in text and "`memory` (" in text


def test_the_instruction_leaves_out_what_passes() -> None:
    """ "We finished step 3 of 5 today" is no fact next week (PI-163)."""
    text = " ".join(review.instruction(tuple(Target), turns=2).split())
    assert "Leave out: the obvious, what can be looked up again, raw data and long code, progress, logs" in text
    assert "Turn relative times into dates, by the time of the message." in text


def test_the_instruction_names_only_what_is_on() -> None:
    """And says so when there is nothing yet."""
    text = review.instruction((Target.MEMORY,), turns=1)
    assert "`user` (" not in text
    assert "the last message of the person" in text
    assert "It is empty." in text and "waiting" not in text
