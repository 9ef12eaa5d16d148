"""Discord's websocket: connected, kept connected, its events handed on in order.

discord.py speaks the protocol on one connection (heartbeats, IDENTIFY, RESUME); when to connect again, and as
what, is decided here. Events are handed on as they came: the SDK would keep a copy of every server in memory and
end the connection on one that it cannot read.
"""

import asyncio
import logging
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import aiohttp
import yarl
from discord import Intents
from discord.errors import ConnectionClosed
from discord.gateway import DiscordWebSocket, ReconnectWebSocket
from discord.http import HTTPClient

from gateway.errors import ConfigError, GatewayError
from gateway.platforms.discord_http import Heard, TokenRefused
from gateway.platforms.discord_updates import Json
from gateway.ports import Clock, PlatformHealth

log = logging.getLogger(__name__)

CONNECT_SECONDS = 60.0
CLOSING_SECONDS = 2.0
HEARTBEAT_TIMEOUT_SECONDS = 60.0
TRIES_TO_RESUME = 5
"""A session has an address of its own; it may be gone while Discord's common one answers."""
LONGEST_PAUSE_SECONDS = 120.0
"""Discord counts: a bot that says hello 1,000 times a day is locked out."""

CALM = timedelta(seconds=120)
"""Trouble that comes back within this time belongs to the same streak, even if Discord let us in meanwhile."""

_BAD_TOKEN, _BAD_INTENTS, _FORBIDDEN_INTENTS = 4004, 4013, 4014
_NOT_TO_BE_MENDED = (4010, 4011, 4012)

Take = Callable[[str, Json], None]
"""What an event is handed to: its name and its data. Must not raise."""


class Gateway:
    """The one websocket of a bot, and how it is doing."""

    def __init__(self, gateway_url: str, clock: Clock, pause_seconds: float, heartbeat_timeout: float) -> None:
        self._url = yarl.URL(gateway_url) if gateway_url else DiscordWebSocket.DEFAULT_GATEWAY
        self._pause_seconds = pause_seconds
        self._heartbeat_timeout = heartbeat_timeout
        self.health = Health(clock, patience=timedelta(seconds=2 * heartbeat_timeout))

    async def receive(self, http: HTTPClient, take: Take) -> None:
        """Until cancelled. Raises TokenRefused, or ConfigError when Discord will never let us in like this."""
        client = _Client(http, self._take_with(take), self.health.heard, self._heartbeat_timeout)
        try:
            while True:
                await self._connect(client)
                await self._pause(client)
        finally:
            await client.hang_up(code=1000)

    async def _connect(self, client: "_Client") -> None:
        """One connection until it ends; `client` then knows whether its session can be taken up again."""
        try:
            await self._listen(client)
        except ReconnectWebSocket as end:
            self.health.trouble("discord.reconnecting", "resume" if end.resume else "identify")
        except ConnectionClosed as end:
            self._give_up_on(end.code)
            client.forget_session()
            self.health.trouble("discord.closed", str(end.code))
        except (aiohttp.ClientError, OSError, TimeoutError, GatewayError, Heard) as error:
            self.health.trouble("discord.unreachable", type(error).__name__)
            if self.health.in_a_row >= TRIES_TO_RESUME:
                client.forget_session()
        except Exception as error:  # noqa: BLE001 - the loop must outlive what nobody thought of
            client.forget_session()
            self.health.trouble("discord.connection_broke", type(error).__name__)
        await client.hang_up(code=4000)

    async def _listen(self, client: "_Client") -> None:
        socket = client.newest
        known = socket is not None and socket.session_id is not None
        async with asyncio.timeout(CONNECT_SECONDS):
            now = await _Socket.from_client(
                client,  # type: ignore[arg-type]  # what it reads of a Client, see _Client
                gateway=socket.gateway if socket is not None and known else self._url,
                session=socket.session_id if socket is not None and known else None,
                sequence=socket.sequence if socket is not None and known else None,
                resume=known,
            )
        while True:
            await now.poll_event()

    def _give_up_on(self, code: int) -> None:
        """Raises where connecting again would be refused again, for ever."""
        if code == _BAD_TOKEN:
            raise TokenRefused("Discord refused the token")
        if code in (_BAD_INTENTS, _FORBIDDEN_INTENTS):
            self.health.state = "refused"
            raise ConfigError([_MISSING_INTENT.format(code=code)])
        if code in _NOT_TO_BE_MENDED:
            self.health.state = "refused"
            raise ConfigError(
                [f"Discord closed the connection for good ({code}); the bot may be in too many servers."]
            )

    def _take_with(self, take: Take) -> Take:
        """READY and RESUMED are our business, too."""

        def take_event(name: str, data: Json) -> None:
            if name in ("READY", "RESUMED"):
                self.health.connected(resumed=name == "RESUMED")
            take(name, data)

        return take_event

    async def _pause(self, client: "_Client") -> None:
        """At once after the first trouble, then longer and longer; before a new session as Discord asks."""
        times = self.health.in_a_row - 1
        seconds = min(self._pause_seconds * 2.0**times, LONGEST_PAUSE_SECONDS) if times else 0.0
        if not client.has_session:
            seconds = max(seconds, self._pause_seconds * random.uniform(1, 2))
        await asyncio.sleep(seconds)


