"""What memory shows: the blocks of a prompt, what a person must be told about their files, a review's draft."""

import contextlib
import logging
from collections.abc import Mapping
from dataclasses import dataclass

from gateway.memory import beside, entries, review, snapshot
from gateway.memory.entries import Document
from gateway.memory.files import Files, glued_in, vouched_in
from gateway.records import Space, Target
from gateway.store import textfile, writes

log = logging.getLogger(__name__)

MOST_PENDING = 100
"""So much of what waits is shown to a review: thousands would fill the model's window, and take long to scan."""


@dataclass(frozen=True, slots=True)
class FileWarning:
    """Something about a memory file that its person should hear: a key of the catalog and its values."""

    key: str
    values: Mapping[str, object]


def read(files: Files, space: Space, target: Target) -> Document:
    """The entries as they are now. Raises NotAllowed for a store that is off, Unreadable for a closed file."""
    files.refuse_off(space, target)
    return files.read(space, target).doc


def elsewhere(files: Files, space: Space, target: Target) -> tuple[str, ...]:
    """The entries of the space's other file, as far as it can be read."""
    found: list[str] = []
    for other in files.targets(space):
        with contextlib.suppress(textfile.Unreadable):
            found += files.read(space, other).doc.texts if other is not target else ()
    return tuple(found)


def block(files: Files, space: Space, target: Target) -> str:
    """The block for a prompt, scanned now. A file that cannot be read has none; `warnings` tells of it."""
    if target not in files.targets(space):
        return ""
    try:
        doc = files.read(space, target).doc
    except textfile.Unreadable:
        log.warning("memory.unreadable", extra={"space": space.id, "target": target.value})
        return ""
    return snapshot.block(target, doc, files.settings.budget(target), vouched(files, space, target, doc))


def vouched(files: Files, space: Space, target: Target, doc: Document) -> frozenset[str]:
    """The odd-looking entries that a person approved as they are: these a prompt may show."""
    limit = files.settings.budget(target)
    if not snapshot.hidden(doc, limit):
        return frozenset()  # as nearly always: the ledger need not be asked
    with files.db.read() as rd:
        return vouched_in(rd, space, target, doc, limit)


def warnings(files: Files, space: Space) -> tuple[FileWarning, ...]:
    """What the person should be told about their files when a session opens; never the words."""
    return tuple(warning for target in files.targets(space) for warning in _warnings(files, space, target))


def overlay(files: Files, ground: review.Ground) -> review.Overlay:
    """The draft on which a review's calls are tried. Raises Unreadable."""
    space = ground.space
    return review.Overlay(ground, {target: _store(files, space, target) for target in files.targets(space)})


def pending_texts(files: Files, space: Space) -> tuple[str, ...]:
    """What waits for a yes, as far as a review's prompt may show it: nothing that anybody doubts, the newest."""
    with files.db.read() as rd:
        waiting = [write for write in writes.staged(rd, space.id, "memory") if not {*write.flags} - {*beside.FLAGS}]
    return tuple(
        f"{write.target}: {entries.preview(operation.content)}"
        for write in waiting[-MOST_PENDING:]
        for operation in write.operations
        if operation.content and snapshot.is_fit(operation.content)
    )


def _warnings(files: Files, space: Space, target: Target) -> list[FileWarning]:
    try:
        doc = files.read(space, target).doc
    except textfile.Unreadable as error:
        return [FileWarning(error.key, {name: str(value) for name, value in error.values.items()})]
    limit = files.settings.budget(target)
    counts = {
        "memory.bad_bytes": doc.bad_bytes,
        "memory.left_out": snapshot.left_out(doc, limit),
        "memory.not_shown": len(snapshot.hidden(doc, limit, vouched(files, space, target, doc))),
    }
    name = files.home.memory_file(space.name, target).name
    return [FileWarning(key, {"file": name, "count": count}) for key, count in counts.items() if count]


def _store(files: Files, space: Space, target: Target) -> review.Store:
    doc = files.read(space, target).doc
    limit = files.settings.budget(target)
    with files.db.read() as rd:
        known = vouched_in(rd, space, target, doc, limit)
        glued = glued_in(rd, space, target, doc)
    return review.Store(doc, limit, known, glued)
