"""Who may talk and decide, and whose space a chat belongs to (design.md 7.1, 6.4).

Owners and allowed people come from the settings and from the `people` table (a redeemed code). The code that
makes its sender an owner lives in `run/owner-code` until it is used or an hour old.
"""

import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from gateway.chat import TERMINAL_OWNER, Person
from gateway.home import Home
from gateway.records import Space
from gateway.settings import Settings
from gateway.store import people, textfile
from gateway.store.db import Database, Reader, Transaction

CODE_HOURS = 1
WRONG_CODES_ALLOWED = 5
_CODE_SIGNS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
_LOCK_WAIT_SECONDS = 5.0


class Standing(StrEnum):
    """What a person may do here."""

    OWNER = "owner"
    ALLOWED = "allowed"
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

    def owners(self, rd: Reader) -> tuple[str, ...]:
        """The keys of all accounts of the owner."""
        kept = (*self.settings.access.owners, *people.owners(rd), TERMINAL_OWNER.key)
        return tuple(dict.fromkeys(kept))

    def has_owner(self, db: Database) -> bool:
        """Whether anybody owns the bot on a chat platform."""
        with db.read() as rd:
            return bool(self.settings.access.owners or people.owners(rd))

    def accounts(self, rd: Reader, person: Person) -> tuple[str, ...]:
        """The keys of all accounts of this person."""
        if self.standing(rd, person) is Standing.OWNER:
            return self.owners(rd)
        return (person.key,)

    def space_of(self, tx: Transaction, person: Person, at: datetime) -> Space:
        """The person's own space, created at their first message; the owner's whatever the account.

        Standing that comes from the settings is never written down: who is taken out there is out.
        """
        if self.standing(tx, person) is Standing.OWNER:
            return owner_space(tx, at)
        account = people.account(tx, person)
        if account is not None and account.space is not None:
            return people.space(tx, account.space)
        return people.ensure_space(tx, _own_space_name(person), "person", person.key, at)

    def may_decide(self, rd: Reader, person: Person, space_id: int) -> bool:
        """A person decides for their own space, the owner for all."""
        standing = self.standing(rd, person)
        if standing is not Standing.ALLOWED:
            return standing is Standing.OWNER
        account = people.account(rd, person)
        if account is not None and account.space is not None:
            return account.space == space_id
        return people.space(rd, space_id).name == _own_space_name(person)

    def new_owner_code(self, at: datetime) -> OwnerCode:
        """A fresh code, which replaces the one before it."""
        code = OwnerCode("".join(secrets.choice(_CODE_SIGNS) for _ in range(8)), at + timedelta(hours=CODE_HOURS))
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
                people.keep_account(tx, person, Standing.OWNER, owner_space(tx, at).id, at)
                people.clear_codes(tx, person)
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


def _own_space_name(person: Person) -> str:
    return f"{person.platform}-{person.id}"
