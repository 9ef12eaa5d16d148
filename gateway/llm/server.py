"""What every model server over HTTP has in common: whom to trust, when to give up, which error is ours.

Used by the adapters of chat completions (`openai`) and of Anthropic's messages (`anthropic`). No text of a server
leaves this module: it may hold people's words, or the key.
"""

import asyncio
import re
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from email.utils import parsedate_to_datetime
from functools import lru_cache
from typing import Any

from gateway import words
from gateway.errors import ModelBusy, ModelFull, ModelRefused
from gateway.llm import wire
from gateway.ports import ModelAnswer

MAX_RETRIES = 2
REACH_SECONDS = 10.0
CONNECT_SECONDS = 10.0
MOST_BYTES = 16 * 1024 * 1024
"""Of one response, whatever is in it."""
DRAIN_SECONDS = 0.1
"""How long the end of a finished stream is awaited, so that its connection can be used again."""
DEFAULT_AFTER_SECONDS = 1.0
MOST_AFTER_SECONDS = 3600.0


async def drain(chunks: AsyncIterator[bytes]) -> None:
    """Read what follows the end, so that the connection is used again, if it comes at once."""
    with suppress(TimeoutError):
        async with asyncio.timeout(DRAIN_SECONDS):
            async for _ in chunks:
                pass


def checked(assembly: wire.Assembly) -> ModelAnswer:
    """The answer, if it is one."""
    if assembly.error is not None:
        status = _status_inside(assembly.error)
        if is_too_long(status, f"{assembly.error.get('code', '')} {assembly.error.get('message', '')}"):
            raise ModelFull(status)
        raise trouble(status, after=DEFAULT_AFTER_SECONDS)
    if not assembly.understood:
        raise ModelBusy("the model's server sent what is no answer of a model")
    if not (assembly.ended or assembly.full):
        raise ModelBusy("the model's server broke off in the middle of its answer")
    answer = assembly.answer()
    if not (answer.text.strip() or answer.tool_calls):
        raise ModelBusy("the model answered with nothing")
    return answer


@lru_cache(maxsize=1)
def tls() -> ssl.SSLContext:
    """Whom to trust, read once: it takes longer than an answer of a near server."""
    import httpx2

    return httpx2.create_ssl_context()


def wire_errors() -> tuple[type[Exception], ...]:
    """What reading a response can raise below the SDKs, which map only what happens before it."""
    import anyio
    import httpx2

    return (httpx2.HTTPError, httpx2.StreamError, ssl.SSLError, anyio.EndOfStream)


def said(hint: str) -> str:
    """A hint for `doctor`, which speaks English."""
    return words.text(hint, "en")


def trouble(status: int, *, after: float) -> ModelBusy | ModelRefused:
    """Our error for a status: refused where asking again cannot help."""
    if status in (408, 409, 425, 429):
        return ModelBusy(f"the model's server asks us to wait ({status})", after=after)
    if not 300 <= status < 500:
        return ModelBusy(f"the model's server has trouble of its own ({status})", after=after)
    hints = {401: "hint.key", 402: "hint.credit", 403: "hint.key", 404: "hint.address"}
    return ModelRefused(status, hints.get(status, "hint.address" if status < 400 else "hint.request"))


def is_too_long(status: int, text: str) -> bool:
    """Whether a server's refusal says that the request is longer than the model's window.

    Each says it in its own words, and some with the status of an error of their own.
    """
    if status not in (400, 422, 500):
        return status == 413
    return bool(_TOO_LONG.search(text)) and not _TOO_MANY.search(text)


_TOO_LONG = re.compile(
    r"context_length_exceeded|exceed_context_size|model_max_prompt_tokens_exceeded|request_too_large"
    r"|(?:prompt|input|request|messages?|conversation|context) (?:is|are|was) (?:way |far )?too (?:long|large)"
    r"|too (?:long|large) for (?:the |this |requested )?model"
    r"|maximum (?:context|prompt|input|sequence)(?: \w+)? ?length|max(?:imum)?[ _](?:model|seq)[ _]len"
    r"|(?:exceeds?|exceeded|exceeding|overflows?|larger than|longer than|beyond|over|above)\b[^.\n]{0,60}"
    r"(?:context|maximum (?:number of |allowed )?(?:input )?tokens|token (?:limit|count)|maximum allowed length)"
    r"|context (?:length|window|size|limit|the) ?(?:is |was |of \S+ )?(?:exceed|overflow|too small)"
    r"|reduce the (?:length|number|size) of (?:the |your )?(?:messages|prompt|input|tokens)"
    r"|`?inputs?`? tokens? \+ `?max_new_tokens|range of input length"
    r"|too many (?:input |total |prompt )?tokens",
    re.IGNORECASE,
)
_TOO_MANY = re.compile(r"rate.?limit|per[ -](?:min|day|hour|second)|\bTPM\b|\bquota\b", re.IGNORECASE)
"""A bound in time, which passes."""


def _status_inside(error: Mapping[str, Any]) -> int:
    """The HTTP status that an error inside a 200 means; 500 where it names none."""
    code = error.get("code")
    return code if isinstance(code, int) and 300 <= code < 600 else 500


def retry_after(headers: Mapping[str, str]) -> float:
    """How long the server asks us to wait: seconds, or an HTTP date counted from the server's own clock."""
    asked = headers.get("retry-after", "")
    try:
        seconds = float(asked)
    except ValueError:
        try:
            until, now = (parsedate_to_datetime(text) for text in (asked, headers.get("date", "")))
            seconds = (until - now).total_seconds()
        except (TypeError, ValueError):
            return DEFAULT_AFTER_SECONDS
    return min(seconds, MOST_AFTER_SECONDS) if seconds > 0 else DEFAULT_AFTER_SECONDS
