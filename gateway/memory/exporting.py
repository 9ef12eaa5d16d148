"""Everything that is kept of a space, as one JSON text: what `/export` sends and `hikae export` prints.

Memory, skills, the ledger, conversations, settings, accounts, usage and receipts; of what was forgotten there is
nothing left to export but its receipts. Pieces come one after the other, so that a long life needs little memory.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from gateway.errors import Refused
from gateway.home import Home
from gateway.memory.writing import Memory
from gateway.ports import Clock
from gateway.records import Forget, Operation, Session, Space, Target, Write, asdata
from gateway.records.asdata import iso
from gateway.store import choices, exported, forgets, messages, saidwhere, sessions, textfile, usage, writes
from gateway.store.db import Database
from gateway.store.transaction import Reader

FORMAT = 1


@dataclass(frozen=True)
class Exporting:
    """Reads a space from end to end."""

    db: Database
    home: Home
    clock: Clock
    memory: Memory

    def text(self, space: Space) -> Iterator[str]:
        """The JSON text, in pieces."""
        yield "{\n"
        with self.db.read() as rd:
            head = {"format": FORMAT, "space": space.name, "kind": space.kind, "at": iso(self.clock.now())}
            yield from (f" {_json(name)}: {_json(value)},\n" for name, value in head.items())
            for name, items in self._lists(rd, space):
                yield from _list(name, items)
        yield f' "memory": {_json(self._files(space))}\n}}\n'

    def _lists(self, rd: Reader, space: Space) -> Iterator[tuple[str, Iterator[object]]]:
        yield "skills", self._skills(space)
        yield "writes", (_write(each) for each in reversed(writes.log(rd, space.id, -1)))
        yield "conversations", _conversations(rd, space)
        yield "settings", ({**asdict(each), "at": iso(each.at)} for each in choices.all(rd, space.id))
        yield "accounts", iter(exported.accounts(rd, space.id))
        yield "chats", iter(exported.chats(rd, space.id))
        first, last = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
        yield "usage", (asdict(each) for each in usage.between(rd, first, last, space.id))
        yield "receipts", (_receipt(rd, each) for each in forgets.listed(rd, space.id, -1))

    def _files(self, space: Space) -> dict[str, str]:
        """MEMORY.md and USER.md as they are."""
        return {target.value: self._text(self.home.memory_file(space.name, target)) for target in Target}

    def _skills(self, space: Space) -> Iterator[object]:
        for skill in self.memory.skills.all(space):
            folder = self.home.skills_dir(space.name) / skill.name
            paths = [path for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink()]
            files = {str(path.relative_to(folder)): self._text(path) for path in paths}
            yield {"name": skill.name, "files": files}

    def _text(self, path: Path) -> str:
        """A file that cannot be read is empty here."""
        try:
            return textfile.read(path).decode("utf-8", "replace")
        except Refused:
            return ""


def _list(name: str, items: Iterator[object]) -> Iterator[str]:
    yield f" {_json(name)}: ["
    before = "\n  "
    for item in items:
        yield before + _json(item)
        before = ",\n  "
    yield "],\n"


def _conversations(rd: Reader, space: Space) -> Iterator[object]:
    """Each with all that was said in it; the frozen prompt, which is made of the memory, too."""
    for each in sessions.recent(rd, space.id, -1):
        session = sessions.get(rd, each.id)
        said = [{"id": row.id, **asdata.message(row)} for row in messages.of_session(rd, session.id)]
        yield {**_session(session), "transcript": said}


def _session(session: Session) -> dict[str, object]:
    return {
        "id": session.id,
        "title": session.title or None,
        "chat": session.chat.key,
        "model": session.model or None,
        "started_at": iso(session.opened_at),
        "last_at": iso(session.last_at),
        "ended_at": iso(session.ended_at),
        "prompt": session.system_prompt,
    }


def _write(write: Write) -> dict[str, object]:
    return {
        "id": write.id,
        "kind": write.kind,
        "about": write.about,
        "status": write.status.value,
        "reason": write.reason or None,
        "operations": [_operation(one) for one in write.operations],
        "origin": write.origin.value,
        "evidence": {
            "message": write.evidence.message,
            "by": write.evidence.by or None,
            "quote": write.evidence.quote or None,
        },
        "before": write.before or None,
        "after": write.after or None,
        "created_at": iso(write.created_at),
        "decided_by": write.decided_by or None,
        "decided_at": iso(write.decided_at),
        "undone_by": write.undone_by or None,
        "undone_at": iso(write.undone_at),
    }


def _operation(one: Operation) -> Mapping[str, object]:
    return {"action": one.action.value, "content": one.content or None, "old_text": one.old_text or None}


def _receipt(rd: Reader, known: Forget) -> dict[str, object]:
    return {
        "id": known.id,
        "at": iso(known.done_at),
        "by": known.begun_by or known.by,
        "layers": [{"layer": step.layer, "erased": step.erased or 0} for step in known.steps],
        "in_chat": dict(saidwhere.counts(rd, known.id)),
        "verified": bool(known.verified.get("clean")),
    }


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
