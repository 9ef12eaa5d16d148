"""Which session answers a message: the one its chat is in, or a new one; with it the turn of the message begins.

One commit joins the pieces of the message, ends a session whose time is up, opens one where there is none, and
makes the message the question of its next turn. Done again after a kill, it finds the turn begun.
"""

from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

from gateway import failpoints
from gateway.chat import Chat
from gateway.conversation import ending, joining, members, prompt, resetting
from gateway.conversation.freezing import Freezer
from gateway.errors import Refused
from gateway.memory.writing import Memory
from gateway.ports import Clock
from gateway.records import Done, Message, NewOutgoing, Session, Space
from gateway.settings import Settings
from gateway.store import messages, outbox, people, sessions, unanswered
from gateway.store.db import Database, Transaction


@dataclass(frozen=True)
class Opener:
    """Opens sessions and begins turns in them."""

    db: Database
    settings: Settings
    memory: Memory
    freezer: Freezer
    clock: Clock

    def join(self, message_id: int) -> str | None:
        """Give the message its session and turn; the session's id, or None when it is done already."""
        now = self.clock.now()
        with self.db.read() as rd:
            message = messages.get(rd, message_id)
        if message.done is None and message.turn:
            return message.session
        with self.db.write() as tx:
            message = messages.get(tx, message_id)
            if message.done is not None:
                return None
            if message.turn:
                return message.session  # begun meanwhile in the lane of the chat that this one has become
            message = joining.join(tx, message, now)
            if not message.text.strip():
                self._decline(tx, message, now)
                return None
            session = self._session_for(tx, message, now)
            self._begin(tx, message, session, now)
            if self._is_overtaken(tx, message):
                messages.finish(tx, message.id, Done.STOPPED, now)
                return None
        failpoints.reach("turn.begun")
        if session.turns == 0:
            self._notice_hand_edits(message.space)
        return session.id

    def begin_at_once(self, tx: Transaction, message: Message, now: datetime) -> bool:
        """Begin the turn of a message that is being kept, in that commit, if nothing has to be waited for or read.

        False: it waits, and its lane begins the turn.
        """
        if joining.may_go_on(message) or not message.text.strip():
            return False
        session = members.in_use(tx, self.settings, message)
        if session is None or session.space != message.space:
            return False
        if resetting.why(tx, self.settings, session, message):
            return False
        self._begin(tx, message, session, now)
        return True

    def _decline(self, tx: Transaction, message: Message, now: datetime) -> None:
        """An album without a word: there is nothing in it that we can read. Of its late parts nothing is said."""
        messages.finish(tx, message.id, Done.ANSWERED, now)
        if joining.is_rest_of_album(tx, message):
            return
        outbox.put(
            tx,
            NewOutgoing(
                dedupe=f"unreadable-{message.id}",
                kind="unreadable",
                chat=message.chat,
                space=message.space,
                created_at=now,
                reply_to=message.platform_id,
            ),
        )

    def _session_for(self, tx: Transaction, message: Message, now: datetime) -> Session:
        session = members.in_use(tx, self.settings, message)
        if session is not None and session.space != message.space:
            # The account has become another person's: what was said so far stays in its own space.
            ending.end(tx, self.settings, session, "space", now)
            session = None
        if session is not None and (why := resetting.why(tx, self.settings, session, message)):
            resetting.reset(tx, self.settings, session, message, why, now)
            session = None
        return session or self._open(tx, message, now)

    def _open(self, tx: Transaction, message: Message, now: datetime) -> Session:
        member = members.member_of(tx, self.settings, message.chat, message.person)
        resetting.end_of_other_kind(tx, self.settings, message, member, now)
        space = people.space(tx, message.space)
        session = self.freezer.open(tx, message.chat, space, now, member)
        self._warn(tx, message.chat, space, session, now)
        return session

    def _warn(self, tx: Transaction, chat: Chat, space: Space, session: Session, now: datetime) -> None:
        """Tell the person what is wrong with the files of their prompt, when it is frozen."""
        for number, warning in enumerate(self.freezer.warnings(space)):
            outbox.put(
                tx,
                NewOutgoing(
                    dedupe=f"warning-{session.id}-{number}",
                    kind="warning",
                    chat=chat,
                    space=space.id,
                    created_at=now,
                    values={**warning.values, "key": warning.key},
                ),
            )

    def _begin(self, tx: Transaction, message: Message, session: Session, now: datetime) -> None:
        """Let a message join a session as the question of its next turn."""
        number = sessions.begin_turn(tx, session.id, now, message.at)
        at = self.freezer.stamp_zone(message.at)
        marked = message.pieces or message.speaker
        sent = prompt.sent_form(joining.said_by(message), at, message.speaker) if marked else None
        messages.begin(tx, message.id, session.id, number, session.generation, prompt.stamp(at), sent)

    def _is_overtaken(self, tx: Transaction, message: Message) -> bool:
        """Whether its person has said more, and one answer is to answer both."""
        return self.settings.session.busy == "interrupt" and bool(unanswered.behind(tx, message))

    def _notice_hand_edits(self, space_id: int) -> None:
        """What a new session reads that a person wrote by hand is a row of the ledger from now on."""
        with self.db.read() as rd:
            space = people.space(rd, space_id)
        with suppress(Refused):
            self.memory.notice_hand_edits(space)
