"""What goes between a platform and the conversation: chats, persons, messages, taps.

Only data. Translating is `platforms/`, deciding is `conversation/`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Chat:
    """A place to talk: platform + id (+ thread, "" where there is none)."""

    platform: str
    id: str
    thread: str = ""

    @property
    def key(self) -> str:
        """`telegram:-100200` or `telegram:-100200/7`: unique, without words, fit for logs."""
        return f"{self.platform}:{self.id}" + (f"/{self.thread}" if self.thread else "")


@dataclass(frozen=True, slots=True)
class Person:
    """Who wrote or tapped: one account on one platform."""

    platform: str
    id: str

    @property
    def key(self) -> str:
        """`telegram:123`, as written in `access.owners`."""
        return f"{self.platform}:{self.id}"

    @staticmethod
    def parse(key: str) -> "Person":
        """The person of a key such as `telegram:123`. Raises ValueError for anything else."""
        platform, colon, account = key.partition(":")
        if not (platform and colon and account):
            raise ValueError(key)
        return Person(platform, account)


TERMINAL_OWNER = Person("terminal", "owner")
"""The person at the terminal and at the `hikae` command: always the owner (design.md 6.3)."""


class How(StrEnum):
    """How a piece of a message got there (design.md 7.2). Only OWN words may become memory unasked."""

    OWN = "own"
    QUOTED = "quoted"
    ATTACHED = "attached"
    """No words: the kind of something that came with the message and that we cannot read."""
    FORWARDED = "forwarded"
    TOOL = "tool"
    RECALLED = "recalled"


@dataclass(frozen=True, slots=True)
class Piece:
    """Some words, who said them (a person's key, "" when unknown) and how they got into a message."""

    how: How
    by: str
    text: str


@dataclass(frozen=True, slots=True)
class IncomingMessage:
    """One thing said. `id` is the platform's, unique within the chat (redeliveries carry the same)."""

    chat: Chat
    person: Person
    id: str
    pieces: tuple[Piece, ...]
    at: datetime
    private: bool = True
    addressed: bool = True
    """False for a group message that neither mentions nor answers the bot."""
    language: str = ""
    """What the platform says about the person's language, e.g. "en-GB"; "" when it says nothing."""
    speaker: str = ""
    """The name that others see; said to the model in groups. Anybody may call themselves anything."""
    server: str = ""
    """The Discord server that the chat is in, "" elsewhere."""
    answers: str = ""
    """The platform's id of the message that it answers, "" for none."""
    album: str = ""
    """What all messages of one album have in common, "" for a message of its own."""
    via: str = ""
    """The only way on which a private command may be answered (Discord's interaction token), "" for the chat."""
    session: str = ""
    """The session to go on with, where the person named one (`hikae chat --resume`)."""

    @property
    def own_text(self) -> str:
        """The person's own words; a command is read from these alone."""
        return "\n".join(piece.text for piece in self.pieces if piece.how is How.OWN)


@dataclass(frozen=True, slots=True)
class Tap:
    """One press on a button. `id` is the platform's id of the press, `data` what the button carried."""

    chat: Chat
    person: Person
    id: str
    data: str
    at: datetime
    message_id: str = ""
    text: str = ""
    """What the person typed where a button asks for text (the terminal's "edit"), else ""."""


@dataclass(frozen=True, slots=True)
class Button:
    """A button under a message. `data` has at most 64 bytes (Telegram's bound) and no words."""

    label: str
    data: str
    asks: bool = False
    """Whether a press asks for text first (`Receiver.dialog`), where the platform has dialogs."""


@dataclass(frozen=True, slots=True)
class Dialog:
    """A question for text, as a platform's dialog shows it; the answer comes back as a tap with `text`."""

    title: str
    label: str
    text: str
    """What stands in the field at first."""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """One line of an autocompletion."""

    label: str
    value: str


@dataclass(frozen=True, slots=True)
class CommandOption:
    """What may follow a command: `name` is ids, text, code or value (design.md 6.4)."""

    name: str
    summary: Mapping[str, str]
    """What it is, by language."""
    required: bool = False
    completes: bool = False
    """Whether `Receiver.suggest` knows what may stand there."""
    choices: tuple[str, ...] = ()
    """The only things that may stand there; empty for anything."""


@dataclass(frozen=True, slots=True)
class CommandSpec:
    """One chat command as a platform's own menu shows it."""

    name: str
    summary: Mapping[str, str]
    """One line, by language."""
    options: tuple[CommandOption, ...] = ()
    parts: tuple["CommandSpec", ...] = ()
    """Subcommands. With these, a platform whose commands cannot have both calls the bare command `show`."""
    private: bool = True
    """Whether only the person who gave it sees the answer, where others read along."""


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file that goes with a message."""

    name: str
    content: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class OutgoingMessage:
    """One message to show: a chunk of something said. Markdown in `text`."""

    chat: Chat
    text: str
    buttons: tuple[tuple[Button, ...], ...] = ()
    """Rows of buttons."""
    reply_to: str = ""
    silent: bool = False
    asks: bool = False
    """Whether the person is to answer this very message: the platform may open an answer to it at once."""
    edits: str = ""
    """The platform message id to change instead of sending a new message; "" to send."""
    via: str = ""
    """Send it on this way only (`IncomingMessage.via`)."""
    aside: bool = False
    """True for notices and cards: the terminal prints these on stderr."""
    escaped: bool = False
    """True for texts of our own, in which people's words are escaped: a platform that shows no Markdown takes
    the backslashes away."""
    file: Attachment | None = None
    """A file to show with it; its text is short then. Never with `edits` or `via`."""
    goes_on: bool = False
    """Whether it is another part of what the message before it began."""
    nonce: str = field(default="", compare=False)
    """Stable per chunk; platforms that drop repeats by nonce use it."""
