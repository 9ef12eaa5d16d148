"""The anthropic adapter over real HTTP: what it sends, and what it makes of servers that fail in every way."""

import asyncio
import json
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from typing import Any

import pytest

from gateway import words
from gateway.errors import ModelBusy, ModelFull, ModelRefused
from gateway.llm import wire
from gateway.llm.anthropic import AnthropicModel
from gateway.ports import ModelRequest, RequestMessage, Tokens
from gateway.records import ToolCall
from tests.contract.test_model import ModelContract, Subject
from tests.fakes import anthropic as fake
from tests.fakes.model import ModelServer

TOOLS = '[{"type":"function","function":{"name":"memory","description":"覚える","parameters":{"type":"object"}}}]'
HELLO = ModelRequest("You are hikae.", (RequestMessage("user", "hello"),), TOOLS)
SECRET_WORDS = "the server's own words about sk-123"
CALL = ToolCall("call_1", "memory", '{"content": "Bor i Bergen – 控え"}')
CONVERSATION = (
    RequestMessage("user", "hello \ud83d"),
    RequestMessage("assistant", "", (CALL,)),
    RequestMessage("tool", '{"success": true}', tool_call_id="call_1"),
    RequestMessage("assistant", "Noted."),
    RequestMessage("user", "thanks"),
)


class TestAnthropicModel(ModelContract):
    @pytest.fixture
    def subject(self, server: ModelServer, model: AnthropicModel) -> Subject:
        return Subject(model, server)


class TestAnthropicModelWhereStreamingIsIgnored(ModelContract):
    """The same against a proxy that answers a streaming request with one document."""

    @pytest.fixture
    def subject(self, server: ModelServer, model: AnthropicModel) -> Subject:
        server.ignores_streaming = True
        return Subject(model, server)


class TestAnthropicModelThatThinks(ModelContract):
    """The same with a model that cannot be told not to think."""

    @pytest.fixture
    def subject(self, server: ModelServer, model: AnthropicModel) -> Subject:
        server.thinks = True
        return Subject(model, server)


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as server:
        server.key = "a-key"
        yield server


@pytest.fixture
async def model(server: ModelServer) -> AsyncIterator[AnthropicModel]:
    model = AnthropicModel("fake-1", base_url=server.url, api_key="a-key", timeout_seconds=5)
    yield model
    await model.close()


def ending(reason: str = "end_turn") -> tuple[dict[str, Any], dict[str, Any]]:
    return {"type": "message_delta", "delta": {"stop_reason": reason}}, {"type": "message_stop"}


def text_delta(text: str) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}}


# -- what is sent ------------------------------------------------------------------------------------------


async def test_the_body_is_what_was_asked_with_marks_for_the_cache(
    server: ModelServer, model: AnthropicModel
) -> None:
    """Byte for byte: what differs from one request to the next is paid for again."""
    await model.think(HELLO)

    mark = '"cache_control":{"type":"ephemeral"}'
    assert server.last.body.decode() == (
        '{"model":"fake-1",'
        f'"tools":[{{"name":"memory","description":"覚える","input_schema":{{"type":"object"}},{mark}}}],'
        f'"system":[{{"type":"text","text":"You are hikae.",{mark}}}],'
        f'"messages":[{{"role":"user","content":[{{"type":"text","text":"hello",{mark}}}]}}],'
        '"max_tokens":16000,"thinking":{"type":"disabled"},"stream":true}'
    )


async def test_each_request_begins_with_the_blocks_of_the_one_before(
    server: ModelServer, model: AnthropicModel
) -> None:
    """The prompt cache serves what repeats, and only that is cheap."""
    for length in (1, 3, 5):
        await model.think(ModelRequest("You are hikae.", CONVERSATION[:length], TOOLS))

    first, second, third = (fake.unmarked(request.json) for request in server.requests)
    assert second[: len(first)] == first
    assert third[: len(second)] == second
    assert [(message["role"], len(message["content"])) for message in server.last.messages] == [
        ("user", 1),
        ("assistant", 1),
        ("user", 1),
        ("assistant", 1),
        ("user", 1),
    ]


