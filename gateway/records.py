"""The rows of state.db as frozen values. Which SQL makes them is in `store/`."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from gateway.chat import Chat, Person, Piece


class Target(StrEnum):
    """One of the two files of a space."""

    MEMORY = "memory"
    USER = "user"


class Action(StrEnum):
    """What a write does. BATCH is a list of the first three, all or nothing; the last five change a skill."""

    ADD = "add"
    REPLACE = "replace"
    REMOVE = "remove"
    BATCH = "batch"
    CREATE = "create"
    EDIT = "edit"
    PATCH = "patch"
    WRITE_FILE = "write_file"
    DELETE = "delete"


class Origin(StrEnum):
    """Who proposed a write (design.md, Words)."""

    FOREGROUND = "foreground"
    REVIEW = "background_review"
    FLUSH = "flush"
    TIDY = "tidy"
    PERSON = "person"
    HAND_EDIT = "hand_edit"
    IMPORT = "import"

    @property
    def auto(self) -> bool:
        """True where people see `[auto]`: nobody was talking about it when it was proposed."""
        return self in (Origin.REVIEW, Origin.FLUSH, Origin.TIDY)


class Status(StrEnum):
    """Where a write stands; moves one way (design.md section 4)."""

    STAGED = "staged"
    APPROVED = "approved"
    APPLIED = "applied"
    REFUSED = "refused"
    REJECTED = "rejected"
    EXPIRED = "expired"
    FAILED = "failed"
    UNDONE = "undone"


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
class Space:
    """One MEMORY.md + USER.md pair. `name` is its folder; the owner's is "owner" (files in memories/)."""

    id: int
    name: str
    kind: str
    """owner | person | group"""

    @property
    def has_profile(self) -> bool:
        """Groups keep no USER.md (design.md 7.1)."""
        return self.kind != "group"


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


@dataclass(frozen=True, slots=True)
class Operation:
    """One change inside a write: ADD needs `content`, REMOVE `old_text`, REPLACE both.

    Of a skill: CREATE, EDIT and WRITE_FILE have the new text of a whole file as `content`, PATCH both texts.
    """

    action: Action
    content: str = ""
    old_text: str = ""
    path: str = ""
    """Which file of a skill, below its folder; "" for its SKILL.md."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a write rests on. `message` is None when the quoted words are in nobody's own words."""

    message: int | None
    by: str
    quote: str


HELD = "flag.forgotten"
"""Among the flags of a write that would bring back what was forgotten before: its card asks whether to keep it."""

FORGOTTEN = "reason.forgotten"
"""The `Write.reason` of a write whose words a forget erased."""

SKILL = "skill:"
"""What stands before the name where a write of the ledger is about a skill (`Write.about`)."""


@dataclass(frozen=True, slots=True)
class Write:
    """One proposed change: a row of the ledger."""

    id: int
    space: int
    space_name: str
    kind: str
    """memory | skill"""
    about: str
    """What it changes: memory | user, or `skill:NAME`."""
    operations: tuple[Operation, ...]
    origin: Origin
    evidence: Evidence
    flags: tuple[str, ...]
    """Why it looked suspicious or conflicting: keys of the message catalog under `flag.`."""
    status: Status
    reason: str
    """Why it was refused, failed or is still staged: a key of the catalog under `reason.`; "" if none."""
    reason_values: Mapping[str, object]
    """Numbers and names for that text; never anybody's words."""
    message: int | None
    """The user message whose turn (or command) made it."""
    session: str
    review_turn: int | None
    """With `session`: the review that made it. Of a flush: minus the id of the last message it saw."""
    base_hash: str
    before_hash: str
    after_hash: str
    before: str
    """The text of the entry or entries it replaces or removes, as they were (undo data)."""
    after: str
    created_at: datetime
    expires_at: datetime | None
    decided_by: str
    decided_at: datetime | None
    decided_in: int | None
    """The command or tap (a message id) that decided it."""
    undone_by: str = ""
    undone_at: datetime | None = None
    edited_by: str = ""
    redrawn: int = 0
    """How often its card was redrawn because the file changed under it."""
    applied_at: datetime | None = None
    edited_at: datetime | None = None
    original: tuple[Operation, ...] = ()
    """What was proposed first, where somebody edited it."""
    places: tuple[int, ...] = ()
    """At which place each entry of `before` stood."""
    undone_in: int | None = None
    """The command or tap (a message id) that took it back."""
    undo_before_hash: str = ""
    undo_after_hash: str = ""

    @property
    def action(self) -> Action:
        return self.operations[0].action if len(self.operations) == 1 else Action.BATCH

    @property
    def target(self) -> Target:
        """The file of a memory write. ValueError for a skill's: whoever asks takes it for something else."""
        return Target(self.about)

    @property
    def skill(self) -> str:
        """The name of the skill that it changes; "" for a memory write."""
        return self.about.removeprefix(SKILL) if self.kind == "skill" else ""


