"""What a person decides about writes to skills: yes, no, another text, or to take one back.

A yes is checked against the files as they are at that moment, under their lock (design.md 7.6): what the diff of
the card showed is what is written, or the card is drawn anew and asks again.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from gateway.decisions import Decision, DecisionEnding, as_it_stands
from gateway.errors import AlreadyDecided, NotFound, Refused
from gateway.records import FORGOTTEN, Action, Operation, Space, Status, Write
from gateway.skills import changes, names, proposals, undoing
from gateway.skills.changes import Cannot, Changed, Ground
from gateway.skills.files import SkillFiles
from gateway.store import people, verdicts, writes
from gateway.store import undoing as undone
from gateway.store.writerows import UNREADABLE


@dataclass(frozen=True, slots=True)
class SkillDecisions:
    """Carries out what people decide."""

    files: SkillFiles

    def approve(self, id: int, by: str, through: int | None = None, *, seen: int | None = None) -> Decision:
        """A person's yes, checked against the files as they are now. Never writes over.

        `through` is the command or tap (a message id); the same one again gets the same answer. `seen` is
        the `redrawn` of the card that was tapped: a yes to an older drawing is not taken.
        """
        _, space = self._write_and_space(id)
        with self.files.locked(space):
            write = self._get(id)
            if write.status is not Status.STAGED:
                return as_it_stands(write, through)
            if seen is not None and seen != write.redrawn:
                return Decision(DecisionEnding.REDRAWN, write, "reason.redrawn", {})
            return self._approve(space, write, by, through)

    def reject(self, id: int, by: str, through: int | None = None) -> Decision:
        """A person's no."""
        write, _ = self._write_and_space(id)
        now = self.files.clock.now()
        return verdicts.reject(self.files.shelf.db, self.files.cards.update, write, by=by, at=now, through=through)

    def edit(self, id: int, text: str, by: str) -> Decision:
        """Another text for a staged write, which stays staged. Raises Refused for a text that may not be."""
        _, space = self._write_and_space(id)
        with self.files.locked(space):
            write = self._get(id)
            if write.status is not Status.STAGED:
                return as_it_stands(write, None)
            operation, flags = self._edited(space, write, text)
            now = self.files.clock.now()
            with self.files.shelf.db.write() as tx:
                edited = writes.edit(tx, id, (operation,), flags, by, now)
                if edited:
                    self.files.cards.update(tx, writes.get(tx, id), f"edited-{now:%Y%m%dT%H%M%S%f}", now)
        write = self._get(id)
        return Decision(DecisionEnding.EDITED, write) if edited else as_it_stands(write, None)

    def undo(self, id: int, by: str, through: int | None = None) -> Write:
        """Take an applied write back. Raises Refused where it cannot be: the text says what conflicts.

        `through` is the command or tap (a message id); the same one again gets the same answer.
        """
        _, space = self._write_and_space(id)
        with self.files.locked(space):
            write = self._get(id)
            if write.status is Status.UNDONE and through is not None and write.undone_in == through:
                return write
            if write.reason == FORGOTTEN:
                raise Refused("undo.forgotten", id=id)
            if write.status is not Status.APPLIED:
                key = "undo.already" if write.status is Status.UNDONE else "undo.not_applied"
                raise AlreadyDecided(key, id=id)
            if not _is_inside(write):
                raise Refused(UNREADABLE)
            way = self.files.way_back(space, write)
            if isinstance(way, undoing.Conflict):
                raise Refused(way.reason)
            if not isinstance(way, undoing.FromArchive | undoing.Already):
                self.files.refuse_unwritable(space, write.skill, write.operations[0])
            with self.files.shelf.db.write() as tx:
                self.files.notice_hand_edit(tx, space, write.skill, write.operations[0])
                after_hash = changes.sha256(way.text) if isinstance(way, undoing.Text) else ""
                now = self.files.clock.now()
                undone.begin(tx, id, by=by, at=now, through=through, after_hash=after_hash)
            self.files.finish(space)
        write = self._get(id)
        if write.reason:
            raise Refused(write.reason)
        return write

    # -- a yes -------------------------------------------------------------------------------------------

    def _approve(self, space: Space, write: Write, by: str, through: int | None) -> Decision:
        if not _is_inside(write):
            return self._fail(write, UNREADABLE, {}, by, through)
        ground = self.files.shelf.ground(space, write.skill, write.operations[0])
        match proposals.recheck(write, ground):
            case Cannot(key, values):
                return self._fail(write, key, values, by, through)
            case Changed() as change:
                refused, _ = proposals.scanned(write.operations[0], change)
                if refused:
                    return self._fail(write, refused, {}, by, through)
                if change.before_hash != write.base_hash:
                    return self._redraw(write, change)
                self.files.refuse_unwritable(space, write.skill, write.operations[0])
                return self._commit(space, write, change, by, through)
            case _:
                return self._commit(space, write, _nothing(ground), by, through)

    def _commit(self, space: Space, write: Write, change: Changed, by: str, through: int | None) -> Decision:
        with self.files.shelf.db.write() as tx:
            self.files.notice_hand_edit(tx, space, write.skill, write.operations[0])
            approved = writes.approve(
                tx,
                write.id,
                by=by,
                at=self.files.clock.now(),
                through=through,
                base_hash=change.before_hash,
                before_hash=change.before_hash,
                after_hash=change.after_hash,
                before=proposals.kept(change.before),
                after=change.after,
            )
            if approved and self.files.held_back is not None:
                self.files.held_back.lift(tx, space.id, write.operations)
        if approved:
            self.files.finish(space)
        return as_it_stands(self._get(write.id), through, ours=approved)

    def _redraw(self, write: Write, change: Changed) -> Decision:
        return verdicts.redraw(
            self.files.shelf.db,
            self.files.cards.update,
            write,
            reason="reason.skill_redrawn",
            values={},
            base_hash=change.before_hash,
            before=proposals.kept(change.before),
            at=self.files.clock.now(),
        )

    def _fail(
        self, write: Write, reason: str, values: Mapping[str, object], by: str, through: int | None
    ) -> Decision:
        return verdicts.fail(
            self.files.shelf.db,
            self.files.cards.update,
            write,
            reason=reason,
            values=values,
            by=by,
            at=self.files.clock.now(),
            through=through,
        )

    def _edited(self, space: Space, write: Write, text: str) -> tuple[Operation, tuple[str, ...]]:
        """The operation with another text, and its flags: those of the scan anew, those of the evidence kept."""
        old = write.operations[0]
        if old.action is Action.DELETE:
            raise Refused("write.cannot_edit", id=write.id)
        operation = replace(old, content=text)
        ground = self.files.shelf.ground(space, write.skill, operation)
        change = changes.apply(write.skill, operation, ground)
        if isinstance(change, Cannot):
            raise Refused(change.key, **change.values)
        if not isinstance(change, Changed):
            raise Refused("skill.same")
        refused, flags = proposals.scanned(operation, change)
        if refused:
            raise Refused(refused)
        before = changes.apply(write.skill, old, ground)
        of_the_scan = proposals.scanned(old, before)[1] if isinstance(before, Changed) else ()
        kept = tuple(flag for flag in write.flags if flag not in of_the_scan)
        return operation, tuple(dict.fromkeys(flags + kept))

    def _get(self, id: int) -> Write:
        with self.files.shelf.db.read() as rd:
            return _skill_write(writes.get(rd, id))

    def _write_and_space(self, id: int) -> tuple[Write, Space]:
        with self.files.shelf.db.read() as rd:
            write = _skill_write(writes.get(rd, id))
            return write, people.space(rd, write.space)


def _skill_write(write: Write) -> Write:
    if write.kind != "skill":
        raise NotFound("write.unknown", id=write.id)
    return write


def _is_inside(write: Write) -> bool:
    """Whether a row names a skill and a file of it, and no place beyond: a row may come from anywhere."""
    path = write.operations[0].path
    return names.is_name(write.skill) and not (path and names.why_no_path(path))


def _nothing(ground: Ground) -> Changed:
    """An approval of what the files say already: nothing is written."""
    return Changed(ground.text or "", ground.text or "", ground.sha256, ground.sha256)
