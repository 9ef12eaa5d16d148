"""Who may talk and decide, and whose space a chat belongs to (design.md 7.1, 6.4).

Owners and allowed people come from the settings and from the `people` table (a redeemed or an approved code);
groups from the settings alone. The code that makes its sender an owner lives in `run/owner-code` until it is
used or an hour old. What those hear who are not let in is `letting_in`.
"""

import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from gateway.chat import TERMINAL_OWNER, Chat, IncomingMessage, Person
from gateway.conversation import ending
from gateway.errors import NotFound, Refused
from gateway.home import Home
from gateway.records import KnownChat, Space
from gateway.settings import Settings
from gateway.store import outbox, pairings, people, sessions, textfile, unanswered
from gateway.store.db import Database, Reader, Transaction

CODE_HOURS = 1
WRONG_CODES_ALLOWED = 5
_CODE_SIGNS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
_LOCK_WAIT_SECONDS = 5.0


class Standing(StrEnum):
    """What a person may do here."""

    OWNER = "owner"
    ALLOWED = "allowed"
    MEMBER = "member"
    """Anybody but the owner in a group that is served."""
    STRANGER = "stranger"


class Redeemed(StrEnum):
    """What came of an owner code."""

    WELCOME = "welcome"
    WRONG = "wrong"
    SHUT_OUT = "shut_out"


@dataclass(frozen=True, slots=True)
class OwnerCode:
    """A code that makes its sender an owner, once, until `expires_at`."""

    code: str
    expires_at: datetime


