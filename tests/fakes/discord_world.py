"""What the fake Discord knows, and what each call of its API does to it.

Only the rules of the API's own: people, trouble and sockets are `discord`; what a call may hold is `discord_rules`.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.fakes import discord_rules
from tests.fakes.discord_rules import Operation, Wrong
from tests.fakes.discord_sessions import Sessions

BOT_ID = 900_000_000_000_000_001
APPLICATION_ID = 900_000_000_000_000_002
BOT_NAME = "hikae"
GUILD = 700_000_000_000_000_000
FIRST_ID = 1_577_400_000_000_000_000
THE_PAST = datetime.now(UTC).replace(microsecond=0) - timedelta(hours=1)
"""When the first message is said: of late."""
SEND = "POST /channels/{channel_id}/messages"

EPHEMERAL, SILENT = 64, 4096


@dataclass(frozen=True)
class Shown:
    """One message of the bot as the chat shows it now."""

    channel: int
    message_id: int
    text: str
    buttons: tuple[tuple[tuple[str, str], ...], ...] = ()
    """Rows of (label, custom_id)."""
    ephemeral: bool = False
    silent: bool = False
    reply_to: int | None = None
    nonce: str = ""

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(label for row in self.buttons for label, _ in row)


@dataclass(frozen=True)
class Call:
    """One call, as it arrived."""

    name: str
    values: Mapping[str, str]
    query: Mapping[str, str]
    body: Any
    at: float
    """Seconds, monotonic."""


@dataclass
class Interaction:
    """Something a person did that the bot must answer within 3 seconds."""

    id: int
    token: str
    channel: int
    told: dict[str, Any]
    acknowledged: int = 0
    """The type of the first answer, 0 while there is none."""
    private: bool = False
    thinking: bool = False
    """Deferred: the first answer takes its place, and is as private as it is."""
    first: int = 0
    """The message that took its place, 0 while there is none."""
    expired: bool = False
    dialog: dict[str, Any] | None = None
    choices: list[tuple[str, str]] | None = None
    toasts: list[str] = field(default_factory=list)


@dataclass
class World:
    """Channels, messages, commands, interactions. Whoever uses it holds the fake's lock."""

    sessions: Sessions
    sent: list[Shown] = field(default_factory=list)
    typing: list[int] = field(default_factory=list)
    commands: list[dict[str, Any]] = field(default_factory=list)
    interactions: dict[int, Interaction] = field(default_factory=dict)
    bucket: tuple[int, float] | None = None
    """How many messages a channel takes in how many seconds; None for any."""
    channels: dict[int, dict[str, Any]] = field(default_factory=dict)
    messages: dict[int, dict[int, dict[str, Any]]] = field(default_factory=dict)
    closed: set[int] = field(default_factory=set)
    unreadable: set[int] = field(default_factory=set)
    managed: set[int] = field(default_factory=set)
    """Channels in which the bot may delete what others write."""
    _nonces: dict[str, dict[str, Any]] = field(default_factory=dict)
    _used: dict[int, list[float]] = field(default_factory=dict)
    _next_id: int = FIRST_ID

    def do(self, operation: Operation, call: Call) -> Any:
        values = operation.values
        match operation.name:
            case "GET /users/@me":
                return self.bot()
            case "GET /oauth2/applications/@me":
                return {"id": str(APPLICATION_ID), "name": BOT_NAME, "flags": 0, "bot": self.bot()}
            case "GET /channels/{channel_id}":
                return self._readable(int(values["channel_id"]))
            case "GET /channels/{channel_id}/messages":
                return self._history(int(values["channel_id"]), call.query)
            case "POST /channels/{channel_id}/messages":
                return self._send(int(values["channel_id"]), call.body)
            case "PATCH /channels/{channel_id}/messages/{message_id}":
                return self._change(int(values["channel_id"]), int(values["message_id"]), call.body)
            case "DELETE /channels/{channel_id}/messages/{message_id}":
                return self._delete(int(values["channel_id"]), int(values["message_id"]))
            case "POST /channels/{channel_id}/typing":
                self.typing.append(int(self._writable(int(values["channel_id"]))["id"]))
                return None
            case "GET /applications/{application_id}/commands":
                return [_as_stored(number, one) for number, one in enumerate(self.commands)]
            case "PUT /applications/{application_id}/commands":
                discord_rules.check_menu(call.body)
                self.commands = call.body
                return [_as_stored(number, one) for number, one in enumerate(self.commands)]
            case "POST /interactions/{interaction_id}/{interaction_token}/callback":
                return self._acknowledge(int(values["interaction_id"]), values["interaction_token"], call.body)
            case "POST /webhooks/{webhook_id}/{webhook_token}":
                return self._follow_up(values["webhook_token"], call.body)
            case "PATCH /webhooks/{webhook_id}/{webhook_token}/messages/@original":
                return self._fill_in(values["webhook_token"], call.body)
            case "DELETE /webhooks/{webhook_id}/{webhook_token}/messages/@original":
                return self._withdraw(values["webhook_token"])
            case "PATCH /webhooks/{webhook_id}/{webhook_token}/messages/{message_id}":
                interaction = self._by_token(values["webhook_token"])
                return self._change(interaction.channel, int(values["message_id"]), call.body, by_token=True)
            case _:
                raise Wrong("this fake does not do that")

    def _history(self, channel: int, query: Mapping[str, str]) -> list[dict[str, Any]]:
        """Newest first; nothing says which server it was in."""
        self._readable(channel)
        if channel in self.unreadable:
            raise Refusal(403, 50001, "Missing Access")
        limit, numbers = int(query.get("limit", 50)), sorted(self.messages.get(channel, {}))
        if "after" in query:
            found = [number for number in numbers if number > int(query["after"])][:limit]
        else:
            found = [number for number in numbers if number < int(query.get("before", 1 << 63))][-limit:]
        return [self.messages[channel][number] for number in reversed(found)]

    def _send(self, channel: int, body: dict[str, Any]) -> dict[str, Any]:
        self._writable(channel)
        discord_rules.check_message(body, new=True)
        nonce = str(body.get("nonce") or "")
        if body.get("enforce_nonce") and nonce in self._nonces:
            return self._nonces[nonce]
        fields: dict[str, Any] = {"flags": body.get("flags", 0), "components": body.get("components") or []}
        if reply := body.get("message_reference"):
            answered = int(reply["message_id"])
            if answered in self.messages.get(channel, {}):
                fields |= {"type": 19, "message_reference": reply}
            elif reply.get("fail_if_not_exists", True):
                raise Refusal(400, 50035, "Unknown message")
        message = self.new_message(channel, self.bot(), body["content"], fields | {"nonce": nonce})
        if nonce:
            self._nonces[nonce] = message
        self.sent.append(_shown(message))
        self.sessions.happen("MESSAGE_CREATE", message | self.context(channel, None))
        return message

    def _change(
        self, channel: int, message_id: int, body: dict[str, Any], *, by_token: bool = False
    ) -> dict[str, Any]:
        if not by_token:
            self._writable(channel)
        message = self.messages.get(channel, {}).get(message_id)
        if message is None or (message["flags"] & EPHEMERAL and not by_token):
            raise Refusal(404, 10008, "Unknown Message")
        if message["author"]["id"] != str(BOT_ID):
            raise Refusal(403, 50005, "Cannot edit a message authored by another user")
        discord_rules.check_message(body, new=False)
        message |= {"content": body["content"], "components": body.get("components") or []}
        self.sent.append(_shown(message))
        return message

    def _delete(self, channel: int, message_id: int) -> None:
        """Ours; others' only where the bot may manage messages, which is never in private."""
        self._writable(channel)
        message = self.messages.get(channel, {}).get(message_id)
        if message is None or message["flags"] & EPHEMERAL:
            raise Refusal(404, 10008, "Unknown Message")
        if message["author"]["id"] != str(BOT_ID) and channel not in self.managed:
            raise Refusal(403, 50003, "Cannot execute action on a DM channel")
        self.messages[channel].pop(message_id)

    def _acknowledge(self, number: int, token: str, body: dict[str, Any]) -> None:
        interaction = self.interactions.get(number)
        if interaction is None or interaction.token != token or interaction.expired:
            raise Refusal(404, 10062, "Unknown interaction")
        if interaction.acknowledged:
            raise Refusal(400, 40060, "Interaction has already been acknowledged.")
        kind, data = body["type"], body.get("data") or {}
        asked = interaction.told["type"]
        if kind not in {2: (4, 5, 9), 3: (4, 5, 6, 7, 9), 4: (8,), 5: (4, 5, 6, 7)}[asked]:
            raise Wrong(f"an interaction of type {asked} cannot be answered with {kind}")
        interaction.acknowledged = kind
        interaction.private = bool(data.get("flags", 0) & EPHEMERAL)
        interaction.thinking = kind == 5
        if kind == 4:
            discord_rules.check_message(data, new=True)
            interaction.toasts.append(data["content"])
        if kind == 8:
            interaction.choices = [(one["name"], one["value"]) for one in data["choices"]]
        if kind == 9:
            interaction.dialog = data

    def _follow_up(self, token: str, body: dict[str, Any]) -> dict[str, Any]:
        interaction = self._by_token(token)
        if not interaction.acknowledged:
            raise Refusal(404, 10015, "Unknown Webhook")
        discord_rules.check_message(body, new=True)
        is_first = interaction.thinking
        asked = interaction.private if is_first else bool(body.get("flags", 0) & EPHEMERAL)
        interaction.thinking = False
        flags = (body.get("flags", 0) & ~EPHEMERAL) | (EPHEMERAL if asked else 0)
        fields = {"flags": flags, "components": body.get("components") or []}
        message = self.new_message(interaction.channel, self.bot(), body["content"], fields)
        interaction.first = int(message["id"]) if is_first else interaction.first
        if interaction.told["type"] in (3, 5):
            interaction.toasts.append(body["content"])
        else:
            self.sent.append(_shown(message))
        return message

    def _fill_in(self, token: str, body: dict[str, Any]) -> dict[str, Any]:
        """The first answer to a command, or another one in its place."""
        interaction = self._by_token(token)
        if interaction.first:
            return self._change(interaction.channel, interaction.first, body, by_token=True)
        if not interaction.thinking:
            raise Refusal(404, 10008, "Unknown Message")
        return self._follow_up(token, body)

    def _withdraw(self, token: str) -> None:
        interaction = self._by_token(token)
        if not interaction.thinking:
            raise Refusal(404, 10008, "Unknown Message")
        interaction.thinking = False

    def _by_token(self, token: str) -> Interaction:
        for interaction in self.interactions.values():
            if interaction.token == token and not interaction.expired:
                return interaction
        raise Refusal(401, 50027, "Invalid Webhook Token")

    def _readable(self, channel: int) -> dict[str, Any]:
        if channel not in self.channels:
            raise Refusal(404, 10003, "Unknown Channel")
        return self.channels[channel]

    def _writable(self, channel: int) -> dict[str, Any]:
        if channel in self.closed:
            raise Refusal(403, 50007, "Cannot send messages to this user")
        return self._readable(channel)

    def bucket_headers(self, call: Call) -> dict[str, str]:
        """What is left of the channel's bucket; a call too many is refused."""
        if self.bucket is None or call.name != SEND:
            return {}
        limit, seconds = self.bucket
        channel, now = int(call.values["channel_id"]), call.at
        used = [at for at in self._used.get(channel, []) if now - at < seconds]
        reset = seconds - (now - used[0]) if used else seconds
        headers = {"X-RateLimit-Bucket": "messages", "X-RateLimit-Limit": str(limit)}
        headers |= {"X-RateLimit-Reset-After": f"{reset:.3f}", "X-RateLimit-Reset": f"{time.time() + reset:.3f}"}
        if len(used) >= limit:
            raise Refusal(429, 0, "You are being rate limited.", headers | {"X-RateLimit-Remaining": "0"})
        self._used[channel] = [*used, now]
        return headers | {"X-RateLimit-Remaining": str(limit - len(used) - 1)}

    def new_id(self) -> int:
        self._next_id += 1 << 22
        return self._next_id

    def new_message(
        self, channel: int, author: dict[str, Any], text: str, fields: dict[str, Any]
    ) -> dict[str, Any]:
        number = self.new_id()
        at = THE_PAST + timedelta(milliseconds=(number - FIRST_ID) >> 22)
        message = {
            "id": str(number),
            "channel_id": str(channel),
            "author": author,
            "content": text,
            "timestamp": at.isoformat(),
            "edited_timestamp": None,
            "type": 0,
            "tts": False,
            "pinned": False,
            "mention_everyone": False,
            "mentions": [],
            "mention_roles": [],
            "attachments": [],
            "embeds": [],
            "components": [],
            "flags": 0,
            **fields,
        }
        self.messages.setdefault(channel, {})[number] = message
        return message

    def context(self, channel: int, person: int | None) -> dict[str, Any]:
        """What events say of the server; messages read from the history lack it."""
        guild = self.channels[channel].get("guild_id")
        if guild is None:
            return {}
        return {"guild_id": guild} | ({"member": {"nick": None, "roles": []}} if person is not None else {})

    def user(self, person: int) -> dict[str, Any]:
        if person == BOT_ID:
            return self.bot()
        return {"id": str(person), "username": f"person{person}", "global_name": f"Person {person}"}

    def bot(self) -> dict[str, Any]:
        return {"id": str(BOT_ID), "username": BOT_NAME, "global_name": None, "bot": True}


