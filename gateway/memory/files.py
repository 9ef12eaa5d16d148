"""The memory files on disk, and what the ledger knows of them.

Changing one has two halves with a kill possible between any two steps: a transaction says `approved`, with the
file's hash as it is and as it will be; then `Files.finish` replaces the file and says `applied`. An undo goes the
same way: `undone`, then the file. The same `finish` runs after every approval, every undo and every crash, so there
is no second way to get it wrong.
"""

import contextlib
import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from gateway import failpoints
from gateway.chat import Chat
from gateway.errors import NotAllowed, NotFound, StoreBusy
from gateway.home import Home
from gateway.memory import cards, entries, replaced, snapshot, undos
from gateway.memory.entries import Document
from gateway.ports import Clock
from gateway.records import (
    Action,
    Evidence,
    KnownFile,
    NewWrite,
    Operation,
    Origin,
    Space,
    Status,
    Target,
    Write,
)
from gateway.settings import Settings
from gateway.store import messages, sessions, textfile, undoing, writes
from gateway.store.db import Database
from gateway.store.transaction import Reader, Transaction

log = logging.getLogger(__name__)

LOCK_SECONDS = 10.0
NOTICE_SECONDS = 0.05


@dataclass(frozen=True)
class File:
    """A memory file as it was when it was read."""

    path: Path
    data: bytes

    @cached_property
    def doc(self) -> Document:
        return entries.parse(self.data)

    @cached_property
    def sha256(self) -> str:
        return textfile.sha256(self.data)


