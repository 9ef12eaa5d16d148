"""Commits what has happened: in a thread, to its end, however long the database is busy or the disk full.

What the model said is not asked for again and what was sent is not sent again because a commit has to wait.
"""

import asyncio
import logging
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from gateway.errors import StoreBusy

log = logging.getLogger(__name__)

Given = ParamSpec("Given")
Result = TypeVar("Result")

LONGEST_PAUSE_SECONDS = 10.0


async def surely(step: Callable[Given, Result], *given: Given.args, **named: Given.kwargs) -> Result:
    """Do a step that commits, again and again until the database takes it. Ends early only by a cancel."""
    pause = 0.0
    while True:
        try:
            return await to_its_end(step, *given, **named)
        except StoreBusy as busy:
            pause = min(max(pause * 2, busy.after), LONGEST_PAUSE_SECONDS)
            log.warning("commit.waits", extra={"after": pause})
            await asyncio.sleep(pause)


async def to_its_end(step: Callable[Given, Result], *given: Given.args, **named: Given.kwargs) -> Result:
    """A cancel waits for the thread: nothing goes on behind the back of whoever cancelled."""
    running = asyncio.ensure_future(asyncio.to_thread(step, *given, **named))
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        await asyncio.wait((running,))
        raise
