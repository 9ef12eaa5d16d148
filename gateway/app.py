"""The composition root of the gateway: the only place where its objects meet, and their start and stop order.

What every command needs is `core`; `Gateway` is the long-running bot; `hikae chat` is a gateway with a
terminal and nothing else.
"""

import asyncio
import logging
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, nullcontext, suppress
from dataclasses import dataclass, replace

from gateway import broker, health, llm, rq_queue, worker_process
from gateway.chat import Chat
from gateway.conversation import commands, ending
from gateway.conversation.compressing import Compressor
from gateway.conversation.delivery import Delivery
from gateway.conversation.erasing import Eraser
from gateway.conversation.flushing import Flusher
from gateway.conversation.freezing import Freezer
from gateway.conversation.intake import Intake
from gateway.conversation.lanes import Lanes, kind_of
from gateway.conversation.rendering import Renderer
from gateway.conversation.router import Router
from gateway.conversation.titling import Titler
from gateway.conversation.turn import Turns
from gateway.core import Core as Core
from gateway.core import open_core as open_core
from gateway.core import services_of as services_of
from gateway.errors import ConfigError, GatewayError, NotFound, Refused, TryLater
from gateway.housekeeping import Housekeeping
from gateway.jobs import Job
from gateway.memory import incognito
from gateway.platforms.gates import TELEGRAM_RATES, Rates
from gateway.platforms.terminal import TerminalPlatform
from gateway.ports import JobQueue, Model, Platform
from gateway.records import Role
from gateway.settings import ModelChoice
from gateway.store import doorbell, duejobs, messages, outbox, people, sessions, textfile

log = logging.getLogger(__name__)

DRAIN_SECONDS = 20.0
TERMINAL_DRAIN_SECONDS = 1.0
"""Somebody pressed Ctrl-C and looks on; the turn goes on at the next start."""
FLUSH_SECONDS = 5.0
REPORT_SECONDS = 2.0
SLOW_SECONDS = 5.0
STORE_THREADS = 16


Ready = Callable[[Platform], None]
"""Called with each platform once it is connected."""


