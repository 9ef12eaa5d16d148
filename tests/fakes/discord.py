"""A Discord on loopback: real HTTP, a real websocket, and people who write, press and choose when a test says so.

    with FakeDiscord() as discord:
        platform = DiscordPlatform(discord.token, discord.url, discord.gateway_url, clock)
        ...
        discord.says(123, "hello")
        await discord.wait_for(lambda: discord.screen(discord.dm(123)))

It runs in a thread of its own, so async tests, plain tests and tests with real processes use it alike. Every call
is checked against the published description of the API (`discord_rules`); what breaks a rule is answered with 400,
kept in `violations`, and fails the test when the `with` block ends. What the calls do is `discord_world`, the
websocket is `discord_sessions`.
"""

import asyncio
import json
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self, TypeVar

from aiohttp import web

from tests.fakes import discord_rules, discord_world
from tests.fakes.discord_rules import Operation, Wrong
from tests.fakes.discord_sessions import Sessions
from tests.fakes.discord_world import (
    BOT_ID,
    BOT_NAME,
    GUILD,
    SEND,
    Call,
    Interaction,
    Refusal,
    Shown,
    World,
)

__all__ = [
    "BOT_ID",
    "BOT_NAME",
    "GUILD",
    "SEND",
    "TOKEN",
    "Call",
    "FakeDiscord",
    "Interaction",
    "Shown",
]

T = TypeVar("T")

TOKEN = "MTIzNDU2Nzg5MDEyMzQ1Njc4.GfakeT.oken-of-a-test"

CHANGE = "PATCH /channels/{channel_id}/messages/{message_id}"
HISTORY = "GET /channels/{channel_id}/messages"
CHANNEL = "GET /channels/{channel_id}"
FOLLOW_UP = "POST /webhooks/{webhook_id}/{webhook_token}"
FIRST_ANSWER = "PATCH /webhooks/{webhook_id}/{webhook_token}/messages/@original"
WITHDRAW = "DELETE /webhooks/{webhook_id}/{webhook_token}/messages/@original"
ACKNOWLEDGE = "POST /interactions/{interaction_id}/{interaction_token}/callback"
GET_COMMANDS = "GET /applications/{application_id}/commands"
SET_COMMANDS = "PUT /applications/{application_id}/commands"

_TEXT, _DM, _PUBLIC_THREAD = 0, 1, 11


@dataclass
class _Failure:
    """An answer that replaces the next `times` of a call. Status 0 is a connection that goes dead."""

    status: int = 0
    body: bytes = b"{}"
    headers: dict[str, str] = field(default_factory=dict)
    after: bool = False
    silent: bool = False
    times: int = 1