class Refusal(Exception):
    """What Discord itself says no to, though the call was well formed."""

    def __init__(self, status: int, code: int, message: str, headers: dict[str, str] | None = None) -> None:
        self.status = status
        self.code = code
        self.headers = headers or {}
        super().__init__(message)


def _as_stored(number: int, command: dict[str, Any]) -> dict[str, Any]:
    """As Discord gives a command back: with what it adds, and without what was only the default."""
    stored = {
        "id": str(number + 1),
        "application_id": str(APPLICATION_ID),
        "version": "1",
        "nsfw": False,
        **command,
    }
    stored |= {"default_member_permissions": None, "dm_permission": True, "name_localizations": None}
    return _without_defaults(stored)


def _without_defaults(node: dict[str, Any]) -> dict[str, Any]:
    kept = {name: value for name, value in node.items() if value not in (False, []) or name == "nsfw"}
    if "options" in kept:
        kept["options"] = [_without_defaults(one) for one in kept["options"]]
    return kept


def _shown(message: dict[str, Any]) -> Shown:
    return Shown(
        channel=int(message["channel_id"]),
        message_id=int(message["id"]),
        text=message["content"],
        buttons=tuple(
            tuple((one["label"], one["custom_id"]) for one in row["components"]) for row in message["components"]
        ),
        ephemeral=bool(message["flags"] & EPHEMERAL),
        silent=bool(message["flags"] & SILENT),
        reply_to=int(message["message_reference"]["message_id"]) if message.get("message_reference") else None,
        nonce=str(message.get("nonce") or ""),
    )
