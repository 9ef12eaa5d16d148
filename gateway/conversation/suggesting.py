"""Autocompletion: which ids may follow a command, for whoever may use it there. A stranger is offered nothing."""

from collections.abc import Sequence

from gateway.chat import Chat, Person, Suggestion
from gateway.conversation import notices, skilltext
from gateway.conversation.access import Access, Standing
from gateway.conversation.language import language_of
from gateway.records import Write
from gateway.store import people, writes
from gateway.store.db import Database
from gateway.store.transaction import Reader

MOST = 25
"""What the platforms show at most."""
LABEL_CHARS = 100
DECIDING = {
    "memory approve": "memory",
    "memory reject": "memory",
    "memory edit": "memory",
    "skills approve": "skill",
    "skills reject": "skill",
    "skills diff": "skill",
}
"""The commands that name waiting writes, and of which kind these are."""
UNDOING = {"memory undo": "memory"}
"""Those that name writes in force."""


def suggest(
    db: Database, access: Access, person: Person, chat: Chat, server: str, command: str, typed: str
) -> Sequence[Suggestion]:
    """The writes that this person may decide about here and whose id begins with what was typed last."""
    if command not in DECIDING and command not in UNDOING:
        return ()
    *before, last = typed.split(" ")
    chosen = [word for word in before if word]
    with db.read() as rd:
        standing = access.standing_in(rd, person, chat, server)
        if standing is Standing.STRANGER:
            return ()
        found = _decidable(rd, access, person, standing, chat, command, last, MOST + len(chosen))
        language = language_of(rd, chat, access.settings)
    return [
        Suggestion(_label(write, language), " ".join((*chosen, str(write.id))))
        for write in found
        if str(write.id) not in chosen
    ][:MOST]


def _decidable(
    rd: Reader,
    access: Access,
    person: Person,
    standing: Standing,
    chat: Chat,
    command: str,
    begins: str,
    most: int,
) -> Sequence[Write]:
    known = people.chat(rd, chat)
    if known is None or known.space is None:
        return ()
    is_owner = standing is Standing.OWNER
    mine = known.private and known.person == person.key and access.may_decide(rd, person, known.space)
    if not (is_owner or mine):
        return ()
    space = None if is_owner and known.private else known.space
    if command in UNDOING:
        return writes.in_force(rd, space, UNDOING[command], most, begins)
    return writes.staged(rd, space, DECIDING[command], most, begins)


def _label(write: Write, language: str) -> str:
    pending_line = skilltext.pending_line if write.kind == "skill" else notices.pending_line
    line = notices.unescape(pending_line(write, with_space=False, language=language))
    return line if len(line) <= LABEL_CHARS else line[: LABEL_CHARS - 1] + "…"
