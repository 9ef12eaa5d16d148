"""Discord for benchmarks: as much of its API and its websocket as a bot needs, answered at once.

As with Discord itself, what comes through the websocket is compressed, the bot hears of its own messages, and each
answer tells the state of a bucket of its rate limits; here there is always room in it.
"""

import asyncio
import json
import time
import zlib
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from aiohttp import WSMsgType, web

CHANNELS = 500_000_000_000_000_000
"""A person's number and this is the channel of their direct messages."""
BOT: dict[str, Any] = {
    "id": "400000000000000001",
    "username": "bench",
    "global_name": None,
    "discriminator": "0",
    "avatar": None,
    "bot": True,
}
APPLICATION = {"id": "400000000000000002", "name": "bench", "flags": 0, "bot": BOT}

_EVENT, _BEAT, _IDENTIFY, _HELLO, _ACK = 0, 1, 2, 10, 11
_HEARTBEAT_MS = 41_250
_EPOCH_MS = 1_420_070_400_000
_ROOM = {
    "Via": "1.1 bench",
    "X-RateLimit-Bucket": "80c17d2f203122d936070c88c8d10f33",
    "X-RateLimit-Limit": "1000",
    "X-RateLimit-Remaining": "999",
    "X-RateLimit-Reset-After": "1.000",
}


class Discord:
    """The websocket of the one bot and the calls that it makes. `heard` is told of what it says, and to whom."""

    def __init__(self, heard: Callable[[int, str], None]) -> None:
        self.connected = asyncio.Event()
        self._heard = heard
        self._frames: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._events = 0
        self._messages = 0

    def says(self, person: int, text: str) -> None:
        """Somebody writes in their direct messages."""
        author = {
            "id": str(person),
            "username": f"person{person}",
            "global_name": f"Person {person}",
            "discriminator": "0",
            "avatar": None,
        }
        self._happens("MESSAGE_CREATE", self._message(CHANNELS + person, author, text))

    async def call(self, request: web.Request) -> web.Response:
        """Any call of the API."""
        match request.method, request.match_info["path"].split("/"):
            case "GET", ["users", "@me"]:
                return _answer(BOT)
            case "GET", ["oauth2", "applications", "@me"]:
                return _answer(APPLICATION)
            case "POST", ["channels", channel, "messages"]:
                body = json.loads(await request.read())
                return _answer(self._is_sent(int(channel), body))
            case "POST", _:
                return web.Response(status=204, headers=_ROOM)
            case _:
                return _answer([])

    async def socket(self, request: web.Request) -> web.WebSocketResponse:
        """The websocket."""
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        speaking = asyncio.create_task(self._speak(socket))
        self._tell({"op": _HELLO, "d": {"heartbeat_interval": _HEARTBEAT_MS}})
        async for frame in socket:
            if frame.type is WSMsgType.TEXT:
                self._hear(json.loads(frame.data)["op"])
        speaking.cancel()
        return socket

    def _hear(self, op: int) -> None:
        if op == _BEAT:
            self._tell({"op": _ACK})
        if op == _IDENTIFY:
            ready = {"v": 10, "user": BOT, "guilds": [], "session_id": "bench", "application": APPLICATION}
            self._happens("READY", ready | {"resume_gateway_url": "ws://127.0.0.1:9"})
            self.connected.set()

    def _is_sent(self, channel: int, body: dict[str, Any]) -> dict[str, Any]:
        message = self._message(channel, BOT, body["content"]) | {"nonce": body.get("nonce")}
        self._heard(channel - CHANNELS, body["content"])
        self._happens("MESSAGE_CREATE", message)
        return message

    def _message(self, channel: int, author: dict[str, Any], text: str) -> dict[str, Any]:
        self._messages += 1
        number = ((int(time.time() * 1000) - _EPOCH_MS) << 22) + self._messages
        return {
            "id": str(number),
            "channel_id": str(channel),
            "channel_type": 1,
            "author": author,
            "content": text,
            "timestamp": datetime.now(UTC).isoformat(),
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
        }

    def _happens(self, name: str, data: dict[str, Any]) -> None:
        self._events += 1
        self._tell({"op": _EVENT, "t": name, "s": self._events, "d": data})

    def _tell(self, frame: dict[str, Any]) -> None:
        self._frames.put_nowait(frame)

    async def _speak(self, socket: web.WebSocketResponse) -> None:
        """One compression over all frames of a connection, each of them complete by itself."""
        squeeze = zlib.compressobj()
        while True:
            frame = json.dumps(await self._frames.get()).encode()
            await socket.send_bytes(squeeze.compress(frame) + squeeze.flush(zlib.Z_SYNC_FLUSH))


def _answer(found: object) -> web.Response:
    """Exactly this content type: the SDK reads nothing else as JSON."""
    return web.Response(body=json.dumps(found).encode(), headers={"Content-Type": "application/json", **_ROOM})