@dataclass
class Gateway:
    """A running bot: the parts, wired. `serve` starts them in order and stops them in the reverse order."""

    core: Core
    model: Model
    queue: JobQueue
    platforms: dict[str, Platform]
    holds_home: bool = True
    """Whether this process holds the gateway's lock: then it keeps house and hears workers and commands ring."""
    drain_seconds: float = DRAIN_SECONDS
    """How long running turns may take to end when we end."""

    def __post_init__(self) -> None:
        core = self.core
        services = services_of(core, self.model.name)
        # The offline model has no titles to give.
        names = core.loaded.settings.chat_model().provider != "offline"
        self.titler = Titler(core.db, self.model, core.clock, names)
        own = core.loaded.settings.compression_model()
        self.summariser = self.model if own is None else llm.build(own)
        access, freezer = services.access, services.freezer
        self.delivery = Delivery(core.db, self.platforms, Renderer(services), core.clock)
        turns = Turns(
            db=core.db,
            home=core.home,
            settings=core.loaded.settings,
            memory=core.memory,
            freezer=freezer,
            access=access,
            model=self.model,
            clock=core.clock,
            typing=self._typing,
            said=self.delivery.wake,
            ring=self._ring,
            answered=self.titler.answered,
            compressor=self._compressor(freezer),
            hears=self._hears,
        )
        self.eraser = Eraser(replace(core.forgetting, said=self.delivery.wake))
        router = Router(services, turns, self.delivery.wake, self._ring, self.eraser.wake)
        self.lanes = router.lanes = Lanes(router.next_waiting, router.handle, router.give_up)
        self.intake = Intake(
            core.db, core.loaded.settings, access, self.lanes, core.clock, self.delivery.wake, turns.begin_at_once
        )
        self.housekeeping = Housekeeping(
            core.db,
            core.memory,
            core.loaded.settings,
            self.queue,
            core.clock,
            self.delivery.wake,
            core.home,
            self.eraser.forgetting,
        )

    def _compressor(self, freezer: Freezer) -> Compressor:
        core, settings, said = self.core, self.core.loaded.settings, self.delivery.wake
        return Compressor(
            db=core.db,
            home=core.home,
            settings=settings,
            flusher=Flusher(core.db, settings, core.memory, self.model, core.clock, said),
            freezer=freezer,
            summariser=self.summariser,
            clock=core.clock,
            said=said,
            ring=self._ring,
        )

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Lanes, delivery, housekeeping and the doorbell run while the body does; then they end in order."""
        # Threads wait for each other's commits, so there must be more of them than cores.
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(STORE_THREADS, "store"))
        await asyncio.to_thread(self.housekeeping.recover)
        keeping = (self.housekeeping.run, self._listen, self._report) if self.holds_home else ()
        async with _said_plainly(), asyncio.TaskGroup() as group:
            parts = (self.lanes.run, self.delivery.run, self.titler.run, self.eraser.run, *keeping)
            background = [group.create_task(part()) for part in parts]
            try:
                for chat, role in await asyncio.to_thread(self._waiting):
                    self.lanes.take_up(chat, kind_of(role))
                yield
            finally:
                await self.lanes.drain(self.drain_seconds)
                with suppress(TimeoutError):
                    async with asyncio.timeout(FLUSH_SECONDS):
                        await self.delivery.until_quiet()
                for task in background:
                    task.cancel()
                await self.model.close()
                await self.summariser.close()
                for platform in self.platforms.values():
                    await platform.close()

    async def settled(self) -> None:
        """Wait until everything set going has been answered and said."""
        await self.lanes.until_quiet()
        await self.eraser.until_quiet()
        await self.delivery.until_quiet()

    async def receive(self, ready: Ready) -> list[str]:
        """Let all platforms receive until the last one ends; one that is refused leaves the others running.

        Returns why each refused one was.
        """
        problems: list[str] = []
        async with asyncio.TaskGroup() as group:
            for platform in self.platforms.values():
                group.create_task(self._receive_from(platform, ready, problems))
        return problems

    async def _receive_from(self, platform: Platform, ready: Ready, problems: list[str]) -> None:
        try:
            await platform.run(self.intake, lambda: ready(platform))
        except ConfigError as refused:
            log.error("platform.refused", extra={"platform": platform.name})
            problems += refused.problems
            if len(problems) < len(self.platforms):
                print(refused, file=sys.stderr, flush=True)

    async def _typing(self, chat: Chat) -> None:
        platform = self.platforms.get(chat.platform)
        if platform is not None:
            await platform.typing(chat)

    def _hears(self, chat: Chat) -> bool:
        platform = self.platforms.get(chat.platform)
        return platform is None or platform.health().caught_up

    async def _ring(self, job: Job) -> None:
        await asyncio.to_thread(self.queue.put, job)

    def _waiting(self) -> list[tuple[Chat, Role]]:
        """What was kept and not answered before the last end: it goes on now."""
        with self.core.db.read() as rd:
            waiting = messages.waiting_chats(rd)
        return [(chat, role) for chat, role in waiting if self._is_ours(chat)]

    def _is_ours(self, chat: Chat) -> bool:
        """A chat we show, or a terminal chat whose terminal has gone."""
        platform = self.platforms.get(chat.platform)
        if platform is not None and platform.serves(chat):
            return True
        return chat.platform == "terminal" and not textfile.is_locked(self.core.home.chat_lock(chat.id))

    async def _report(self) -> None:
        """Leave for `hikae status` how the platforms are."""
        reporter = health.Reporter(self.core.home, self.core.clock, self.core.loaded.config_sha256, self.platforms)
        while True:
            with suppress(TryLater, Refused):  # a full disk is told by those who lose something
                await asyncio.to_thread(reporter.report)
            await asyncio.sleep(REPORT_SECONDS)

    async def _listen(self) -> None:
        """Wake the delivery for each byte that workers and commands send."""
        listener = doorbell.open_listener(self.core.home)
        loop = asyncio.get_running_loop()
        try:
            while True:
                await loop.sock_recv(listener, 64)
                self.delivery.wake()
        finally:
            listener.close()


@asynccontextmanager
async def _said_plainly() -> AsyncIterator[None]:
    """An error of ours leaves a task group as itself: the command line prints its sentence, no traceback."""
    try:
        yield
    except BaseExceptionGroup as group:
        ours = group.subgroup(GatewayError)
        if ours is None:
            raise
        raise _first_of_group(ours) from None


def _first_of_group(group: BaseExceptionGroup[GatewayError]) -> GatewayError:
    first = group.exceptions[0]
    return _first_of_group(first) if isinstance(first, BaseExceptionGroup) else first


# -- processes -------------------------------------------------------------------------------------------


async def serve(core: Core, *, with_worker: bool, ready: Ready, slow: Ready, rates: Rates | None = None) -> None:
    """Run the gateway until SIGTERM or SIGINT. Raises ConfigError when no platform is left to talk on.

    `slow` is called with each platform that is not connected after a few seconds. `rates` bound how often the
    bot may speak, where its platform's own rates do not (benchmarks open the gates).
    """
    gateway = Gateway(core, llm.build(core.loaded.settings.chat_model()), _queue(core), _platforms(core, rates))
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


async def talk(core: Core, terminal: "TerminalOptions", *, with_worker: bool = False) -> "Talked":
    """Run one terminal chat to the end of its input, or until SIGINT or SIGTERM."""
    settled: list[Callable[[], Awaitable[None]]] = []
    chat = Chat("terminal", terminal.chat_id)
    platform = TerminalPlatform(
        chat=chat,
        clock=core.clock,
        settled=lambda: settled[0](),
        once=terminal.once,
        session=terminal.session,
        history=core.home.terminal_history if terminal.once is None else None,
        language=core.loaded.settings.display.language,
    )
    model = llm.build(core.loaded.settings.chat_model())
    gateway = Gateway(
        core,
        model,
        _queue(core),
        {"terminal": platform},
        holds_home=terminal.holds_home,
        drain_seconds=TERMINAL_DRAIN_SECONDS,
    )
    settled.append(gateway.settled)
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
        session = await asyncio.to_thread(_session_of, core, terminal, chat)
        if session:
            session = await asyncio.to_thread(_without_incognito, core, session)
        return Talked(session, stopped=stopped, all_kept=platform.lost is None)
    finally:
        if alive is not None:
            alive.discard()


@dataclass(frozen=True, slots=True)
class TerminalOptions:
    """How `hikae chat` talks: `once` is the one message of `-q`, `session` the one to go on with."""

    chat_id: str
    once: str | None = None
    session: str = ""
    holds_home: bool = False
    """See Gateway."""


@dataclass(frozen=True, slots=True)
class Talked:
    """How a terminal chat went: the id of its session ("" when none opened), and whether it ended in order."""

    session: str
    stopped: bool
    """By a signal."""
    all_kept: bool
    """False when something that was said could not be kept."""


def _platforms(core: Core, rates: Rates | None) -> dict[str, Platform]:
    """The platforms that have a token."""
    wanted = core.loaded.settings
    built: dict[str, Platform] = {}
    if wanted.secret(wanted.platforms.telegram.token_env):
        built["telegram"] = _telegram(core, rates)
    if wanted.secret(wanted.platforms.discord.token_env):
        built["discord"] = _discord(core)
    return built


def _telegram(core: Core, rates: Rates | None) -> Platform:
    # Its SDK is loaded only where it is used.
    from gateway.platforms.telegram import TelegramPlatform, WebhookAddress

    wanted = core.loaded.settings
    chosen = wanted.platforms.telegram
    hook = chosen.webhook
    calls_us = WebhookAddress(hook.url, hook.port, wanted.secret(hook.secret_env))
    return TelegramPlatform(
        wanted.secret(chosen.token_env),
        chosen.base_url,
        core.clock,
        commands.specs(),
        token_setting=chosen.token_env,
        webhook=calls_us if chosen.mode == "webhook" else None,
        rates=rates or TELEGRAM_RATES,
    )


def _discord(core: Core) -> Platform:
    from gateway.platforms.discord import DiscordPlatform

    wanted = core.loaded.settings
    chosen = wanted.platforms.discord
    return DiscordPlatform(
        wanted.secret(chosen.token_env),
        chosen.base_url,
        chosen.gateway_url,
        core.clock,
        commands.specs(),
        token_setting=chosen.token_env,
    )


def has_platform(core: Core) -> bool:
    """Whether a chat platform has a token."""
    wanted = core.loaded.settings
    tokens = (wanted.platforms.telegram.token_env, wanted.platforms.discord.token_env)
    return any(wanted.secret(token) for token in tokens)


def check_resumable(core: Core, session_id: str) -> None:
    """Raises NotFound for a session that is not the owner's: resuming never crosses people."""
    with core.db.read() as rd:
        session = sessions.get(rd, session_id)
        if people.space(rd, session.space).kind != "owner" or session.incognito:
            raise NotFound("session.unknown", id=session_id)


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
        _queue(core).put(jobs[0])
    elif jobs:
        worker_process.leave_behind(core.home)


