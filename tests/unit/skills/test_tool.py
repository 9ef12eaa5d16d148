"""The skill tool: whatever a model sends, it gets an answer (design.md 6.6)."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.records import Action, Operation, Origin, Space, Status
from gateway.skills import names, tool
from gateway.skills.proposals import SkillOutcome, SkillProposal

OWNER = Space(1, "owner", "owner")
REMOVED = Operation(Action.DELETE)


def parse(**arguments: object) -> tool.View | tool.Call | tool.BadCall:
    return tool.parse(json.dumps(arguments))


def test_the_schema_is_the_contract() -> None:
    """Outsiders rely on these names."""
    function = tool.definition()["function"]
    assert isinstance(function, dict) and function["name"] == "skill"
    properties = function["parameters"]["properties"]
    assert list(properties) == ["action", "name", "content", "old_text", "new_text", "path", "evidence"]
    assert properties["action"]["enum"] == ["view", "create", "edit", "patch", "write_file", "delete"]


@pytest.mark.parametrize(
    ("arguments", "call"),
    [
        ({"action": "view"}, tool.View("", "")),
        ({"action": "view", "name": "printer", "path": "SKILL.md"}, tool.View("printer", "")),
        ({"action": "view", "name": "printer", "path": "./refs/a.md"}, tool.View("printer", "refs/a.md")),
        (
            {"action": "create", "name": "printer", "content": "x", "evidence": " my words "},
            tool.Call("printer", Operation(Action.CREATE, "x"), ("my words",)),
        ),
        (
            {"action": "edit", "name": "printer", "new_text": "x", "path": "SKILL.md"},
            tool.Call("printer", Operation(Action.EDIT, "x"), ()),
        ),
        (
            {"action": "patch", "name": "printer", "old_text": "a", "new_text": "", "path": None},
            tool.Call("printer", Operation(Action.PATCH, "", "a"), ()),
        ),
        (
            {"action": "write_file", "name": "printer", "path": "手順/ホスト.md", "content": "x"},
            tool.Call("printer", Operation(Action.WRITE_FILE, "x", path="手順/ホスト.md"), ()),
        ),
        (
            {"action": "delete", "name": "printer", "content": "x"},
            tool.Call("printer", Operation(Action.DELETE), ()),
        ),
    ],
)
def test_good_calls_are_read(arguments: dict[str, object], call: tool.View | tool.Call) -> None:
    """`new_text` is read as `content`, null as left out, SKILL.md as no path."""
    assert parse(**arguments) == call


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({}, "action is missing. Use view, create, edit, patch, write_file or delete."),
        ({"action": "run"}, "Unknown action 'run'"),
        ({"action": ["view"]}, "Unknown action that is no string"),
        ({"action": "create", "content": "x"}, "name is missing"),
        ({"action": "view", "name": "Drucker"}, "'Drucker' is no name of a skill"),
        ({"action": "view", "name": "../printer"}, "'../printer' is no name of a skill"),
        ({"action": "view", "name": "a" * 65}, "is no name of a skill"),
        ({"action": "view", "name": "プリンタ"}, "is no name of a skill"),
        ({"action": "view", "name": 7}, "name must be a string"),
        ({"action": "view", "path": "a.md"}, "path needs name"),
        ({"action": "create", "name": "a"}, "create needs content"),
        ({"action": "edit", "name": "a", "content": " \n"}, "edit needs content"),
        ({"action": "patch", "name": "a", "old_text": "x"}, "patch needs new_text"),
        ({"action": "patch", "name": "a", "new_text": "x"}, "patch needs old_text"),
        ({"action": "write_file", "name": "a", "content": "x"}, "write_file needs path"),
        ({"action": "write_file", "name": "a", "content": "x", "path": "skill.MD"}, "A skill has one SKILL.md"),
        ({"action": "write_file", "name": "a", "content": "x", "path": "b/SKILL.md"}, "A skill has one SKILL.md"),
        ({"action": "create", "name": "a", "content": "x", "path": "b.md"}, "for another file use write_file"),
        ({"action": "delete", "name": "a", "path": "b.md"}, "delete takes the whole skill away"),
    ],
)
def test_bad_calls_get_a_sentence(arguments: dict[str, object], error: str) -> None:
    """The model can mend what it is told of."""
    call = parse(**arguments)
    assert isinstance(call, tool.BadCall) and error in call.error


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("a.md", ""),
        ("references/hosts (new).md", ""),
        ("a/b/c/d.sh", ""),
        ("/etc/passwd.txt", "skill.path_outside"),
        ("../printer.md", "skill.path_outside"),
        ("a/../../b.md", "skill.path_outside"),
        ("~/b.md", "skill.path_outside"),
        ("C:b.md", "skill.path_outside"),
        ("a\\b.md", "skill.path_outside"),
        (".hidden.md", "skill.path_hidden"),
        ("a/.git/b.md", "skill.path_hidden"),
        ("a/./b.md", "skill.path_hidden"),
        ("a//b.md", "skill.path_signs"),
        ("a/", "skill.path_signs"),
        ("a\0.md", "skill.path_signs"),
        ("a\nb.md", "skill.path_signs"),
        ("a\u202eb.md", "skill.path_signs"),
        ("a\u200bb.md", "skill.path_signs"),
        ("-rf.md", "skill.path_signs"),
        ("a /b.md", "skill.path_signs"),
        ("a/b/c/d/e.md", "skill.path_long"),
        ("あ" * 70 + ".md", "skill.path_long"),
        ("a.exe", "skill.path_suffix"),
        ("a.md.bak.20261130T090007Z", "skill.path_suffix"),
        ("Makefile", "skill.path_suffix"),
    ],
)
def test_a_path_stays_in_the_folder_of_its_skill(path: str, why: str) -> None:
    """No absolute path, no way up, nothing hidden, text only."""
    assert names.why_no_path(path) == why


@given(
    st.text(max_size=60)
    | st.builds(
        json.dumps,
        st.dictionaries(
            st.sampled_from(["action", "name", "content", "old_text", "new_text", "path", "evidence"]),
            st.none() | st.text(max_size=8) | st.integers() | st.sampled_from([*tool._ACTIONS, "a", "a.md"]),
            max_size=7,
        ),
    )
)
def test_whatever_a_model_sends_there_is_an_answer(arguments: str) -> None:
    """Never an exception in the middle of a turn."""
    call = tool.parse(arguments)
    if isinstance(call, tool.Call):
        assert names.is_name(call.name)
        assert not call.operation.path or not names.why_no_path(call.operation.path)


# -- results -----------------------------------------------------------------------------------------------


def outcome(status: Status | None, operation: Operation = REMOVED, **fields: object) -> dict[str, object]:
    proposal = SkillProposal(OWNER, "printer", operation, Origin.FOREGROUND, "k")
    answer: dict[str, object] = json.loads(tool.result(SkillOutcome(proposal, status, **fields)))  # type: ignore[arg-type]
    return answer


def test_a_change_that_was_made_is_said_with_its_id() -> None:
    """Ids are rows of the ledger."""
    told = outcome(Status.APPLIED, Operation(Action.PATCH, "b", "a"), write=17)
    assert told.pop("message") == (
        "Skill 'printer' patched. It is on disk now and can be viewed; the list in the prompt shows it from the "
        "next session on."
    )
    assert told == {
        "success": True, "id": 17, "origin": "foreground", "skill": "printer", "action": "patch",
        "path": "SKILL.md",
    }  # fmt: skip


def test_one_that_waits_says_that_it_waits() -> None:
    """The model must not say that it is done."""
    told = outcome(Status.STAGED, write=17, like="scanner")
    assert (told["staged"], told["pending_id"], told.get("id")) == (True, 17, None)
    assert "waits for the person's approval" in str(told["message"]) and "'scanner'" in str(told["message"])


@pytest.mark.parametrize(
    ("status", "reason", "values"),
    [
        (None, "skill.patch_often", {"count": 3}),
        (Status.REFUSED, "reason.secret", {}),
        (Status.FAILED, "reason.skill_unwritable", {"why": "read-only", "mode": "0400"}),
    ],
)
def test_one_that_cannot_be_says_why(status: Status | None, reason: str, values: dict[str, object]) -> None:
    """In the words of the catalog."""
    told = outcome(status, reason=reason, values=values)
    assert told["success"] is False
    assert tool.sentence(reason, **values) in str(told["error"])
