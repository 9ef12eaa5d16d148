"""Where everything a platform hands over comes in: may they talk here? then it is kept, then it is confirmed.

Returning means: committed, or refused for good. What is kept goes on in a lane; `router` takes it there.
"""

import asyncio
import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from gateway import failpoints
from gateway.chat import Chat, Dialog, How, IncomingMessage, Person, Suggestion, Tap
from gateway.conversation import buttons, commands, editing, joining, prompt, questions, suggesting, telling
from gateway.conversation.access import Access, Standing
from gateway.conversation.lanes import Kind, Lanes, kind_of
from gateway.conversation.language import language_of
from gateway.conversation.letting_in import Door
from gateway.errors import Refused, StoreBusy
from gateway.ports import Clock
from gateway.records import Done, Message, NewOutgoing, Role, Space
from gateway.settings import Settings
from gateway.store import messages, moving, outbox, people, sessions, unanswered
from gateway.store.db import Database, Transaction, Unusable
from gateway.words import text as say

MOST_WAITING = 32
UNUSABLE_WAIT_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Kept:
    """A message that was kept: where it waits, itself if its turn has begun, whether it ends another's."""

    chat: Chat
    kind: Kind
    begun: Message | None = None
    interrupts: bool = False


@dataclass(frozen=True, slots=True)
class NotKept:
    """A message that was refused, answered on the spot or not for us; whether something was said to it."""

    told: bool


