"""Takes what waits in a lane to the one who does it: a turn, a command, a tap.

Every kept message ends here exactly once: answered, stopped or, after an error of ours, with an apology.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from gateway import failpoints, words
from gateway.chat import Chat, Person
from gateway.conversation import commands, joining, taps, telling
from gateway.conversation.access import Standing, is_group
from gateway.conversation.commands.call import Call, Said, Services
from gateway.conversation.lanes import Kind, Lanes
from gateway.conversation.language import language_of
from gateway.conversation.turn import Turns
from gateway.errors import NotAllowed, Refused
from gateway.jobs import Job
from gateway.records import Done, Message, NewOutgoing, Role
from gateway.store import messages, outbox, people
from gateway.store.db import Reader, Transaction

log = logging.getLogger(__name__)


@dataclass
class Router:
    """Routes kept messages. `lanes` is set once, by the composition root: lanes and router know each other."""

    services: Services
    turns: Turns
    said: Callable[[], None]
    ring: Callable[[Job], Awaitable[None]]
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
        if message.role is not Role.USER:
            self.lanes.wake(message.chat, Kind.TALK)  # what was said after it may have waited for it

    def _next_waiting(self, chat: Chat, roles: tuple[Role, ...]) -> Message | None:
        """Commands and taps overtake what is said, never the other way round: words behind `/new` are new.

        Whoever was taken out since is answered no more.
        """
        while True:
            with self.services.db.read() as rd:
                found = messages.next_waiting(rd, chat, roles)
                if found is None or self._is_let_in(rd, found):
                    break
            self._leave_unanswered(found)
        if found is None or found.role is not Role.USER:
            return found
        with self.services.db.read() as rd:
            command = messages.next_waiting(rd, chat, Kind.COMMANDS.roles)
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
        ring, stopped = await asyncio.to_thread(self._run, message, name, parsed[1] if parsed else "")
        if stopped:
            # Marked first: the turn's own last commit then finds it ended and says nothing.
            await self.lanes.stop(message.chat)
        if ring is not None:
            await self.ring(ring)

    def _stop_turn(self, tx: Transaction, command: Message, now: datetime) -> bool:
        """End the turn of what was said before the command, in the command's own commit: once, and no other."""
        running = messages.next_waiting(tx, command.chat, (Role.USER,))
        if running is None or running.id > command.id or not self._may_stop(tx, command, running):
            return False
        for piece in (running, *joining.pieces(tx, running)):
            messages.finish(tx, piece.id, Done.STOPPED, now)
        telling.put(tx, self.services.settings, running, now)
        return True

    def _may_stop(self, tx: Transaction, command: Message, running: Message) -> bool:
        """In a group a member ends only what they asked themselves."""
        access, person = self.services.access, Person.parse(command.person)
        standing = access.standing_in(tx, person, command.chat)
        return standing is not Standing.MEMBER or running.person in access.accounts(tx, person)

    def _run(self, message: Message, name: str, rest: str) -> tuple[Job | None, bool]:
        """The job to ring for, and whether a turn was ended."""
        try:
            said = self._act(message, name, rest)
        except Refused as refused:
            said = Said(refused.key, refused.values)
        now = self.services.clock.now()
        with self.services.db.write() as tx:
            if not messages.finish(tx, message.id, Done.ANSWERED, now):
                return None, False
            stopped = _stops_turn(name) and self._stop_turn(tx, message, now)
            if said.commit is not None:
                said.commit(tx)
            answer = NewOutgoing(
                dedupe=f"command-{message.id}",
                kind=said.kind,
                chat=message.chat,
                space=message.space,
                created_at=now,
                message=message.id,
                write=said.write,
                via=message.via,
                values={**said.values, "say": said.key, "stopped": stopped},
            )
            if not said.once or outbox.put(tx, replace(answer, dedupe=said.once)) is None:
                outbox.put(tx, answer)
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
            return Said("answer.unknown_command", {"nearest": commands.nearest(name)})
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
