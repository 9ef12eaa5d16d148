"""The other receiving side of Telegram: it calls us, one update at a time, and sends again what we refuse.

A small server behind a proxy that speaks TLS. Whoever does not know the secret learns nothing and is read no
further. Telegram is asked for one connection, and we take one update after the other besides: an update that
must come again must not be overtaken by the next word of its chat. Only a gateway in webhook mode imports this.
"""

import asyncio
import json
import logging
import secrets
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from gateway.errors import Broken, ConfigError, GatewayError, TryLater
from gateway.platforms.telegram_api import TelegramApi
from gateway.platforms.telegram_errors import TokenRefused
from gateway.platforms.telegram_handing import Handing, WebhookAddress, number_of
from gateway.platforms.telegram_health import Backoff, Health, until_answered
from gateway.platforms.telegram_pieces import Me
from gateway.ports import Clock

log = logging.getLogger(__name__)

MOST_BYTES = 1024 * 1024
"""Many times the largest update."""
BODY_SECONDS = 10.0
LOOK_EVERY_SECONDS = 60.0
"""How often we ask Telegram whether it still calls us here: silence alone says nothing."""
MOST_CALLERS = 64


class Webhook:
    """The server that Telegram calls, and how it is doing."""

    def __init__(
        self,
        api: TelegramApi,
        clock: Clock,
        address: WebhookAddress,
        pause_seconds: float,
    ) -> None:
        self._api = api
        self._url, self._port, self._secret = address.url, address.port, address.secret
        self._backoff = Backoff(pause_seconds)
        self._in_order = asyncio.Lock()
        self._listener: socket.socket | None = None
        self.health = Health(clock, patience=timedelta(seconds=LOOK_EVERY_SECONDS + 60))

    async def connect(self) -> Me:
        """Listen, and tell Telegram until it answers. Raises TokenRefused, ConfigError when the port is taken."""
        self._listener = _listen(self._port)
        return await until_answered(self._say_hello, self.health, self._backoff)

    async def _say_hello(self) -> Me:
        me = await self._api.connect()
        # The secret cannot be asked for: at a start it is told in any case.
        await self._api.set_webhook(self._url, self._secret)
        self.health.polled()
        return me

    async def receive(self, handing: Handing) -> None:
        """Until cancelled."""

        async def take(request: Request) -> Response:
            return await self._take(request, handing)

        application = Starlette(routes=[Route("/{path:path}", take, methods=["POST"])])
        server = _Server(_quiet(application))
        sockets = [self._listener] if self._listener is not None else []
        serving = asyncio.create_task(server.serve(sockets=sockets))
        self.health.caught_up = True
        try:
            await self._stay_known(serving)
        finally:
            server.should_exit = True
            await asyncio.wait((serving,))

    def close(self) -> None:
        """Stop listening."""
        if self._listener is not None:
            self._listener.close()

    async def _stay_known(self, serving: "asyncio.Task[None]") -> None:
        """Ask now and then whether Telegram still calls us here, and tell it again when it does not."""
        while True:
            await asyncio.wait((serving,), timeout=LOOK_EVERY_SECONDS)
            if serving.done():
                raise Broken("the server for Telegram's calls has ended")
            try:
                if await self._api.webhook_url() != self._url:
                    log.warning("telegram.webhook_was_changed")
                    await self._api.set_webhook(self._url, self._secret)
                self.health.polled()
                self.health.caught_up = True
            except TokenRefused as error:
                self.health.trouble("telegram.token_refused", error, "refused")
            except GatewayError as error:
                self.health.trouble("telegram.unreachable", error, "degraded")

    # -- one call ----------------------------------------------------------------------------------------

    async def _take(self, request: Request, handing: Handing) -> Response:
        given = request.headers.get("x-telegram-bot-api-secret-token", "")
        if not secrets.compare_digest(given.encode(), self._secret.encode()):
            return Response(status_code=403)
        try:
            raw = await _update_in(request)
            number = number_of(raw)
        except _NotAnUpdate as problem:
            return Response(status_code=problem.status)
        except GatewayError:
            return Response(status_code=400)
        return await self._hand_over(number, raw, handing)

    async def _hand_over(self, number: int, raw: dict[str, Any], handing: Handing) -> Response:
        """200 only when it is kept: with anything else Telegram sends it again."""
        async with self._in_order:
            try:
                await handing.over(number, raw)
            except TryLater as busy:
                self.health.trouble("telegram.not_kept", busy, "degraded")
                return Response(status_code=503, headers={"Retry-After": str(max(1, round(busy.after)))})
        self.health.polled()
        self.health.caught_up = True
        return Response(status_code=200)


class _NotAnUpdate(Exception):
    """What was sent is too long, too slow or no JSON."""

    def __init__(self, status: int) -> None:
        self.status = status
        super().__init__(str(status))


async def _update_in(request: Request) -> Any:
    """The body as JSON. Any: it is what JSON gives."""
    body = bytearray()
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for part in request.stream():
                body += part
                if len(body) > MOST_BYTES:
                    raise _NotAnUpdate(413)
        return json.loads(body)
    except TimeoutError:
        raise _NotAnUpdate(408) from None
    except (ValueError, RecursionError, ClientDisconnect):
        raise _NotAnUpdate(400) from None


class _Server(uvicorn.Server):
    """uvicorn inside a program that has signal handlers of its own."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def _quiet(application: Starlette) -> uvicorn.Config:
    logging.getLogger("uvicorn").setLevel(logging.WARNING)
    return uvicorn.Config(
        application,
        lifespan="off",
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        limit_concurrency=MOST_CALLERS,
        timeout_graceful_shutdown=1,
    )


def _listen(port: int) -> socket.socket:
    """Opened here, since uvicorn would end the whole program when the port is taken."""
    try:
        return socket.create_server(("", port), backlog=MOST_CALLERS)
    except OSError as error:
        problem = (
            f"platforms.telegram.webhook.port is {port}, and it cannot be opened ({error.strerror}). "
            "Choose a free port, and let the proxy at platforms.telegram.webhook.url lead there."
        )
        raise ConfigError([problem]) from None
