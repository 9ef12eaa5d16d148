"""Worker processes as the gateway sees them: started by name, never imported."""

import asyncio
import logging
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from gateway.home import Home

log = logging.getLogger(__name__)

PAUSE_SECONDS = 0.5


@asynccontextmanager
async def kept_running(home: Home) -> AsyncIterator[None]:
    """A worker that is started again whenever it ends, and ended in order with the block."""
    keeping = asyncio.create_task(_keep_running(home))
    try:
        yield
    finally:
        keeping.cancel()
        with suppress(asyncio.CancelledError):
            await keeping


def leave_behind(home: Home) -> None:
    """Start a worker that works off what is due and ends, and return at once (one per home, by its lock)."""
    quiet = subprocess.DEVNULL
    subprocess.Popen(
        _command(home, "--burst"), stdin=quiet, stdout=quiet, stderr=quiet, start_new_session=True, cwd="/"
    )


async def _keep_running(home: Home) -> None:
    while True:
        # A session of its own, so that Ctrl-C in the terminal reaches us first and we end it in order.
        process = await asyncio.create_subprocess_exec(
            *_command(home, "--with-parent"), start_new_session=True, stdin=subprocess.DEVNULL
        )
        try:
            code = await process.wait()
            log.warning("worker.ended", extra={"code": code})
        except asyncio.CancelledError:
            with suppress(ProcessLookupError):
                process.terminate()
            await process.wait()
            raise
        await asyncio.sleep(PAUSE_SECONDS)


def _command(home: Home, how: str) -> tuple[str, ...]:
    return (sys.executable, "-m", "workers", "--home", str(home.path), how)
