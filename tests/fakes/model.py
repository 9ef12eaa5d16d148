"""A loopback model server: /v1/chat/completions, Anthropic's /v1/messages (both streaming and not) and /v1/models,
over real HTTP.

It runs in a thread of its own, so that async tests and tests of real processes use it the same way:

    with ModelServer() as server:
        server.answers("Lovely city!")
        server.calls("memory", action="add", content="Lives in Bergen", when=is_review)

What is scripted is taken in order, the first whose `when` fits the request; when nothing fits, it answers
`server.otherwise`. Every request is kept with its bytes. Nothing in here sleeps unless a test says `seconds`.
"""

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

from aiohttp import web

from tests.fakes import anthropic

Json = dict[str, Any]
When = Callable[[Json], bool]

MODELS = ("fake-1", "fake-2")
PATIENCE_SECONDS = 20.0


def always(_: Json) -> bool:
    """Fits every request."""
    return True


def is_review(request: Json) -> bool:
    """Whether a request is a background review's: its last user message is the review's instruction."""
    said = [message for message in request.get("messages", ()) if message.get("role") == "user"]
    return bool(said) and _last_text(said[-1].get("content", "")).startswith("Background review:")


def is_title(request: Json) -> bool:
    """Whether a request asks for the title of a conversation."""
    said = request.get("messages", ())
    return bool(said) and _last_text(said[-1].get("content", "")).startswith("Give this conversation a title")


def is_flush(request: Json) -> bool:
    """Whether a request asks what to keep before a session is compressed."""
    return _ends_with_instruction(request, "Memory flush:")


def is_summary(request: Json) -> bool:
    """Whether a request asks for the summary of a conversation."""
    return _ends_with_instruction(request, "Compression:")


def _ends_with_instruction(request: Json, begins: str) -> bool:
    said = [message for message in request.get("messages", ()) if message.get("role") == "user"]
    return bool(said) and _last_text(said[-1].get("content", "")).startswith(begins)


def _last_text(content: object) -> str:
    """What a message ends with: all of a text, or the last of Anthropic's blocks."""
    if isinstance(content, list):
        return str(content[-1].get("text", "")) if content else ""
    return str(content)


def is_chat(request: Json) -> bool:
    """Whether a request is a turn's."""
    return not (is_review(request) or is_flush(request) or is_summary(request))


@dataclass(frozen=True, slots=True)
class Recorded:
    """One request as it came over the wire."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Json:
        parsed = json.loads(self.body)
        assert isinstance(parsed, dict)
        return parsed

    @property
    def messages(self) -> list[Json]:
        listed = self.json["messages"]
        assert isinstance(listed, list)
        return listed

    @property
    def message_bytes(self) -> bytes:
        """The messages as sent, without the bracket that closes them: a prefix of the next request's."""
        text = self.body.decode()
        start = text.index('"messages":') + len('"messages":')
        _, end = json.JSONDecoder().raw_decode(text, start)
        return text[start : end - 1].encode()


class Gate:
    """Holds an answer back until a test opens it, and tells when the request has come."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._reached = threading.Event()
        self._opened = asyncio.Event()

    def wait_reached(self, seconds: float = PATIENCE_SECONDS) -> None:
        """Wait (blocking) until the server holds a request here."""
        assert self._reached.wait(seconds), "no request came to this gate"

    async def reached(self, seconds: float = PATIENCE_SECONDS) -> None:
        """Wait until the server holds a request here, from async code."""
        await asyncio.to_thread(self.wait_reached, seconds)

    def open(self) -> None:
        """Let the answer go."""
        self._loop.call_soon_threadsafe(self._opened.set)

    async def hold(self) -> None:
        """The server's side: say that a request is here, and keep it until the gate is open."""
        self._reached.set()
        await self._opened.wait()