_MISSING_INTENT = (
    "Discord does not give this bot the words of messages ({code}). Switch on MESSAGE CONTENT INTENT: Developer "
    "Portal, your application, Bot, Privileged Gateway Intents; then start again."
)


class _Client:
    """As much of the SDK's Client as its websocket reads. Any: the SDK's own, untyped there."""

    _enable_debug_events = False
    shard_count = None
    _activity = None
    _status = None

    def __init__(self, http: HTTPClient, take: Take, heard: Callable[[], None], heartbeat_timeout: float) -> None:
        self.http = http
        self.loop = asyncio.get_running_loop()
        self.heartbeat_timeout = heartbeat_timeout
        self.heard = heard
        self.parsers = _Parsers(take)
        self.newest: _Socket | None = None
        self._intents = Intents(guilds=True, guild_messages=True, dm_messages=True, message_content=True)

    @property
    def _connection(self) -> "_Client":
        return self

    @property
    def has_session(self) -> bool:
        return self.newest is not None and self.newest.session_id is not None

    def forget_session(self) -> None:
        if self.newest is not None:
            self.newest.session_id = None

    async def hang_up(self, code: int) -> None:
        """Also ends the thread that sends heartbeats; a server that says nothing is not waited for."""
        if self.newest is not None:
            try:
                async with asyncio.timeout(CLOSING_SECONDS):
                    await self.newest.close(code=code)
            except (TimeoutError, aiohttp.ClientError, OSError):
                log.debug("discord.hung_up_alone")

    def dispatch(self, *_: Any) -> None:
        """Events come through `parsers`."""

    async def call_hooks(self, *_: Any, **__: Any) -> None:
        """Pauses before IDENTIFY are ours."""

    def _update_references(self, socket: Any) -> None:
        self.newest = socket


class _Parsers(dict[str, Callable[[Json], None]]):
    """For the SDK a parser for each event; here each of them is one and the same door."""

    def __init__(self, take: Take) -> None:
        super().__init__()
        self._take = take

    def __missing__(self, event: str) -> Callable[[Json], None]:
        return lambda data: self._take(event, data)


class _Socket(DiscordWebSocket):
    """The SDK's websocket, which says that something came."""

    async def received_message(self, msg: Any, /) -> None:
        """Any: text or bytes."""
        try:
            await super().received_message(msg)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            log.warning("discord.event_skipped", extra={"error": type(error).__name__})
        client: Any = self._connection
        client.heard()


@dataclass
class Health:
    """How Discord is: judged by heartbeats and events that came, since a quiet bot is a healthy one."""

    clock: Clock
    patience: timedelta
    state: str = "starting"
    last_heard_at: datetime | None = None
    in_a_row: int = 0
    """Troubles that came one soon after the other."""
    _trouble_at: datetime | None = None
    _reported: set[str] = field(default_factory=set)

    def now(self) -> PlatformHealth:
        """For `status`."""
        stale = self.last_heard_at is not None and self.clock.now() - self.last_heard_at > self.patience
        return PlatformHealth("degraded" if stale and self.state == "ok" else self.state, self.last_heard_at)

    def heard(self) -> None:
        """Something came through the websocket."""
        self.last_heard_at = self.clock.now()

    def connected(self, *, resumed: bool) -> None:
        log.info("discord.resumed" if resumed else "discord.connected")
        self.state = "ok"
        self._reported.clear()
        if resumed:
            self.in_a_row = min(
                self.in_a_row, 1
            )  # costs nothing, unlike a new session, of which Discord counts each

    def trouble(self, event: str, what: str) -> None:
        """Something went wrong; the first of a streak is logged. A resumed connection is no news."""
        now = self.clock.now()
        calm = self._trouble_at is None or now - self._trouble_at > CALM
        self.in_a_row = 1 if calm else min(self.in_a_row + 1, 16)
        self._trouble_at = now
        if self.state != "starting":
            self.state = "degraded"
        if event not in self._reported:
            self._reported.add(event)
            level = logging.INFO if event == "discord.reconnecting" else logging.WARNING
            log.log(level, event, extra={"what": what})
