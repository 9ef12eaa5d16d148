"""The openai adapter over real HTTP: what it sends, and what it makes of servers that fail in every way."""

import asyncio
import json
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from gateway import words
from gateway.errors import ModelBusy, ModelFull, ModelRefused
from gateway.llm import wire
from gateway.llm.openai import OpenAIModel
from gateway.ports import ModelRequest, RequestMessage, Tokens
from gateway.records import ToolCall
from tests.fakes.model import ModelServer

TOOLS = '[{"type":"function","function":{"name":"memory","description":"覚える","parameters":{"type":"object"}}}]'
HELLO = ModelRequest("You are hikae.", (RequestMessage("user", "hello"),), TOOLS)
SECRET_WORDS = "the server's own words about sk-123"


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as server:
        yield server


@pytest.fixture
async def model(server: ModelServer) -> AsyncIterator[OpenAIModel]:
    model = OpenAIModel("fake-1", base_url=server.url, timeout_seconds=5)
    yield model
    await model.close()


def event(**delta: Any) -> dict[str, Any]:
    finish = delta.pop("finish", None)
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


# -- what is sent ------------------------------------------------------------------------------------------


async def test_the_body_is_what_was_asked_and_nothing_else(server: ModelServer, model: OpenAIModel) -> None:
    """Injected fields (max_tokens, temperature, user) would change answers and break the prompt cache."""
    await model.think(HELLO)

    assert server.last.body.decode() == (
        '{"messages":[{"role":"system","content":"You are hikae."},{"role":"user","content":"hello"}],'
        f'"model":"fake-1","tools":{TOOLS},"stream":true,"stream_options":{{"include_usage":true}}}}'
    )


async def test_each_request_begins_with_the_bytes_of_the_one_before(
    server: ModelServer, model: OpenAIModel
) -> None:
    """The model's prompt cache serves what repeats byte for byte, and only that is cheap."""
    call = ToolCall("call_1", "memory", '{"content": "Bor i Bergen – 控え"}')
    messages = (
        RequestMessage("user", "hello \ud83d"),
        RequestMessage("assistant", "", (call,)),
        RequestMessage("tool", '{"success": true}', tool_call_id="call_1"),
        RequestMessage("assistant", "Noted."),
        RequestMessage("user", "thanks"),
    )

    for length in (1, 3, 5):
        await model.think(ModelRequest("You are hikae.", messages[:length], TOOLS))

    first, second, third = (request.message_bytes for request in server.requests)
    assert second.startswith(first)
    assert third.startswith(second)
    assert server.last.messages[2] == {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "call_1", "type": "function", "function": {"name": "memory", "arguments": call.arguments}}
        ],
    }


async def test_without_a_key_no_authorization_is_sent(
    server: ModelServer, model: OpenAIModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A local server needs none; and what the SDK finds in the environment belongs to another endpoint."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-somebody-else")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-of-somebody-else")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")

    await model.think(HELLO)
    await model.reach()

    sent = json.dumps(server.last.headers)
    assert "Authorization" not in sent
    assert "somebody-else" not in sent


async def test_one_connection_serves_many_turns(server: ModelServer, model: OpenAIModel) -> None:
    """A new TLS handshake for every turn would cost more than the rest of the turn."""
    for _ in range(3):
        await model.think(HELLO)

    assert server.connections == 1


async def test_a_server_without_stream_options_is_asked_without_them(
    server: ModelServer, model: OpenAIModel
) -> None:
    """Older compatible servers refuse the field; what one refused is not tried at every turn again."""
    server.takes_stream_options = False

    await model.think(HELLO)
    await model.think(HELLO)

    assert ["stream_options" in request.json for request in server.requests] == [True, False, False]
    assert server.last.json["stream"] is True


# -- what comes back ---------------------------------------------------------------------------------------


async def test_tokens_are_counted_with_the_cached_ones(server: ModelServer, model: OpenAIModel) -> None:
    """`hikae usage` shows whether the cache works."""
    usage = {"prompt_tokens": 1000, "completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": 960}}
    server.answers("Hi!", usage=usage)

    assert (await model.think(HELLO)).tokens == Tokens(1000, 7, 960)


async def test_tool_calls_are_put_together_from_their_pieces(server: ModelServer, model: OpenAIModel) -> None:
    """Arguments come in pieces, several calls at once, with text before them."""
    server.calls_many(
        ("memory", {"action": "add", "content": "A"}), ("session_search", {"query": "B"}), text="Wait."
    )

    answer = await model.think(HELLO)

    assert answer.text == "Wait."
    assert [(call.id, call.name, json.loads(call.arguments)) for call in answer.tool_calls] == [
        ("call_0_memory", "memory", {"action": "add", "content": "A"}),
        ("call_1_session_search", "session_search", {"query": "B"}),
    ]


async def test_an_answer_at_the_length_limit_says_so(server: ModelServer, model: OpenAIModel) -> None:
    """The person is told that the answer was cut."""
    server.answers("Once upon a", finish="length")

    answer = await model.think(HELLO)

    assert (answer.text, answer.truncated) == ("Once upon a", True)