@dataclass(frozen=True)
class Access:
    """Answers who somebody is. Holds the settings and the home, no state of its own."""

    home: Home
    settings: Settings

    # -- persons -----------------------------------------------------------------------------------------

    def standing(self, rd: Reader, person: Person) -> Standing:
        """Whether this account is the owner's, an allowed person's or a stranger's."""
        if person == TERMINAL_OWNER or person.key in self.settings.access.owners:
            return Standing.OWNER
        account = people.account(rd, person)
        if account is not None and account.role == Standing.OWNER:
            return Standing.OWNER
        if person.key in self.settings.access.allowed or (account is not None and account.role == Standing.ALLOWED):
            return Standing.ALLOWED
        return Standing.STRANGER

    def standing_in(self, rd: Reader, person: Person, chat: Chat, server: str = "") -> Standing:
        """What a person may do in this chat: for what was kept, and for what is no message."""
        known = people.chat(rd, chat)
        if not is_group(known, chat, server):
            return self.standing(rd, person)
        if not self.serves(rd, chat, server or (known.server if known is not None else "")):
            return Standing.STRANGER
        return self.standing_in_group(rd, person)

    def standing_in_group(self, rd: Reader, person: Person) -> Standing:
        """What a person may do in a group that is served."""
        return Standing.OWNER if self.standing(rd, person) is Standing.OWNER else Standing.MEMBER

    def owners(self, rd: Reader) -> tuple[str, ...]:
        """The keys of all accounts of the owner."""
        return people.owner_keys(rd, self.settings.access.owners)

    def has_owner(self, db: Database) -> bool:
        """Whether anybody owns the bot on a chat platform."""
        with db.read() as rd:
            return bool(self.settings.access.owners or people.owners(rd))

    def accounts(self, rd: Reader, person: Person) -> tuple[str, ...]:
        """The keys of all accounts of this person."""
        match self.standing(rd, person):
            case Standing.OWNER:
                return self.owners(rd)
            case Standing.ALLOWED if (space := self.own_space(rd, person)) is not None:
                users = (people.whose(rd, space.id), *people.accounts_of_space(rd, space.id))
                return tuple(dict.fromkeys((person.key, *users)))
            case _:
                return (person.key,)

    # -- spaces ------------------------------------------------------------------------------------------

    def space_for(self, tx: Transaction, message: IncomingMessage, at: datetime) -> Space:
        """The space of what is said here: the person's own in private, the group's in a group."""
        return self.space_of(tx, message.person, at) if message.private else self._group_space(tx, message.chat, at)

    def space_of(self, tx: Transaction, person: Person, at: datetime) -> Space:
        """The person's own space, created at their first message; the owner's whatever the account.

        Standing that comes from the settings is never written down: who is taken out there is out.
        """
        if self.standing(tx, person) is Standing.OWNER:
            return owner_space(tx, at)
        own = self.own_space(tx, person)
        return own or people.new_space(tx, f"{person.platform}-{person.id}", "person", person.key, at)

    def own_space(self, rd: Reader, person: Person) -> Space | None:
        """The space that an account uses which is not the owner's; None before its first message."""
        account = people.account(rd, person)
        if account is not None and account.space is not None:
            return people.space(rd, account.space)
        return people.open_space_of(rd, person.key)

    def may_decide(self, rd: Reader, person: Person, space_id: int) -> bool:
        """A person decides for their own space, the owner for all; of a group's nobody but the owner."""
        standing = self.standing(rd, person)
        if standing is not Standing.ALLOWED:
            return standing is Standing.OWNER
        own = self.own_space(rd, person)
        return own is not None and own.id == space_id

    def _group_space(self, tx: Transaction, chat: Chat, at: datetime) -> Space:
        known = people.chat(tx, chat)
        if known is not None and known.space is not None:
            return people.space(tx, known.space)
        kind = "channel" if chat.platform == "discord" else "group"
        name = f"{chat.platform}-{kind}-{chat.id.removeprefix('-')}"
        return people.ensure_space(tx, name, "group", f"{chat.platform}:{chat.id}", at)

    # -- groups ------------------------------------------------------------------------------------------

    def serves(self, rd: Reader, chat: Chat, server: str = "") -> bool:
        """Whether a group is on the list: by its id, one that it had before, or its server's."""
        listed = self.settings.access.groups.allowed
        if not listed:
            return False
        keys = {f"{chat.platform}:{id}" for id in (chat.id, *people.former_ids(rd, chat))}
        if server:
            keys.add(f"{chat.platform}:server:{server}")
        return not keys.isdisjoint(listed)

    # -- letting in and taking out -----------------------------------------------------------------------

    def let_in(self, tx: Transaction, person: Person, space: Space | None, at: datetime) -> Space:
        """Let an account in: with a space of its own, or as one more account of the person `space` belongs to."""
        former = self.own_space(tx, person)
        joined = space or former or self.space_of(tx, person, at)
        role = Standing.OWNER if joined.kind == "owner" else Standing.ALLOWED
        people.keep_account(tx, person, role, joined.id, at)
        people.clear_codes(tx, person)
        if former is not None and former.id != joined.id:
            self._leave(tx, person, former, at)
        return joined

    def revoke(self, tx: Transaction, person: Person, at: datetime) -> None:
        """Take an account out. Its space is left as it is; whoever is let in again gets a new one."""
        for setting, keys in (("owners", self.settings.access.owners), ("allowed", self.settings.access.allowed)):
            if person.key in keys:
                raise Refused("pair.in_settings", person=person.key, setting=f"access.{setting}")
        account = people.account(tx, person)
        if account is None or account.role == Standing.STRANGER:
            raise NotFound("pair.not_let_in", person=person.key)
        former = self.own_space(tx, person)
        people.keep_account(tx, person, Standing.STRANGER, None, at)
        if former is not None:
            self._leave(tx, person, former, at)
        unanswered.stop_all_of(tx, person.key, at)
        outbox.drop_for(tx, person.key, at)

    def _leave(self, tx: Transaction, person: Person, space: Space, at: datetime) -> None:
        """An account uses a space no more: its open sessions end, and with its last account the space is closed."""
        for session in sessions.open_of(tx, person.key):
            ending.end(tx, self.settings, session, "space", at)
        maker = people.whose(tx, space.id)
        still_used = people.accounts_of_space(tx, space.id) or (
            maker != person.key and maker in self.settings.access.allowed
        )
        if space.kind == "person" and not still_used:
            people.close_space(tx, space.id, at)

    # -- the owner's code --------------------------------------------------------------------------------

    def new_owner_code(self, at: datetime) -> OwnerCode:
        """A fresh code, which replaces the one before it."""
        code = OwnerCode(new_code(), at + timedelta(hours=CODE_HOURS))
        textfile.write_private(self.home.owner_code, f"{code.code} {code.expires_at.isoformat()}\n".encode())
        return code

    def redeem(self, db: Database, person: Person, code: str, at: datetime) -> Redeemed:
        """Try an owner code. The right one is used up; five wrong ones shut this account out for an hour."""
        with textfile.lock(self.home.owner_code.with_suffix(".lock"), _LOCK_WAIT_SECONDS):
            current = self.owner_code(at)
            if self._is_shut_out(db, person, at):
                return Redeemed.SHUT_OUT
            if current is None or not secrets.compare_digest(code.strip().upper().encode(), current.code.encode()):
                with db.write() as tx:
                    people.wrong_code(tx, person, at)
                return Redeemed.WRONG
            # Used up before it counts: after a kill in between the person asks for another code,
            # while the other order would leave a code that works twice.
            textfile.remove(self.home.owner_code)
            with db.write() as tx:
                self.let_in(tx, person, owner_space(tx, at), at)
                if (asked := pairings.current(tx, person, at)) is not None:
                    pairings.decide(tx, asked.code, at)  # nobody is asked about themselves
            return Redeemed.WELCOME

    def owner_code(self, at: datetime) -> OwnerCode | None:
        """The code that is valid now, if there is one."""
        words = textfile.read(self.home.owner_code).decode("ascii", "replace").split()
        if len(words) != 2:
            return None
        try:
            expires_at = datetime.fromisoformat(words[1])
        except ValueError:
            return None
        return OwnerCode(words[0], expires_at) if at < expires_at else None

    def _is_shut_out(self, db: Database, person: Person, at: datetime) -> bool:
        with db.read() as rd:
            account = people.account(rd, person)
        if account is None or account.wrong_since is None or account.wrong_codes < WRONG_CODES_ALLOWED:
            return False
        return at < account.wrong_since + timedelta(hours=CODE_HOURS)


def owner_space(tx: Transaction, at: datetime) -> Space:
    """The owner's space, created on first need."""
    return people.ensure_space(tx, "owner", "owner", "owner", at)


def is_group(known: KnownChat | None, chat: Chat, server: str = "") -> bool:
    """Whether others read along in a chat; of one that was never let in, by its ids."""
    if known is not None:
        return not known.private
    return bool(server) or (chat.platform == "telegram" and chat.id.startswith("-"))


def new_code() -> str:
    """A code that is read aloud and typed without mistakes."""
    return "".join(secrets.choice(_CODE_SIGNS) for _ in range(8))
