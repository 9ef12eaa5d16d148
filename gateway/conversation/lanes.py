"""Lanes keep one chat's messages in order; chats run side by side.

Each chat has a lane for talk and one for commands and taps, which are answered while a turn runs. A lane is a
task that exists only while something waits, so an idle chat costs nothing. What waits is in the database: a
lane asks for the oldest waiting message until there is none. What takes long and must not hold up its lane is
handled aside.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Sequence
from enum import Enum

from gateway import logs
from gateway.chat import Chat
from gateway.errors import TryLater
from gateway.records import Message, Role

log = logging.getLogger(__name__)


ERROR_WAIT_SECONDS = 30.0
TAKEN_UP_AT_ONCE = 16
"""Lanes of a backlog that run at a time: somebody who writes now must not wait behind all the others."""


class Kind(Enum):
    """The two lanes of a chat, as the roles that wait in them."""

    TALK = (Role.USER,)
    COMMANDS = (Role.COMMAND, Role.TAP)

    @property
    def roles(self) -> tuple[Role, ...]:
        roles: tuple[Role, ...] = self.value
        return roles


def kind_of(role: Role) -> Kind:
    """The lane in which a message of this role waits."""
    return Kind.TALK if role is Role.USER else Kind.COMMANDS


class Rest(Enum):
    """What is left after a step of a lane."""

    MORE_MAY_WAIT = "more may wait"
    NOTHING_WAITS = "nothing waits"


Next = Callable[[Chat, tuple[Role, ...]], Awaitable[Message | None]]
Handle = Callable[[Message], Awaitable[None]]
GiveUp = Callable[[Message, BaseException], Awaitable[None]]


class Lanes:
    """Runs the lanes. `run` owns their tasks; everything else is called from the same event loop."""

    def __init__(self, next_waiting: Next, handle: Handle, give_up: GiveUp) -> None:
        """`next_waiting` finds the oldest, `handle` ends it, `give_up` ends it after an unexpected error."""
        self._next_waiting = next_waiting
        self._handle = handle
        self._give_up = give_up
        self._tasks: dict[tuple[Chat, Kind], asyncio.Task[None]] = {}
        self._woken: set[tuple[Chat, Kind]] = set()
        self._handed: dict[tuple[Chat, Kind], Message] = {}
        self._backlog: deque[tuple[Chat, Kind]] = deque()
        self._taken_up: set[tuple[Chat, Kind]] = set()
        self._current: dict[tuple[Chat, Kind], asyncio.Task[None]] = {}
        self._aside: dict[int, asyncio.Task[None]] = {}
        self._formerly: dict[Chat, Chat] = {}
        """What chats were in which something still runs."""
        self._group: asyncio.TaskGroup | None = None
        self._closing = False

    async def run(self) -> None:
        """Own the lanes' tasks until cancelled. Lanes woken before start now."""
        try:
            async with asyncio.TaskGroup() as group:
                self._group = group
                for key in tuple(self._woken):
                    self._start(key)
                self._take_up_more()
                await asyncio.Event().wait()
        finally:
            self._group = None

    def wake(self, chat: Chat, kind: Kind, only: Message | None = None) -> None:
        """Something waits in this lane (or may). `only`: this message does, and it is the only one.

        A lane at rest then begins with it at once, and rests again after it unless it was woken meanwhile.
        """
        key = (chat, kind)
        if only is not None and key not in self._tasks and self._group is not None:
            self._handed[key] = only
        else:
            self._woken.add(key)
        if key not in self._tasks:
            self._start(key)

    def take_up(self, chat: Chat, kind: Kind) -> None:
        """Something has waited in this lane since before we started: wake it when those before it are done."""
        self._backlog.append((chat, kind))
        self._take_up_more()

    def moved(self, chat: Chat, to: Chat) -> None:
        """A chat has become another one: a turn that runs in its lane belongs to both from now on."""
        self._formerly = {now: was for now, was in self._formerly.items() if (was, Kind.TALK) in self._tasks}
        if (chat, Kind.TALK) in self._tasks:
            self._formerly[to] = chat

    def aside(self, message: Message, handle: Handle) -> None:
        """Handle this message beside its lane, which goes on; `next_waiting` must not find it meanwhile."""
        if self._group is not None:
            task = self._aside[message.id] = self._group.create_task(self._beside(message, handle))
            task.add_done_callback(lambda _: self._aside.pop(message.id))

    @property
    def set_aside(self) -> Collection[int]:
        """The ids of the messages that are being handled aside."""
        return tuple(self._aside)

    async def stop(self, chat: Chat) -> None:
        """End the running turn of this chat, unsaid, and wait until it has ended."""
        chats = {chat, self._formerly.get(chat, chat)}
        await _cancelled([turn for one in chats if (turn := self._current.get((one, Kind.TALK))) is not None])

    async def stop_aside(self, id: int) -> None:
        """End the handling of what was set aside, and wait until it has ended."""
        if id in self._aside:
            await _cancelled([self._aside[id]])

    async def until_quiet(self) -> None:
        """Wait until no lane runs."""
        while running := self._running():
            await asyncio.wait(running)

    async def drain(self, seconds: float) -> None:
        """Take nothing new and let the running messages end, for at most `seconds`."""
        self._closing = True
        if running := self._running():
            await asyncio.wait(running, timeout=seconds)

    def _running(self) -> tuple[asyncio.Task[None], ...]:
        return (*self._tasks.values(), *self._aside.values())

    def _start(self, key: tuple[Chat, Kind]) -> None:
        if self._group is not None and not self._closing:
            self._tasks[key] = self._group.create_task(self._lane(key))

    async def _lane(self, key: tuple[Chat, Kind]) -> None:
        chat, kind = key
        try:
            with logs.bind(chat=chat.key):
                if key in self._handed:
                    await self._begin_with(self._handed.pop(key), key)
                # No await between this test and the end of the task: a wake in between would be lost.
                while key in self._woken and not self._closing:
                    self._woken.discard(key)
                    await self._empty(chat, kind)
        finally:
            del self._tasks[key]
            self._taken_up.discard(key)
        self._take_up_more()

    def _take_up_more(self) -> None:
        while self._backlog and len(self._taken_up) < TAKEN_UP_AT_ONCE and self._group and not self._closing:
            key = self._backlog.popleft()
            if key not in self._tasks:
                self._taken_up.add(key)
                self.wake(*key)

    async def _begin_with(self, message: Message, key: tuple[Chat, Kind]) -> None:
        """Handle what was handed over; where that did not end it, it is found waiting like any other."""
        if await self._outlive(self._one(message, key)) is None:
            self._woken.add(key)

    async def _empty(self, chat: Chat, kind: Kind) -> None:
        while not self._closing:
            if await self._outlive(self._next(chat, kind)) is Rest.NOTHING_WAITS:
                return

    async def _next(self, chat: Chat, kind: Kind) -> "Rest":
        message = await self._next_waiting(chat, kind.roles)
        if message is None:
            return Rest.NOTHING_WAITS
        return await self._one(message, (chat, kind))

    async def _outlive(self, step: Awaitable["Rest"]) -> "Rest | None":
        """What a step came to; None after trouble, once its pause is over."""
        try:
            return await step
        except TryLater as busy:
            log.warning("lane.busy", extra={"after": busy.after})
            await asyncio.sleep(busy.after)
        except Exception:  # not even the apology could be made: the other chats go on
            log.exception("lane.broken")
            await asyncio.sleep(ERROR_WAIT_SECONDS)
        return None

    async def _one(self, message: Message, key: tuple[Chat, Kind]) -> "Rest":
        """Handle one message in a task of its own, so that `stop` ends the message and not the lane."""
        task = asyncio.ensure_future(self._handle(message))
        self._current[key] = task
        try:
            return await self._end_of(task, message)
        finally:
            del self._current[key]

    async def _beside(self, message: Message, handle: Handle) -> None:
        with logs.bind(chat=message.chat.key):
            while await self._outlive(self._end_of(asyncio.ensure_future(handle(message)), message)) is None:
                pass

    async def _end_of(self, task: asyncio.Future[None], message: Message) -> "Rest":
        try:
            await asyncio.wait((task,))
        except asyncio.CancelledError:
            task.cancel()
            await asyncio.wait((task,))
            raise
        if task.cancelled():
            return Rest.MORE_MAY_WAIT
        error = task.exception()
        if isinstance(error, TryLater):
            raise error
        if error is not None:
            log.error("lane.failed", exc_info=error)
            await self._give_up(message, error)
        return Rest.MORE_MAY_WAIT


async def _cancelled(tasks: Sequence[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.wait(tasks)