async def test_the_marks_are_where_the_next_request_looks(server: ModelServer, model: AnthropicModel) -> None:
    """Behind the tools, behind the prompt, where the request before ended, and at the end."""
    await model.think(ModelRequest("You are hikae.", CONVERSATION, TOOLS))

    marked = ["cache_control" in block for block in fake.blocks(server.last.json)]
    assert marked == [True, True, False, False, True, False, True]


async def test_a_round_of_calls_is_one_message_and_so_are_its_results(
    server: ModelServer, model: AnthropicModel
) -> None:
    """The API wants every result in the message that follows, and a person's words behind them."""
    calls = (ToolCall("a", "memory", '{"n": 1}'), ToolCall("b", "memory", '{"n": 2}'))
    said = (
        RequestMessage("user", "note two things"),
        RequestMessage("assistant", "Noting.", calls),
        RequestMessage("tool", "one", tool_call_id="a"),
        RequestMessage("tool", "", tool_call_id="b"),
        RequestMessage("user", "never mind"),
        RequestMessage("user", "and hello"),
    )

    await model.think(ModelRequest("You are hikae.", said, TOOLS))

    assert server.complaints == []
    called, told = server.last.messages[1:]
    assert called["content"] == [
        {"type": "text", "text": "Noting."},
        {"type": "tool_use", "id": "a", "name": "memory", "input": {"n": 1}},
        {"type": "tool_use", "id": "b", "name": "memory", "input": {"n": 2}},
    ]
    assert [(block["type"], block.get("tool_use_id")) for block in told["content"]] == [
        ("tool_result", "a"),
        ("tool_result", "b"),
        ("text", None),
        ("text", None),
    ]


@pytest.mark.parametrize(
    "said",
    [
        [RequestMessage("user", " \n")],
        [RequestMessage("assistant", "Welcome back."), RequestMessage("user", "hi")],
        [RequestMessage("user", "a"), RequestMessage("assistant", ""), RequestMessage("user", "b")],
        [
            RequestMessage("user", "a"),
            RequestMessage("assistant", "", (ToolCall("functions.memory:0", "memory", '{"x": NaN}'),)),
            RequestMessage("tool", "ok", tool_call_id="functions.memory:0"),
            RequestMessage("assistant", "", (ToolCall("functions.memory:0", "memory", '{"x": "\\ud83d"}'),)),
            RequestMessage("tool", "ok", tool_call_id="functions.memory:0"),
        ],
        [
            RequestMessage("user", "a"),
            RequestMessage("assistant", "", (ToolCall("call_0", "memory", "[1]"),)),
            RequestMessage("tool", "ok", tool_call_id="call_0"),
            RequestMessage("assistant", "", (ToolCall("call_0", "memory", "nonsense"),)),
            RequestMessage("tool", "ok", tool_call_id="call_0"),
        ],
    ],
)
@pytest.mark.parametrize("tools", [TOOLS, ""])
async def test_a_transcript_of_any_origin_is_taken(
    server: ModelServer, model: AnthropicModel, said: list[RequestMessage], tools: str
) -> None:
    """A conversation that began with another model goes on with this one; the API refuses more than others."""
    answer = await model.think(ModelRequest("", tuple(said), tools))

    assert (answer.text, server.complaints) == (server.otherwise, [])


@pytest.mark.parametrize(
    ("name", "sent"),
    [
        ("claude-sonnet-4-5", "claude-sonnet-4-5"),
        ("anthropic/claude-sonnet-4.5", "claude-sonnet-4-5"),
        ("a.b", "a.b"),
    ],
)
async def test_a_name_as_openrouter_spells_it_will_do(server: ModelServer, name: str, sent: str) -> None:
    """The settings' example is one, and `auto` may find a key of either."""
    model = AnthropicModel(name, base_url=server.url, api_key="a-key")

    await model.think(HELLO)

    assert (model.name, server.last.json["model"]) == (name, sent)
    await model.close()


