"""What a person decides about a staged write: yes, no, or another text.

A yes is checked against the file as it is at that moment, under its lock (design.md 7.6). It is never taken for
something else than the card showed, and never writes over what somebody else put there.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from gateway.decisions import Decision, DecisionEnding, as_it_stands
from gateway.errors import NotFound, Refused
from gateway.memory import beside, cards, entries, heldback, proposals
from gateway.memory.files import File, Files, glued_in
from gateway.records import Action, Operation, Space, Status, Write
from gateway.store import people, textfile, verdicts, writes
from gateway.store.writerows import UNREADABLE


@dataclass(frozen=True, slots=True)
class Decisions:
    """Carries out what people decide."""

    files: Files

    def approve(self, id: int, by: str, through: int | None = None, *, seen: int | None = None) -> Decision:
        """A person's yes, checked against the file as it is now (design.md 7.6). Never writes over.

        `through` is the command or tap (a message id); the same one again gets the same answer. `seen` is
        the `redrawn` of the card that was tapped: a yes to an older drawing is not taken.
        """
        write, space = self._write_and_space(id)
        self.files.refuse_off(space, write.target)
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
        return verdicts.reject(self.files.db, cards.update, write, by=by, at=now, through=through)

    def edit(self, id: int, text: str, by: str) -> Decision:
        """Another text for a staged write, which stays staged. Raises Refused for a text that may not be."""
        write, space = self._write_and_space(id)
        self.files.refuse_off(space, write.target)
        with self.files.locked(space):
            write = self._get(id)
            if write.status is not Status.STAGED:
                return as_it_stands(write, None)
            operations, flags = self._edited(write, text)
            now = self.files.clock.now()
            with self.files.db.write() as tx:
                edited = writes.edit(tx, id, operations, flags, by, now)
                if edited:
                    after = writes.get(tx, id)
                    cards.update(tx, after, f"edited-{now:%Y%m%dT%H%M%S%f}", now)
        write = self._get(id)
        return Decision(DecisionEnding.EDITED, write) if edited else as_it_stands(write, None)

    def expire(self) -> list[int]:
        """End what has waited too long; returns the ids."""
        now = self.files.clock.now()
        with self.files.db.write() as tx:
            expired = writes.expire(tx, now)
            for id in expired:
                cards.update(tx, writes.get(tx, id), "expired", now)
        return expired

    def _approve(self, space: Space, write: Write, by: str, through: int | None) -> Decision:
        if write.reason == UNREADABLE:
            return self._fail(write, UNREADABLE, by, through)
        file = self.files.read(space, write.target)
        refused, _ = proposals.scanned(write.operations)
        if refused:
            return self._fail(write, refused, by, through)
        with self.files.db.read() as rd:
            glued = glued_in(rd, space, write.target, file.doc)
        match proposals.recheck(write, file.doc, self.files.settings.budget(write.target), glued):
            case entries.Applied() as change:
                return self._approve_change(space, write, file, change, by, through)
            case entries.AlreadyThere():
                nothing = entries.Applied(file.doc, (), ())
                return self._approve_change(space, write, file, nothing, by, through)
            case proposals.Moved(change):
                before = entries.JOINT.join(change.before)
                return self._redraw(write, file, "reason.entry_changed", {}, before)
            case entries.TooBig() as full:
                values = proposals.over_budget_values(full)
                return self._redraw(write, file, proposals.OVER_BUDGET, values, write.before)
            case entries.Matches():
                return self._fail(write, "reason.ambiguous", by, through)
            case entries.Invalid(why):
                return self._fail(write, why, by, through)
            case _:
                return self._fail(write, "reason.gone", by, through)

    def _approve_change(
        self, space: Space, write: Write, file: File, change: entries.Applied, by: str, through: int | None
    ) -> Decision:
        if change.doc != file.doc:
            textfile.refuse_unwritable(file.path)
        with self.files.db.write() as tx:
            self.files.notice_hand_edit(tx, space, write.target, file)
            approved = writes.approve(
                tx,
                write.id,
                by=by,
                at=self.files.clock.now(),
                through=through,
                base_hash=file.sha256,
                before_hash=file.sha256,
                after_hash=textfile.sha256(entries.render(change.doc)),
                before=entries.JOINT.join(change.before),
                after=entries.JOINT.join(change.after),
                places=change.places,
            )
            if approved:
                heldback.lift(tx, space.id, write.operations)
        if approved:
            self.files.finish(space)
        return as_it_stands(self._get(write.id), through, ours=approved)

    def _redraw(self, write: Write, file: File, reason: str, values: Mapping[str, object], before: str) -> Decision:
        return verdicts.redraw(
            self.files.db,
            cards.update,
            write,
            reason=reason,
            values=values,
            base_hash=file.sha256,
            before=before,
            at=self.files.clock.now(),
        )

    def _fail(self, write: Write, reason: str, by: str, through: int | None) -> Decision:
        now = self.files.clock.now()
        return verdicts.fail(
            self.files.db, cards.update, write, reason=reason, values={}, by=by, at=now, through=through
        )

    def _edited(self, write: Write, text: str) -> tuple[tuple[Operation, ...], tuple[str, ...]]:
        """The operation with another text, and its flags: those of the scan anew, those of the evidence kept."""
        if len(write.operations) != 1 or write.operations[0].action is Action.REMOVE:
            raise Refused("write.cannot_edit", id=write.id)
        old = write.operations[0]
        operations = (Operation(old.action, entries.clean(text), old.old_text),)
        if why := entries.why_invalid(operations[0]):
            raise Refused(why)
        refused, flags = proposals.scanned(operations)
        if refused:
            raise Refused(refused)
        of_the_text = (*proposals.scanned(write.operations)[1], *beside.FLAGS)  # its card looks for these anew
        kept = tuple(flag for flag in write.flags if flag not in of_the_text)
        return operations, tuple(dict.fromkeys(flags + kept))

    def _get(self, id: int) -> Write:
        with self.files.db.read() as rd:
            return writes.get(rd, id)

    def _write_and_space(self, id: int) -> tuple[Write, Space]:
        with self.files.db.read() as rd:
            write = writes.get(rd, id)
            if write.kind != "memory":
                raise NotFound("write.unknown", id=id)
            return write, people.space(rd, write.space)