@dataclass(frozen=True, slots=True)
class NewWrite:
    """A write about to be born; see Write for the meaning of each field."""

    space: int
    target: str
    """A Target, or `skill:NAME`: `Write.about`."""
    operations: tuple[Operation, ...]
    origin: Origin
    evidence: Evidence
    status: Status
    dedupe: str
    """At most one row ever has it: `turn-MESSAGE-ROUND-POSITION`, `command-MESSAGE`, `review-SESSION-N-I`."""
    created_at: datetime
    kind: str = "memory"
    flags: tuple[str, ...] = ()
    reason: str = ""
    reason_values: Mapping[str, object] | None = None
    message: int | None = None
    session: str = ""
    review_turn: int | None = None
    base_hash: str = ""
    before_hash: str = ""
    after_hash: str = ""
    before: str = ""
    after: str = ""
    places: tuple[int, ...] = ()
    expires_at: datetime | None = None
    decided_by: str = ""
    decided_in: int | None = None
    decided_at: datetime | None = None
    """When it was decided, for one that is born decided and says what was learnt earlier; None: at its birth."""


@dataclass(frozen=True, slots=True)
class KnownFile:
    """What we last read or wrote of a memory file: how a hand edit is noticed."""

    sha256: str
    text: str


@dataclass(frozen=True, slots=True)
class Review:
    """ "Turns `first_turn` up to `turn` of `session`"."""

    session: str
    turn: int
    first_turn: int
    space: int
    status: str
    """due | running | done | failed"""
    cause: str
    """interval | quiet | end | compression | asked"""
    attempts: int
    claim: str
    lease_until: datetime | None
    retry_at: datetime | None
    reason: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Tidy:
    """ "Look once whether this memory file can be made smaller"."""

    id: str
    space: int
    target: Target
    status: str
    """due | running | done | failed"""
    cause: str
    """asked | full"""
    chat: Chat | None
    """Where people hear of it."""
    content: str
    """The SHA-256 of the file: when it was made due, then as the tidy left it."""
    attempts: int
    claim: str
    lease_until: datetime | None
    retry_at: datetime | None
    reason: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class ForgetStep:
    """One layer of a forget. `erased` is None until it is erased."""

    layer: str
    found: int
    erased: int | None
    done_at: datetime | None


@dataclass(frozen=True, slots=True)
class Forget:
    """What was to be forgotten, without the words: when it is done, the receipt."""

    id: int
    space: int
    kind: str
    """passage | rows | everything"""
    by: str
    """Who asked."""
    begun_by: str
    """Who said yes to the plan."""
    status: str
    """planned | erasing | done | cancelled | expired"""
    requested_at: datetime
    begun_at: datetime | None
    done_at: datetime | None
    message: int | None
    """The message that asked."""
    marks: bool
    """Whether tombstones are left."""
    rows: tuple[str, ...]
    """What goes whole: refs such as `messages:412`."""
    left_out: tuple[str, ...]
    """What the person left out: refs; of what is named by a hash only the layer, once it is done."""
    left: tuple[tuple[str, int], ...]
    """The person's own files that hold it, and how often."""
    verified: Mapping[str, object]
    """How it was verified: numbers and names of ours."""
    steps: tuple[ForgetStep, ...]


@dataclass(frozen=True, slots=True)
class Outgoing:
    """One thing still to be said (a row of `outbox`): a kind and ids, without words."""

    id: int
    dedupe: str
    kind: str
    chat: Chat
    space: int
    token: str
    """Unguessable; a button carries it back (`data` = action:outbox id:token)."""
    message: int | None
    """The message it answers or shows, where there is one."""
    write: int | None
    review: tuple[str, int] | None
    edits: int | None
    """The outbox row whose message this one changes."""
    values: Mapping[str, object]
    """Numbers, names of settings, ids. Never anybody's words."""
    reply_to: str
    via: str
    """The only way on which it may be said; "" for the chat."""
    status: str
    """waiting | delivered | dropped | gone"""
    attempts: int
    due_at: datetime
    created_at: datetime