async def test_nothing_of_the_environment_is_sent(server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the SDK finds there belongs to another endpoint; a local proxy needs no key."""
    for name in ("API_KEY", "AUTH_TOKEN", "CUSTOM_HEADERS", "PROFILE"):
        monkeypatch.setenv(f"ANTHROPIC_{name}", "X-Whose: somebody-else")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")
    server.key = None
    model = AnthropicModel("fake-1", base_url=server.url)

    await model.think(HELLO)
    assert await model.reach() == ""

    sent = json.dumps(server.last.headers)
    assert "somebody-else" not in sent
    assert not {"Authorization", "X-Api-Key"} & {name.title() for name in server.last.headers}
    await model.close()


async def test_one_connection_serves_many_turns(server: ModelServer, model: AnthropicModel) -> None:
    """A new TLS handshake for every turn would cost more than the rest of the turn."""
    for _ in range(3):
        await model.think(HELLO)

    assert server.connections == 1


async def test_what_a_model_refuses_is_not_asked_of_it_again(server: ModelServer, model: AnthropicModel) -> None:
    """Some always think, and those of old give shorter answers: learnt once, not at every turn."""
    server.thinks, server.most_tokens = True, 4_096

    await model.think(HELLO)
    await model.think(HELLO)

    asked = [
        (request.json["max_tokens"], request.json.get("thinking", {}).get("type")) for request in server.requests
    ]
    assert asked == [
        (16_000, "disabled"),
        (4_096, "disabled"),
        (4_096, "between_tools"),
        (4_096, None),
        (4_096, None),
    ]


async def test_a_long_conversation_gets_a_shorter_answer_once(server: ModelServer, model: AnthropicModel) -> None:
    """Where the window is nearly full there is less room; the next conversation has room again."""
    server.fails(400, message="input length and `max_tokens` exceed context limit: 190000 + 16000 > 200000")

    await model.think(HELLO)
    await model.think(HELLO)

    assert [request.json["max_tokens"] for request in server.requests] == [16_000, 4_096, 16_000]


# -- what comes back ---------------------------------------------------------------------------------------


async def test_tokens_are_counted_with_the_cached_and_the_written_ones(
    server: ModelServer, model: AnthropicModel
) -> None:
    """The API counts the three parts of the input apart; `hikae usage` shows one input and how much was cached."""
    usage = {
        "input_tokens": 40,
        "cache_creation_input_tokens": 100,
        "cache_read_input_tokens": 860,
        "output_tokens": 7,
    }
    server.answers("Hi!", usage=usage)

    assert (await model.think(HELLO)).tokens == Tokens(1000, 7, 860)


async def test_tool_calls_are_put_together_from_their_pieces(server: ModelServer, model: AnthropicModel) -> None:
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


@pytest.mark.parametrize("reason", ["max_tokens", "model_context_window_exceeded"])
async def test_an_answer_at_the_length_limit_says_so(
    server: ModelServer, model: AnthropicModel, reason: str
) -> None:
    """The person is told that the answer was cut."""
    server.answers("Once upon a", finish=reason)

    answer = await model.think(HELLO)

    assert (answer.text, answer.truncated) == ("Once upon a", True)


@pytest.mark.parametrize("reason", ["end_turn", "stop_sequence", "pause_turn", "weird"])
async def test_an_unknown_end_is_an_end(server: ModelServer, model: AnthropicModel, reason: str) -> None:
    """New reasons are added to the API at any time; the answer is there all the same."""
    server.answers("Done.", finish=reason)

    answer = await model.think(HELLO)

    assert (answer.text, answer.truncated) == ("Done.", False)


async def test_thoughts_and_what_is_new_are_left_out(server: ModelServer, model: AnthropicModel) -> None:
    """A model that always thinks sends blocks that nobody is to read."""
    thought = {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": ""}}
    thinking = {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "hm"}}
    server.streams_events({"type": "something_new"}, thought, thinking, text_delta("Yes."), *ending())

    assert (await model.think(HELLO)).text == "Yes."


async def test_a_refusal_of_the_model_throws_away_what_it_had_said(
    server: ModelServer, model: AnthropicModel
) -> None:
    """Half an answer that the model took back must not be delivered, and asking again gives the same."""
    server.answers("First you take", finish="refusal")

    with pytest.raises(ModelRefused) as refused:
        await model.think(HELLO)

    assert "other words" in words.text(refused.value.hint, "en")
    assert len(server.requests) == 1


async def test_an_emoji_cut_in_two_is_whole_again_and_half_a_one_is_replaced(
    server: ModelServer, model: AnthropicModel
) -> None:
    """A lone surrogate in an answer breaks the database, the platform and the next request."""
    server.streams_events(text_delta("\ud83d"), text_delta("\ude00 and \ud83d"), *ending())

    assert (await model.think(HELLO)).text == "😀 and \ufffd"


async def test_a_flood_is_cut(server: ModelServer, model: AnthropicModel) -> None:
    """A degenerate model must not fill the memory and the chat."""
    server.answers("ha" * 500_000)

    answer = await model.think(HELLO)

    assert len(answer.text) == wire.MOST_CHARS
    assert answer.truncated


# -- what goes wrong ---------------------------------------------------------------------------------------


async def test_a_busy_server_is_asked_again_in_the_same_thought(server: ModelServer, model: AnthropicModel) -> None:
    """Most 429s and 529s are over in a moment: the person need not notice."""
    server.fails(429, retry_after=0.01)
    server.fails(529, retry_after=0.01)
    server.answers("Here I am.")

    assert (await model.think(HELLO)).text == "Here I am."


async def test_a_server_that_stays_busy_says_when_to_come_back(server: ModelServer, model: AnthropicModel) -> None:
    """Retry-After is the server's wish; minutes are waited by whoever asked, not in here."""
    server.fails(429, retry_after=600, message=SECRET_WORDS)

    with pytest.raises(ModelBusy) as busy:
        await model.think(HELLO)

    assert busy.value.after == 600
    assert SECRET_WORDS not in str(busy.value)


async def test_a_server_that_is_busy_every_time_is_given_up(server: ModelServer, model: AnthropicModel) -> None:
    """Three times in a thought; the turn has its own patience."""
    server.fails(529, retry_after=0.01, times=9)

    with pytest.raises(ModelBusy):
        await model.think(HELLO)

    assert len(server.requests) == 3


@pytest.mark.parametrize(
    ("status", "message", "setting"),
    [
        (400, SECRET_WORDS, "model.name"),
        (400, "Your credit balance is too low to access the API.", "credit"),
        (401, SECRET_WORDS, "model.api_key_env"),
        (402, SECRET_WORDS, "credit"),
        (403, SECRET_WORDS, "model.api_key_env"),
        (404, SECRET_WORDS, "model.base_url"),
        (413, SECRET_WORDS, "model.context_window"),
    ],
)
async def test_a_refusal_names_the_setting_and_not_the_servers_words(
    server: ModelServer, model: AnthropicModel, status: int, message: str, setting: str
) -> None:
    """Asking again cannot help, the owner can; the server's text may quote the conversation or the key."""
    server.fails(status, message=message)

    with pytest.raises(ModelRefused) as refused:
        await model.think(HELLO)

    assert refused.value.status == status
    assert setting in words.text(refused.value.hint, "en")
    assert message not in str(refused.value)
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
        '{"type": "message"}',
        '{"type": "message", "content": "none", "stop_reason": "end_turn"}',
        '{"type": "message", "content": [], "stop_reason": "end_turn"}',
        '{"type": "message", "content": [5, null, {"type": "text", "text": {"a": 1}}, {"type": "tool_use"}]}',
        '{"type": ["message"], "content": []}',
        '{"error": {"message": "no"}}',
        'event: error\ndata: {"type": "error", "error": {"type": "overloaded_error", "message": "x"}}\n\n',
        'data: {"type": "error", "error": {"type": ["overloaded_error"]}}\n\n',
        'data: {"type": "content_block_delta", "delta": {"type": "text_delta", "text": "a"}}\n\n',
        'data: {"type": "message_start", "message": {"usage": {"input_tokens": true}}}\n\n',
        "data: nonsense\n\ndata: [DONE]\n\n",
        "\ufeff",
    ],
)
async def test_a_200_with_rubbish_is_a_busy_server(server: ModelServer, model: AnthropicModel, body: str) -> None:
    """A proxy in trouble says 200 to everything; the turn waits and asks again instead of answering nonsense."""
    server.says_raw(body)

    with pytest.raises(ModelBusy) as busy:
        await model.think(HELLO)

    assert "model" in str(busy.value)


