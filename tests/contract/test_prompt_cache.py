"""What the models' prompt caches serve of a conversation: everything but its new end, on requests as sent.

The chat-completions APIs serve what the beginning of a request has in common with an earlier one; Anthropic's
serves what was marked before and is found again where the new request has its marks (`tests.fakes.anthropic`).
"""

import json
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import pairwise

import pytest

from gateway import transcript
from gateway.chat import Chat
from gateway.llm.anthropic import AnthropicModel
from gateway.llm.openai import OpenAIModel
from gateway.memory import review, tool
from gateway.ports import Model, ModelAnswer, ModelRequest
from gateway.records import Message, Role, Target
from tests.fakes import anthropic as fake
from tests.fakes.model import ModelServer, Recorded

AT = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)
PROMPT = "You are hikae.\n" + "What you know of the person. " * 50
TOOLS = json.dumps([tool.definition((Target.MEMORY, Target.USER))])
SAVED = '{"success": true, "id": 17}'


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as server:
        yield server


@pytest.fixture
async def openai(server: ModelServer) -> AsyncIterator[Model]:
    model = OpenAIModel("fake-1", base_url=server.url)
    yield model
    await model.close()


@pytest.fixture
async def anthropic(server: ModelServer) -> AsyncIterator[Model]:
    model = AnthropicModel("fake-1", base_url=server.url)
    yield model
    await model.close()


@dataclass
class Conversation:
    """Turns as the gateway holds them: rows in, `transcript.request` out."""

    model: Model
    rows: list[Message] = field(default_factory=list)
    answers: list[ModelAnswer] = field(default_factory=list)

    async def says(self, words: str) -> None:
        """One turn, with its rounds of calls."""
        self._keep(Role.USER, words, as_sent=f"[2026-11-30 09:00 Mon] {words}")
        while (answer := await self._think(self.request())).tool_calls:
            self._keep(Role.ASSISTANT, answer.text, tool_calls=answer.tool_calls)
            for call in answer.tool_calls:
                self._keep(Role.TOOL, SAVED, tool_call_id=call.id, tool_name=call.name)
        self._keep(Role.ASSISTANT, answer.text)

    async def is_reviewed(self) -> None:
        """The review that follows the last turn."""
        *before, last = self.rows
        asked = review.instruction((Target.MEMORY,), turns=1)
        chat = transcript.request(PROMPT, TOOLS, before)
        await self._think(transcript.review_request(chat, last.text, asked))

    def request(self) -> ModelRequest:
        return transcript.request(PROMPT, TOOLS, self.rows)

    async def _think(self, request: ModelRequest) -> ModelAnswer:
        self.answers.append(await self.model.think(request))
        return self.answers[-1]

    def _keep(self, role: Role, text: str, **fields: object) -> None:
        row = Message(1, 1, Chat("telegram", "5"), "", role, text, (), AT, **fields)  # type: ignore[arg-type]
        self.rows.append(row)


async def play(server: ModelServer, model: Model) -> Conversation:
    """Six turns, the third with two rounds of calls and many calls in one, then the review."""
    talk = Conversation(model)
    await talk.says("good morning")
    await talk.says("I moved to Bergen – 控えて")
    server.calls_many(*(("memory", {"action": "add", "content": f"fact {number}"}) for number in range(12)))
    server.calls("memory", text="One more.", action="add", content="Lives in Bergen")
    for words in ("note all that", "and the weather?", "thanks", "bye"):
        await talk.says(words)
    await talk.is_reviewed()
    return talk


async def test_chat_completions_serve_all_but_the_new_end(server: ModelServer, openai: Model) -> None:
    """The whole earlier request is the beginning of the next one, byte for byte; the tools never change."""
    await play(server, openai)

    requests = server.requests
    assert len(requests) == 9
    assert len({json.dumps(request.json["tools"]) for request in requests}) == 1
    for before, after in pairwise(requests):
        assert after.message_bytes.startswith(before.message_bytes)


async def test_anthropic_serves_all_but_the_new_end(server: ModelServer, anthropic: Model) -> None:
    """Each request is served up to where the one before ended, and the model's own count says so."""
    talk = await play(server, anthropic)

    cache, requests = fake.Cache(), server.requests
    served = [cache.served(request.json)[0] for request in requests]
    assert served == [0, *(len(fake.unmarked(request.json)) for request in requests[:-1])]
    for before, after in pairwise(requests):
        assert fake.unmarked(after.json)[: len(fake.unmarked(before.json))] == fake.unmarked(before.json)
    assert [answer.tokens.cached for answer in talk.answers] == [0, *_sizes(requests[:-1])]


async def test_after_a_stop_the_former_request_is_served_still(server: ModelServer, anthropic: Model) -> None:
    """A turn that was stopped leaves two messages of the person in a row: they are joined, and the first found."""
    talk = Conversation(anthropic)
    await talk.says("good morning")
    talk._keep(Role.USER, "never mind", as_sent="never mind")
    await talk._think(talk.request())

    await talk.says("hello again")

    first, last = (fake.unmarked(request.json) for request in server.requests[-2:])
    assert fake.Cache().served(server.requests[-2].json)[0] == 0
    assert talk.answers[-1].tokens.cached == _sizes(server.requests[-2:-1])[0]
    assert last[: len(first)] == first


async def test_a_restart_and_another_process_change_no_byte(server: ModelServer, anthropic: Model) -> None:
    """A review runs in a worker, and a session goes on after an upgrade: the cache knows neither."""
    talk = Conversation(anthropic)
    await talk.says("good morning")
    other = AnthropicModel("fake-1", base_url=server.url)

    await anthropic.think(talk.request())
    await other.think(talk.request())

    assert server.requests[-1].body == server.requests[-2].body
    await other.close()


def _sizes(requests: Sequence[Recorded]) -> list[int]:
    """The tokens of each whole request, as the fake counts them."""
    return [sum(len(text) // 4 for text in fake.unmarked(request.json)) for request in requests]
