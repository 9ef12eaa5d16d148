"""What we ask of the outside, as Protocols. Each has contract tests in tests/contract/.

Adapters live in `platforms/`, `llm/`, `providers/` and `rq_queue`; built only by `app` and `workers.runtime`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from gateway.chat import Chat, Dialog, IncomingMessage, OutgoingMessage, Person, Suggestion, Tap
from gateway.jobs import Job
from gateway.records import ToolCall, Usage


class Clock(Protocol):
    """The only source of the current time."""

    def now(self) -> datetime:
        """The current instant, aware, in UTC."""
        ...


class Receiver(Protocol):
    """What a platform hands things to. When a call returns, the thing is committed or refused for good."""

    async def message(self, message: IncomingMessage) -> bool:
        """Take one message; whether anything will be said to it, as far as can be known.

        Raises TryLater when it could not be kept: hand it over again later.
        """
        ...

    async def tap(self, tap: Tap) -> str:
        """Take one tap. Returns the toast to show the person ("" for none). Raises TryLater as above."""
        ...

    async def edit(self, message: IncomingMessage) -> None:
        """A person changed a message, kept or not: this is how it reads now. Raises TryLater as above."""
        ...

    async def moved(self, platform: str, from_id: str, to_id: str) -> None:
        """A chat has another id from now on, however often this is said. Raises TryLater as above."""
        ...

    async def dialog(self, tap: Tap) -> Dialog | str:
        """The question that a button with `asks` opens, or the toast that says why not."""
        ...

    async def suggest(
        self, person: Person, chat: Chat, server: str, command: str, typed: str
    ) -> Sequence[Suggestion]:
        """What may follow `command` ("memory approve"), for who typed that much; nothing for a stranger."""
        ...

    async def last_kept(self, platform: str) -> Mapping[Chat, str]:
        """In each known chat and thread of a platform, the id of the newest message that was kept."""
        ...


class Platform(Protocol):
    """A chat network. Translates, never decides."""

    @property
    def name(self) -> str: ...

    def serves(self, chat: Chat) -> bool:
        """Whether this process shows that chat (a terminal shows only its own)."""
        ...

    async def run(self, receiver: Receiver, ready: Callable[[], None]) -> None:
        """Receive until cancelled, outliving bad updates and outages; `ready` is called once connected.

        Confirms an update to the platform only after the receiver returned. Raises ConfigError when the
        platform refuses our token.
        """
        ...

    async def send(self, message: OutgoingMessage) -> str:
        """Deliver one message (or change one, `edits`); returns the platform's message id.

        Waits for its turn where the platform bounds how often we may speak. Raises PlatformBusy (wait `.after`
        seconds, then again), ChatGone (never again), ChatMoved and WayClosed.
        """
        ...

    async def delete(self, chat: Chat, message_ids: Sequence[str]) -> Sequence[str]:
        """Delete messages of a chat, anybody's; which of them are not there any more. May be asked again.

        Raises PlatformBusy, ChatGone and ChatMoved.
        """
        ...

    async def typing(self, chat: Chat) -> None:
        """Show that an answer is being written. Best effort: errors are swallowed by the adapter."""
        ...

    def chunks(self, text: str) -> tuple[str, ...]:
        """Cut Markdown text into pieces that fit one message each; nothing is lost between them."""
        ...

    def health(self) -> "PlatformHealth": ...

    async def close(self) -> None:
        """Let go of connections: after `run` has ended and the last message was sent."""
        ...


@dataclass(frozen=True, slots=True)
class PlatformHealth:
    """How a platform is, for `status`: `state` is ok, degraded, refused or starting."""

    state: str
    last_poll_at: datetime | None = None
    account: str = ""
    """What people find the bot under there (Telegram's username); "" while it is not known."""
    caught_up: bool = True
    """Whether all that was said there has reached us. False after a start or an outage, until we have looked."""


@dataclass(frozen=True, slots=True)
class RequestMessage:
    """One message of a model request, in the shape of the chat-completions API."""

    role: str
    content: str
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str = ""


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """The exact request. `tools` is the frozen JSON text of the tool definitions ("" for none)."""

    system: str
    messages: tuple[RequestMessage, ...]
    tools: str = ""


@dataclass(frozen=True, slots=True)
class Tokens:
    """What a call cost. `cached` is the part of `input` that the model's prompt cache served."""

    input: int = 0
    output: int = 0
    cached: int = 0

    def paid(self, task: str, model: str, at: datetime, *, space: int, session: str = "", job: str = "") -> Usage:
        """What is kept of them: see Usage."""
        return Usage(
            task=task,
            session=session,
            space=space,
            model=model,
            input=self.input,
            output=self.output,
            cached=self.cached,
            at=at,
            job=job,
        )


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """What the model said: text, or tool calls (then `text` may be ""). Text has no lone surrogates."""

    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    tokens: Tokens = Tokens()
    truncated: bool = False
    """True when the model stopped at its length limit."""


class Model(Protocol):
    """A language model behind an API."""

    @property
    def name(self) -> str: ...

    async def think(self, request: ModelRequest) -> ModelAnswer:
        """Ask once. Raises ModelBusy (again after `.after` seconds) or ModelRefused (will not change)."""
        ...

    async def reach(self) -> str:
        """For `doctor`: "" when the endpoint answers, else a sentence on what to check."""
        ...

    async def close(self) -> None: ...


class Provider(Protocol):
    """An external memory service, as far as forgetting asks it. `space` is the name of a space."""

    @property
    def name(self) -> str: ...

    async def find(self, space: str, texts: Sequence[str]) -> int:
        """How much of what it keeps for a space holds one of these texts. Raises ProviderBusy."""
        ...

    async def erase(self, space: str, texts: Sequence[str], *, everything: bool = False) -> int:
        """Erase that, or all of the space; how much it was. May be asked again. Raises ProviderBusy."""
        ...

    async def close(self) -> None: ...


class JobQueue(Protocol):
    """The doorbell of the workers. Losing a ring does no harm: SQLite knows what is due."""

    def put(self, job: Job) -> bool:
        """Wake a worker for this job. False when the queue cannot be reached (logged, not raised)."""
        ...
