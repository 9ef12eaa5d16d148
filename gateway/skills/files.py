"""Changing the files of skills, and what the ledger says of it.

As with memory, a change has two halves with a kill possible between any two steps: a transaction says `approved`,
with the hash of the file as it is and as it will be; then `finish` replaces the file (or moves the folder) and says
`applied`. An undo goes the same way: `undone`, then the file. `finish` runs after both and after every crash.
The lock is that of the space, which guards its memory as well.
"""

import contextlib
import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Protocol

from gateway import failpoints
from gateway.chat import Chat
from gateway.errors import NotFound, StoreBusy
from gateway.ports import Clock
from gateway.records import Action, NewWrite, Operation, Space, Write
from gateway.settings import Settings
from gateway.skills import byhand, names, undoing
from gateway.skills.changes import ABSENT, sha256
from gateway.skills.shelf import Shelf
from gateway.store import messages, sessions, skillfolders, textfile, writes
from gateway.store import undoing as undone
from gateway.store.transaction import Reader, Transaction

log = logging.getLogger(__name__)

LOCK_SECONDS = 10.0
NOTICE_SECONDS = 0.05
UNWRITABLE = "reason.skill_unwritable"


class Cards(Protocol):
    """What skills ask of `memory.cards`: a room above this one, whose cards are for every kind of write."""

    def ask(
        self,
        tx: Transaction,
        settings: Settings,
        staged: Sequence[Write],
        chat: Chat | None,
        at: datetime,
        reply_to: str = "",
    ) -> None: ...

    def update(self, tx: Transaction, write: Write, word: str, at: datetime) -> bool: ...

    def place(self, rd: Reader, settings: Settings, chat: Chat) -> Chat | None: ...

    def say_failed(self, tx: Transaction, write: Write, chat: Chat, at: datetime) -> None: ...

    def say_overtaken(self, tx: Transaction, settings: Settings, write: Write, at: datetime) -> None: ...


class Found(Protocol):
    """What was forgotten and would come back."""

    @property
    def at(self) -> datetime: ...


class HeldBack(Protocol):
    """What skills ask of `memory.heldback`, a room above this one, too: has this been forgotten before?"""

    def held(
        self, rd: Reader, space: int, operations: Sequence[Operation], before: Iterable[str] = ()
    ) -> Found | None: ...

    def marked(self, new: NewWrite, found: Found | None) -> NewWrite: ...

    def lift(self, tx: Transaction, space: int, operations: Sequence[Operation]) -> None: ...


