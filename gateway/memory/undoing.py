"""Taking an applied write back, as a person asked.

Like an approval it is committed with the file's hash as it is and as it will be, then `files` changes the file;
what it comes to is `undos`. It is not undone itself: what is wanted again is proposed again, as a write of its own.
"""

from dataclasses import dataclass

from gateway.errors import AlreadyDecided, NotFound, OverBudget, Refused
from gateway.memory import entries, proposals, undos
from gateway.memory.files import File, Files
from gateway.records import FORGOTTEN, Action, Operation, Space, Status, Write
from gateway.store import filewrites, people, textfile, undoing, writes
from gateway.store.transaction import Reader


@dataclass(frozen=True, slots=True)
class Undoings:
    """Takes writes back."""

    files: Files

    def undo(self, id: int, by: str, through: int | None = None) -> Write:
        """Take an applied write back. Raises Refused where it cannot be: the text says what conflicts.

        `through` is the command or tap (a message id); the same one again gets the same answer.
        """
        write, space = self._write_and_space(id)
        if _is_ours(write, through) and write.reason != undoing.DUE:
            return write
        self.files.refuse_off(space, write.target)
        with self.files.locked(space):
            write = self._get(id)
            if not _is_ours(write, through):
                refuse_unapplied(write)
                self._undo(space, write, by, through)
                write = self._get(id)
        if write.reason == undoing.DUE:
            raise Refused("undo.waits", id=id)
        if write.reason:
            raise Refused(write.reason, id=id)
        return write

    def _undo(self, space: Space, write: Write, by: str, through: int | None) -> None:
        file = self.files.read(space, write.target)
        match undos.way_back(write, file.doc, self.files.settings.budget(write.target)):
            case undos.Back() as back:
                self._begin(space, write, file, back, by, through)
            case undos.Full() as full:
                over = full.after - full.limit
                raise OverBudget("undo.over_budget", id=write.id, over=over, after=full.after, limit=full.limit)
            case undos.Changed(text):
                raise self._conflict(write, text)
            case _:
                raise Refused("undo.nothing", id=write.id)

    def _begin(
        self, space: Space, write: Write, file: File, back: undos.Back, by: str, through: int | None
    ) -> None:
        refused, _ = proposals.scanned([Operation(Action.ADD, text) for text in back.texts])
        if refused:
            raise Refused(refused)
        textfile.refuse_unwritable(file.path)
        with self.files.db.write() as tx:
            self.files.notice_hand_edit(tx, space, write.target, file)
            undoing.begin(
                tx,
                write.id,
                by=by,
                at=self.files.clock.now(),
                through=through,
                before_hash=file.sha256,
                after_hash=textfile.sha256(entries.render(back.doc)),
            )
        self.files.finish(space)

    def _conflict(self, write: Write, text: str) -> Refused:
        """What was written by this write and is not there any more, with the later write that changed it."""
        with self.files.db.read() as rd:
            later = _changed_by(rd, write, text)
        if later is None:
            return Refused("undo.changed", id=write.id)
        return Refused("undo.changed_by", id=write.id, later=later)

    def _get(self, id: int) -> Write:
        with self.files.db.read() as rd:
            return writes.get(rd, id)

    def _write_and_space(self, id: int) -> tuple[Write, Space]:
        with self.files.db.read() as rd:
            write = writes.get(rd, id)
            if write.kind != "memory":
                raise NotFound("write.unknown", id=id)
            return write, people.space(rd, write.space)


def refuse_unapplied(write: Write) -> None:
    """Raise AlreadyDecided for a write that is not in force, Refused for one whose words were forgotten."""
    if write.reason == FORGOTTEN:
        raise Refused("undo.forgotten", id=write.id)
    if write.status is Status.UNDONE:
        raise AlreadyDecided("undo.already", id=write.id)
    if write.status is not Status.APPLIED:
        raise AlreadyDecided("undo.not_applied", id=write.id)


def _is_ours(write: Write, through: int | None) -> bool:
    return write.status is Status.UNDONE and through is not None and write.undone_in == through


def _changed_by(rd: Reader, write: Write, text: str) -> int | None:
    """The newest other write in force that took this text away."""
    found = filewrites.naming(rd, write.space, write.about, text)
    took = (one.id for one in found if one.id != write.id and text in entries.split_texts(one.before))
    return next(took, None)
