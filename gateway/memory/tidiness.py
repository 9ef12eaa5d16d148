"""Making memory files smaller, from the wish to the write. What the model is asked is `tidying`; a worker asks it.

A tidy is made due by a person or, when a write has filled a file, by housekeeping. Its effect is committed once, on
the file as the model saw it: one batch write of the ledger, the end of the tidy, and what people hear of it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from gateway import failpoints, policy
from gateway.chat import Chat
from gateway.memory import asking, cards, entries, heldback, reading, snapshot, tidying
from gateway.memory.files import File, Files
from gateway.records import HELD, Evidence, NewOutgoing, NewWrite, Origin, Space, Status, Target, Tidy, Usage, Write
from gateway.store import filewrites, outbox, people, textfile, tidies, usage, writes
from gateway.store.transaction import Reader, Transaction

AT_MOST_EVERY = timedelta(days=1)
"""How often a file is tidied unasked."""


class Committed(StrEnum):
    """How the end of a tidy went."""

    DONE = "done"
    CHANGED = "changed"
    """The file is not what the model saw: to be thought again."""
    VOID = "void"
    """The claim was no longer ours; nothing was changed."""


@dataclass(frozen=True, slots=True)
class Found:
    """The file of a tidy as it was read for the model."""

    space: Space
    basis: tidying.Basis
    sha256: str


@dataclass(frozen=True, slots=True)
class Tidies:
    """The tidies of one home."""

    files: Files

    # -- made due ----------------------------------------------------------------------------------------

    def wanted(self, space: Space) -> tuple[list[Target], list[Write]]:
        """The files that could be tidied now, and the tidies that wait for a yes. Raises Unreadable."""
        targets = self.files.targets(space)
        with self.files.db.read() as rd:
            waiting = {target: _waiting(rd, space.id, target) for target in targets}
        free = [target for target in targets if waiting[target] is None]
        full = [target for target in free if self.files.read(space, target).doc.entries]
        return full, [write for write in waiting.values() if write is not None]

    def make_due(self, tx: Transaction, space: Space, target: Target, chat: Chat | None, key: str) -> None:
        """Somebody asks for it. The same `key` again changes nothing."""
        file = self.files.read(space, target)
        now = self.files.clock.now()
        tidies.make_due(tx, id_of(space, target, key), space.id, target, "asked", chat, file.sha256, now)

    def make_full_due(self) -> int:
        """Make due what has grown over four fifths of its budget and was not tidied lately; how many files."""
        settings = self.files.settings
        found: list[tuple[int, Target]] = []
        with self.files.db.read() as rd:
            for target in filter(settings.enabled, Target):
                least = settings.budget(target) * snapshot.NEARLY_FULL_PERCENT // 100
                found += [(space, target) for space in tidies.full_files(rd, target, least)]
        return sum(self._make_full_due(space, target) for space, target in found)

    def _make_full_due(self, space_id: int, target: Target) -> bool:
        now = self.files.clock.now()
        with self.files.db.read() as rd:
            space = people.space(rd, space_id)
            last = tidies.newest(rd, space_id, target)
            if _waiting(rd, space_id, target) or (last is not None and last.created_at > now - AT_MOST_EVERY):
                return False
            chat = self._told_unasked(rd, space)
        file = self._full(space, target)
        if file is None or (last is not None and last.content == file.sha256):
            return False
        with self.files.db.write() as tx:
            id = id_of(space, target, f"{now:%Y%m%dT%H%M%S%f}")
            return tidies.make_due(tx, id, space_id, target, "full", chat, file.sha256, now)

    def _full(self, space: Space, target: Target) -> File | None:
        if target not in self.files.targets(space):
            return None
        try:
            file = self.files.read(space, target)
        except textfile.Unreadable:
            return None  # people are told of the file itself when a session opens
        percent = snapshot.percent(entries.chars(file.doc), self.files.settings.budget(target))
        return file if percent >= snapshot.NEARLY_FULL_PERCENT else None

    def _told_unasked(self, rd: Reader, space: Space) -> Chat | None:
        """Where the people of a space hear of what nobody asked for."""
        if space.kind == "owner":
            return people.home_chat(rd, people.owner_keys(rd, self.files.settings.access.owners))
        if space.kind == "person":
            return people.home_chat(rd, (people.whose(rd, space.id), *people.accounts_of_space(rd, space.id)))
        platform, _, id = people.whose(rd, space.id).partition(":")
        return Chat(platform, id)

    # -- done --------------------------------------------------------------------------------------------

    def look(self, tidy: Tidy) -> Found:
        """The file as it is now. Raises NotAllowed for a store that is off, Unreadable for a closed file."""
        with self.files.db.read() as rd:
            space = people.space(rd, tidy.space)
        self.files.refuse_off(space, tidy.target)
        file = self.files.read(space, tidy.target)
        vouched = reading.vouched(self.files, space, tidy.target, file.doc)
        limit = self.files.settings.budget(tidy.target)
        return Found(space, tidying.Basis(tidy.target, file.doc, limit, vouched), file.sha256)

    def commit(
        self, tidy: Tidy, found: Found, wanted: tidying.Plan | tidying.Nothing, used: Sequence[Usage]
    ) -> Committed:
        """End a tidy: its write, card or notice and usage in one commit, while the claim is ours and the file as
        it was. What was committed is carried out even if we die right after it."""
        with self.files.locked(found.space):
            file = self.files.read(found.space, tidy.target)
            if file.sha256 != found.sha256:
                return Committed.CHANGED
            with self.files.db.write() as tx:
                new = self._row(tx, tidy, file, wanted)
                content = new.after_hash if new is not None and new.after_hash else file.sha256
                if not tidies.finish(tx, tidy.id, tidy.claim, content, self.files.clock.now()):
                    return Committed.VOID
                self._bear(tx, tidy, found.space, file, new)
                for one in used:
                    usage.add(tx, one)
            failpoints.reach("tidy.committed")
            self.files.finish(found.space)
        return Committed.DONE

    def _row(self, rd: Reader, tidy: Tidy, file: File, wanted: tidying.Plan | tidying.Nothing) -> NewWrite | None:
        if isinstance(wanted, tidying.Nothing) or _waiting(rd, tidy.space, tidy.target) is not None:
            return None
        now = self.files.clock.now()
        asks = asking.asks_first(rd, self.files.settings, tidy.space)
        decision = tidying.decide(wanted, approval_required=asks)
        held = heldback.held(rd, tidy.space, wanted.operations, wanted.change.before)
        applies = isinstance(decision, policy.Apply) and held is None
        days = self.files.settings.memory.pending_ttl_days
        if applies:
            textfile.refuse_unwritable(file.path)
        new = NewWrite(
            space=tidy.space,
            target=tidy.target,
            operations=wanted.operations,
            origin=Origin.TIDY,
            evidence=Evidence(None, "", ""),
            status=Status.APPROVED if applies else Status.STAGED,
            dedupe=f"tidy-{tidy.id}",
            created_at=now,
            flags=(*wanted.flags, HELD) if held else wanted.flags,
            base_hash=file.sha256,
            before_hash=file.sha256 if applies else "",
            after_hash=textfile.sha256(entries.render(wanted.change.doc)) if applies else "",
            before=entries.JOINT.join(wanted.change.before),
            after=entries.JOINT.join(wanted.change.after) if applies else "",
            places=wanted.change.places if applies else (),
            expires_at=now + timedelta(days=days) if days and not applies else None,
        )
        return heldback.marked(new, held)

    def _bear(self, tx: Transaction, tidy: Tidy, space: Space, file: File, new: NewWrite | None) -> None:
        """The row, if there is to be one, and what people hear."""
        now = self.files.clock.now()
        tidy = tidies.find(tx, tidy.id) or tidy  # somebody may have asked for it while it was running
        if new is None:
            waits = _waiting(tx, tidy.space, tidy.target)
            _answer(tx, tidy, "waits" if waits else "nothing", now, {"id": waits.id if waits else 0})
            return
        self.files.notice_hand_edit(tx, space, tidy.target, file)
        write, _ = writes.born(tx, new)
        if write.status is Status.STAGED:
            cards.ask(tx, self.files.settings, [write], tidy.chat, now)
        elif tidy.chat is not None and (told := cards.audience(tx, self.files.settings, tidy.chat)) is not None:
            _say(tx, tidy, told, "applied", now, _saved(write, file), write.id)


def id_of(space: Space, target: Target, key: str) -> str:
    """What a tidy is called; `key` is the command that asked, or the time."""
    return f"{space.id}-{target}-{key}"


def fail(tx: Transaction, tidy: Tidy, reason: str, at: datetime) -> bool:
    """Give a tidy up; whoever asked hears why. `reason` is a key of the catalog. False: it is no longer ours."""
    if not tidies.fail(tx, tidy.id, tidy.claim, reason, at):
        return False
    _answer(tx, tidies.find(tx, tidy.id) or tidy, "failed", at, {"reason": reason})
    return True


def _waiting(rd: Reader, space: int, target: Target) -> Write | None:
    """The tidy of a file that waits for a yes."""
    live = filewrites.live_for(rd, space, target)
    return next((one for one in live if one.origin is Origin.TIDY and one.status is Status.STAGED), None)


def _saved(write: Write, file: File) -> Mapping[str, object]:
    """How big the file was and will be."""
    change = entries.apply(write.operations, file.doc, None, batch=True)
    assert isinstance(change, entries.Applied)
    return {
        "chars": entries.chars(file.doc),
        "chars_after": entries.chars(change.doc),
        "entries": len(file.doc.entries),
        "entries_after": len(change.doc.entries),
    }


def _answer(tx: Transaction, tidy: Tidy, ending: str, at: datetime, values: Mapping[str, object]) -> None:
    """Tell who asked; what nobody asked for and nothing came of is not said."""
    if tidy.cause == "asked" and tidy.chat is not None:
        _say(tx, tidy, people.where_now(tx, tidy.chat), ending, at, values)


def _say(
    tx: Transaction,
    tidy: Tidy,
    chat: Chat,
    ending: str,
    at: datetime,
    values: Mapping[str, object],
    write: int | None = None,
) -> None:
    row = NewOutgoing(
        dedupe=f"tidy-{tidy.id}",
        kind="tidied",
        chat=chat,
        space=tidy.space,
        created_at=at,
        write=write,
        values={**values, "ending": ending, "target": tidy.target.value, "asked": tidy.cause == "asked"},
    )
    outbox.put(tx, row)
