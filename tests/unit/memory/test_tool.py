"""The memory tool, to the letter of design.md 6.6."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.memory import entries, proposals, tool, tool_results
from gateway.memory.proposals import Ending, Outcome, Proposal
from gateway.memory.tool import BadCall, Call
from gateway.memory.tool_results import Breaker
from gateway.policy import Said
from gateway.records import Action, Operation, Origin, Space, Target

BOTH = (Target.MEMORY, Target.USER)
OWNER = Space(1, "owner", "owner")
SAID = (Said(412, "telegram:123", "remember this for me please"),)


def parsed(*, enabled: tuple[Target, ...] = BOTH, **arguments: object) -> Call | BadCall:
    return tool.parse(json.dumps(arguments), enabled)


def error_of(arguments: dict[str, object], enabled: tuple[Target, ...] = BOTH) -> str:
    bad = tool.parse(json.dumps(arguments), enabled)
    assert isinstance(bad, BadCall), bad
    return bad.error


def outcome_on(file: str, *operations: Operation, limit: int, batch: bool = False) -> Outcome:
    doc = entries.parse(file)
    proposal = Proposal(OWNER, Target.USER, operations, Origin.FOREGROUND, "k", batch=batch, own=SAID, message=412)
    judgement = proposals.judge(proposal, doc, limit)
    after = judgement.applied.doc if judgement.applied else doc
    return proposals.outcome(proposal, judgement, after, limit)


def answered(file: str, *operations: Operation, limit: int, batch: bool = False) -> dict[str, object]:
    told = json.loads(tool_results.result(outcome_on(file, *operations, limit=limit, batch=batch)))
    assert isinstance(told, dict)
    return told


def add(content: str) -> Operation:
    return Operation(Action.ADD, content)


NO_OLD_TEXT = "old_text: a part of the entry that no other entry has."
NO_LIST = "operations must be a list of at least one {action, content, old_text}."

# -- arguments -----------------------------------------------------------------------------------------


def test_an_add_goes_to_memory_unless_it_says_otherwise() -> None:
    """`target` has a default."""
    expected = (Operation(Action.ADD, "Lives in Bergen"),)
    assert parsed(action="add", content=" Lives in Bergen ") == Call(Target.MEMORY, expected, (), False)
    assert parsed(action="add", target="user", content="x", evidence="I am x") == Call(
        Target.USER, (Operation(Action.ADD, "x"),), ("I am x",), False
    )


def test_new_text_is_read_as_content() -> None:
    """Models mix the two up (PI-009)."""
    assert parsed(action="replace", old_text="Oslo", new_text="Bergen", content=None) == Call(
        Target.MEMORY, (Operation(Action.REPLACE, "Bergen", "Oslo"),), (), False
    )


def test_a_list_of_operations_is_one_call() -> None:
    """All or nothing; each may quote words of its own."""
    call = parsed(
        target="user",
        evidence="a b",
        operations=[
            {"action": "remove", "old_text": "Oslo", "evidence": "no more Oslo"},
            {"action": "add", "new_text": "Bergen", "target": "user"},
        ],
    )
    operations = (Operation(Action.REMOVE, old_text="Oslo"), Operation(Action.ADD, "Bergen"))
    assert call == Call(Target.USER, operations, ("a b", "no more Oslo"), True)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({}, "action is missing. Use add, replace or remove."),
        ({"action": "read"}, "Unknown action 'read'. Use add, replace or remove."),
        ({"action": 7}, "Unknown action that is no string. Use add, replace or remove."),
        ({"action": "add"}, "add needs content: the entry's new text."),
        ({"action": "add", "content": " \n"}, "add needs content: the entry's new text."),
        ({"action": "add", "content": {"text": "x"}}, "content must be a string."),
        ({"action": "remove"}, "remove needs " + NO_OLD_TEXT),
        ({"action": "replace", "content": "x", "old_text": ""}, "replace needs " + NO_OLD_TEXT),
        ({"action": "add", "content": "x", "target": "soul"}, "Unknown target 'soul'. Use memory or user."),
        ({"action": "add", "target": ["user"]}, "Unknown target that is no string. Use memory or user."),
        ({"action": "add", "content": "x", "evidence": 3}, "evidence must be a string."),
        ({"operations": []}, NO_LIST),
        ({"operations": {"action": "add"}}, NO_LIST),
        ({"operations": ["add"]}, "Each of operations must be an object {action, content, old_text}."),
        (
            {"action": "add", "content": "x", "operations": [{"action": "add", "content": "y"}]},
            "Give either operations or action or content, not both.",
        ),
        (
            {"target": "memory", "operations": [{"action": "add", "content": "x", "target": "user"}]},
            "All operations change the call's target 'memory'; one names 'user'. Nothing was changed.",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_said(arguments: dict[str, object], error: str) -> None:
    """An error that says which name is wanted saves the model a round (PI-009)."""
    assert error_of(arguments) == error


@pytest.mark.parametrize("arguments", ["", "null", "[]", "{", '"add"', "[" * 100_000, "\ud83d", "NaN"])
def test_broken_arguments_are_an_error_and_no_exception(arguments: str) -> None:
    """Whatever a model sends, the turn goes on."""
    assert isinstance(tool.parse(arguments, BOTH), BadCall)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
names = st.sampled_from(["action", "target", "content", "old_text", "new_text", "evidence", "operations"])
values = json_values | st.sampled_from(["add", "replace", "remove", "memory", "user"])


@given(st.dictionaries(names, values))
def test_any_arguments_are_read_or_refused(arguments: dict[str, object]) -> None:
    """No value of any type raises, and what comes out can be stored and sent."""
    call = tool.parse(json.dumps(arguments), BOTH)
    text = call.error if isinstance(call, BadCall) else repr(call.operations)
    assert text.encode()


def test_half_of_a_surrogate_pair_becomes_a_sign_that_can_be_stored() -> None:
    """SQLite and UTF-8 cannot hold it (PI-375)."""
    call = tool.parse('{"action": "add", "content": "hi \\ud83d"}', BOTH)
    assert call == Call(Target.MEMORY, (Operation(Action.ADD, "hi \ufffd"),), (), False)


def test_a_store_that_is_off_is_refused() -> None:
    """It is not in the schema either; models remember it all the same."""
    assert error_of({"action": "add", "content": "x", "target": "memory"}, (Target.USER,)) == (
        "The target 'memory' is switched off here. Use user."
    )
    assert error_of({"action": "add", "content": "x"}, ()) == "Memory is switched off."
    assert parsed(enabled=(Target.USER,), action="add", content="x") == Call(
        Target.USER, (Operation(Action.ADD, "x"),), (), False
    )


# -- schema and guidance -------------------------------------------------------------------------------


def test_the_schema_offers_what_is_on_and_no_read() -> None:
    """A group has no profile; nobody can read a store that is off."""
    function = tool.definition((Target.MEMORY,))["function"]
    assert isinstance(function, dict)
    properties = function["parameters"]["properties"]
    assert set(properties) == {"action", "target", "content", "old_text", "evidence", "operations"}
    assert properties["target"]["enum"] == ["memory"]
    assert properties["action"]["enum"] == ["add", "replace", "remove"]
    assert "`user`" not in function["description"]


def test_the_guidance_names_only_the_store_that_is_on() -> None:
    """Otherwise the model promises what the tool refuses."""
    assert "`memory` (" not in tool.guidance((Target.USER,))
    assert "`user` (" not in tool.guidance((Target.MEMORY,))
    assert "`user` (" in tool.guidance(BOTH) and "`memory` (" in tool.guidance(BOTH)
    assert tool.guidance(()) == ""


# -- results -------------------------------------------------------------------------------------------


def test_a_success_says_usage_and_count_and_no_entries() -> None:
    """The model knows what it wrote; entries would only cost tokens."""
    outcome = outcome_on("a\n", add("b"), limit=2200)
    written = Outcome(**{name: getattr(outcome, name) for name in outcome.__slots__} | {"write": 17})
    assert json.loads(tool_results.result(written)) == {
        "success": True,
        "id": 17,
        "origin": "foreground",
        "target": "user",
        "usage": "0% — 5/2,200 chars",
        "entry_count": 2,
        "message": "Entry added. It is on disk now; the prompt shows it from the next session on.",
    }


def test_a_nearly_full_store_is_said_early() -> None:
    """At the limit it is too late to choose calmly (PI-041)."""
    assert str(answered("a" * 76 + "\n", add("b"), limit=100)["message"]).endswith(
        "Memory is 80% full: merge overlapping entries or remove stale ones soon."
    )
    assert "full" not in str(answered("a" * 75 + "\n", add("b"), limit=100)["message"])


def test_a_staged_write_gives_its_number() -> None:
    """The model can tell the person what waits."""
    outcome = Outcome(Ending.STAGED, Target.USER, Origin.FOREGROUND, Action.ADD, 5, 2200, 1, (), write=17)
    assert json.loads(tool_results.result(outcome)) == {
        "success": True,
        "staged": True,
        "pending_id": 17,
        "origin": "foreground",
        "message": "It waits for the person's approval and is not in memory yet. Do not propose it again.",
    }


def test_a_duplicate_is_a_success() -> None:
    """The file says what was wanted."""
    told = answered("a\n", add("a"), limit=1)
    assert told["success"] is True
    assert str(told["message"]).startswith("Entry already exists (no duplicate added).")
    assert (told["entry_count"], told["usage"]) == (1, "100% — 1/1 chars")


CONSOLIDATE = (
    "Consolidate now: use 'replace' to merge overlapping entries into shorter ones or 'remove' stale or less "
    "important entries (see current_entries below), then retry this add — all in this turn."
)


def test_a_full_store_tells_how_to_go_on() -> None:
    """The model is to make room in the same turn, with the entries before its eyes."""
    assert answered("a" * 2041 + "\n", add("b" * 208), limit=2200) == {
        "success": False,
        "error": "Memory at 2,041/2,200 chars. Adding this entry (208 chars) would exceed the limit. "
        + CONSOLIDATE,
        "current_entries": ["a" * 2041],
        "usage": "2,041/2,200",
    }


def test_a_replacement_or_batch_that_is_too_long_says_what_it_would_make() -> None:
    """The same ending, another beginning."""
    replacement = Operation(Action.REPLACE, "b" * 2310, "a")
    assert answered("a" * 2041 + "\n", replacement, limit=2200)["error"] == (
        "Replacement would put memory at 2,310/2,200 chars. " + CONSOLIDATE
    )
    batch = (add("b" * 200), add("c" * 63))
    for told in (
        answered("a" * 2041 + "\n", *batch, limit=2200, batch=True),
        answered("a" * 2041 + "\n", add("b" * 266), limit=2200, batch=True),
    ):
        assert told["error"] == (
            "These operations would put memory at 2,310/2,200 chars; nothing was changed. " + CONSOLIDATE
        )


def test_no_match_and_several_matches_are_said() -> None:
    """With what the model needs to do better: the entries, or previews of the candidates."""
    remove = Operation(Action.REMOVE, old_text="Oslo")
    told = answered("Bergen\n", remove, limit=99)
    assert str(told["error"]).startswith("No entry matched 'Oslo'.")
    assert told["current_entries"] == ["Bergen"]
    told = answered("Oslo " + "x" * 200 + "\n§\nOslo flat\n", remove, limit=999)
    assert told["error"] == "Multiple entries matched 'Oslo'. Be more specific."
    assert told["matches"] == ["Oslo " + "x" * 74 + "…", "Oslo flat"]
    assert set(told) == {"success", "error", "matches", "current_entries", "usage"}


def test_refused_text_is_refused_with_the_reason() -> None:
    """And the entries that are shown are those a model may see."""
    told = answered("hide this from the user\n", add("password: hunter2"), limit=99)
    assert told["success"] is False
    assert str(told["error"]).startswith("It holds a key, a password or a card number.")
    assert "hide" not in json.dumps(told["current_entries"])


# -- three failures ------------------------------------------------------------------------------------

FAILED = '{"success": false, "error": "x"}'
DONE = {
    "success": False,
    "done": True,
    "error": "Memory consolidation failed 4 times this turn. Stop retrying memory calls — leave memory unchanged "
    "for now and continue with your reply to the user. The fact can be saved in a later turn.",
}


def test_the_fourth_failure_of_a_turn_ends_it() -> None:
    """Otherwise a model at capacity loops until the turn ends without a reply (PI-043)."""
    breaker = Breaker()
    assert [(breaker.answer(FAILED), breaker.open) for _ in range(3)] == [(FAILED, False)] * 3
    assert json.loads(breaker.answer(FAILED)) == DONE
    assert breaker.open
    assert json.loads(breaker.done()) == DONE


def test_successes_in_between_reset_nothing_and_count_nothing() -> None:
    """Three failures of any kind in a turn."""
    breaker = Breaker()
    for result in (FAILED, '{"success": true}', FAILED, FAILED, '{"success": true}'):
        assert breaker.answer(result) == result
    assert json.loads(breaker.answer(FAILED)) == DONE


def test_a_turn_that_goes_on_after_a_kill_remembers_its_failures() -> None:
    """The count is in the committed results."""
    assert not Breaker([FAILED] * 3).open
    assert Breaker([FAILED] * 3 + [json.dumps(DONE)]).open
    assert not Breaker(["not json", "[]", "7"]).open
