"""Any endpoint that speaks chat completions: OpenAI, OpenRouter, Ollama, vLLM, llama.cpp, …

The openai SDK does the HTTP, the key, the timeouts and the first retries; what a body and an answer look like
is `wire`, which trusts nobody, and what becomes of failures `server`. The SDK takes most of a second to import,
so a thread does that, at the first thought. No text of a server leaves this module: it may hold people's words,
or the key.
"""

import asyncio
import importlib
import logging
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

from gateway.errors import ModelBusy, ModelFull, ModelRefused
from gateway.llm import server, wire
from gateway.ports import ModelAnswer, ModelRequest

if TYPE_CHECKING:
    import openai

log = logging.getLogger(__name__)

DEFAULT_BASE_URL = "https://api.openai.com/v1"


class OpenAIModel:
    """One model behind one endpoint. Keeps one HTTP client for all its thoughts; `close` ends it."""

    def __init__(self, name: str, *, base_url: str = "", api_key: str = "", timeout_seconds: float = 120.0) -> None:
        self._name = name
        self._base_url = base_url or DEFAULT_BASE_URL
        self._api_key = api_key
        self._timeout_seconds = timeout_seconds
        self._made: openai.AsyncOpenAI | None = None
        self._making = asyncio.Lock()
        self._extras: dict[str, Any] = {"stream": True, "stream_options": {"include_usage": True}}
        """What is asked for beside the request; loses what this endpoint turns out to refuse."""

    @property
    def name(self) -> str:
        return self._name

    async def think(self, request: ModelRequest) -> ModelAnswer:
        """Ask once (and again a little later, as often as `server.MAX_RETRIES` says). See `ports.Model`."""
        client = await self._client()
        try:
            # The client's own timeout begins anew with every byte; this one ends a server that trickles.
            async with asyncio.timeout(self._timeout_seconds * (server.MAX_RETRIES + 1)):
                return await self._ask(client, request)
        except TimeoutError:
            raise ModelBusy("the model's server did not finish its answer in time") from None

    async def reach(self) -> str:
        """For `doctor`: "" when the endpoint answers, else what to check."""
        client = (await self._client()).with_options(timeout=server.REACH_SECONDS, max_retries=0)
        import openai

        try:
            async with asyncio.timeout(server.REACH_SECONDS):
                listed = await client.get("/models", cast_to=object, options={"headers": self._headers()})
        except openai.APIStatusError as error:
            trouble = _from_status(error)
            hint = server.said(trouble.hint) if isinstance(trouble, ModelRefused) else "Try again later."
            return f"The model's server answered {error.status_code}. {hint}"
        except (openai.APIError, TimeoutError):
            return f"The model's server does not answer. {server.said('hint.address')}"
        return "" if isinstance(listed, dict) else f"What answers is no model server. {server.said('hint.address')}"

    async def close(self) -> None:
        client, self._made = self._made, None
        if client is not None:
            await client.close()

    async def _client(self) -> "openai.AsyncOpenAI":
        async with self._making:
            if self._made is None:
                self._made = await asyncio.to_thread(self._make_client)
            return self._made

    def _make_client(self) -> "openai.AsyncOpenAI":
        import openai

        # What the SDK would look up in the environment by itself is said here: only settings.py looks there.
        not_sent: Any = {"OpenAI-Organization": openai.omit, "OpenAI-Project": openai.omit}
        return openai.AsyncOpenAI(
            api_key=self._api_key or "none",
            admin_api_key="",
            base_url=self._base_url,
            timeout=openai.Timeout(
                self._timeout_seconds, connect=min(server.CONNECT_SECONDS, self._timeout_seconds)
            ),
            max_retries=server.MAX_RETRIES,
            default_headers=not_sent,
            http_client=openai.DefaultAsyncHttpx2Client(verify=server.tls()),
        )

    def _headers(self) -> Any:
        """Without a key a local server gets no Authorization header at all."""
        import openai

        return {} if self._api_key else {"Authorization": openai.omit}

    # -- asking ----------------------------------------------------------------------------------------

    async def _ask(self, client: "openai.AsyncOpenAI", request: ModelRequest) -> ModelAnswer:
        """Ask, with less asked for beside the request as long as the endpoint refuses just that."""
        import openai

        extras = self._extras
        body = wire.body(request, self._name)
        while True:
            try:
                answer = await self._asked_with(client, request, {**body, **extras})
            except openai.APIStatusError as error:
                fewer = _without_refused(extras, error)
                if fewer is None:
                    raise _from_status(error) from None
                extras = fewer
            except openai.APITimeoutError:
                raise ModelBusy(f"the model's server said nothing for {self._timeout_seconds:g} s") from None
            except openai.APIConnectionError:
                raise ModelBusy("the model's server cannot be reached", after=2.0) from None
            except openai.APIError:
                raise ModelBusy("the model's server sent what is no answer") from None
            except server.wire_errors():
                raise ModelBusy("the model's server broke off in the middle of its answer") from None
            else:
                if extras is not self._extras:
                    log.info("model.asked_for_less", extra={"left": sorted(extras)})
                    self._extras = extras
                return answer

    async def _asked_with(
        self, client: "openai.AsyncOpenAI", request: ModelRequest, body: dict[str, Any]
    ) -> ModelAnswer:
        import openai

        assembly = wire.Assembly(first_call_number=len(request.messages))
        # Not `chat.completions.create`: that puts the body in an order of its own, and believes the answer.
        stream = await client.post(
            "/chat/completions",
            body=body,
            options={"headers": self._headers()},
            cast_to=object,
            stream=True,
            stream_cls=openai.AsyncStream[object],
        )
        async with stream:
            await _read(stream.response.aiter_bytes(), assembly)
        return server.checked(assembly)


async def _read(chunks: AsyncIterator[bytes], assembly: wire.Assembly) -> None:
    """Read a response into the assembly: to its end, or until it is too much."""
    reader = wire.Reader()
    async for chunk in chunks:
        for document in reader.feed(chunk):
            assembly.take(document)
        if reader.done:
            return await server.drain(chunks)
        if assembly.full or reader.size > server.MOST_BYTES:
            return None
    for document in reader.rest():
        assembly.take(document)
    assembly.ended = assembly.ended or bool(reader.whole)
    return None


# -- errors --------------------------------------------------------------------------------------------


def warm_up() -> None:
    """Load what a first thought has to load: for a process that forks one for each thought."""
    for module in ("openai", "anyio._backends._asyncio"):
        importlib.import_module(module)
    server.tls()


def _without_refused(extras: dict[str, Any], error: "openai.APIStatusError") -> dict[str, Any] | None:
    """The extras without the one that this refusal names; None when it is about something else."""
    if error.status_code not in (400, 404, 405, 415, 422, 501):
        return None
    said = error.response.text.lower()
    for name in ("stream_options", "stream"):
        if name in extras and name in said:
            # Without streaming there are no stream_options either.
            return {} if name == "stream" else {key: extras[key] for key in extras if key != name}
    return None


def _from_status(error: "openai.APIStatusError") -> ModelBusy | ModelRefused:
    if error.code == "insufficient_quota":
        return ModelRefused(error.status_code, "hint.credit")
    if server.is_too_long(error.status_code, f"{error.code} {error.response.text}"):
        return ModelFull(error.status_code)
    return server.trouble(error.status_code, after=server.retry_after(error.response.headers))
