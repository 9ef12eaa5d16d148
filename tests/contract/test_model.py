"""ModelContract: what every model of ours keeps, passed by the openai adapter (against the fake) and offline."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass

import pytest

from gateway.llm.offline import OfflineModel
from gateway.llm.openai import OpenAIModel
from gateway.memory import tool
from gateway.ports import Model, ModelRequest, RequestMessage
from gateway.records import Target
from tests.fakes.model import ModelServer

TOOLS = json.dumps([tool.definition((Target.MEMORY, Target.USER))])
SAVED = json.dumps({"success": True, "id": 17, "target": "user", "message": "Entry added."})
ASKED = "[2026-11-30 09:00 Mon] remember that I live in Bergen"


@dataclass(frozen=True)
class Subject:
    """A model, and what makes the fake behind it (if any) behave like the offline one."""

    model: Model
    server: ModelServer | None = None

    def will_remember(self) -> None:
        if self.server is not None:
            self.server.calls("memory", action="add", target="user", content="Lives in Bergen")


def request(*messages: RequestMessage, tools: str = TOOLS) -> ModelRequest:
    return ModelRequest("You are hikae.", messages, tools)


class ModelContract:
    """Subclass it with a fixture `subject`."""

    async def test_it_has_a_name_and_answers_with_text(self, subject: Subject) -> None:
        """`/model` and the usage page show the name; an empty answer could not be delivered."""
        answer = await subject.model.think(request(RequestMessage("user", "hello there")))

        assert subject.model.name
        assert answer.text.strip()
        assert answer.tool_calls == ()

    async def test_it_calls_a_tool_that_is_offered(self, subject: Subject) -> None:
        """A turn runs the call, so its name must be ours and its arguments a JSON object."""
        subject.will_remember()

        answer = await subject.model.think(request(RequestMessage("user", ASKED)))

        [call] = answer.tool_calls
        assert call.name == "memory"
        assert json.loads(call.arguments)["content"] == "Lives in Bergen"

    async def test_it_goes_on_from_a_tool_result(self, subject: Subject) -> None:
        """The chain question, call, result, answer is what a turn is made of."""
        subject.will_remember()
        question = RequestMessage("user", ASKED)
        called = await subject.model.think(request(question))
        told = RequestMessage("assistant", called.text, called.tool_calls)
        result = RequestMessage("tool", SAVED, tool_call_id=called.tool_calls[0].id)

        answer = await subject.model.think(request(question, told, result))

        assert answer.text.strip()
        assert answer.tool_calls == ()

    async def test_it_works_without_any_tools(self, subject: Subject) -> None:
        """With both stores and all toolsets off, no tools are sent at all."""
        answer = await subject.model.think(request(RequestMessage("user", ASKED), tools=""))

        assert answer.text.strip()

    async def test_chats_think_side_by_side(self, subject: Subject) -> None:
        """One model serves every chat of the gateway at once, from its very first thought on."""
        questions = [request(RequestMessage("user", f"hello {number}")) for number in range(8)]

        answers = await asyncio.gather(*map(subject.model.think, questions))

        assert all(answer.text.strip() for answer in answers)

    async def test_halves_of_characters_harm_nobody(self, subject: Subject) -> None:
        """A phone may send half an emoji; neither the request nor the answer may break on it."""
        answer = await subject.model.think(request(RequestMessage("user", "hello \ud83d there")))

        assert answer.text.encode("utf-8")

    async def test_doctor_can_reach_it(self, subject: Subject) -> None:
        """`hikae doctor` shows "ok" for an empty sentence."""
        assert await subject.model.reach() == ""

    async def test_closing_twice_is_fine(self, subject: Subject) -> None:
        """Both composition roots close what they built, also after a failed start."""
        closing = [asyncio.create_task(subject.model.close()) for _ in range(2)]
        await asyncio.wait(closing)

        assert [task.exception() for task in closing] == [None, None]


class TestOfflineModel(ModelContract):
    @pytest.fixture
    def subject(self) -> Subject:
        return Subject(OfflineModel())


class TestOpenAIModel(ModelContract):
    @pytest.fixture
    def server(self) -> Iterator[ModelServer]:
        with ModelServer() as server:
            yield server

    @pytest.fixture
    async def subject(self, server: ModelServer) -> AsyncIterator[Subject]:
        model = OpenAIModel("fake-1", base_url=server.url, api_key="a-key", timeout_seconds=10)
        yield Subject(model, server)
        await model.close()


class TestOpenAIModelWithoutStreaming(TestOpenAIModel):
    """The same against a server that refuses to stream."""

    @pytest.fixture
    def server(self) -> Iterator[ModelServer]:
        with ModelServer() as server:
            server.streams = False
            yield server


class TestOpenAIModelWhereStreamingIsIgnored(TestOpenAIModel):
    """The same against a server that answers a streaming request with one document."""

    @pytest.fixture
    def server(self) -> Iterator[ModelServer]:
        with ModelServer() as server:
            server.ignores_streaming = True
            yield server