async def model_problem(choice: ModelChoice) -> str:
    """For `doctor`: "" when the model answers, else a sentence on what to check."""
    model = llm.build(choice)
    try:
        return await model.reach()
    finally:
        await model.close()


def _queue(core: Core) -> JobQueue:
    chosen = core.loaded.settings
    return rq_queue.RqQueue(broker.connect_url(core.home, chosen), chosen.review_seconds)


def _adopt(core: Core, chat: Chat) -> None:
    """What is still to be said in terminals that have gone is said in this one."""
    with core.db.read() as rd:
        waiting = outbox.waiting_chat_ids(rd, "terminal")
    gone = [other for other in waiting if other != chat.id and not textfile.is_locked(core.home.chat_lock(other))]
    if gone:
        with core.db.write() as tx:
            outbox.adopt(tx, "terminal", gone, chat)


def _session_of(core: Core, terminal: TerminalOptions, chat: Chat) -> str:
    with core.db.read() as rd:
        session = sessions.in_use(rd, chat, terminal.session)
    return session.id if session is not None else ""


def _stop_signal() -> "asyncio.Task[object]":
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    return asyncio.create_task(stop.wait())


def _without_incognito(core: Core, session: str) -> str:
    """The session, to be named at the end; "" for an incognito one: with its terminal it ends, and is gone."""
    with core.db.write() as tx:
        found = sessions.find(tx, session)
        if found is None or not found.incognito:
            return session
        incognito.erase(tx, found, core.clock.now())
    return ""


async def _first_of(receiving: "asyncio.Task[list[str]]", stopping: "asyncio.Task[object]") -> list[str]:
    """Until the platforms end by themselves or somebody stops us; returns why platforms were refused."""
    await asyncio.wait((receiving, stopping), return_when=asyncio.FIRST_COMPLETED)
    for task in (receiving, stopping):
        task.cancel()
    with suppress(asyncio.CancelledError):
        return await receiving
    return []