async def test_an_emoji_cut_in_two_is_whole_again_and_half_a_one_is_replaced(
    server: ModelServer, model: OpenAIModel
) -> None:
    """A lone surrogate in an answer breaks the database, the platform and the next request."""
    server.streams_events(event(content="\ud83d"), event(content="\ude00 and \ud83d"), event(finish="stop"))

    assert (await model.think(HELLO)).text == "😀 and \ufffd"


@pytest.mark.parametrize("finish", ["stop", "eos", "tool_calls", "function_call", "weird"])
async def test_an_unknown_end_is_an_end(server: ModelServer, model: OpenAIModel, finish: str) -> None:
    """Servers invent reasons; the answer is there all the same."""
    server.answers("Done.", finish=finish)

    answer = await model.think(HELLO)

    assert (answer.text, answer.truncated) == ("Done.", False)


async def test_a_flood_is_cut(server: ModelServer, model: OpenAIModel) -> None:
    """A degenerate model must not fill the memory and the chat."""
    server.answers("ha" * 500_000)

    answer = await model.think(HELLO)

    assert len(answer.text) == wire.MOST_CHARS
    assert answer.truncated


# -- what goes wrong ---------------------------------------------------------------------------------------


async def test_a_busy_server_is_asked_again_in_the_same_thought(server: ModelServer, model: OpenAIModel) -> None:
    """Most 429s and 503s are over in a moment: the person need not notice."""
    server.fails(429, retry_after=0.01)
    server.fails(503, retry_after=0.01)
    server.answers("Here I am.")

    assert (await model.think(HELLO)).text == "Here I am."


async def test_a_server_that_stays_busy_says_when_to_come_back(server: ModelServer, model: OpenAIModel) -> None:
    """Retry-After is the server's wish; minutes are waited by whoever asked, not in here."""
    server.fails(429, retry_after=600, message=SECRET_WORDS)

    with pytest.raises(ModelBusy) as busy:
        await model.think(HELLO)

    assert busy.value.after == 600
    assert SECRET_WORDS not in str(busy.value)


async def test_a_date_in_retry_after_counts_from_the_servers_clock(server: ModelServer, model: OpenAIModel) -> None:
    """Ours may be wrong, and time is not read in an adapter."""
    headers = {"Retry-After": "Mon, 30 Nov 2099 09:10:00 GMT", "Date": "Mon, 30 Nov 2099 09:00:00 GMT"}
    server.says_raw("{}", status=429, headers=headers)

    with pytest.raises(ModelBusy) as busy:
        await model.think(HELLO)

    assert busy.value.after == 600


@pytest.mark.parametrize(
    ("status", "setting"),
    [
        (400, "model.name"),
        (401, "model.api_key_env"),
        (402, "credit"),
        (403, "model.api_key_env"),
        (404, "model.base_url"),
        (413, "model.context_window"),
        (422, "model.name"),
    ],
)
async def test_a_refusal_names_the_setting_and_not_the_servers_words(
    server: ModelServer, model: OpenAIModel, status: int, setting: str
) -> None:
    """Asking again cannot help, the owner can; the server's text may quote the conversation or the key."""
    server.fails(status, message=SECRET_WORDS)

    with pytest.raises(ModelRefused) as refused:
        await model.think(HELLO)

    assert refused.value.status == status
    assert setting in words.text(refused.value.hint, "en")
    assert SECRET_WORDS not in str(refused.value)
    assert refused.value.__cause__ is None
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "body",
    [
        "<html><body>Bad gateway</body></html>",
        "",
        "null",
        "[]",
        "{",
        "{}",
        '{"choices": []}',
        '{"choices": "none"}',
        '{"choices": [{"message": {"content": ""}, "finish_reason": "stop"}]}',
        '{"choices": [{"message": {"content": {"text": 1}}, "finish_reason": "stop"}]}',
        '{"choices": [{"message": {"content": 5}}]}',
        '{"choices": [{"message": null}]}',
        '{"error": {"message": "no", "code": 503}}',
        'data: {"choices": [{"delta": {"content": "a"}}]}\n\n',
        "data: nonsense\n\ndata: [DONE]\n\n",
        "\ufeff",
    ],
)
async def test_a_200_with_rubbish_is_a_busy_server(server: ModelServer, model: OpenAIModel, body: str) -> None:
    """A proxy in trouble says 200 to everything; the turn waits and asks again instead of answering nonsense."""
    server.says_raw(body)

    with pytest.raises(ModelBusy) as busy:
        await model.think(HELLO)

    assert "model" in str(busy.value)


async def test_an_error_inside_a_200_counts_as_its_code(server: ModelServer, model: OpenAIModel) -> None:
    """OpenRouter reports upstream refusals that way."""
    server.says_raw(json.dumps({"error": {"code": 402, "message": SECRET_WORDS}}))

    with pytest.raises(ModelRefused) as refused:
        await model.think(HELLO)

    assert refused.value.status == 402


