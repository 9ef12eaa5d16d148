"""Where everything a platform hands over comes in: may they talk here? then it is kept, then it is confirmed.

Returning means: committed, or refused for good. What is kept goes on in a lane; `router` takes it there.
"""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from gateway import failpoints
from gateway.chat import Chat, Dialog, How, IncomingMessage, Person, Suggestion, Tap
from gateway.conversation import commands, firstwords
from gateway.conversation import taps as tap_rules
from gateway.conversation.access import Access, Redeemed, Standing, owner_space
from gateway.conversation.lanes import Kind, Lanes
from gateway.errors import Refused, StoreBusy
from gateway.ports import Clock
from gateway.records import NewOutgoing, Role, Space
from gateway.settings import Settings
from gateway.store import messages, outbox, people
from gateway.store.db import Database, Transaction, Unusable
from gateway.words import text as say

log = logging.getLogger(__name__)

MOST_WAITING = 32
UNUSABLE_WAIT_SECONDS = 5.0


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

    async def message(self, message: IncomingMessage) -> None:
        """Keep one message and wake its lane. Raises TryLater when it could not be kept."""
        with _nothing_given_up():
            kept = await asyncio.to_thread(self._take, message)
        failpoints.reach("intake.kept")
        if kept is None:
            self.said()
            return
        self.lanes.wake(message.chat, kept)

    async def tap(self, tap: Tap) -> str:
        """Keep one tap and wake its lane; the toast says at once when it will change nothing."""
        try:
            with _nothing_given_up():
                await asyncio.to_thread(self._take_tap, tap)
        except Refused as refused:
            return say(refused.key, self.settings.display.language, **refused.values)
        self.lanes.wake(tap.chat, Kind.COMMANDS)
        return ""

    async def edit(self, message: IncomingMessage) -> None:
        """See ports.Receiver."""

    async def moved(self, platform: str, from_id: str, to_id: str) -> None:
        """See ports.Receiver."""

    async def dialog(self, tap: Tap) -> Dialog | str:
        """See ports.Receiver."""
        return say("tap.unknown", self.settings.display.language)

    async def suggest(
        self, person: Person, chat: Chat, server: str, command: str, typed: str
    ) -> Sequence[Suggestion]:
        """See ports.Receiver."""
        return ()

    async def last_kept(self, platform: str) -> Mapping[Chat, str]:
        """See ports.Receiver."""
        return {}

    # -- messages --------------------------------------------------------------------------------------

    def _take(self, message: IncomingMessage) -> Kind | None:
        """The lane it waits in, or None when it was refused, answered on the spot or not for us."""
        with self.db.read() as rd:
            standing = self.access.standing(rd, message.person)
        if not message.private:
            if message.addressed and standing is not Standing.STRANGER:
                self._refuse_group(message)
            return None
        if standing is Standing.STRANGER:
            self._try_code(message)
            return None
        return self._keep(message, standing)

    def _keep(self, message: IncomingMessage, standing: Standing) -> Kind | None:
        now = self.clock.now()
        command = commands.parse(message.own_text.strip())
        role = Role.USER if command is None else Role.COMMAND
        with self.db.write() as tx:
            space = self.access.space_of(tx, message.person, now)
            _know_chat(tx, message, space, now)
            if role is Role.USER and self._turned_away(tx, message, standing, space, now):
                return None
            messages.keep(tx, _row(message, role, space))
        return Kind.TALK if role is Role.USER else Kind.COMMANDS

    def _turned_away(
        self, tx: Transaction, message: IncomingMessage, standing: Standing, space: Space, now: datetime
    ) -> bool:
        """Whether this message cannot be read or is one too many: then it is not kept, and the chat is told."""
        dedupe = f"turned-away-{message.chat.key}-{message.id}"
        if outbox.by_dedupe(tx, dedupe) is not None:
            return True  # handed over again: it stays turned away, even where there is room by now
        if messages.of_platform(tx, message.chat, message.id) is not None:
            return False
        if not any(piece.text.strip() for piece in message.pieces if piece.how is not How.QUOTED):
            kind = "unreadable"
        elif messages.count_waiting(tx, message.chat) >= MOST_WAITING:
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

    # -- who is not let in -----------------------------------------------------------------------------

    def _try_code(self, message: IncomingMessage) -> None:
        """A stranger may only redeem a code; of everything else nothing is kept and nothing is said."""
        command = commands.parse(message.own_text.strip())
        if command is None or command[0] != "start" or not command[1]:
            return
        dedupe = f"code-{message.chat.key}-{message.id}"
        with self.db.read() as rd:
            if outbox.by_dedupe(rd, dedupe) is not None:
                return  # handed over again: one wrong code counts once
        now = self.clock.now()
        redeemed = self.access.redeem(self.db, message.person, command[1].split()[0], now)
        if redeemed is Redeemed.SHUT_OUT:
            return
        with self.db.write() as tx:
            space = owner_space(tx, now)
            welcome = redeemed is Redeemed.WELCOME
            if welcome:
                _know_chat(tx, message, space, now)
            outbox.put(
                tx,
                NewOutgoing(
                    dedupe=dedupe,
                    kind="code_right" if welcome else "code_wrong",
                    chat=message.chat,
                    space=space.id,
                    created_at=now,
                ),
            )
            if welcome:
                firstwords.put(tx, self.access, message.chat, message.person, space, now)

    def _refuse_group(self, message: IncomingMessage) -> None:
        """Groups come later: an owner or allowed person who addresses the bot there is told once."""
        now = self.clock.now()
        with self.db.write() as tx:
            outbox.put(
                tx,
                NewOutgoing(
                    dedupe=f"group-{message.chat.platform}-{message.chat.id}",
                    kind="group_refused",
                    chat=message.chat,
                    space=owner_space(tx, now).id,
                    created_at=now,
                ),
            )

    # -- taps ------------------------------------------------------------------------------------------

    def _take_tap(self, tap: Tap) -> None:
        with self.db.write() as tx:
            row = tap_rules.check(tx, self.access, tap)
            messages.keep(
                tx,
                messages.NewMessage(
                    space=row.space,
                    chat=tap.chat,
                    person=tap.person.key,
                    role=Role.TAP,
                    text=tap_rules.kept_form(tap),
                    at=tap.at,
                    platform_id=f"tap:{tap.id}",
                ),
            )


@contextlib.contextmanager
def _nothing_given_up() -> Iterator[None]:
    """A database that cannot be used any more keeps nothing: the platform holds what is said until one can."""
    try:
        yield
    except Unusable as error:
        raise StoreBusy(str(error), after=UNUSABLE_WAIT_SECONDS) from error


def _know_chat(tx: Transaction, message: IncomingMessage, space: Space, now: datetime) -> None:
    """Keep whose private chat it is and when it was used last."""
    person = message.person.key
    people.keep_chat(tx, message.chat, private=True, person=person, space=space.id, language="", at=now)


def _row(message: IncomingMessage, role: Role, space: Space) -> messages.NewMessage:
    # A command is the person's own words alone: what it was said in answer to must never be taken for one.
    pieces = message.pieces if role is Role.USER else tuple(p for p in message.pieces if p.how is How.OWN)
    foreign = any(piece.how is not How.OWN for piece in pieces)
    return messages.NewMessage(
        space=space.id,
        chat=message.chat,
        person=message.person.key,
        role=role,
        text="\n".join(piece.text for piece in pieces),
        pieces=pieces if foreign else (),
        at=message.at,
        platform_id=message.id,
        session=message.session,
    )