async def test_an_error_inside_a_stream_counts_as_its_kind(server: ModelServer, model: AnthropicModel) -> None:
    """The API has said 200 before it finds out."""
    error = {"type": "error", "error": {"type": "billing_error", "message": SECRET_WORDS}}
    server.streams_events(text_delta("a"), error)

    with pytest.raises(ModelRefused) as refused:
        await model.think(HELLO)

    assert refused.value.status == 402


async def test_an_answer_cut_in_the_middle_is_no_answer(server: ModelServer, model: AnthropicModel) -> None:
    """Half a sentence must not be delivered as if it were whole."""
    server.cuts("I would never say", after_events=4)

    with pytest.raises(ModelBusy):
        await model.think(HELLO)


async def test_a_server_that_hangs_is_given_up(server: ModelServer) -> None:
    """A hanging model holds its chat's lane; the timeout is the setting's."""
    for _ in range(3):
        server.holds()
    model = AnthropicModel("fake-1", base_url=server.url, api_key="a-key", timeout_seconds=0.1)

    with pytest.raises(ModelBusy):
        await model.think(HELLO)

    await model.close()


async def test_a_server_that_trickles_is_given_up() -> None:
    """The API sends pings while it works; one that sends nothing else would hold a chat for ever."""
    gone = asyncio.Event()

    async def trickle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")
        while not gone.is_set():
            writer.write(b'event: ping\ndata: {"type": "ping"}\n\n')
            with suppress(TimeoutError):
                await asyncio.wait_for(gone.wait(), 0.02)
        writer.close()

    async with await asyncio.start_server(trickle, "127.0.0.1", 0) as listening:
        port = listening.sockets[0].getsockname()[1]
        model = AnthropicModel("fake-1", base_url=f"http://127.0.0.1:{port}", timeout_seconds=0.2)

        with pytest.raises(ModelBusy):
            await model.think(HELLO)

        gone.set()
        await model.close()