@dataclass(frozen=True, slots=True)
class SkillFiles:
    """Carries out what was decided about the skills of all spaces of a home."""

    shelf: Shelf
    clock: Clock
    settings: Settings
    cards: Cards
    held_back: HeldBack | None = None

    @contextlib.contextmanager
    def locked(self, space: Space, seconds: float = LOCK_SECONDS) -> Iterator[int]:
        """Be the only one who changes this space's files; what a crash left half done is finished first.

        Gives how many writes that were.
        """
        with textfile.lock(self.shelf.home.space_lock(space.name), seconds):
            yield self.finish(space)

    def finish(self, space: Space) -> int:
        """Carry out what was approved (oldest first) and undone in this space, under its lock. How many ended."""
        with self.shelf.db.read() as rd:
            approved = [one for one in writes.unfinished(rd) if one.kind == "skill" and one.space == space.id]
            taken_back = [one for one in undone.due(rd, "skill") if one.space == space.id]
        ended = sum(self._finish(space, write) for write in approved)
        return ended + sum(self._put_back(space, write) for write in taken_back)

    def notice_hand_edit(self, tx: Transaction, space: Space, name: str, operation: Operation) -> None:
        """Record what somebody changed by hand in the file that is to be changed now, under the lock."""
        path = None if operation.action is Action.DELETE else operation.path
        byhand.notice(tx, self.shelf, space, self.clock.now(), name, path)

    def notice_hand_edits(self, space: Space, wait_seconds: float = NOTICE_SECONDS) -> bool:
        """Record what was edited by hand in a space; False where somebody holds its lock: later, then."""
        now = self.clock.now()
        with self.shelf.db.read() as rd:
            if not byhand.news(rd, self.shelf, space, now):
                return True
        try:
            with self.locked(space, wait_seconds), self.shelf.db.write() as tx:
                byhand.notice(tx, self.shelf, space, now)
        except StoreBusy:
            return False
        return True

    def refuse_unwritable(self, space: Space, name: str, operation: Operation) -> None:
        """Raise Unwritable now if this change would be refused by the disk: before it is decided.

        Without the path: what a refusal says of itself is kept where no words may be.
        """
        if operation.action is Action.DELETE:
            return
        try:
            textfile.refuse_unwritable(self.shelf.root(space) / name / (operation.path or names.MAIN))
        except textfile.Unwritable as closed:
            raise textfile.Unwritable(UNWRITABLE, **without_path(closed.values)) from None

    # -- approved ----------------------------------------------------------------------------------------

    def _finish(self, space: Space, write: Write) -> bool:
        failpoints.reach("skills.approved")
        ground = self.shelf.ground(space, write.skill, write.operations[0])
        if ground.odd == "skill.odd_closed":
            return False  # it waits until it can be read
        if ground.sha256 == write.after_hash:
            self._applied(write)
            return True
        if ground.sha256 != write.before_hash:
            self._failed(write, "reason.skill_changed", {})
            return True
        try:
            self._replace(space, write)
        except textfile.Unwritable as refused:
            self._failed(write, UNWRITABLE, without_path(refused.values))
            return True
        failpoints.reach("skills.file_replaced")
        self._applied(write)
        return True

    def _replace(self, space: Space, write: Write) -> None:
        root, operation = self.shelf.root(space), write.operations[0]
        if operation.action is Action.DELETE:
            skillfolders.archive(root, write.skill, write.decided_at or self.clock.now())
            return
        path = root / write.skill / (operation.path or names.MAIN)
        if sha256(write.before) != write.before_hash and write.before_hash != ABSENT:
            textfile.set_aside(path, self.clock.now())  # the ledger could not keep what it was
        textfile.replace(path, write.after.encode())

    def _applied(self, write: Write) -> None:
        with self.shelf.db.write() as tx:
            if writes.applied(tx, write.id, self.clock.now()):
                self.cards.update(tx, write, "approved", self.clock.now())
        failpoints.reach("skills.applied")
        log.info("skill.applied", extra={"write": write.id, "origin": write.origin.value})

    def _failed(self, write: Write, reason: str, values: Mapping[str, object]) -> None:
        now = self.clock.now()
        with self.shelf.db.write() as tx:
            if not writes.failed(tx, write.id, reason, values, now):
                return
            if not self.cards.update(tx, write, "failed", now) and (chat := self._told_in(tx, write)):
                self.cards.say_failed(tx, write, chat, now)
        log.warning("skill.failed", extra={"write": write.id, "reason": reason})

    def _told_in(self, rd: Reader, write: Write) -> Chat | None:
        """Where a person reads of this write."""
        with contextlib.suppress(NotFound):
            if write.message is not None:
                return self.cards.place(rd, self.settings, messages.get(rd, write.message).chat)
            if write.session:
                return self.cards.place(rd, self.settings, sessions.get(rd, write.session).chat)
        return None

    # -- undone ------------------------------------------------------------------------------------------

    def _put_back(self, space: Space, write: Write) -> bool:
        """Give a file the text it had before, as far as that can still be done without writing over anything."""
        failpoints.reach("skills.undone")
        try:
            reason = self._restore(space, write)
        except textfile.Unwritable:
            reason = "undo.unwritable"
        with self.shelf.db.write() as tx:
            if undone.done(tx, write.id, reason):
                if not reason:
                    self.cards.update(tx, write, "undone", self.clock.now())
                elif write.undone_in is None:  # a terminal's: no command will be done again and say it
                    self.cards.say_overtaken(tx, self.settings, write, self.clock.now())
        log.info("skill.undone", extra={"write": write.id, "reason": reason})
        return True

    def _restore(self, space: Space, write: Write) -> str:
        """Why it could not be put back; "" when it was."""
        root, operation = self.shelf.root(space), write.operations[0]
        back = self.way_back(space, write)
        match back:
            case undoing.Already():
                return ""
            case undoing.Conflict(reason):
                return reason
            case undoing.Text(text):
                path = root / write.skill / (operation.path or names.MAIN)
                textfile.replace(path, text.encode())
            case undoing.Gone() if operation.action is Action.CREATE:
                skillfolders.archive(root, write.skill, write.undone_at or self.clock.now())
            case undoing.Gone():
                textfile.remove(root / write.skill / operation.path)
            case undoing.FromArchive():
                skillfolders.put_back(self.archived(space, write)[0], root, write.skill)
        failpoints.reach("skills.put_back")
        return ""

    def way_back(self, space: Space, write: Write) -> undoing.Way:
        """How a write can be undone now."""
        ground = self.shelf.ground(space, write.skill, write.operations[0])
        if write.operations[0].action is Action.DELETE:
            return undoing.of_delete(write, ground, is_kept=bool(self.archived(space, write)))
        way = undoing.of_file(write, ground)
        if isinstance(way, undoing.Gone) and self._holds_more(space, write):
            return undoing.Conflict(undoing.CHANGED)
        return way

    def _holds_more(self, space: Space, write: Write) -> bool:
        """Whether a skill has got further files since this write created it; one from the archive brought some."""
        operation = write.operations[0]
        if operation.action is not Action.CREATE or not operation.content:
            return False
        found = skillfolders.inside(self.shelf.root(space), write.skill)
        return any(each.path != names.MAIN for each in found)

    def archived(self, space: Space, write: Write) -> list[Path]:
        """The archived folders that are what this write deleted."""
        root = self.shelf.root(space)
        found = skillfolders.archived(root, write.skill)
        return [one for one in found if skillfolders.fingerprint(one.parent, one.name) == write.before_hash]


def without_path(values: Mapping[str, object]) -> Mapping[str, object]:
    """A skill's name is words: it does not go where only numbers and reasons are kept."""
    return {"why": str(values.get("why", "")), "mode": str(values.get("mode", ""))}