@dataclass(frozen=True)
class Intake:
    """Receives from all platforms (ports.Receiver)."""

    db: Database
    settings: Settings
    access: Access
    lanes: Lanes
    clock: Clock
    said: Callable[[], None]
    """Called when something new lies in the outbox."""
    begin: Callable[[Transaction, Message, datetime], bool]
    """Begins a message's turn in the commit that keeps it; False where that has to wait (`Turns.begin_at_once`)."""

    @property
    def door(self) -> Door:
        """Who is let in with a message."""
        return Door(self.db, self.settings, self.access, self.clock)

    async def message(self, message: IncomingMessage) -> bool:
        """See ports.Receiver. What was kept wakes its lane."""
        with _nothing_given_up():
            kept = await asyncio.to_thread(self._take, message)
        failpoints.reach("intake.kept")
        if isinstance(kept, NotKept):
            self.said()
            return kept.told
        if kept.interrupts:
            await self.lanes.stop(kept.chat)
        self.lanes.wake(kept.chat, kept.kind, kept.begun)
        return True

    async def tap(self, tap: Tap) -> str:
        """Keep one tap and wake its lane; the toast says at once when it will change nothing."""
        try:
            with _nothing_given_up():
                toast = await asyncio.to_thread(self._take_tap, tap)
        except Refused as refused:
            return await asyncio.to_thread(self._toast, tap.chat, refused)
        self.lanes.wake(tap.chat, Kind.COMMANDS)
        return toast

    async def edit(self, message: IncomingMessage) -> None:
        """See ports.Receiver."""
        with _nothing_given_up():
            await asyncio.to_thread(self._edit, message)
        self.said()

    async def moved(self, platform: str, from_id: str, to_id: str) -> None:
        """See ports.Receiver. What waits there goes on in the chat's new lanes."""
        with _nothing_given_up():
            waiting = await asyncio.to_thread(self._move, platform, from_id, to_id)
        self.lanes.moved(Chat(platform, from_id), Chat(platform, to_id))
        for chat, role in waiting:
            self.lanes.wake(chat, kind_of(role))
        self.said()

    async def dialog(self, tap: Tap) -> Dialog | str:
        """See ports.Receiver."""
        try:
            with _nothing_given_up():
                return await asyncio.to_thread(self._dialog, tap)
        except Refused as refused:
            return await asyncio.to_thread(self._toast, tap.chat, refused)

    async def suggest(
        self, person: Person, chat: Chat, server: str, command: str, typed: str
    ) -> Sequence[Suggestion]:
        """See ports.Receiver."""
        return await asyncio.to_thread(
            suggesting.suggest, self.db, self.access, person, chat, server, command, typed
        )

    async def last_kept(self, platform: str) -> Mapping[Chat, str]:
        """See ports.Receiver."""

        def look() -> Mapping[Chat, str]:
            with self.db.read() as rd:
                return messages.newest_of_platform(rd, platform)

        return await asyncio.to_thread(look)

    def _toast(self, chat: Chat, refused: Refused) -> str:
        with _nothing_given_up(), self.db.read() as rd:
            language = language_of(rd, chat, self.settings)
        return say(refused.key, language, **refused.values)

    # -- messages --------------------------------------------------------------------------------------

    def _take(self, message: IncomingMessage) -> "Kept | NotKept":
        message = self._where_it_is_now(message)
        standing, told = self.door.admit(message)
        return NotKept(told) if standing is None else self._keep(message, standing)

    def _keep(self, message: IncomingMessage, standing: Standing) -> "Kept | NotKept":
        now = self.clock.now()
        if (answer := self._keep_answer(message, now)) is not None:
            return answer
        command = commands.parse(message.own_text.strip())
        role = Role.USER if command is None else Role.COMMAND
        with self.db.write() as tx:
            if message.private and self.access.standing(tx, message.person) is Standing.STRANGER:
                # Taken out since the door was passed: a space of theirs must not come to be again.
                return NotKept(told=False)
            space = self.access.space_for(tx, message, now)
            self.door.note_chat(tx, message, space, standing)
            if role is Role.USER and self._turned_away(tx, message, standing, space, now):
                return NotKept(told=True)
            if message.session and sessions.find(tx, message.session) is None:
                message = replace(message, session="")  # deleted since the terminal was told to go on with it
            id = messages.keep(tx, _row(message, role, space))
            if id is None or role is Role.COMMAND:
                return Kept(message.chat, kind_of(role))
            kept = messages.get(tx, id)
            interrupts = self.settings.session.busy == "interrupt" and self._interrupt(tx, kept, now)
            return Kept(message.chat, Kind.TALK, self._begun(tx, kept, now), interrupts)

    def _keep_answer(self, message: IncomingMessage, now: datetime) -> "Kept | None":
        """Keep the answer to a question for a text: it is a tap with that text, and reaches no model."""
        if not message.answers:
            return None
        with self.db.read() as rd:
            before = messages.of_platform(rd, message.chat, message.id)
            if before is not None:
                return Kept(message.chat, Kind.COMMANDS) if before.role is Role.TAP else None
            row = questions.answered(rd, self.access, message, now)
        if row is None:
            return None
        with self.db.write() as tx:
            messages.keep(
                tx,
                messages.NewMessage(
                    space=row.space,
                    chat=message.chat,
                    person=message.person.key,
                    role=Role.TAP,
                    text=questions.kept_form(row, message.own_text.strip()),
                    at=message.at,
                    platform_id=message.id,
                ),
            )
        return Kept(message.chat, Kind.COMMANDS)

    def _begun(self, tx: Transaction, message: Message, now: datetime) -> Message | None:
        """The message, if nothing else waits here and its turn has begun with the commit that keeps it."""
        first = unanswered.oldest(tx, message.chat, (*Kind.TALK.roles, *Kind.COMMANDS.roles))
        alone = first is not None and first.id == message.id
        return messages.get(tx, message.id) if alone and self.begin(tx, message, now) else None

    def _interrupt(self, tx: Transaction, message: Message, now: datetime) -> bool:
        """End the running turn of the same person, unsaid: the turn of this message answers both."""
        running = unanswered.oldest(tx, message.chat, Kind.TALK.roles)
        if running is None or not running.turn or running.person != message.person:
            return False
        messages.finish(tx, running.id, Done.STOPPED, now)
        telling.put(tx, self.settings, running, now)
        return True

    def _edit(self, message: IncomingMessage) -> None:
        message = self._where_it_is_now(message)
        with self.db.read() as rd:
            # What was kept was for us, whether or not the person still names the bot in it.
            standing = self.door.standing(rd, replace(message, addressed=True))
        if standing is not None:
            with self.db.write() as tx:
                editing.edit(tx, message, self.clock.now())

    def _where_it_is_now(self, message: IncomingMessage) -> IncomingMessage:
        """A message of a chat that has moved since, as one of the chat that it has become."""
        if message.private:
            return message
        with self.db.read() as rd:
            chat = people.where_now(rd, message.chat)
        if chat == message.chat:
            return message
        return replace(message, chat=chat, id=moving.moved_id(message.chat.id, message.id))

    def _move(self, platform: str, from_id: str, to_id: str) -> Sequence[tuple[Chat, Role]]:
        """Where something waits after the move."""
        with self.db.write() as tx:
            people.move_chat(tx, platform, from_id, to_id, self.clock.now())
            waiting = unanswered.chats(tx)
        return [(chat, role) for chat, role in waiting if (chat.platform, chat.id) == (platform, to_id)]

    def _turned_away(
        self, tx: Transaction, message: IncomingMessage, standing: Standing, space: Space, now: datetime
    ) -> bool:
        """Whether this message cannot be read or is one too many: then it is not kept, and the chat is told."""
        dedupe = f"turned-away-{message.chat.key}-{message.id}"
        if outbox.by_dedupe(tx, dedupe) is not None:
            return True  # handed over again: it stays turned away, even where there is room by now
        if messages.of_platform(tx, message.chat, message.id) is not None:
            return False
        if not (message.album or _says_something(message)):
            kind = "unreadable"
        elif unanswered.count(tx, message.chat) >= MOST_WAITING:
            kind = "queue_full"
        elif standing is not Standing.OWNER and self._out_of_turns(tx, message, now):
            kind = "daily_limit"
        else:
            return False
        row = NewOutgoing(
            dedupe=dedupe,
            kind=kind,
            chat=message.chat,
            space=space.id,
            created_at=now,
            values={"most": MOST_WAITING, "turns": self.settings.access.daily_turns},
            reply_to=message.id,
        )
        outbox.put(tx, row)
        return True

    def _out_of_turns(self, tx: Transaction, message: IncomingMessage, now: datetime) -> bool:
        bound = self.settings.access.daily_turns
        if not bound:
            return False
        accounts = self.access.accounts(tx, message.person)
        return messages.user_turns_since(tx, accounts, now - timedelta(days=1)) >= bound

    # -- taps ------------------------------------------------------------------------------------------

    def _dialog(self, tap: Tap) -> Dialog | str:
        """The text of a write that waits, to be changed; where somebody was first, the toast that says so."""
        with self.db.read() as rd:
            row = buttons.check(rd, self.access, tap)
            language = language_of(rd, tap.chat, self.settings)
            toast = buttons.toast(rd, self.access, self.settings.zone(), tap, row, language)
            return toast or buttons.dialog(rd, row, language)

    def _take_tap(self, tap: Tap) -> str:
        """What to say at once; "" where the tap will change something."""
        with self.db.write() as tx:
            row = buttons.check(tx, self.access, tap)
            language = language_of(tx, tap.chat, self.settings)
            messages.keep(
                tx,
                messages.NewMessage(
                    space=row.space,
                    chat=tap.chat,
                    person=tap.person.key,
                    role=Role.TAP,
                    text=buttons.kept_form(tap),
                    at=tap.at,
                    platform_id=f"tap:{tap.id}",
                ),
            )
            return buttons.toast(tx, self.access, self.settings.zone(), tap, row, language)


@contextlib.contextmanager
def _nothing_given_up() -> Iterator[None]:
    """A database that cannot be used any more keeps nothing: the platform holds what is said until one can."""
    try:
        yield
    except Unusable as error:
        raise StoreBusy(str(error), after=UNUSABLE_WAIT_SECONDS) from error


def _says_something(message: IncomingMessage) -> bool:
    """Whether there are words in it that are not only quoted."""
    return any(p.text.strip() for p in message.pieces if p.how not in (How.QUOTED, How.ATTACHED))


def _row(message: IncomingMessage, role: Role, space: Space) -> messages.NewMessage:
    # A command is the person's own words alone: what it was said in answer to must never be taken for one.
    pieces = message.pieces if role is Role.USER else tuple(p for p in message.pieces if p.how is How.OWN)
    foreign = any(piece.how is not How.OWN for piece in pieces)
    return messages.NewMessage(
        space=space.id,
        chat=message.chat,
        person=message.person.key,
        role=role,
        text=joining.words_of(pieces),
        pieces=pieces if foreign else (),
        at=message.at,
        platform_id=message.id,
        session=message.session,
        speaker="" if message.private else prompt.speaker(message.speaker),
        album=message.album,
        via=message.via,
    )