async def test_a_thought_can_be_cancelled(server: ModelServer, model: AnthropicModel) -> None:
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
        address = f"http://127.0.0.1:{taken.getsockname()[1]}"
        model = AnthropicModel("fake-1", base_url=address, timeout_seconds=0.5)

        with pytest.raises(ModelBusy):
            await model.think(HELLO)
        assert "model.base_url" in await model.reach()

    await model.close()


async def test_doctor_sees_a_wrong_key_and_a_wrong_address(server: ModelServer) -> None:
    """Each with the setting to change."""
    wrong_key = AnthropicModel("fake-1", base_url=server.url, api_key="wrong")
    wrong_address = AnthropicModel("fake-1", base_url=f"{server.url}/nowhere", api_key="a-key")

    assert "model.api_key_env" in await wrong_key.reach()
    assert "model.base_url" in await wrong_address.reach()

    await wrong_key.close()
    await wrong_address.close()


def test_the_sdk_is_not_loaded_before_the_first_thought() -> None:
    """`hikae status` builds a model and asks it nothing; over a second of importing would be for nothing."""
    program = (
        "import sys\n"
        "from gateway import llm\n"
        "from gateway.modelchoice import ModelChoice\n"
        "model = llm.build(ModelChoice('anthropic', 'fake-1', '', 'http://127.0.0.1:9/v1'))\n"
        "print(type(model).__name__, *({'anthropic', 'openai', 'httpx2'} & sys.modules.keys()))\n"
    )

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert done.stdout == "AnthropicModel\n"


def test_a_process_that_forks_for_each_thought_loads_it_once() -> None:
    """And the other SDK not at all."""
    program = (
        "import sys\n"
        "from gateway import llm\n"
        "from gateway.modelchoice import ModelChoice\n"
        "llm.warm_up(ModelChoice('anthropic', 'fake-1', ''))\n"
        "print(*sorted({'anthropic', 'openai', 'httpx2'} & sys.modules.keys()))\n"
    )

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert done.stdout == "anthropic httpx2\n"


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (400, "prompt is too long: 210000 tokens > 200000 maximum"),
        (400, "input length and `max_tokens` exceed context limit: 199000 + 4096 > 200000, decrease input length"),
        (400, "Input is too long for requested model."),
        (413, "Request exceeds the maximum size"),
    ],
)
async def test_a_request_that_is_too_long_is_told_from_other_refusals(
    server: ModelServer, model: AnthropicModel, status: int, message: str
) -> None:
    """A shorter one would be answered; fewer tokens for the answer are tried first where that is refused."""
    server.fails(status, message=message, times=2)

    with pytest.raises(ModelFull):
        await model.think(HELLO)
