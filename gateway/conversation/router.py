"""Takes what waits in a lane to the one who does it: a turn, a command, a tap.

Every kept message ends here exactly once: answered, stopped or, after an error of ours, with an apology.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial

from gateway import failpoints, words
from gateway.chat import Chat, Person
from gateway.conversation import commands, joining, members, taps, telling
from gateway.conversation.access import Standing, is_group
from gateway.conversation.commands.call import Call, Said, Services
from gateway.conversation.lanes import Kind, Lanes
from gateway.conversation.language import language_of
from gateway.conversation.turn import Turns
from gateway.errors import NotAllowed, Refused
from gateway.jobs import Job
from gateway.records import Done, Message, NewOutgoing, Role
from gateway.store import messages, outbox, people, unanswered
from gateway.store.db import Reader, Transaction

log = logging.getLogger(__name__)


@dataclass
class Router:
    """Routes kept messages. `lanes` is set once, by the composition root: lanes and router know each other."""

    services: Services
    turns: Turns
    said: Callable[[], None]
    ring: Callable[[Job], Awaitable[None]]
    erase: Callable[[], None] = lambda: None
    """Called when somebody may have said yes to a plan to forget."""
    lanes: Lanes = field(init=False)

    async def next_waiting(self, chat: Chat, roles: tuple[Role, ...]) -> Message | None:
        """The oldest message of this chat that waits in these roles."""
        return await asyncio.to_thread(self._next_waiting, chat, roles)

    async def handle(self, message: Message) -> None:
        """Do one message to its end. Raises TryLater when it cannot be done now."""
        match message.role:
            case Role.USER:
                await self.turns.answer(message)
            case Role.COMMAND:
                await self._command(message)
            case _:
                await asyncio.to_thread(self._tap, message)
        self._ended(message)

    async def give_up(self, message: Message, error: BaseException) -> None:
        """End a message that ran into an error: with its reason where we know it, else with an apology."""
        await asyncio.to_thread(self._apologise, message, error)
        self._ended(message)

    def _ended(self, message: Message) -> None:
        self.said()
        if message.role is Role.TAP:
            self.erase()
        if message.role is not Role.USER:
            self.lanes.wake(message.chat, Kind.TALK)  # what was said after it may have waited for it

    def _next_waiting(self, chat: Chat, roles: tuple[Role, ...]) -> Message | None:
        """Commands and taps overtake what is said, never the other way round: words behind `/new` are new.

        Whoever was taken out since is answered no more.
        """
        while True:
            with self.services.db.read() as rd:
                found = unanswered.oldest(rd, chat, roles, self.lanes.set_aside)
                if found is None or self._is_let_in(rd, found):
                    break
            self._leave_unanswered(found)
        if found is None or found.role is not Role.USER:
            return found
        with self.services.db.read() as rd:
            command = unanswered.oldest(rd, chat, Kind.COMMANDS.roles)
        return None if command is not None and command.id < found.id else found

    def _is_let_in(self, rd: Reader, message: Message) -> bool:
        standing = self.services.access.standing_in(rd, Person.parse(message.person), message.chat)
        return standing is not Standing.STRANGER

    def _leave_unanswered(self, message: Message) -> None:
        with self.services.db.write() as tx:
            messages.finish(tx, message.id, Done.STOPPED, self.services.clock.now())
            messages.erase_words(tx, message.id)

    # -- commands --------------------------------------------------------------------------------------

    async def _command(self, message: Message) -> None:
        parsed = commands.parse(message.text.strip())
        name = parsed[0] if parsed else ""
        said = await asyncio.to_thread(self._said, message, name, parsed[1] if parsed else "")
        if said.compresses:
            # It thinks as long as a turn does, and commands are answered while a turn runs.
            self.lanes.aside(message, partial(self._compress, session=said.compresses))
        else:
            await self._conclude(message, name, said)

    async def _compress(self, message: Message, *, session: str) -> None:
        with ExitStack() as held:
            said = await self.turns.compressor.asked(session, held)
            await self._conclude(message, "compress", said)
        self._ended(message)

    async def _conclude(self, message: Message, name: str, said: Said) -> None:
        ring, stopped = await asyncio.to_thread(self._answered, message, name, said)
        # Marked first: the last commit of what is stopped then finds it ended and says nothing.
        if stopped:
            await self.lanes.stop(message.chat)
        if _stops_turn(name):
            for id in await asyncio.to_thread(self._done_aside):
                await self.lanes.stop_aside(id)
        if ring is not None:
            await self.ring(ring)

    def _stop_turn(self, tx: Transaction, command: Message, name: str, now: datetime) -> bool:
        """End the turn of what was said before the command, in the command's own commit: once, and no other."""
        running = unanswered.oldest(tx, command.chat, (Role.USER,))
        if running is None or running.id > command.id or not self._may_stop(tx, command, name, running):
            return False
        for piece in (running, *joining.pieces(tx, running)):
            messages.finish(tx, piece.id, Done.STOPPED, now)
        telling.put(tx, self.services.settings, running, now)
        return True

    def _stop_aside(self, tx: Transaction, command: Message, name: str, now: datetime) -> bool:
        """The same with what was asked for by commands before it, and is being thought."""
        found = [messages.get(tx, id) for id in self.lanes.set_aside if id < command.id]
        stopped = False
        for one in found:
            if one.chat == command.chat and self._may_stop(tx, command, name, one):
                stopped = messages.finish(tx, one.id, Done.STOPPED, now) or stopped
                messages.erase_words(tx, one.id)
        return stopped

    def _done_aside(self) -> list[int]:
        with self.services.db.read() as rd:
            return [id for id in self.lanes.set_aside if messages.get(rd, id).done is not None]

    def _may_stop(self, tx: Transaction, command: Message, name: str, running: Message) -> bool:
        """In a group a member ends only what they asked themselves, and `/new` nothing of another's session."""
        access, person = self.services.access, Person.parse(command.person)
        member = members.member_of(tx, self.services.settings, command.chat, command.person)
        if name != "stop" and member and member != running.person:
            return False
        standing = access.standing_in(tx, person, command.chat)
        return standing is not Standing.MEMBER or running.person in access.accounts(tx, person)

    def _said(self, message: Message, name: str, rest: str) -> Said:
        try:
            return self._act(message, name, rest)
        except Refused as refused:
            return Said(refused.key, refused.values)

    def _answered(self, message: Message, name: str, said: Said) -> tuple[Job | None, bool]:
        """The same where the commit itself finds out that it cannot be."""
        try:
            return self._answer(message, name, said)
        except Refused as refused:
            return self._answer(message, name, Said(refused.key, refused.values))

    def _answer(self, message: Message, name: str, said: Said) -> tuple[Job | None, bool]:
        """The job to ring for, and whether a turn was ended."""
        now = self.services.clock.now()
        with self.services.db.write() as tx:
            if not messages.finish(tx, message.id, Done.ANSWERED, now):
                return None, False
            stopped = _stops_turn(name) and self._stop_turn(tx, message, name, now)
            aside = _stops_turn(name) and self._stop_aside(tx, message, name, now)
            if said.commit is not None:
                stopped = said.commit(tx) is True or stopped
            answer = NewOutgoing(
                dedupe=f"command-{message.id}",
                kind=said.kind,
                chat=message.chat,
                space=message.space,
                created_at=now,
                message=message.id,
                write=said.write,
                via=message.via,
                values={**said.values, "say": said.key, "stopped": stopped or aside},
            )
            if not said.once or outbox.put(tx, replace(answer, dedupe=said.once)) is None:
                outbox.put(tx, answer)
            if said.after is not None:
                said.after(tx)
            messages.erase_words(tx, message.id)
        failpoints.reach("command.done")
        return said.ring, stopped

    def _act(self, message: Message, name: str, rest: str) -> Said:
        services = self.services
        person = Person.parse(message.person)
        with services.db.read() as rd:
            standing = services.access.standing_in(rd, person, message.chat)
            space = people.space(rd, message.space)
            private = not is_group(people.chat(rd, message.chat), message.chat)
        command = commands.TABLE.get(name)
        if command is None:
            if name in commands.LATER:
                return Said("answer.later", {"name": name})
            nearest = commands.nearest(name)
            key = "answer.unknown_command" if nearest else "answer.no_command"
            return Said(key, {"nearest": nearest})
        if not commands.allowed(command, standing):
            key = "command.not_for_members" if standing is Standing.MEMBER else "command.owner_only"
            raise NotAllowed(key, name=name)
        if command.private_only and not private:
            raise NotAllowed("command.private_only", name=name)
        call = Call(message, person, standing, space, name, tuple(rest.split()), rest, private)
        return command.act(services, call)

    # -- taps and apologies ----------------------------------------------------------------------------

    def _tap(self, message: Message) -> None:
        taps.act(self.services, message)
        failpoints.reach("tap.acted")
        with self.services.db.write() as tx:
            messages.finish(tx, message.id, Done.ANSWERED, self.services.clock.now())
            messages.erase_words(tx, message.id)

    def _apologise(self, message: Message, error: BaseException) -> None:
        now = self.services.clock.now()
        values: dict[str, object] = {"say": "say.apology", "reference": message.id}
        if isinstance(error, Refused):
            values = {**error.values, "say": error.key}
        with self.services.db.write() as tx:
            if not messages.finish(tx, message.id, Done.FAILED, now):
                return
            self._keep_apology(tx, messages.get(tx, message.id), values)
            messages.erase_words(tx, message.id)
            telling.put(tx, self.services.settings, message, now)
            outbox.put(
                tx,
                NewOutgoing(
                    dedupe=f"apology-{message.id}",
                    kind="answer",
                    chat=message.chat,
                    space=message.space,
                    created_at=now,
                    message=message.id,
                    values=values,
                    via=message.via,
                ),
            )

    def _keep_apology(self, tx: Transaction, message: Message, values: Mapping[str, object]) -> None:
        """The apology is the turn's one answer in the transcript, where the turn had begun."""
        if message.role is Role.USER and message.turn:
            language = language_of(tx, message.chat, self.services.settings)
            text = words.text(str(values["say"]), language, **values)
            messages.keep(
                tx,
                messages.NewMessage(
                    space=message.space,
                    chat=message.chat,
                    person="",
                    role=Role.ASSISTANT,
                    text=text,
                    at=self.services.clock.now(),
                    session=message.session,
                    turn=message.turn,
                    generation=message.generation,
                    answers=message.id,
                ),
            )


def _stops_turn(name: str) -> bool:
    command = commands.TABLE.get(name)
    return command is not None and command.stops_turn