@dataclass(frozen=True, slots=True)
class Files:
    """Reads and changes the files of all spaces of a home."""

    db: Database
    home: Home
    clock: Clock
    settings: Settings
    swapped: set[str] = field(default_factory=set)
    """The spaces in which this process replaced a file: see `replaced`."""

    def targets(self, space: Space) -> tuple[Target, ...]:
        """The stores that are on for a space. Groups keep no profile."""
        on = [target for target in Target if self.settings.enabled(target)]
        return tuple(target for target in on if target is Target.MEMORY or space.has_profile)

    def refuse_off(self, space: Space, target: Target) -> None:
        """Raise NotAllowed for a store that is off: no tool, approval or command reaches it."""
        if target not in self.targets(space):
            raise NotAllowed("memory.disabled", target=target.value)

    def read(self, space: Space, target: Target) -> File:
        """The file now; an absent one is empty. Raises textfile.Unreadable, which is never "empty"."""
        path = self.home.memory_file(space.name, target)
        return File(path, textfile.read(path))

    @contextlib.contextmanager
    def locked(self, space: Space, seconds: float = LOCK_SECONDS) -> Iterator[int]:
        """Be the only one who changes this space's files; what a crash left half done is finished first.

        Gives how many writes that were.
        """
        with textfile.lock(self.home.space_lock(space.name), seconds):
            yield self.finish(space)

    def finish_born(self, space: Space, write: Write, change: entries.Applied | None) -> Write | None:
        """Carry out what was approved a moment ago under this lock, before which nothing else was left to do.

        `change` is what was approved, where it is at hand. Returns the write as it is in force; None where it ended
        otherwise, or waits until its file can be read.
        """
        failpoints.reach("write.approved")
        try:
            file = self.read(space, write.target)  # the commit may have waited, and somebody may have edited it
        except textfile.Unreadable:
            return None
        return self._carry_out(space, write, file, change)

    def finish(self, space: Space) -> int:
        """Carry out every approved write of this space, oldest first, then every undo, under its lock. How many.

        Each write ends applied, or failed when the file is neither what it was nor what it should become. One whose
        file cannot be read now waits until it can, and nothing else waits for it.
        """
        with self.db.read() as rd:
            waiting = [
                write for write in writes.unfinished(rd) if write.space == space.id and write.kind == "memory"
            ]
            taken_back = [write for write in undoing.due(rd, "memory") if write.space == space.id]
        ended = sum(self._finish(space, write) for write in waiting)
        return ended + sum(self._put_back(space, write) for write in taken_back)

    def overwrite_replaced(self) -> None:
        """Overwrite what was replaced by this object. Where a lock is not free, whoever looks next does it."""
        while self.swapped:
            replaced.overwrite(self.home, self.swapped.pop())

    def notice_hand_edit(self, tx: Transaction, space: Space, target: Target, file: File) -> None:
        """Record what somebody changed in a file since hikae last knew it."""
        known = writes.known_file(tx, space.id, target) or KnownFile(textfile.sha256(b""), "")
        if known.sha256 == file.sha256:
            return
        was = entries.parse(known.text).texts
        if operations := edits_between(was, file.doc.texts):
            writes.born(tx, self._hand_edit(space, target, operations, was, known.sha256, file))
        self._know(tx, space, target, file.data)

    def notice_hand_edits(self, space: Space, wait_seconds: float = NOTICE_SECONDS) -> bool:
        """Record what was edited by hand in a space; False where somebody holds its lock: later, then.

        Cheap where nothing was: a read and a hash of each file, without a lock.
        """
        if not any(self._is_news(space, target) for target in self.targets(space)):
            return True
        try:
            with self.locked(space, wait_seconds):
                for target in self.targets(space):
                    with contextlib.suppress(textfile.Unreadable):
                        file = self.read(space, target)
                        with self.db.write() as tx:
                            self.notice_hand_edit(tx, space, target, file)
        except StoreBusy:
            return False
        return True

    def _is_news(self, space: Space, target: Target) -> bool:
        try:
            file = self.read(space, target)
        except textfile.Unreadable:
            return False
        with self.db.read() as rd:
            known = writes.known_file(rd, space.id, target)
        return file.sha256 != (known.sha256 if known is not None else textfile.sha256(b""))

    def _hand_edit(
        self,
        space: Space,
        target: Target,
        operations: tuple[Operation, ...],
        texts: Sequence[str],
        was: str,
        file: File,
    ) -> NewWrite:
        at = self.clock.now()
        gone = [operation.old_text for operation in operations if operation.old_text]
        return NewWrite(
            space=space.id,
            target=target,
            operations=operations,
            origin=Origin.HAND_EDIT,
            evidence=Evidence(None, "", ""),
            status=Status.APPLIED,
            dedupe=f"hand-{space.id}-{target}-{was[:8]}-{file.sha256[:8]}-{at.isoformat()}",
            created_at=at,
            before_hash=was,
            after_hash=file.sha256,
            before=entries.JOINT.join(gone),
            after=entries.JOINT.join(operation.content for operation in operations if operation.content),
            places=undos.places_of(gone, texts),
        )

    def _know(self, tx: Transaction, space: Space, target: Target, data: bytes) -> None:
        text = data.decode("utf-8", "replace")
        writes.set_known_file(tx, space.id, target, textfile.sha256(data), text, self.clock.now())

    # -- carrying out ------------------------------------------------------------------------------------

    def _finish(self, space: Space, write: Write) -> bool:
        failpoints.reach("write.approved")
        try:
            file = self.read(space, write.target)
        except textfile.Unreadable:
            return False  # people are told of the file itself when a session opens
        self._carry_out(space, write, file)
        return True

    def _carry_out(
        self, space: Space, write: Write, file: File, change: entries.Applied | None = None
    ) -> Write | None:
        if file.sha256 == write.after_hash:
            return self._applied(space, write, file.data)
        if file.sha256 != write.before_hash:
            change = None
        elif change is None:
            change = self._redo(space, write, file)
        data = entries.render(change.doc) if change is not None else b""
        if change is None or textfile.sha256(data) != write.after_hash:
            self._failed(write, "reason.changed", {})
            return None
        try:
            self._replace(space, write, file, change, data)
        except textfile.Unwritable as refused:
            values = {name: str(value) for name, value in refused.values.items()}
            self._failed(write, refused.key, values)
            return None
        failpoints.reach("write.replaced")
        return self._applied(space, write, data)

    def _redo(self, space: Space, write: Write, file: File) -> entries.Applied | None:
        """The change again, from the row."""
        with self.db.read() as rd:
            glued = glued_in(rd, space, write.target, file.doc)
        pinned = entries.pinned(write.operations, entries.split_texts(write.before))
        change = entries.apply(pinned, file.doc, None, glued=glued)
        return change if isinstance(change, entries.Applied) else None

    def _replace(self, space: Space, write: Write, file: File, change: entries.Applied, data: bytes) -> None:
        if change.unreadable:
            self._set_aside(write, file)
        self._swap(space, file, data)

    def _swap(self, space: Space, file: File, data: bytes) -> None:
        self.swapped.add(space.name)
        textfile.swap(file.path, data)

    def _set_aside(self, write: Write, file: File) -> None:
        """The ledger keeps text only. Where bytes are none, the file as it was stays beside it, and that is said.

        Said before the file is replaced: after a kill in between nobody would know of the copy any more.
        """
        copy = textfile.set_aside(file.path, self.clock.now())
        with self.db.write() as tx:
            chat = self._told_in(tx, write)
            if chat is not None:
                cards.say_set_aside(tx, write, chat, file.path.name, copy.name, self.clock.now())

    def _applied(self, space: Space, write: Write, data: bytes) -> Write | None:
        """Say that the file has it now.

        Not waited for until it is on disk: the approval and the file are. Should a power cut take this back, the
        row is `approved` again and the file as `after_hash` says; whoever finishes it next says the same once more.
        Unless somebody edits the file by hand before that: then the row ends `failed` though the file has it, which
        its card says, and what the file holds counts as edited by hand.
        """
        now = self.clock.now()
        with self.db.write(durable=False) as tx:
            ours = writes.applied(tx, write.id, now)
            if ours:
                self._know(tx, space, write.target, data)
                cards.update(tx, write, "approved", now)
        failpoints.reach("write.applied")
        log.info("write.applied", extra={"write": write.id, "origin": write.origin.value})
        return replace(write, status=Status.APPLIED, applied_at=now) if ours else None

    def _put_back(self, space: Space, write: Write) -> bool:
        """Take an undone write out of its file. One whose file is closed to us waits until it is not."""
        failpoints.reach("undo.begun")
        try:
            file = self.read(space, write.target)
            reason, data = self._taken_back(space, write, file)
        except (textfile.Unreadable, textfile.Unwritable):
            return False
        failpoints.reach("undo.replaced")
        with self.db.write() as tx:
            if undoing.done(tx, write.id, reason):
                self._know(tx, space, write.target, data)
                if not reason:
                    cards.undone(tx, write, self.clock.now())
                elif write.undone_in is None:  # a terminal's: no command will be done again and say it
                    cards.say_overtaken(tx, self.settings, write, self.clock.now())
        failpoints.reach("undo.done")
        log.info("write.undone", extra={"write": write.id, "reason": reason})
        return True

    def _taken_back(self, space: Space, write: Write, file: File) -> tuple[str, bytes]:
        """Why it could not be taken out ("" when it was), and the file as it is then."""
        if file.sha256 == write.undo_after_hash:
            return "", file.data
        is_as_begun = file.sha256 == write.undo_before_hash
        back = undos.way_back(write, file.doc, None)
        if not is_as_begun:  # somebody was faster by hand: what they wrote stays, and is noticed before
            with self.db.write() as tx:
                self.notice_hand_edit(tx, space, write.target, file)
                if isinstance(back, undos.Back):
                    after_hash = textfile.sha256(entries.render(back.doc))
                    undoing.aim(tx, write.id, file.sha256, after_hash, self.clock.now())
        if not isinstance(back, undos.Back):
            return ("" if isinstance(back, undos.NothingToDo) else "undo.changed"), file.data
        if back.unreadable:
            self._set_aside(write, file)
        data = entries.render(back.doc)
        self._swap(space, file, data)
        return "", data

    def _failed(self, write: Write, reason: str, values: Mapping[str, object]) -> None:
        """An approved write that cannot be done any more is said, on its card or on a new one."""
        with self.db.write() as tx:
            if not writes.failed(tx, write.id, reason, values, self.clock.now()):
                return
            if not cards.update(tx, write, "failed", self.clock.now()):
                self._say_failed(tx, write)
        log.warning("write.failed", extra={"write": write.id, "reason": reason})

    def _say_failed(self, tx: Transaction, write: Write) -> None:
        chat = self._told_in(tx, write)
        if chat is not None:
            cards.say_failed(tx, write, chat, self.clock.now())

    def _told_in(self, rd: Reader, write: Write) -> Chat | None:
        """Where a person reads of this write."""
        chat = said_in(rd, write)
        return None if chat is None else cards.place(rd, self.settings, chat)