@dataclass(frozen=True, slots=True)
class Script:
    """One thing the server will do. `raw` replaces the whole body, whatever was asked for."""

    text: str = ""
    tool_calls: tuple[Json, ...] = ()
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    raw: bytes | None = None
    content_type: str = "application/json"
    cut_after: int | None = None
    """Drop the connection after so many events of a stream."""
    events: tuple[Json, ...] | None = None
    """The events of the stream as they are, instead of those made from text and calls."""
    finish: str | None = None
    usage: Json | None = None
    seconds: float = 0.0
    """How long it thinks."""
    gate: Gate | None = None
    when: When = always


class ModelServer:
    """The server, as a context manager. `url` is what `model.base_url` wants; it ends in /v1."""

    def __init__(self) -> None:
        self.otherwise = "Hello from the fake model."
        """The answer when nothing scripted fits."""
        self.streams = True
        """False: it refuses `"stream": true` with a 400, as some servers do."""
        self.takes_stream_options = True
        self.ignores_streaming = False
        """True: it answers a streaming request with one JSON document, as some others do."""
        self.thinks = False
        """True: it refuses `"thinking": {"type": "disabled"}` with a 400, as some of Anthropic's models do."""
        self.window: int | None = None
        """How many tokens (of four bytes) the messages of a request may have; more is refused in OpenAI's words."""
        self.most_tokens = 64_000
        """What `max_tokens` may be."""
        self.cache = anthropic.Cache()
        self.key: str | None = None
        """When set, any other key is answered with 401."""
        self.models: tuple[str, ...] = MODELS
        self.complaints: list[str] = []
        """What was wrong with requests that real servers would refuse; they got a 400."""
        self.connections = 0
        """How many connections have carried a request."""
        self._seen: set[object] = set()
        self._requests: list[Recorded] = []
        self._scripts: list[Script] = []
        self._titles: list[Script] = []
        self._title_requests: list[Recorded] = []
        self._changed = threading.Condition()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="fake-model", daemon=True)
        self._runner: web.AppRunner | None = None
        self._gates: list[Gate] = []
        self.url = ""

    # -- scripting -------------------------------------------------------------------------------------

    def answers(self, text: str, **how: Any) -> None:
        """Answer with this text. `how`: finish, usage, seconds, gate, when, … (see Script)."""
        self._add(Script(text=text, **how))

    def calls(self, tool: str, *, when: When = always, text: str = "", **arguments: Any) -> None:
        """Call one tool with these arguments."""
        self.calls_many((tool, arguments), when=when, text=text)

    def calls_many(self, *calls: tuple[str, Json | str], text: str = "", **how: Any) -> None:
        """Call several tools in one answer; arguments that are a str are sent as they are."""
        self._add(
            Script(text=text, tool_calls=tuple(_call(number, *call) for number, call in enumerate(calls)), **how)
        )

    def fails(
        self,
        status: int,
        *,
        retry_after: str | float | None = None,
        times: int = 1,
        message: str = "no",
        when: When = always,
    ) -> None:
        """Answer with an HTTP error, so many times."""
        headers = {} if retry_after is None else {"Retry-After": str(retry_after)}
        body = json.dumps({"error": {"message": message, "type": "fake_error"}}).encode()
        for _ in range(times):
            self._add(Script(status=status, headers=headers, raw=body, when=when))

    def says_raw(self, body: bytes | str, *, content_type: str = "application/json", **how: Any) -> None:
        """Answer with exactly this body."""
        self._add(Script(raw=body.encode() if isinstance(body, str) else body, content_type=content_type, **how))

    def streams_events(self, *events: Json, **how: Any) -> None:
        """Stream exactly these events (a request without streaming gets the text of none of them)."""
        self._add(Script(events=events, **how))

    def cuts(self, text: str = "cut in the mid", *, after_events: int = 1, when: When = always) -> None:
        """Drop the connection in the middle of an answer."""
        self._add(Script(text=text, cut_after=after_events, when=when))

    def holds(self, text: str = "Sorry for the wait.", *, when: When = always) -> Gate:
        """Answer with this text once the returned gate is opened (never opened: it hangs)."""
        gate = Gate(self._loop)
        self._gates.append(gate)
        self._add(Script(text=text, gate=gate, when=when))
        return gate

    def forget_script(self) -> None:
        """Drop what was scripted and not yet used."""
        with self._changed:
            self._scripts.clear()

    def titles(self, text: str, **how: Any) -> None:
        """Name a conversation so. Without this, titles are refused: most tests are about something else."""
        with self._changed:
            self._titles.append(Script(text=text, **how))

    def holds_title(self, text: str) -> Gate:
        """Name a conversation so once the returned gate is opened."""
        gate = Gate(self._loop)
        self._gates.append(gate)
        self.titles(text, gate=gate)
        return gate

    def _add(self, script: Script) -> None:
        with self._changed:
            self._scripts.append(script)

    # -- looking ---------------------------------------------------------------------------------------

    @property
    def requests(self) -> tuple[Recorded, ...]:
        """All chat-completion requests so far, in order."""
        with self._changed:
            return tuple(self._requests)

    @property
    def title_requests(self) -> tuple[Recorded, ...]:
        """Those that asked for a title; they are in no other list."""
        with self._changed:
            return tuple(self._title_requests)

    @property
    def last(self) -> Recorded:
        return self.requests[-1]

    @property
    def reviews(self) -> tuple[Recorded, ...]:
        return tuple(request for request in self.requests if is_review(request.json))

    @property
    def chats(self) -> tuple[Recorded, ...]:
        return tuple(request for request in self.requests if is_chat(request.json))

    def wait_for(
        self, count: int, *, when: When = always, seconds: float = PATIENCE_SECONDS
    ) -> tuple[Recorded, ...]:
        """Wait (blocking) until so many fitting requests have come; all that fit."""
        with self._changed:
            came = self._changed.wait_for(lambda: len(self._fitting(when)) >= count, seconds)
            fitting = self._fitting(when)
        assert came, f"only {len(fitting)} of {count} requests came"
        return fitting

    def _fitting(self, when: When) -> tuple[Recorded, ...]:
        return tuple(request for request in self._requests if when(request.json))

    # -- serving ---------------------------------------------------------------------------------------

    def __enter__(self) -> Self:
        self._thread.start()
        port = asyncio.run_coroutine_threadsafe(self._start(), self._loop).result(PATIENCE_SECONDS)
        self.url = f"http://127.0.0.1:{port}/v1"
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for gate in self._gates:
            gate.open()
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result(PATIENCE_SECONDS)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(PATIENCE_SECONDS)
        self._loop.close()

    async def _start(self) -> int:
        app = web.Application(client_max_size=64 * 1024 * 1024)
        app.router.add_post("/v1/chat/completions", self._complete)
        app.router.add_post(anthropic.PATH, self._complete)
        app.router.add_get("/v1/models", self._list_models)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.5)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        port: int = self._runner.addresses[0][1]
        return port

    async def _stop(self) -> None:
        if self._runner is not None:
            await self._runner.cleanup()
        await self._loop.shutdown_default_executor()

    async def _list_models(self, request: web.Request) -> web.StreamResponse:
        if not self._key_fits(request):
            return _error(401, "that key is not known here")
        return web.json_response(
            {"object": "list", "data": [{"id": name, "object": "model"} for name in self.models]}
        )

    async def _complete(self, request: web.Request) -> web.StreamResponse:
        recorded = Recorded(request.method, request.path, dict(request.headers), await request.read())
        if request.transport is not None and request.transport not in self._seen:
            self._seen.add(request.transport)
            self.connections += 1
        asked = recorded.json
        script = self._take(recorded, asked)
        if not self._key_fits(request):
            return _error(401, "that key is not known here")
        await self._think(script)
        if script.status != 200 or script.raw is not None:
            return web.Response(
                status=script.status,
                headers=script.headers,
                body=script.raw,
                content_type=script.content_type,
            )
        if asked.get("stream") and not self.ignores_streaming:
            return await self._stream(request, script, asked)
        if request.path == anthropic.PATH:
            return web.json_response(anthropic.message(*self._answered(script, asked)))
        return web.json_response(_completion(script, asked))

    def _answered(self, script: Script, asked: Json) -> tuple[str, tuple[Json, ...], str | None, Json, str]:
        """What Anthropic's answer is made of; its usage is what the cache really serves."""
        output = len(script.text) // 4 + 10 * len(script.tool_calls)
        usage = script.usage or {**self.cache.usage(asked), "output_tokens": output}
        return script.text, script.tool_calls, script.finish, usage, str(asked.get("model"))

    def _take(self, recorded: Recorded, asked: Json) -> Script:
        """The script for this request; a refusal of what was sent uses none up."""
        if is_title(asked):
            return self._take_title(recorded)
        with self._changed:
            self._requests.append(recorded)
            self._changed.notify_all()
            if complaint := self._complaint(recorded, asked):
                self.complaints.append(complaint)
                return _refusal(complaint)
            if self.window is not None and _prompt_tokens(asked) > self.window:
                return _too_long(self.window, _prompt_tokens(asked))
            if asked.get("max_tokens", 0) > self.most_tokens:
                return _refusal(
                    f"max_tokens: {asked['max_tokens']} > {self.most_tokens}, which is the maximum allowed"
                )
            if self.thinks and "thinking" in asked:
                return _refusal(f'"thinking.type.{asked["thinking"]["type"]}" is not supported for this model.')
            if asked.get("stream") and not self.streams:
                return _refusal("Streaming is not supported: 'stream' must be false.")
            if asked.get("stream_options") and not self.takes_stream_options:
                return _refusal("Unrecognized request argument supplied: stream_options")
            for script in self._scripts:
                if script.when(asked):
                    self._scripts.remove(script)
                    return script
            return Script(text=self.otherwise)

    def _take_title(self, recorded: Recorded) -> Script:
        with self._changed:
            self._title_requests.append(recorded)
            self._changed.notify_all()
            return self._titles.pop(0) if self._titles else Script(status=403, raw=b"{}")

    @staticmethod
    def _complaint(recorded: Recorded, asked: Json) -> str:
        if recorded.path == anthropic.PATH:
            return anthropic.complaint(asked, recorded.headers)
        return _complaint(asked)

    def _key_fits(self, request: web.Request) -> bool:
        given = (request.headers.get("Authorization"), request.headers.get("X-Api-Key"))
        return self.key is None or given in ((f"Bearer {self.key}", None), (None, self.key))

    async def _think(self, script: Script) -> None:
        if script.seconds:
            await asyncio.sleep(script.seconds)
        if script.gate is not None:
            await script.gate.hold()

    async def _stream(self, request: web.Request, script: Script, asked: Json) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        sent = 0
        async for event in self._events(request, script, asked):
            if script.cut_after is not None and sent >= script.cut_after:
                if request.transport is not None:
                    request.transport.abort()
                return response
            named = f"event: {event['type']}\n" if "type" in event else ""
            await response.write(f"{named}data: {json.dumps(event)}\n\n".encode())
            sent += 1
        if request.path != anthropic.PATH:
            await response.write(b"data: [DONE]\n\n")
        await response.write_eof()
        return response

    async def _events(self, request: web.Request, script: Script, asked: Json) -> AsyncIterator[Json]:
        if request.path == anthropic.PATH and script.events is None:
            for event in anthropic.events(*self._answered(script, asked)):
                yield event
            return
        async for event in _events(script, asked):
            yield event