@dataclass(frozen=True, slots=True)
class NewOutgoing:
    """One thing to put into the outbox; see Outgoing."""

    dedupe: str
    kind: str
    chat: Chat
    space: int
    created_at: datetime
    message: int | None = None
    write: int | None = None
    review: tuple[str, int] | None = None
    edits: int | None = None
    values: Mapping[str, object] | None = None
    reply_to: str = ""
    via: str = ""


@dataclass(frozen=True, slots=True)
class Chunk:
    """One platform message of a thing said. Its text is erased when it is delivered."""

    outgoing: int
    position: int
    text: str
    platform_id: str
    delivered: bool


@dataclass(frozen=True, slots=True)
class Account:
    """One account of a person, as kept."""

    key: str
    role: str
    """owner | allowed | stranger (kept only to count wrong codes)"""
    space: int | None
    wrong_codes: int
    wrong_since: datetime | None
    since: datetime | None = None
    """Since when it is what it is."""
    revoked_at: datetime | None = None
    """When it was taken out, if that was the last that happened to it."""


@dataclass(frozen=True, slots=True)
class KnownChat:
    """A chat as kept."""

    chat: Chat
    private: bool
    person: str
    """Whose private chat it is; "" for a group."""
    language: str
    home: bool
    last_at: datetime | None
    refused_at: datetime | None
    """When a group was told that it cannot be served."""
    space: int | None = None
    """Whose memory it uses; None while it was never let in."""
    server: str = ""
    """The Discord server that it is in."""


@dataclass(frozen=True, slots=True)
class Pairing:
    """Somebody who is not let in yet asks to be: the account and the code it was told, never words."""

    code: str
    person: Person
    chat: Chat
    """The private chat in which it asked."""
    created_at: datetime
    expires_at: datetime
    decided_at: datetime | None = None
    """When it was allowed or ignored."""
    ignored_at: datetime | None = None
    """When the owner ignored it; None where that was taken back."""
    language: str = ""
    """The first guess for its chat; "" when the platform says nothing, or a language that we do not speak."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A setting that a chat command changed."""

    space: int
    key: str
    value: str
    by: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Hit:
    """One found message with a snippet around the words."""

    session: str
    message: int
    role: str
    at: datetime
    snippet: str
    place: tuple[int, int] = (0, 0)
    """Where the words stand in what is searched of it."""


@dataclass(frozen=True, slots=True)
class FoundSession:
    """What was found in one session. Its `id` is "" for messages that wait and belong to none yet."""

    id: str
    title: str
    matches: int
    """How many of its messages were found among those looked at."""
    hits: tuple[Hit, ...]
    """The best of them, best first."""
    around: tuple[Message, ...]
    """The best one with what was said right before and after it."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a search found, and how far it looked."""

    sessions: tuple[FoundSession, ...]
    """Best first."""
    matches: int = 0
    """How many messages match (see `more`)."""
    more: bool = False
    """Whether there may be more matches than that."""
    ranked: int = 0
    """Among so many of the newest matches the best were chosen; 0: among all."""
    newest_only: int = 0
    """Only so many of the newest messages were read, because no index helps with this query; 0: all."""
    loosely: bool = False
    """Nothing has all of what was asked; these have a part of it."""
    unindexed: int = 0
    """So many older messages are still to be indexed."""

    @property
    def hits(self) -> tuple[Hit, ...]:
        return tuple(hit for session in self.sessions for hit in session.hits)


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call. `task` is chat, background_review, … (design.md section 4)."""

    task: str
    session: str
    space: int
    model: str
    input: int
    output: int
    cached: int
    at: datetime
    job: str = ""


@dataclass(frozen=True, slots=True)
class UsageSum:
    """What the calls of one task cost together."""

    task: str
    calls: int
    input: int
    output: int
    cached: int


@dataclass(frozen=True, slots=True)
class UsageDay:
    """What one task cost on one day, as days begin where people live."""

    day: str
    task: str
    calls: int
    input: int
    output: int
    cached: int