def glued_in(rd: Reader, space: Space, target: Target, doc: Document) -> Mapping[str, str]:
    """The entries that lost the separator to what a person put under them (`entries.glued`)."""
    if not any("\n" in text for text in doc.texts):
        return {}
    rows = writes.put_in(rd, space.id, target)
    ours = _texts(after for origin, _, after in rows if origin != Origin.HAND_EDIT)
    return entries.glued(doc, ours, _texts(after for _, _, after in rows))


def vouched_in(rd: Reader, space: Space, target: Target, doc: Document, limit: int) -> frozenset[str]:
    """Those of the odd-looking entries that a person said yes to, exactly as they are."""
    odd = snapshot.hidden(doc, limit)
    if not odd:
        return frozenset()
    rows = writes.put_in(rd, space.id, target)
    return _texts(after for _, by, after in rows if by).intersection(odd)


def edits_between(before: Sequence[str], after: Sequence[str]) -> tuple[Operation, ...]:
    """What a hand edit did, entry by entry: one entry that gave way to one other was replaced."""
    gone, new = _more(before, after), _more(after, before)
    if len(gone) == len(new) == 1:
        return (Operation(Action.REPLACE, new[0], gone[0]),)
    removed = tuple(Operation(Action.REMOVE, old_text=text) for text in gone)
    return removed + tuple(Operation(Action.ADD, text) for text in new)


def _more(texts: Sequence[str], than: Sequence[str]) -> list[str]:
    """The texts that the other list lacks, counted; of equal ones the last."""
    left, found = Counter(than), []
    for text in texts:
        if left[text]:
            left[text] -= 1
        else:
            found.append(text)
    return found


def _texts(joined: Iterable[str]) -> frozenset[str]:
    """All texts of undo data. Most of it is one entry."""
    return frozenset(
        text for texts in joined for text in (entries.split_texts(texts) if "§" in texts else (texts,))
    )


def said_in(rd: Reader, write: Write) -> Chat | None:
    """The chat in which a write was made."""
    with contextlib.suppress(NotFound):
        if write.message is not None:
            return messages.get(rd, write.message).chat
        if write.session:
            return sessions.get(rd, write.session).chat
    return None
