"""The composition root of the gateway: the only place where its objects meet, and their start and stop order.

What every command needs is `core`; `Gateway` is the long-running bot; `hikae chat` is a gateway with a
terminal and nothing else.
"""

import asyncio
import logging
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace

from gateway import broker, health, llm, rq_queue
from gateway.chat import Chat
from gateway.conversation import commands, language
from gateway.conversation.commands.call import Services
from gateway.conversation.compressing import Compressor
from gateway.conversation.delivery import Delivery
from gateway.conversation.erasing import Eraser
from gateway.conversation.flushing import Flusher
from gateway.conversation.freezing import Freezer
from gateway.conversation.intake import Intake
from gateway.conversation.lanes import Lanes, kind_of
from gateway.conversation.opening import Opener
from gateway.conversation.rendering import Renderer
from gateway.conversation.router import Router
from gateway.conversation.summarising import Summariser
from gateway.conversation.thinking import Thinker
from gateway.conversation.titling import Titler
from gateway.conversation.turn import Turns
from gateway.core import Core as Core
from gateway.core import open_core as open_core
from gateway.core import services_of as services_of
from gateway.errors import ConfigError, GatewayError, Refused, TryLater
from gateway.housekeeping import Housekeeping
from gateway.jobs import Job
from gateway.modelchoice import ModelChoice
from gateway.platforms.gates import TELEGRAM_RATES
from gateway.platforms.gates import Rates as Rates
from gateway.platforms.terminal import TerminalPlatform
from gateway.ports import JobQueue, Model, Platform
from gateway.records import Role
from gateway.store import doorbell, textfile, unanswered

log = logging.getLogger(__name__)

DRAIN_SECONDS = 20.0
TERMINAL_DRAIN_SECONDS = 1.0
"""Somebody pressed Ctrl-C and looks on; the turn goes on at the next start."""
FLUSH_SECONDS = 5.0
REPORT_SECONDS = 2.0
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
    at_the_prompt: bool = False
    """Whether who reads the answers goes on in the shell: then commands are named as `hikae …`."""

    def __post_init__(self) -> None:
        core, settings = self.core, self.core.loaded.settings
        services, own = services_of(core, self.model.name), settings.compression_model()
        self.summariser = self.model if own is None else llm.build(own)
        # The offline model has no titles to give.
        self.titler = Titler(core.db, self.model, core.clock, settings.chat_model().provider != "offline")
        self.delivery = Delivery(core.db, self.platforms, Renderer(services, self.at_the_prompt), core.clock)
        said = self.delivery.wake
        self.eraser = Eraser(replace(core.forgetting, said=said))
        opener = Opener(core.db, settings, core.memory, services.freezer, core.clock)
        router = Router(services, self._turns(services, opener), said, self._ring, self.eraser.wake)
        self.lanes = router.lanes = Lanes(router.next_waiting, router.handle, router.give_up)
        self.intake = Intake(core.db, settings, services.access, self.lanes, core.clock, said, opener.begin_at_once)
        self.housekeeping = Housekeeping(
            core.db, core.memory, settings, self.queue, core.clock, said, core.home, self.eraser.forgetting
        )

    def _turns(self, services: Services, opener: Opener) -> Turns:
        core, compressor = self.core, self._compressor(services.freezer)
        return Turns(
            db=core.db,
            home=core.home,
            settings=services.settings,
            memory=core.memory,
            forgetting=core.forgetting,
            access=services.access,
            clock=core.clock,
            opener=opener,
            thinker=Thinker(core.db, services.settings, self.model, compressor),
            compressor=compressor,
            typing=self._typing,
            said=self.delivery.wake,
            ring=self._ring,
            answered=self.titler.answered,
            hears=self._hears,
        )

    def _compressor(self, freezer: Freezer) -> Compressor:
        core, settings, said = self.core, self.core.loaded.settings, self.delivery.wake
        return Compressor(
            db=core.db,
            home=core.home,
            settings=settings,
            flusher=Flusher(core.db, settings, core.memory, self.model, core.clock, said),
            freezer=freezer,
            summariser=Summariser(self.summariser, settings.model.context_window, core.clock),
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
            waiting = unanswered.chats(rd)
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


# -- what it is made of ----------------------------------------------------------------------------------


def on_platforms(core: Core, rates: Rates | None = None) -> Gateway:
    """The bot on every platform that has a token.

    `rates` bound how often it may speak, where its platform's own rates do not (benchmarks open the gates).
    """
    return Gateway(core, llm.build(core.loaded.settings.chat_model()), queue(core), _platforms(core, rates))


def in_terminal(core: Core, terminal: "TerminalOptions") -> tuple[Gateway, TerminalPlatform]:
    """The bot in one terminal, and that terminal."""
    settled: list[Callable[[], Awaitable[None]]] = []
    platform = TerminalPlatform(
        chat=terminal.chat,
        clock=core.clock,
        settled=lambda: settled[0](),
        once=terminal.once,
        session=terminal.session,
        history=core.home.terminal_history if terminal.once is None else None,
        spoken=lambda: language.known_of(core.db, terminal.chat, core.loaded.settings),
    )
    gateway = Gateway(
        core,
        llm.build(core.loaded.settings.chat_model()),
        queue(core),
        {"terminal": platform},
        holds_home=terminal.holds_home,
        drain_seconds=TERMINAL_DRAIN_SECONDS,
        at_the_prompt=terminal.once is not None,
    )
    settled.append(gateway.settled)
    return gateway, platform


@dataclass(frozen=True, slots=True)
class TerminalOptions:
    """How `hikae chat` talks: `once` is the one message of `-q`, `session` the one to go on with."""

    chat_id: str
    once: str | None = None
    session: str = ""
    holds_home: bool = False
    """See Gateway."""

    @property
    def chat(self) -> Chat:
        return Chat("terminal", self.chat_id)


def has_platform(core: Core) -> bool:
    """Whether a chat platform has a token."""
    wanted = core.loaded.settings
    tokens = (wanted.platforms.telegram.token_env, wanted.platforms.discord.token_env)
    return any(wanted.secret(token) for token in tokens)


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


def queue(core: Core) -> JobQueue:
    """Where jobs are put."""
    chosen = core.loaded.settings
    return rq_queue.RqQueue(broker.connect_url(core.home, chosen), chosen.review_seconds)


async def model_problem(choice: ModelChoice) -> str:
    """For `doctor`: "" when the model answers, else a sentence on what to check."""
    model = llm.build(choice)
    try:
        return await model.reach()
    finally:
        await model.close()
