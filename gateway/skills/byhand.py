"""What somebody changed in a skill by hand since the ledger knew it: a row of its own, which can be taken back.

hikae keeps no copy of skills. What it knows of a file is what the newest row about it made of it; a file without
such a row, or whose row lost its words to a forget, is not known, and nothing is said of it. Noticed once a minute,
before the ledger is shown, and before any other change of the same file.
"""

from collections.abc import Iterable
from datetime import datetime

from gateway.records import FORGOTTEN, SKILL, Action, Evidence, NewWrite, Operation, Origin, Space, Status, Write
from gateway.skills import changes, proposals
from gateway.skills.changes import ABSENT, Ground
from gateway.skills.shelf import Shelf
from gateway.store import skillrows, writes
from gateway.store.transaction import Reader, Transaction


def news(
    rd: Reader, shelf: Shelf, space: Space, at: datetime, name: str = "", path: str | None = None
) -> list[NewWrite]:
    """The rows for what was edited by hand in a space, in one skill or in one file of it."""
    known = _known(skillrows.carried_out(rd, space.id, f"{SKILL}{name}" if name else ""))
    meant = (row for row in known if path is None or row.operations[0].path == path)
    found = (_row(row, shelf.ground(space, row.skill, _reading(row)), at) for row in meant)
    return [row for row in found if row is not None]


def notice(
    tx: Transaction, shelf: Shelf, space: Space, at: datetime, name: str = "", path: str | None = None
) -> None:
    """Record it. The caller holds the lock of the space."""
    for row in news(tx, shelf, space, at, name, path):
        writes.born(tx, row)


def _reading(known: Write) -> Operation:
    """An operation whose ground is the file, and not the folder."""
    return Operation(Action.EDIT, path=known.operations[0].path)


def _known(rows: Iterable[Write]) -> list[Write]:
    """Of each file the row that changed it last."""
    newest: dict[tuple[str, str], Write] = {}
    for row in sorted(rows, key=lambda each: (each.undone_at or each.applied_at or each.created_at, each.id)):
        if row.action is Action.DELETE:
            newest = {place: each for place, each in newest.items() if place[0] != row.skill}
        newest[row.skill, row.operations[0].path] = row
    return [row for row in newest.values() if row.reason != FORGOTTEN]


def _state(known: Write) -> tuple[str, str] | None:
    """The hash that the file had then, and its text as far as it was kept; None where nobody can say."""
    if known.status is not Status.UNDONE:
        return known.after_hash, known.after
    if known.action is Action.DELETE or (known.action is Action.PATCH and not known.undo_after_hash):
        return None
    sha256 = known.undo_after_hash or known.before_hash
    return sha256, known.before if changes.sha256(known.before) == sha256 else ""


def _row(known: Write, ground: Ground, at: datetime) -> NewWrite | None:
    """None where nothing changed, or nobody can say what: the file is gone, no text, or closed."""
    state = _state(known)
    if state is None or ground.text is None or ground.odd or ground.lossy or ground.sha256 == state[0]:
        return None
    was, before = state
    path, after = known.operations[0].path, proposals.kept(ground.text)
    action = Action.WRITE_FILE if path else Action.CREATE if was == ABSENT else Action.EDIT
    return NewWrite(
        space=known.space,
        target=known.about,
        kind="skill",
        operations=(Operation(action, after, path=path),),
        origin=Origin.HAND_EDIT,
        evidence=Evidence(None, "", ""),
        status=Status.APPLIED,
        dedupe=f"hand-{known.space}-skill-{was[:8]}-{ground.sha256[:8]}-{at.isoformat()}",
        created_at=at,
        before_hash=was,
        after_hash=ground.sha256,
        before=before,
        after=after,
    )