async def test_an_answer_cut_in_the_middle_is_no_answer(server: ModelServer, model: OpenAIModel) -> None:
    """Half a sentence must not be delivered as if it were whole."""
    server.cuts("I would never say", after_events=2)

    with pytest.raises(ModelBusy):
        await model.think(HELLO)


async def test_a_server_that_hangs_is_given_up(server: ModelServer) -> None:
    """A hanging model holds its chat's lane; the timeout is the setting's."""
    for _ in range(3):
        server.holds()
    model = OpenAIModel("fake-1", base_url=server.url, timeout_seconds=0.1)

    with pytest.raises(ModelBusy):
        await model.think(HELLO)

    await model.close()


async def test_a_thought_can_be_cancelled(server: ModelServer, model: OpenAIModel) -> None:
    """/stop and /new end a running turn at once; the next thought works."""
    gate = server.holds()
    thinking = asyncio.create_task(model.think(HELLO))
    await gate.reached()

    thinking.cancel()

    with pytest.raises(asyncio.CancelledError):
        await thinking
    gate.open()
    assert (await model.think(HELLO)).text == server.otherwise


async def test_a_server_that_is_not_there_is_busy_for_a_turn_and_a_hint_for_doctor() -> None:
    """It may be starting; `doctor` says what to check."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound and not listening: refused for sure
        model = OpenAIModel("fake-1", base_url=f"http://127.0.0.1:{taken.getsockname()[1]}/v1", timeout_seconds=2)

        with pytest.raises(ModelBusy):
            await model.think(HELLO)
        assert "model.base_url" in await model.reach()

    await model.close()


async def test_doctor_sees_a_wrong_key_and_a_wrong_address(server: ModelServer) -> None:
    """Each with the setting to change."""
    server.key = "right"
    wrong_key = OpenAIModel("fake-1", base_url=server.url, api_key="wrong")
    wrong_address = OpenAIModel("fake-1", base_url=server.url.removesuffix("/v1"), api_key="right")

    assert "model.api_key_env" in await wrong_key.reach()
    assert "model.base_url" in await wrong_address.reach()

    await wrong_key.close()
    await wrong_address.close()


def test_the_sdk_is_not_loaded_before_the_first_thought() -> None:
    """`hikae status` builds a model and asks it nothing; most of a second of importing would be for nothing."""
    program = (
        "import sys\n"
        "from gateway import llm\n"
        "from gateway.modelchoice import ModelChoice\n"
        "model = llm.build(ModelChoice('openai', 'fake-1', '', 'http://127.0.0.1:9/v1'))\n"
        "print(model.name, 'openai' in sys.modules, 'httpx2' in sys.modules)\n"
    )

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert done.stdout == "fake-1 False False\n"


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (400, "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens."),
        (400, "the request exceeds the available context size. try increasing the context size"),
        (500, "the input (5120 tokens) is larger than the max context size (4096 tokens). skipped"),
        (400, "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."),
        (400, "Prompt contains 40000 tokens, too large for model with 32768 maximum context length"),
        (400, "Trying to keep the first 5000 tokens when context the overflows."),
        (400, "Please reduce the length of the messages or completion."),
        (422, "`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000"),
        (400, "This model's maximum prompt length is 131072 but the request contains 140000 tokens."),
        (400, "input length exceeds the context length"),
        (400, "The decoder prompt (length 5000) is longer than the maximum model length of 4096"),
        (400, "Your input exceeds the context window of this model."),
        (400, "Range of input length should be [1, 30720]"),
        (413, "Payload Too Large"),
    ],
)
async def test_a_request_that_is_too_long_is_told_from_other_refusals(
    server: ModelServer, model: OpenAIModel, status: int, message: str
) -> None:
    """A shorter one would be answered. Each server says it in its own words, some as a trouble of their own."""
    server.fails(status, message=message, times=3)

    with pytest.raises(ModelFull):
        await model.think(HELLO)


async def test_a_code_alone_says_that_a_request_is_too_long(server: ModelServer, model: OpenAIModel) -> None:
    """With the words of another language, or none; also inside a 200."""
    error = {"error": {"message": "zu lang", "code": "context_length_exceeded"}}
    server.says_raw(json.dumps(error), status=400)
    server.says_raw(json.dumps({"error": {"code": 400, "message": "maximum context length is 10 tokens"}}))

    for _ in range(2):
        with pytest.raises(ModelFull):
            await model.think(HELLO)


@pytest.mark.parametrize(
    "message",
    [
        "Invalid parameter: messages with role 'tool' must follow tool calls",
        "max_tokens is too large: 99999. This model supports at most 16384 completion tokens",
        "Request too large on tokens per min (TPM): Limit 30000, Requested 40000.",
        "temperature exceeds 2",
    ],
)
async def test_other_refusals_are_not_taken_for_too_long(
    server: ModelServer, model: OpenAIModel, message: str
) -> None:
    """A conversation that was compressed for nothing would be refused all the same."""
    server.fails(400, message=message)

    with pytest.raises(ModelRefused) as refused:
        await model.think(HELLO)

    assert not isinstance(refused.value, ModelFull)
