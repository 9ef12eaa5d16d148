"""The long-running processes: the bot on its platforms, the bot in one terminal, and what a terminal leaves behind.

What they are made of is `app`.
"""

import asyncio
import signal
from contextlib import nullcontext, suppress
from dataclasses import dataclass

from gateway import app, worker_process
from gateway.app import Rates, TerminalOptions
from gateway.chat import Chat
from gateway.conversation import ending
from gateway.core import Core
from gateway.errors import ConfigError, NotFound
from gateway.memory import incognito
from gateway.ports import Platform
from gateway.store import duejobs, outbox, people, sessions, textfile

SLOW_SECONDS = 5.0


async def serve(
    core: Core, *, with_worker: bool, ready: app.Ready, slow: app.Ready, rates: Rates | None = None
) -> None:
    """Run the gateway until SIGTERM or SIGINT. Raises ConfigError when no platform is left to talk on.

    `slow` is called with each platform that is not connected after a few seconds; `rates` as in `app.on_platforms`.
    """
    gateway = app.on_platforms(core, rates)
    stopping = _stop_signal()
    loop = asyncio.get_running_loop()
    waiting = {platform: loop.call_later(SLOW_SECONDS, slow, platform) for platform in gateway.platforms.values()}

    def connected(platform: Platform) -> None:
        waiting[platform].cancel()
        ready(platform)

    async with worker_process.kept_running(core.home) if with_worker else nullcontext(), gateway.running():
        receiving = asyncio.create_task(gateway.receive(connected))
        problems = await _first_of(receiving, stopping)
    if problems:
        raise ConfigError(problems)


async def talk(core: Core, terminal: TerminalOptions, *, with_worker: bool = False) -> "Talked":
    """Run one terminal chat to the end of its input, or until SIGINT or SIGTERM."""
    chat = terminal.chat
    gateway, platform = app.in_terminal(core, terminal)
    alive = textfile.try_lock(core.home.chat_lock(chat.id))
    try:
        stopping = _stop_signal()
        async with worker_process.kept_running(core.home) if with_worker else nullcontext(), gateway.running():
            await asyncio.to_thread(_adopt, core, chat)
            receiving = asyncio.create_task(gateway.receive(lambda _: None))
            await _first_of(receiving, stopping)
            stopped = stopping.done() and not stopping.cancelled()
            if not stopped:
                await gateway.settled()
        session = await asyncio.to_thread(_session_of, core, terminal)
        if session:
            session = await asyncio.to_thread(_without_incognito, core, session)
        return Talked(session, stopped=stopped, all_kept=platform.lost is None)
    finally:
        if alive is not None:
            alive.discard()


@dataclass(frozen=True, slots=True)
class Talked:
    """How a terminal chat went: the id of its session ("" when none opened), and whether it ended in order."""

    session: str
    stopped: bool
    """By a signal."""
    all_kept: bool
    """False when something that was said could not be kept."""


def _stop_signal() -> "asyncio.Task[object]":
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    return asyncio.create_task(stop.wait())


async def _first_of(receiving: "asyncio.Task[list[str]]", stopping: "asyncio.Task[object]") -> list[str]:
    """Until the platforms end by themselves or somebody stops us; returns why platforms were refused."""
    await asyncio.wait((receiving, stopping), return_when=asyncio.FIRST_COMPLETED)
    for task in (receiving, stopping):
        task.cancel()
    with suppress(asyncio.CancelledError):
        return await receiving
    return []


# -- a terminal chat, before and after ---------------------------------------------------------------------


def check_resumable(core: Core, session_id: str) -> None:
    """Raises NotFound for a session that is not the owner's: resuming never crosses people."""
    with core.db.read() as rd:
        session = sessions.get(rd, session_id)
        if people.space(rd, session.space).kind != "owner" or session.incognito:
            raise NotFound("session.unknown", id=session_id)


def _adopt(core: Core, chat: Chat) -> None:
    """What is still to be said in terminals that have gone is said in this one."""
    with core.db.read() as rd:
        waiting = outbox.waiting_chat_ids(rd, "terminal")
    gone = [other for other in waiting if other != chat.id and not textfile.is_locked(core.home.chat_lock(other))]
    if gone:
        with core.db.write() as tx:
            outbox.adopt(tx, "terminal", gone, chat)


def _session_of(core: Core, terminal: TerminalOptions) -> str:
    with core.db.read() as rd:
        session = sessions.in_use(rd, terminal.chat, terminal.session)
    return session.id if session is not None else ""


def _without_incognito(core: Core, session: str) -> str:
    """The session, to be named at the end; "" for an incognito one: with its terminal it ends, and is gone."""
    with core.db.write() as tx:
        found = sessions.find(tx, session)
        if found is None or not found.incognito:
            return session
        incognito.erase(tx, found, core.clock.now())
    return ""


def review_rest(core: Core, session_id: str) -> None:
    """At the end of a terminal chat: record the review of what is unreviewed and leave a worker to do it."""
    with core.db.write() as tx:
        ending.review_rest(tx, core.loaded.settings, sessions.get(tx, session_id), core.clock.now())
    wake_worker(core)


def wake_worker(core: Core) -> None:
    """Ring the worker for what is due; where none runs, leave one behind that works it off and ends."""
    now = core.clock.now()
    with core.db.read() as rd:
        jobs = duejobs.due(rd, now)
    if jobs and textfile.is_locked(core.home.worker_lock):
        app.queue(core).put(jobs[0])
    elif jobs:
        worker_process.leave_behind(core.home)
