"""discord.py's HTTP client behind a door: the SDK's calls go in, our errors come out.

The SDK keeps the buckets of Discord's rate limits and waits for them. What it would do silently is taken out: it
sleeps on a 429 and repeats a call on a 5xx, so that whoever delivers would neither know nor remember (`_hear`).
Which calls we make is in `discord_api`.
"""

import asyncio
import logging
import re
from typing import Any

import aiohttp
from discord.errors import DiscordException, HTTPException, LoginFailure, RateLimited
from discord.http import HTTPClient, Route

from gateway.errors import Broken, ChatGone, GatewayError, PlatformBusy

ANSWER_SECONDS = 15.0
LONGEST_WAIT_SECONDS = 30.0
"""How long the SDK may hold a call back for a bucket; the smallest that it takes."""

_UNKNOWN_MESSAGE = 10008
_ALREADY_ACKNOWLEDGED = 40060


class TokenRefused(GatewayError):
    """Discord does not take our token."""


class MessageGone(GatewayError):
    """The message to change was deleted."""


class NotFound(ChatGone):
    """There is no such thing, or not for us."""


class AlreadyAcknowledged(GatewayError):
    """Discord heard of this interaction before."""


class Http(HTTPClient):
    """The SDK's client for one address, which says at once what it heard."""

    def __init__(self, base_url: str) -> None:
        listening = aiohttp.TraceConfig()
        listening.on_request_end.append(_hear)
        super().__init__(
            asyncio.get_running_loop(), http_trace=listening, max_ratelimit_timeout=LONGEST_WAIT_SECONDS
        )
        self._root = base_url.rstrip("/") or Route.BASE

    async def request(self, route: Route, **what: Any) -> Any:
        """Any: the SDK's own signature, passed on."""
        if route.url.startswith(Route.BASE):
            route.url = self._root + route.url.removeprefix(Route.BASE)
        return await super().request(route, timeout=aiohttp.ClientTimeout(total=ANSWER_SECONDS), **what)


class Heard(Exception):
    """An answer that the SDK would have dealt with by waiting or repeating."""

    def __init__(self, error: PlatformBusy) -> None:
        self.error = error
        super().__init__("heard")


async def _hear(session: aiohttp.ClientSession, context: object, end: aiohttp.TraceRequestEndParams) -> None:
    """Called by aiohttp when an answer begins; what it raises ends the SDK's call."""
    status = end.response.status
    if status == 429:
        headers = end.response.headers
        after = _seconds(headers.get("X-RateLimit-Reset-After") or headers.get("Retry-After"))
        # Without Via it is not Discord's API that bans us but what stands before it: nothing gets through.
        everywhere = "X-RateLimit-Global" in headers or "Via" not in headers
        raise Heard(PlatformBusy(f"Discord asks us to wait {after:g} s", after=after, everywhere=everywhere))
    if status >= 500:
        raise Heard(PlatformBusy("Discord has trouble of its own", unsure=end.method not in ("GET", "PUT")))


def _seconds(header: str | None) -> float:
    return float(header) if header and re.fullmatch(r"\d+(\.\d+)?", header) else 5.0


def quieten() -> None:
    """The SDK's lower levels log what people say, and its URLs hold tokens of interactions."""
    for library in ("discord", "aiohttp"):
        logging.getLogger(library).setLevel(logging.WARNING)
    # At warning it names the URL of each call that it was told to wait with; we say that ourselves.
    logging.getLogger("discord.http").setLevel(logging.ERROR)


async def ours(call: Any) -> Any:
    """The result of a call (Any: the SDK's JSON), or our error: without its text and the chain that holds it."""
    try:
        return await call
    except Heard as heard:
        raise heard.error from None
    except RateLimited as error:
        raise PlatformBusy("Discord's limit for this is used up", after=error.retry_after) from None
    except LoginFailure:
        raise TokenRefused("Discord refused the token") from None
    except HTTPException as error:
        raise _translated(error) from None
    except aiohttp.ClientConnectorError:
        raise PlatformBusy("Discord could not be reached") from None
    except (aiohttp.ClientError, OSError, TimeoutError):
        raise PlatformBusy("the connection to Discord broke before it answered", unsure=True) from None
    except (DiscordException, KeyError, TypeError, ValueError, RuntimeError):
        raise PlatformBusy("Discord's answer is not one of its API; a proxy in between?", unsure=True) from None


def _translated(error: HTTPException) -> GatewayError:
    if not error.response.headers.get("Content-Type", "").startswith("application/json"):
        return PlatformBusy("Discord's answer is not one of its API; a proxy in between?", unsure=True)
    if error.code == _ALREADY_ACKNOWLEDGED:
        return AlreadyAcknowledged("Discord heard of it before")
    if error.code == _UNKNOWN_MESSAGE:
        return MessageGone("the message is gone")
    match error.status:
        case 401:
            return TokenRefused("Discord refused the token")
        case 403:
            return ChatGone("Discord does not let us write or read there")
        case 404:
            return NotFound("Discord does not know this channel")
        case _:
            return Broken(f"Discord refused a call as malformed ({error.status})")
