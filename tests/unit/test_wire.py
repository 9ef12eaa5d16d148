"""The chat-completions format: whatever a server sends, the answer is well-formed."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.llm import wire
from gateway.records import ToolCall

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=8,
)


def chunk(**delta: Any) -> dict[str, Any]:
    return {"choices": [{"delta": delta}]}


def call(**fields: Any) -> dict[str, Any]:
    return chunk(tool_calls=[fields])


def assembled(*documents: object, first: int = 5) -> wire.Assembly:
    assembly = wire.Assembly(first_call_number=first)
    for document in documents:
        assembly.take(document)
    return assembly


def test_arguments_that_are_no_json_do_not_poison_the_conversation() -> None:
    """They are sent back with every later request, and several servers refuse a request with such a call."""
    answer = assembled(call(index=0, id="a", function={"name": "memory", "arguments": '{"action": "ad'})).answer()

    [made] = answer.tool_calls
    assert json.loads(made.arguments) == {"unreadable_arguments": '{"action": "ad'}


@pytest.mark.parametrize(
    "given", [("call_5", "call_5"), ("call_6", ""), ("", "call_5"), ("call_6", "", "call_6_2")]
)
def test_every_call_has_an_id_of_its_own(given: tuple[str, ...]) -> None:
    """Two of one name get one result, and servers refuse every later request of the conversation."""
    pieces = [call(index=place, id=id, function={"name": "memory"}) for place, id in enumerate(given)]
    made = [one.id for one in assembled(*pieces).answer().tool_calls]

    assert len(set(made)) == len(given)
    assert set(made) > {id for id in given if id} or len(set(given) - {""}) == len(set(made))


def test_arguments_that_came_as_an_object_become_text() -> None:
    """Some local servers send the object itself."""
    answer = assembled(
        call(index=0, id="a", function={"name": "memory", "arguments": {"content": "控え"}})
    ).answer()

    assert answer.tool_calls == (ToolCall("a", "memory", '{"content": "控え"}'),)


def test_calls_without_ids_or_with_the_same_get_ids_of_their_own() -> None:
    """A result names the call it answers; two calls of one name would get one result."""
    nameless = [{"function": {"name": "memory", "arguments": "{}"}} for _ in range(2)]
    same = [{"id": "x", "index": at, "function": {"name": "memory", "arguments": "{}"}} for at in range(2)]

    assert [made.id for made in assembled(chunk(tool_calls=nameless)).answer().tool_calls] == ["call_5", "call_6"]
    assert [made.id for made in assembled(chunk(tool_calls=same)).answer().tool_calls] == ["x", "call_6"]


def test_a_call_without_a_name_is_none() -> None:
    """There is nothing to run."""
    assert assembled(call(index=0, id="a", function={"arguments": "{}"})).answer().tool_calls == ()


def test_a_name_that_servers_refuse_is_made_harmless() -> None:
    """It comes back as "there is no such tool" instead of ending the conversation."""
    answer = assembled(call(index=0, id="a", function={"name": "mem ory.äß", "arguments": "{}"})).answer()

    assert answer.tool_calls[0].name == "mem_ory___"


def test_of_an_answer_cut_at_its_limit_only_whole_calls_are_run() -> None:
    """The last call ends in the middle: half its arguments could mean the opposite."""
    whole = {"index": 0, "id": "a", "function": {"name": "memory", "arguments": '{"action": "add"}'}}
    half = {"index": 1, "id": "b", "function": {"name": "memory", "arguments": '{"action": "rem'}}
    end = {"choices": [{"delta": {}, "finish_reason": "length"}]}

    answer = assembled(chunk(tool_calls=[whole, half]), end).answer()

    assert answer.tool_calls == (ToolCall("a", "memory", '{"action": "add"}'),)


def test_text_may_come_in_parts() -> None:
    """Newer servers send a list of typed parts."""
    parts = [{"type": "text", "text": "Hello"}, {"type": "image"}, {"type": "text", "text": " you"}, 7]

    assert assembled({"choices": [{"message": {"content": parts}}]}).answer().text == "Hello you"


@given(JSON)
def test_no_document_is_an_exception(document: object) -> None:
    """Whatever comes in a 200 ends as an answer or as "no answer", never as a crash of the turn."""
    wraps = (document, {"choices": document}, {"choices": [document]}, {"usage": document, "choices": []})
    deltas = (
        chunk(content=document),
        chunk(tool_calls=document),
        call(index=document, id=document, function=document),
    )
    calls = (call(index=0, function={"name": document, "arguments": document}),)

    answer = assembled(*wraps, *deltas, *calls).answer()

    answer.text.encode("utf-8")
    assert all(isinstance(json.loads(made.arguments), dict) for made in answer.tool_calls)
    assert len({made.id for made in answer.tool_calls}) == len(answer.tool_calls)


@given(st.data())
def test_a_stream_reads_the_same_however_it_is_cut(data: st.DataObject) -> None:
    """TCP cuts where it likes, also inside a character."""
    documents = [{"a": "控え"}, {"b": "x\u2028y"}, {"c": [1, 2]}]
    lines = "".join(f"data: {json.dumps(document, ensure_ascii=False)}\r\n\r\n" for document in documents)
    stream = f"\n: waiting\n\n{lines}data: [DONE]\n\ndata: late\n\n".encode()
    cuts = sorted(data.draw(st.sets(st.integers(0, len(stream)))))
    reader = wire.Reader()

    read = []
    for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True):
        read += reader.feed(stream[start:end])

    assert read == documents
    assert reader.done


def test_one_document_is_read_whole_whatever_its_content_type() -> None:
    """Servers that ignore `stream` answer with JSON, some of them after blanks that keep the line alive."""
    reader = wire.Reader()

    assert reader.feed(b"  \n") + reader.feed(b'{\n"choices":') + reader.feed(b" []}\n") == []
    assert reader.rest() == [{"choices": []}]
    assert reader.whole


@given(st.text(alphabet=st.characters(codec=None)))
def test_whole_characters_can_always_be_sent(text: str) -> None:
    """Halves of a pair are joined or replaced, everything else stays as it was."""
    whole = wire.whole_characters(text)

    whole.encode("utf-8")
    assert wire.whole_characters(whole) == whole
