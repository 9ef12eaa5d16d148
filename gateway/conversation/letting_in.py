"""The door: who is let in with a message, and what those hear who are not (design.md 7.1, 6.4).

A stranger in private is told a pairing code, or nothing; a group that is not served is silent, except that
somebody known who addresses the bot there hears once how to change that. No word of theirs is kept.
"""

from dataclasses import dataclass

from gateway.chat import IncomingMessage
from gateway.conversation import commands, firstwords, joining, pairing
from gateway.conversation.access import Access, Redeemed, Standing, owner_space
from gateway.conversation.language import GUESS, first_guess
from gateway.memory import cards
from gateway.ports import Clock
from gateway.records import NewOutgoing, Space
from gateway.settings import Settings
from gateway.store import outbox, pairings, people
from gateway.store.db import Database, Reader, Transaction

ANSWERS_PER_CODE = 5
"""How often a stranger who writes on is told the same code. Then there is silence."""


@dataclass(frozen=True)
class Door:
    """Stands before everything that is said. Holds no state of its own."""

    db: Database
    settings: Settings
    access: Access
    clock: Clock

    def standing(self, rd: Reader, message: IncomingMessage) -> Standing | None:
        """As what its sender says this; None when it is not for us to hear."""
        if message.private:
            standing = self.access.standing(rd, message.person)
            return None if standing is Standing.STRANGER else standing
        if not self.access.serves(rd, message.chat, message.server) or not self._is_for_us(rd, message):
            return None
        return self.access.standing_in_group(rd, message.person)

    def _is_for_us(self, rd: Reader, message: IncomingMessage) -> bool:
        """Of what is said in a group. A command has to call us itself."""
        if message.addressed or not self.settings.access.groups.require_mention:
            return True
        return joining.is_piece(rd, message) and commands.parse(message.own_text.strip()) is None

    def admit(self, message: IncomingMessage) -> tuple[Standing | None, bool]:
        """The same; whoever is not let in is told what there is to hear, and whether there was anything."""
        with self.db.read() as rd:
            standing = self.standing(rd, message)
            known = standing is not None or self.access.standing(rd, message.person) is not Standing.STRANGER
        told = False
        if standing is None and message.private:
            told = self._answer_stranger(message)
        elif standing is None and known and message.addressed:
            told = self._refuse_group(message)
        return standing, told

    def note_chat(self, tx: Transaction, message: IncomingMessage, space: Space, standing: Standing) -> None:
        """Keep where it was said: whose private chat or which group. A new chat of the owner's shows what waits."""
        now = self.clock.now()
        new = standing is Standing.OWNER and message.private and people.chat(tx, message.chat) is None
        people.keep_chat(
            tx,
            message.chat,
            private=message.private,
            person=message.person.key if message.private else "",
            space=space.id,
            language=first_guess(message),
            at=now,
            server=message.server,
        )
        if new:
            cards.show_homeless(tx, self.access.owners(tx), now)
            pairing.show_waiting(tx, self.access, now)

    # -- strangers -------------------------------------------------------------------------------------

    def _answer_stranger(self, message: IncomingMessage) -> bool:
        code = _code_in(message)
        if code and not self._is_theirs(message, code):
            return self._try_owner_code(message, code)
        return self.settings.access.pairing and self._tell_code(message)

    def _is_theirs(self, message: IncomingMessage, code: str) -> bool:
        """Whether it is the pairing code that they were told, sent back to us: no guess at the owner's."""
        with self.db.read() as rd:
            current = pairings.current(rd, message.person, self.clock.now())
        return current is not None and current.code == code.upper()

    def _try_owner_code(self, message: IncomingMessage, code: str) -> bool:
        dedupe = f"code-{message.chat.key}-{message.id}"
        with self.db.read() as rd:
            if outbox.by_dedupe(rd, dedupe) is not None:
                return True  # handed over again: one wrong code counts once
        now = self.clock.now()
        redeemed = self.access.redeem(self.db, message.person, code, now)
        if redeemed is Redeemed.SHUT_OUT:
            return False
        with self.db.write() as tx:
            space = owner_space(tx, now)
            if redeemed is Redeemed.WRONG:
                outbox.put(tx, self._row(message, dedupe, "code_wrong", space))
                return True
            self._tell_owner(tx, message, dedupe, space)
            outbox.put(tx, self._row(message, dedupe, "code_right", space))
            self.note_chat(tx, message, space, Standing.OWNER)
            firstwords.put(tx, self.access, message.chat, message.person, space, now)
        return True

    def _tell_owner(self, tx: Transaction, message: IncomingMessage, dedupe: str, space: Space) -> None:
        """Whoever owns the bot hears where they are that an account has just become theirs."""
        others = [key for key in self.access.owners(tx) if key != message.person.key]
        home = people.home_chat(tx, others)
        if home is not None and home != message.chat:
            new = NewOutgoing(
                dedupe=f"{dedupe}-told",
                kind="owner_joined",
                chat=home,
                space=space.id,
                created_at=self.clock.now(),
                values={"person": message.person.key},
            )
            outbox.put(tx, new)

    def _tell_code(self, message: IncomingMessage) -> bool:
        now = self.clock.now()
        with self.db.read() as rd:
            if not pairing.may_be_told(rd, message.person, now):
                return False  # whoever floods us costs a look, not a commit
        with self.db.write() as tx:
            asked = pairing.code_for(tx, self.access, message.person, message.chat, now, first_guess(message))
            if asked is None:
                return False
            space = owner_space(tx, now)
            for number in range(ANSWERS_PER_CODE):
                row = self._row(message, f"code-{asked.code}-{number}", "pairing_code", space, code=asked.code)
                if outbox.put(tx, row) is not None:
                    return True
        return False

    # -- groups ----------------------------------------------------------------------------------------

    def _refuse_group(self, message: IncomingMessage) -> bool:
        """Somebody known asks for the bot in a group that is not on the list: told once how to put it there."""
        with self.db.write() as tx:
            told = people.refused_group(tx, message.chat, self.clock.now())
            if told:
                group = f"{message.chat.platform}:{message.chat.id}"
                dedupe = f"group-{message.chat.platform}-{message.chat.id}"
                space = owner_space(tx, self.clock.now())
                outbox.put(tx, self._row(message, dedupe, "group_refused", space, group=group))
        return told

    def _row(self, message: IncomingMessage, dedupe: str, kind: str, space: Space, **values: object) -> NewOutgoing:
        return NewOutgoing(
            dedupe=dedupe,
            kind=kind,
            chat=message.chat,
            space=space.id,
            created_at=self.clock.now(),
            values={**values, GUESS: first_guess(message)},
            via=message.via,
        )


def _code_in(message: IncomingMessage) -> str:
    """The code of `/start CODE`, "" for anything else."""
    command = commands.parse(message.own_text.strip())
    return command[1].split()[0] if command is not None and command[0] == "start" and command[1] else ""
