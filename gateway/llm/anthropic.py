"""Anthropic's own API, which caches what it is told to cache.

The anthropic SDK does the HTTP, the key and the timeouts; what a body and an answer look like is `anthropic_wire`,
what becomes of failures `server`. The SDK would wait as long as a server asks, hours if need be, so the retries
are ours. It takes over a second to import, so a thread does that, at the first thought.

Thinking is switched off where a model lets us: a transcript has no place for thoughts, and they count as tokens.
"""

import asyncio
import importlib
import logging
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

from gateway.errors import ModelBusy, ModelFull, ModelRefused
from gateway.llm import anthropic_wire, server, wire
from gateway.ports import ModelAnswer, ModelRequest

if TYPE_CHECKING:
    import anthropic

log = logging.getLogger(__name__)

DEFAULT_BASE_URL = "https://api.anthropic.com/v1"
MAX_TOKENS = 16_000
"""Of one answer: this API wants a bound. Far more than a chat shows, and within what every current model gives."""
FEWER_TOKENS = 4_096
"""What the models of old give."""
MOST_PAUSE_SECONDS = 30.0
"""A server that asks for more is asked again by whoever asked us."""

_FIRST_ASKED: dict[str, Any] = {"max_tokens": MAX_TOKENS, "thinking": {"type": "disabled"}}


class AnthropicModel:
    """One model of Anthropic's. Keeps one HTTP client for all its thoughts; `close` ends it."""

    def __init__(self, name: str, *, base_url: str = "", api_key: str = "", timeout_seconds: float = 120.0) -> None:
        self._name = name
        self._base_url = (base_url or DEFAULT_BASE_URL).rstrip("/").removesuffix("/v1")
        self._api_key = api_key
        self._timeout_seconds = timeout_seconds
        self._made: anthropic.AsyncAnthropic | None = None
        self._making = asyncio.Lock()
        self._extras = _FIRST_ASKED
        """What is asked for beside the request; changed by what this model turns out to refuse."""

    @property
    def name(self) -> str:
        return self._name

    async def think(self, request: ModelRequest) -> ModelAnswer:
        """Ask once (and again a little later, as often as `server.MAX_RETRIES` says). See `ports.Model`."""
        client = await self._client()
        try:
            # The client's own timeout begins anew with every byte; this one ends a server that trickles.
            async with asyncio.timeout(self._timeout_seconds * (server.MAX_RETRIES + 1)):
                return await self._ask_patiently(client, request)
        except TimeoutError:
            raise ModelBusy("the model's server did not finish its answer in time") from None

    async def reach(self) -> str:
        """For `doctor`: "" when the endpoint answers, else what to check."""
        client = await self._client()
        import anthropic

        try:
            async with asyncio.timeout(server.REACH_SECONDS):
                listed = await client.get(
                    "/v1/models",
                    cast_to=object,
                    options={"headers": self._headers(), "timeout": server.REACH_SECONDS},
                )
        except anthropic.APIStatusError as error:
            trouble = _from_status(error)
            hint = server.said(trouble.hint) if isinstance(trouble, ModelRefused) else "Try again later."
            return f"The model's server answered {error.status_code}. {hint}"
        except (anthropic.APIError, TimeoutError):
            return f"The model's server does not answer. {server.said('hint.address')}"
        return "" if isinstance(listed, dict) else f"What answers is no model server. {server.said('hint.address')}"

    async def close(self) -> None:
        client, self._made = self._made, None
        if client is not None:
            await client.close()

    async def _client(self) -> "anthropic.AsyncAnthropic":
        async with self._making:
            if self._made is None:
                self._made = await asyncio.to_thread(self._make_client)
            return self._made

    def _make_client(self) -> "anthropic.AsyncAnthropic":
        import anthropic

        # What the SDK would look up in the environment by itself is said here: only settings.py looks there.
        client = anthropic.AsyncAnthropic(
            api_key=self._api_key or "none",
            webhook_key="",
            base_url=self._base_url,
            timeout=anthropic.Timeout(
                self._timeout_seconds, connect=min(server.CONNECT_SECONDS, self._timeout_seconds)
            ),
            max_retries=0,
            open_telemetry=False,
            http_client=anthropic.DefaultAsyncHttpxClient(verify=server.tls()),
        )
        client._custom_headers = {}  # nor does it let us leave out ANTHROPIC_CUSTOM_HEADERS
        return client

    def _headers(self) -> Any:
        """The key as the API's own pages name it; without one, as with a local proxy, no key at all."""
        import anthropic

        return {"Authorization": anthropic.omit, "X-Api-Key": self._api_key or anthropic.omit}

    # -- asking ----------------------------------------------------------------------------------------

    async def _ask_patiently(self, client: "anthropic.AsyncAnthropic", request: ModelRequest) -> ModelAnswer:
        for _ in range(server.MAX_RETRIES):
            try:
                return await self._ask(client, request)
            except _Unheard as unheard:
                if unheard.after > MOST_PAUSE_SECONDS:
                    raise
                await asyncio.sleep(unheard.after)
        return await self._ask(client, request)

    async def _ask(self, client: "anthropic.AsyncAnthropic", request: ModelRequest) -> ModelAnswer:
        """Ask, with less asked for beside the request as long as the model refuses just that."""
        import anthropic

        extras, lasting = self._extras, True
        body = anthropic_wire.body(request, anthropic_wire.model_name(self._name))
        while True:
            try:
                answer = await self._asked_with(client, request, {**body, **extras, "stream": True})
            except anthropic.APIStatusError as error:
                fewer = _without_refused(extras, error)
                if fewer is None:
                    raise _from_status(error) from None
                # A long conversation leaves less room for its answer; the next one has room again.
                extras, lasting = fewer, lasting and "context" not in error.response.text
            except anthropic.APITimeoutError:
                raise _Unheard(f"the model's server said nothing for {self._timeout_seconds:g} s") from None
            except anthropic.APIConnectionError:
                raise _Unheard("the model's server cannot be reached", after=2.0) from None
            except anthropic.APIError:
                raise ModelBusy("the model's server sent what is no answer") from None
            except server.wire_errors():
                raise ModelBusy("the model's server broke off in the middle of its answer") from None
            else:
                if lasting and extras is not self._extras:
                    log.info("model.asked_for_less", extra={"left": sorted(extras)})
                    self._extras = extras
                return answer

    async def _asked_with(
        self, client: "anthropic.AsyncAnthropic", request: ModelRequest, body: dict[str, Any]
    ) -> ModelAnswer:
        import anthropic

        assembly = wire.Assembly(first_call_number=len(request.messages))
        translation = anthropic_wire.Translation()
        # Not `messages.create`: that believes the answer, and puts a text of the server into its errors.
        stream = await client.post(
            "/v1/messages",
            body=body,
            options={"headers": self._headers()},
            cast_to=object,
            stream=True,
            stream_cls=anthropic.AsyncStream[object],
        )
        async with stream:
            await _read(stream.response.aiter_bytes(), translation, assembly)
        if translation.refused:
            raise ModelRefused(stream.response.status_code, "hint.declined")
        return server.checked(assembly)