def _complaint(asked: Json) -> str:
    """What real servers refuse in the messages; "" for a good request."""
    unanswered: list[str] = []
    messages = asked.get("messages")
    if not asked.get("model") or not isinstance(messages, list) or len(messages) < 2:
        return "model and messages are required"
    for message in messages:
        role, content, calls = message.get("role"), message.get("content"), message.get("tool_calls") or []
        if role == "tool":
            if message.get("tool_call_id") not in unanswered:
                return "a tool message must follow the tool call that it answers"
            unanswered.remove(message["tool_call_id"])
        elif unanswered:
            return "a tool call must be followed by its result"
        if role not in ("system", "user", "assistant", "tool") or not (isinstance(content, str) or calls):
            return f"bad message of role {role}"
        unanswered += [call["id"] for call in calls]
        if not all(_is_object(call["function"]["arguments"]) for call in calls):
            return "the arguments of a tool call must be an object"
    return "a tool call must be followed by its result" if unanswered else ""


def _is_object(text: object) -> bool:
    try:
        return isinstance(text, str) and isinstance(json.loads(text), dict)
    except ValueError:
        return False


def _call(number: int, tool: str, arguments: Json | str) -> Json:
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return {"id": f"call_{number}_{tool}", "type": "function", "function": {"name": tool, "arguments": text}}


