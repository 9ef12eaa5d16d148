"""The exact request that the model gets, from a session's frozen prompt and its messages. Pure.

Used by turns and by reviews. What a message looks like in a request depends on that message and those before
it alone, never on what follows: a longer transcript begins with the request of a shorter one, byte for byte, and
the model's cache serves it. How a request becomes bytes is the adapter's (`llm/`).
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from gateway.ports import ModelAnswer, ModelRequest, RequestMessage
from gateway.records import Message, Role

STOPPED = '{"success": false, "error": "This call was stopped before it ran; nothing was changed."}'
"""Stands in for the result of a call that was never run: a call without a result is refused by every API."""


def request(session_prompt: str, tools: str, messages: Sequence[Message]) -> ModelRequest:
    """The request for a transcript, in order. Commands and taps are in no request."""
    return ModelRequest(session_prompt, tuple(_well_formed(messages)), tools)


def review_request(chat_request: ModelRequest, answer: str, instruction: str) -> ModelRequest:
    """The request of a review: the turn's last request, what was answered, and the review's instruction.

    A turn that was stopped in the middle of a round leaves calls without results at the end; these get theirs.
    """
    stopped = tuple(RequestMessage("tool", STOPPED, tool_call_id=call) for call in _open_calls(chat_request))
    told = (RequestMessage("assistant", answer), RequestMessage("user", instruction))
    return replace(chat_request, messages=(*chat_request.messages, *stopped, *told))


def next_round(before: ModelRequest, answer: ModelAnswer, results: Sequence[str]) -> ModelRequest:
    """The request that follows an answer with tool calls: one result for each call, in their order."""
    called = RequestMessage("assistant", answer.text, answer.tool_calls)
    said = tuple(
        RequestMessage("tool", result, tool_call_id=call.id)
        for call, result in zip(answer.tool_calls, results, strict=True)
    )
    return replace(before, messages=(*before.messages, called, *said))


def _well_formed(messages: Iterable[Message]) -> Iterator[RequestMessage]:
    """The messages with every tool call answered once and right after it, as the APIs demand.

    A turn that was stopped leaves calls without results; a row that answers no open call is left out.
    """
    open_calls: list[str] = []
    for message in messages:
        if message.role is Role.TOOL:
            if message.tool_call_id in open_calls:
                open_calls.remove(message.tool_call_id)
                yield RequestMessage("tool", message.text, tool_call_id=message.tool_call_id)
        elif message.role in (Role.USER, Role.ASSISTANT):
            yield from (RequestMessage("tool", STOPPED, tool_call_id=call) for call in open_calls)
            open_calls = [call.id for call in message.tool_calls]
            yield _as_sent(message)


def _open_calls(chat_request: ModelRequest) -> list[str]:
    """The ids of the calls at the end of a request that have no result yet."""
    results: list[str] = []
    for message in reversed(chat_request.messages):
        if message.role != "tool":
            calls = [call.id for call in message.tool_calls]
            for result in results:
                calls.remove(result)
            return calls
        results.append(message.tool_call_id)
    return []


def _as_sent(message: Message) -> RequestMessage:
    if message.role is Role.USER:
        return RequestMessage("user", message.as_sent or message.text)
    return RequestMessage("assistant", message.text, message.tool_calls)
