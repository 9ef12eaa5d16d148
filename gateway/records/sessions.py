"""Conversations: sessions, and what was said in them."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from gateway.chat import Chat, Piece


class Role(StrEnum):
    """What a row of the transcript is. COMMAND and TAP are in no request, search or review."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"
    COMMAND = "command"
    TAP = "tap"


class Done(StrEnum):
    """How a user message, command or tap ended."""

    ANSWERED = "answered"
    STOPPED = "stopped"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call the model made: the API's id, the tool's name and the arguments as JSON text, as sent."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Session:
    """One conversation in a chat, with its frozen prompt and tool definitions exactly as sent."""

    id: str
    space: int
    chat: Chat
    member: str
    """The member's key where a group has one session per member, else ""."""
    opened_at: datetime
    ended_at: datetime | None
    system_prompt: str
    tools: str
    generation: int
    """Counts the prompts this session had; a row of `messages` names the one it was sent under."""
    frozen_at: datetime
    turns: int
    """User turns begun so far; the newest turn's number."""
    last_at: datetime
    title: str
    model: str
    said_at: datetime | None = None
    """When a person last said something in it, by the platform's clock. None: not since it was taken up again."""
    incognito: bool = False
    """Whether it writes no memory and goes when it ends (`memory.incognito`)."""


@dataclass(frozen=True, slots=True)
class Summary:
    """What stands in a session's requests for its turns after `head` and before `tail`: they were compressed."""

    head: int
    tail: int
    first: int
    """The first and last message id among those turns."""
    last: int
    text: str


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """A session as listed. `space` is the space's name, `messages` how many its transcript has."""

    id: str
    title: str
    chat: Chat
    space: str
    started_at: datetime
    last_at: datetime
    ended_at: datetime | None
    messages: int


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a transcript (see `Role`)."""

    id: int
    space: int
    chat: Chat
    person: str
    """Key of who said it; "" for the model and tools."""
    role: Role
    text: str
    pieces: tuple[Piece, ...]
    """Who said which part of `text` and how it got there; empty where it is all one person's own."""
    at: datetime
    session: str = ""
    turn: int = 0
    round: int = 0
    generation: int = 0
    as_sent: str = ""
    """What the model saw of it."""
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str = ""
    tool_name: str = ""
    platform_id: str = ""
    album: str = ""
    speaker: str = ""
    """The name under which it was said in a group."""
    via: str = ""
    """See IncomingMessage."""
    part_of: int | None = None
    """The message that this one was joined to."""
    answers: int | None = None
    """The user message that this final answer answers."""
    done: Done | None = None
    erased: bool = False
    """Whether its words were taken away for good: then only its platform's id is left of it."""