@dataclass
class FakeDiscord:
    """See the module."""

    token: str = TOKEN
    port: int = 0
    heartbeat_seconds: float = 3600.0
    calls: list[Call] = field(default_factory=list)
    violations: list[str] = field(default_factory=list)
    files: list[tuple[str, bytes]] = field(default_factory=list)
    """Every file that the bot sent: name, content."""

    def __post_init__(self) -> None:
        self._changed = threading.Condition()
        self._failures: dict[str, list[_Failure]] = {}
        self._rules = discord_rules.load()
        self.sessions = Sessions(self.token, self.heartbeat_seconds)
        self.world = World(self.sessions)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._serve, name="fake-discord", daemon=True)

    # -- life ----------------------------------------------------------------------------------------

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
        if error is None and self.violations:
            raise AssertionError("Discord's API was misused: " + "; ".join(self.violations))

    @property
    def url(self) -> str:
        """What HIKAE_DISCORD_BASE_URL takes."""
        return f"http://127.0.0.1:{self.port}/api/v10"

    @property
    def gateway_url(self) -> str:
        """What HIKAE_DISCORD_GATEWAY_URL takes."""
        return f"ws://127.0.0.1:{self.port}/gw"

    def start(self) -> None:
        """Listen; returns once calls are answered."""
        self._thread.start()
        self.wait_until(lambda: self.port)
        self.sessions.url = self.gateway_url
        self._greet()

    def stop(self) -> None:
        """Close every connection and the thread."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        application = web.Application()
        application.router.add_get("/gw", self.sessions.serve)
        application.router.add_get("/gw/", self.sessions.serve)
        application.router.add_route("*", "/api/v10/{path:.*}", self._answer)
        runner = web.AppRunner(application, handler_cancellation=True, access_log=None, shutdown_timeout=0)
        self._loop.run_until_complete(runner.setup())
        self._loop.run_until_complete(web.TCPSite(runner, "127.0.0.1", self.port).start())
        self._tell(lambda: setattr(self, "port", runner.addresses[0][1]))
        self._loop.run_forever()
        self._loop.run_until_complete(runner.cleanup())
        self._loop.close()

    # -- places --------------------------------------------------------------------------------------

    def dm(self, person: int) -> int:
        """The channel of the bot's direct messages with a person."""
        channel = 500_000_000_000_000_000 + person
        self.world.channels.setdefault(
            channel,
            {"id": str(channel), "type": _DM, "recipients": [self.world.user(person)], "last_message_id": None},
        )
        return channel

    def add_channel(self, channel: int, guild: int = GUILD, **fields: Any) -> int:
        """A channel of a server that the bot is in."""
        self.world.channels[channel] = {
            "id": str(channel),
            "type": _TEXT,
            "guild_id": str(guild),
            "name": f"channel-{channel}",
            **fields,
        }
        self._greet()
        return channel

    def add_thread(self, thread: int, parent: int, *, announced: bool = True) -> int:
        """A thread; an unannounced one is one that the bot has not heard of."""
        guild = self.world.channels[parent]["guild_id"]
        self.world.channels[thread] = {
            "id": str(thread),
            "type": _PUBLIC_THREAD,
            "guild_id": guild,
            "parent_id": str(parent),
            "name": "thread",
            "unannounced": not announced,
        }
        self._greet()
        return thread

    def _greet(self) -> None:
        """What a new session begins with."""
        guilds: dict[str, dict[str, Any]] = {}
        for channel in self.world.channels.values():
            if "guild_id" in channel and not channel.get("unannounced"):
                guild = guilds.setdefault(channel["guild_id"], {"channels": [], "threads": []})
                bare = {name: value for name, value in channel.items() if name not in ("guild_id", "unannounced")}
                guild["threads" if "parent_id" in channel else "channels"].append(bare)
        ready = {
            "v": 10,
            "user": self.world.bot(),
            "guilds": [{"id": guild, "unavailable": True} for guild in guilds],
            "application": {"id": str(discord_world.APPLICATION_ID), "flags": 0},
        }
        joined = [("GUILD_CREATE", {"id": guild, **content}) for guild, content in guilds.items()]
        self.sessions.greeting = [("READY", ready), *joined]

    # -- people --------------------------------------------------------------------------------------

    def says(
        self,
        person: int,
        text: str = "",
        *,
        channel: int | None = None,
        reply_to: int | None = None,
        mentions: tuple[int, ...] = (),
        unheard: bool = False,
        **fields: Any,
    ) -> int:
        """A person writes in their direct messages, or in `channel`; returns the message's id.

        `unheard`: while the bot has no session; only the history has it. `fields` are further ones of the message.
        """
        where = channel or self.dm(person)
        with self._changed:
            message = self.world.new_message(where, self.world.user(person), text, fields)
        message["mentions"] = [self.world.user(one) for one in mentions]
        if reply_to is not None:
            message |= {"type": 19, "message_reference": {"type": 0, "message_id": str(reply_to)}}
            message["referenced_message"] = self.world.messages[where].get(reply_to)
        if not unheard:
            self.happen("MESSAGE_CREATE", message | self.world.context(where, person))
        return int(message["id"])

    def edits(self, person: int, message_id: int, text: str, *, channel: int | None = None) -> None:
        """A person changes what they said."""
        where = channel or self.dm(person)
        message = self.world.messages[where][message_id]
        message |= {"content": text, "edited_timestamp": message["timestamp"]}
        self.happen("MESSAGE_UPDATE", message | self.world.context(where, person))

    def shows_preview(self, person: int, message_id: int) -> None:
        """Discord adds a preview to a message, which nobody edited."""
        message = self.world.messages[self.dm(person)][message_id]
        self.happen("MESSAGE_UPDATE", message | {"embeds": [{"type": "link"}]})

    def gives(
        self,
        person: int,
        name: str,
        part: str = "",
        *,
        channel: int | None = None,
        locale: str = "en-US",
        **options: str,
    ) -> int:
        """A person gives a slash command that is in the menu; returns the interaction's id."""
        self._must_be_in_menu(name, part, options)
        values = [{"type": 3, "name": one, "value": value} for one, value in options.items()]
        return self._command(2, person, name, part, values, channel, locale)

    def types(
        self, person: int, name: str, part: str, option: str, typed: str, *, channel: int | None = None
    ) -> int:
        """A person types behind a slash command; what is suggested comes in the interaction's `choices`."""
        self._must_be_in_menu(name, part, {option: typed}, completes=True)
        values = [{"type": 3, "name": option, "value": typed, "focused": True}]
        return self._command(4, person, name, part, values, channel, "en-US")

    def taps(self, person: int, message_id: int, label: str, *, channel: int | None = None) -> int:
        """A person presses a button of a message; returns the interaction's id."""
        where = channel or self.dm(person)
        message = self.world.messages[where][message_id]
        custom_id = next(
            button["custom_id"]
            for row in message["components"]
            for button in row["components"]
            if button["label"] == label
        )
        data = {"component_type": 2, "custom_id": custom_id}
        return self._interact(3, person, where, data, message=message)

    def submits(self, person: int, dialog: int, text: str) -> int:
        """A person answers the dialog that an interaction opened; returns the new interaction's id."""
        opener = self.world.interactions[dialog]
        assert opener.dialog is not None
        asked = opener.dialog["components"][0]["component"]
        answered = {"type": 4, "custom_id": asked["custom_id"], "value": text}
        data = {"custom_id": opener.dialog["custom_id"], "components": [{"type": 18, "component": answered}]}
        return self._interact(5, person, opener.channel, data, message=opener.told["message"])

    def happen(self, name: str, data: Any) -> None:
        """Any event at all, to every session."""
        self._soon(lambda: self.sessions.happen(name, data))

    # -- trouble -------------------------------------------------------------------------------------

    def fail(
        self,
        name: str,
        status: int,
        *,
        code: int = 0,
        retry_after: float | None = None,
        everywhere: bool = False,
        times: int = 1,
        body: bytes | None = None,
    ) -> None:
        """Answer the next calls `name` with this status; `body` is sent as it is (HTML, half a JSON)."""
        answer: dict[str, Any] = {"code": code, "message": "words of Discord: " + TOKEN}
        headers: dict[str, str] = {"Via": "1.1 fake"}
        if retry_after is not None:
            answer |= {"retry_after": retry_after, "global": everywhere}
            headers |= {"Retry-After": str(int(retry_after) + 1), "X-RateLimit-Reset-After": str(retry_after)}
            headers |= {"X-RateLimit-Global": "true"} if everywhere else {}
        payload = json.dumps(answer).encode() if body is None else body
        self._arm(name, _Failure(status, payload, headers, times=times))

    def drop(self, name: str, *, times: int = 1) -> None:
        """Hang up on the next calls before they take effect."""
        self._arm(name, _Failure(times=times))

    def drop_after_accept(self, name: str, *, times: int = 1) -> None:
        """The next calls take effect, but the connection dies before the answer."""
        self._arm(name, _Failure(after=True, times=times))

    def hang(self, name: str, *, times: int = 1) -> None:
        """Accept the next calls and never answer."""
        self._arm(name, _Failure(silent=True, times=times))

    def recover(self) -> None:
        """Forget all trouble that has not happened yet."""
        self._tell(self._failures.clear)

    def closes(self, channel: int) -> None:
        """The bot may not write there any more: blocked, thrown out."""
        self._tell(lambda: self.world.closed.add(channel))

    def hides_history(self, channel: int) -> None:
        """The bot may not read what was said there before."""
        self._tell(lambda: self.world.unreadable.add(channel))

    def deletes(self, channel: int, message_id: int) -> None:
        self._tell(lambda: self.world.messages[channel].pop(message_id))

    def lets_run_out(self, interaction: int) -> None:
        """15 minutes pass for this interaction's token."""
        self._tell(lambda: setattr(self.world.interactions[interaction], "expired", True))

    def says_again(self, count: int) -> None:
        """Replay the last events."""
        self._soon(lambda: self.sessions.say_again(count))

    def falls_silent(self) -> None:
        """The websocket stays open, and nothing comes through it, not even answers to heartbeats."""
        self._soon(lambda: setattr(self.sessions, "silent", True))

    def speaks_again(self) -> None:
        self._soon(self.sessions.speak_again)

    def closes_socket(self, code: int) -> None:
        """Close the websocket; 1006 is a connection that dies without a word."""
        self._run(self.sessions.close(code))

    def _run(self, work: Any) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop)

    def invalidates(self, *, resumable: bool) -> None:
        self._run(self.sessions.invalidate(resumable=resumable))

    def asks_to_reconnect(self) -> None:
        self._run(self.sessions.ask_to_reconnect())

    def _arm(self, name: str, failure: _Failure) -> None:
        self._tell(lambda: self._failures.setdefault(name, []).append(failure))

    # -- looking -------------------------------------------------------------------------------------

    @property
    def sent(self) -> list[Shown]:
        """Everything the bot did to what people see, in order: new messages and changes of them."""
        return self.world.sent

    @property
    def interactions(self) -> dict[int, Interaction]:
        """What people did other than write, and what became of it."""
        return self.world.interactions

    @property
    def commands(self) -> list[dict[str, Any]]:
        """The menu as the bot sent it."""
        return self.world.commands

    @property
    def typing(self) -> list[int]:
        """Channels in which "… is typing" was shown."""
        return self.world.typing

    def screen(self, channel: int) -> list[Shown]:
        """What this channel shows of the bot now: each message once, as last changed."""
        with self._changed:
            there = self.world.messages.get(channel, {})
            latest = {
                one.message_id: one for one in self.world.sent if one.channel == channel and one.message_id in there
            }
        return [latest[number] for number in sorted(latest)]

    def called(self, name: str) -> list[Call]:
        """All calls of a name so far."""
        with self._changed:
            return [call for call in self.calls if call.name == name]

    async def wait_for(self, predicate: Callable[[], T], timeout: float = 10.0) -> T:  # noqa: ASYNC109
        """Wait until `predicate` holds; returns what it returned. For async tests."""
        return await asyncio.to_thread(self.wait_until, predicate, timeout)

    def wait_until(self, predicate: Callable[[], T], timeout: float = 10.0) -> T:
        """The same for plain tests. Also looks now and then, for conditions outside this fake."""
        deadline = time.monotonic() + timeout
        with self._changed:
            while not (value := predicate()):
                if time.monotonic() > deadline:
                    raise AssertionError(f"did not happen within {timeout} s; the bot showed {self.world.sent}")
                self._changed.wait(0.02)
        return value

    # -- the server ----------------------------------------------------------------------------------

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        try:
            operation = self._rules.operation(request.method, "/" + request.match_info["path"])
            body = await self._body(request)
        except (Wrong, ValueError) as wrong:
            return self._misused(str(wrong))
        call = Call(operation.name, operation.values, dict(request.query), body, time.monotonic())
        self._tell(lambda: self.calls.append(call))
        by_token = operation.template.startswith(("/webhooks/", "/interactions/"))
        if not by_token and request.headers.get("Authorization") != f"Bot {self.token}":
            return _refusal(401, 0, "401: Unauthorized")
        failure = self._next_failure(operation.name)
        if failure is not None and failure.silent:
            await asyncio.Event().wait()
        if failure is not None and not failure.after:
            return _hang_up(request) if not failure.status else _failed(failure)
        answer = self._checked(operation, call)
        return answer if failure is None else _hang_up(request)

    async def _body(self, request: web.Request) -> Any:
        """JSON, or a form with JSON in one part and a file in the other."""
        if request.content_type != "multipart/form-data":
            raw = await request.read()
            return json.loads(raw) if raw else None
        form = await request.post()
        for value in form.values():
            if isinstance(value, web.FileField):
                self.files.append((value.filename, value.file.read()))
                value.file.close()
        return json.loads(str(form["payload_json"]))

    def _next_failure(self, name: str) -> _Failure | None:
        with self._changed:
            waiting = self._failures.get(name, [])
            if not waiting:
                return None
            waiting[0].times -= 1
            return waiting[0] if waiting[0].times > 0 else waiting.pop(0)

    def _checked(self, operation: Operation, call: Call) -> web.Response:
        try:
            self._rules.check(operation, call.query, call.body)
            headers = self.world.bucket_headers(call)
            with self._changed:
                result = self.world.do(operation, call)
                self._changed.notify_all()
            return _json(200 if result is not None else 204, result, headers)
        except Refusal as refusal:
            return _refusal(refusal.status, refusal.code, str(refusal), refusal.headers)
        except Wrong as wrong:
            return self._misused(f"{operation.name}: {wrong}")

    def _misused(self, problem: str) -> web.Response:
        self._tell(lambda: self.violations.append(problem))
        return _refusal(400, 50035, problem)

    # -- its state -----------------------------------------------------------------------------------

    def _tell(self, change: Callable[[], object]) -> None:
        """Do it, and let everybody who waits look again."""
        with self._changed:
            change()
            self._changed.notify_all()

    def _soon(self, change: Callable[[], object]) -> None:
        """Do it in the server's thread."""
        self._loop.call_soon_threadsafe(lambda: self._tell(change))

    def _must_be_in_menu(
        self, name: str, part: str, options: Mapping[str, str], *, completes: bool = False
    ) -> None:
        command = next(one for one in self.world.commands if one["name"] == name)
        if part:
            command = next(one for one in command["options"] if one["name"] == part)
        known = {one["name"]: one for one in command["options"]}
        assert options.keys() <= known.keys(), f"/{name} {part} has no such option"
        assert not completes or all(known[one]["autocomplete"] for one in options)

    def _command(
        self, kind: int, person: int, name: str, part: str, values: list[Any], channel: int | None, locale: str
    ) -> int:
        options = [{"type": 1, "name": part, "options": values}] if part else values
        data = {"id": "1", "type": 1, "name": name, "options": options}
        return self._interact(kind, person, channel or self.dm(person), data, locale=locale)

    def _interact(
        self, kind: int, person: int, channel: int, data: dict[str, Any], *, locale: str = "en-US", **more: Any
    ) -> int:
        with self._changed:
            number = self.world.new_id()
        place = self.world.channels[channel]
        told = {
            "id": str(number),
            "application_id": str(discord_world.APPLICATION_ID),
            "type": kind,
            "token": f"aW50ZXJhY3Rpb24_{number}",
            "version": 1,
            "channel_id": str(channel),
            "channel": {name: value for name, value in place.items() if name != "recipients"},
            "data": data,
            "locale": locale,
            **more,
        }
        if "guild_id" in place:
            told |= {"guild_id": place["guild_id"], "context": 0, "guild_locale": "en-US"}
            told |= {"member": {"user": self.world.user(person), "nick": None, "roles": []}}
        else:
            told |= {"user": self.world.user(person), "context": 1}
        self._tell(
            lambda: self.world.interactions.__setitem__(number, Interaction(number, told["token"], channel, told))
        )
        self.happen("INTERACTION_CREATE", told)
        return number


def _json(status: int, answer: Any, headers: dict[str, str]) -> web.Response:
    """Exactly this content type: a charset behind it makes the SDK read the answer as text."""
    if answer is None:
        return web.Response(status=status, headers={"Via": "1.1 fake", **headers})
    described = {"Content-Type": "application/json", "Via": "1.1 fake", **headers}
    return web.Response(status=status, body=json.dumps(answer).encode(), headers=described)


def _refusal(status: int, code: int, message: str, headers: dict[str, str] | None = None) -> web.Response:
    return _json(status, {"code": code, "message": message}, headers or {})


def _failed(failure: _Failure) -> web.Response:
    headers = {"Content-Type": "application/json", **failure.headers}
    return web.Response(status=failure.status, body=failure.body, headers=headers)


def _hang_up(request: web.Request) -> web.Response:
    if request.transport is not None:
        request.transport.abort()
    return web.Response()