class _Unheard(ModelBusy):
    """The server has not begun to answer: asking again at once costs nothing."""


async def _read(
    chunks: AsyncIterator[bytes], translation: anthropic_wire.Translation, assembly: wire.Assembly
) -> None:
    """Read a response into the assembly: to its end, or until it is too much."""
    reader = wire.Reader()

    def take(events: list[object]) -> None:
        for document in (document for event in events for document in translation.documents(event)):
            assembly.take(document)

    async for chunk in chunks:
        take(reader.feed(chunk))
        if translation.over:
            return await server.drain(chunks)
        if assembly.full or reader.size > server.MOST_BYTES:
            return None
    take(reader.rest())
    assembly.ended = assembly.ended or bool(reader.whole)
    return None


# -- errors ------------------------------------------------------------------------------------------------


def warm_up() -> None:
    """Load what a first thought has to load: for a process that forks one for each thought."""
    for module in ("anthropic", "anyio._backends._asyncio"):
        importlib.import_module(module)
    server.tls()


def _without_refused(extras: dict[str, Any], error: "anthropic.APIStatusError") -> dict[str, Any] | None:
    """The extras without what this refusal names; None when it is about something else.

    Some models think whatever they are told, and one takes `between_tools` instead of `disabled`.
    """
    if error.status_code not in (400, 422):
        return None
    text = error.response.text.lower()
    if "max_tokens" in text and extras["max_tokens"] > FEWER_TOKENS:
        return {**extras, "max_tokens": FEWER_TOKENS}
    if "thinking" not in text or "thinking" not in extras:
        return None
    if extras["thinking"]["type"] == "disabled":
        return {**extras, "thinking": {"type": "between_tools"}}
    return {name: asked for name, asked in extras.items() if name != "thinking"}


def _from_status(error: "anthropic.APIStatusError") -> ModelBusy | ModelRefused:
    if error.status_code == 400 and "credit balance" in error.response.text.lower():
        return ModelRefused(error.status_code, "hint.credit")
    if server.is_too_long(error.status_code, error.response.text):
        return ModelFull(error.status_code)
    trouble = server.trouble(error.status_code, after=server.retry_after(error.response.headers))
    return _Unheard(str(trouble), after=trouble.after) if isinstance(trouble, ModelBusy) else trouble
