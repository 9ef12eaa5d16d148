"""The websocket half of the fake Discord: sessions that begin, break, are resumed and replayed."""

import asyncio
import json
from dataclasses import dataclass, field
from typing import Any

from aiohttp import WSMsgType, web

MESSAGE_CONTENT = 1 << 15
_HELLO, _ACK, _EVENT, _BEAT, _IDENTIFY, _RESUME, _RECONNECT, _INVALID = 10, 11, 0, 1, 2, 6, 7, 9
_ENDS_SESSION = (1000, 1001, 4007, 4009)


@dataclass
class Session:
    """What one IDENTIFY began; it outlives its connection for a while."""

    id: str
    events: list[tuple[str, Any]] = field(default_factory=list)
    alive: bool = True


class Sessions:
    """All sessions of the one bot, and its one connection. Everything here runs in the fake's loop."""

    def __init__(self, token: str, heartbeat_seconds: float) -> None:
        self.token = token
        self.heartbeat_seconds = heartbeat_seconds
        self.url = ""
        self.content_intent = True
        self.greeting: list[tuple[str, Any]] = []
        """The events that follow IDENTIFY, READY first; its `session_id` is filled in."""
        self.identified = 0
        self.resumed = 0
        self.beats = 0
        self.refusals: list[int] = []
        """Close codes for the next IDENTIFYs."""
        self.turns_away = 0
        """How many of the next connections are answered with 502."""
        self.silent = False
        """Nothing is said any more, not even that a heartbeat arrived."""
        self._all: dict[str, Session] = {}
        self._connection: Connection | None = None

    @property
    def is_connected(self) -> bool:
        return self._connection is not None and self._connection.session is not None

    def happen(self, name: str, data: Any) -> None:
        """An event for every session that lives, connected or not."""
        for session in self._all.values():
            if session.alive:
                session.events.append((name, data))
        if self._connection is not None:
            self._connection.wake.set()

    def say_again(self, count: int) -> None:
        """Replay the last events on the same connection, with new numbers: seen with real servers."""
        if self._connection is not None and self._connection.session is not None:
            session = self._connection.session
            said = [event for event in session.events if event[0] not in ("READY", "RESUMED")]
            session.events.extend(said[-count:])
            self._connection.wake.set()

    def speak_again(self) -> None:
        self.silent = False
        if self._connection is not None:
            self._connection.wake.set()

    async def close(self, code: int) -> None:
        """Close the connection from this side; some codes end the session, too."""
        connection = self._connection
        if connection is None:
            return
        if code in _ENDS_SESSION and connection.session is not None:
            connection.session.alive = False
        if code == 1006:
            connection.abort()
        else:
            connection.closed_by_us = True
            await connection.socket.close(code=code)

    async def invalidate(self, *, resumable: bool) -> None:
        """Tell the bot that its session is over, or only interrupted."""
        if self._connection is not None and self._connection.session is not None:
            self._connection.session.alive = resumable and self._connection.session.alive
            await self._connection.tell({"op": _INVALID, "d": resumable})

    async def ask_to_reconnect(self) -> None:
        if self._connection is not None:
            await self._connection.tell({"op": _RECONNECT, "d": None})

    def forget(self) -> None:
        """No session can be resumed any more."""
        for session in self._all.values():
            session.alive = False

    async def serve(self, request: web.Request) -> web.StreamResponse:
        if self.turns_away:
            self.turns_away -= 1
            return web.Response(status=502)
        socket = web.WebSocketResponse(autoclose=True)
        await socket.prepare(request)
        connection = Connection(socket, request)
        self._connection = connection
        pump = asyncio.create_task(self._pump(connection))
        try:
            await connection.tell({"op": _HELLO, "d": {"heartbeat_interval": self.heartbeat_seconds * 1000}})
            async for frame in socket:
                if frame.type is WSMsgType.TEXT:
                    await self._hear(connection, json.loads(frame.data))
        except ConnectionError:
            pass
        finally:
            pump.cancel()
            if connection.session is not None and connection.says_goodbye:
                connection.session.alive = False
            if self._connection is connection:
                self._connection = None
        return socket

    async def _hear(self, connection: "Connection", frame: dict[str, Any]) -> None:
        match frame["op"]:
            case int(op) if op == _BEAT:
                self.beats += 1
                if not self.silent:
                    await connection.tell({"op": _ACK})
            case int(op) if op == _IDENTIFY:
                await self._identify(connection, frame["d"])
            case int(op) if op == _RESUME:
                await self._resume(connection, frame["d"])
            case _:
                await connection.socket.close(code=4001)

    async def _identify(self, connection: "Connection", data: dict[str, Any]) -> None:
        self.identified += 1
        if self.refusals:
            await connection.socket.close(code=self.refusals.pop(0))
        elif data["token"] != self.token:
            await connection.socket.close(code=4004)
        elif data["intents"] & MESSAGE_CONTENT and not self.content_intent:
            await connection.socket.close(code=4014)
        else:
            session = Session(f"session-{self.identified}")
            self._all[session.id] = session
            for name, event in self.greeting:
                more = {"session_id": session.id, "resume_gateway_url": self.url} if name == "READY" else {}
                session.events.append((name, event | more))
            connection.begin(session, 0)

    async def _resume(self, connection: "Connection", data: dict[str, Any]) -> None:
        session = self._all.get(data["session_id"])
        if session is None or not session.alive or data["token"] != self.token:
            await connection.tell({"op": _INVALID, "d": False})
            return
        self.resumed += 1
        session.events.append(("RESUMED", {}))
        connection.begin(session, data["seq"])

    async def _pump(self, connection: "Connection") -> None:
        while True:
            await connection.wake.wait()
            connection.wake.clear()
            session = connection.session
            while session is not None and connection.sent < len(session.events) and not self.silent:
                name, data = session.events[connection.sent]
                connection.sent += 1
                await connection.tell({"op": _EVENT, "t": name, "s": connection.sent, "d": data})


@dataclass
class Connection:
    """One websocket. `sent` is the number of the last event that went over it."""

    socket: web.WebSocketResponse
    request: web.Request
    session: Session | None = None
    sent: int = 0
    closed_by_us: bool = False
    wake: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def says_goodbye(self) -> bool:
        """A bot that closes with 1000 or 1001 wants its session no more."""
        return not self.closed_by_us and self.socket.close_code in (1000, 1001)

    def begin(self, session: Session, sent: int) -> None:
        self.session, self.sent = session, sent
        self.wake.set()

    def abort(self) -> None:
        if self.request.transport is not None:
            self.request.transport.abort()

    async def tell(self, frame: dict[str, Any]) -> None:
        try:
            await self.socket.send_str(json.dumps(frame))
        except ConnectionError:
            self.session = None