def _refusal(message: str) -> Script:
    body = json.dumps({"error": {"message": message, "type": "invalid_request_error"}}).encode()
    return Script(status=400, raw=body)


def _prompt_tokens(asked: Json) -> int:
    return len(json.dumps(asked.get("messages"), ensure_ascii=False).encode()) // 4


def _too_long(window: int, tokens: int) -> Script:
    said = f"This model's maximum context length is {window} tokens. However, you requested {tokens} tokens."
    error = {"message": said, "type": "invalid_request_error", "code": "context_length_exceeded"}
    return Script(status=400, raw=json.dumps({"error": error}).encode())


def _error(status: int, message: str) -> web.Response:
    return web.json_response({"error": {"message": message, "type": "fake_error"}}, status=status)


def _finish(script: Script) -> str:
    return script.finish or ("tool_calls" if script.tool_calls else "stop")


def _usage(script: Script, asked: Json) -> Json:
    """What the caller pays: by default one token per four bytes of the messages."""
    if script.usage is not None:
        return script.usage
    prompt = len(json.dumps(asked.get("messages"))) // 4
    answer = len(script.text) // 4 + 10 * len(script.tool_calls)
    return {
        "prompt_tokens": prompt,
        "completion_tokens": answer,
        "total_tokens": prompt + answer,
        "prompt_tokens_details": {"cached_tokens": prompt // 2},
    }


def _completion(script: Script, asked: Json) -> Json:
    message: Json = {"role": "assistant", "content": script.text or None}
    if script.tool_calls:
        message["tool_calls"] = list(script.tool_calls)
    return {
        "id": "chatcmpl-fake",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": asked.get("model"),
        "choices": [{"index": 0, "message": message, "finish_reason": _finish(script)}],
        "usage": _usage(script, asked),
    }


async def _events(script: Script, asked: Json) -> AsyncIterator[Json]:
    """The events of a stream: text in two pieces, each call's arguments in two pieces, the end, the usage."""
    if script.events is not None:
        for event in script.events:
            yield event
        return
    yield _chunk({"role": "assistant", "content": ""})
    for piece in _halves(script.text):
        yield _chunk({"content": piece})
    for index, call in enumerate(script.tool_calls):
        function = call["function"]
        first, *rest = _halves(function["arguments"]) or [""]
        start = {**call, "index": index, "function": {"name": function["name"], "arguments": first}}
        yield _chunk({"tool_calls": [start]})
        for piece in rest:
            yield _chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    yield _chunk({}, finish=_finish(script))
    if (asked.get("stream_options") or {}).get("include_usage"):
        yield {
            "id": "chatcmpl-fake",
            "object": "chat.completion.chunk",
            "choices": [],
            "usage": _usage(script, asked),
        }


def _halves(text: str) -> list[str]:
    middle = (len(text) + 1) // 2
    return [half for half in (text[:middle], text[middle:]) if half]


def _chunk(delta: Json, *, finish: str | None = None) -> Json:
    return {
        "id": "chatcmpl-fake",
        "object": "chat.completion.chunk",
        "created": 1_700_000_000,
        "model": "fake-1",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
    }
