"""Autocompletion: which writes and conversations may follow a command, for whoever may use it there.

A stranger is offered nothing.
"""

from collections.abc import Sequence

from gateway.chat import Chat, Person, Suggestion
from gateway.conversation import members, phrases, skilltext
from gateway.conversation.access import Access, Standing
from gateway.conversation.language import language_of
from gateway.memory import entries, tracing
from gateway.records import KnownChat, Target, Write
from gateway.store import lists, people, writes
from gateway.store.db import Database
from gateway.store.search_fold import fold
from gateway.store.transaction import Reader

MOST = 25
"""What the platforms show at most."""
LABEL_CHARS = 100
RECENT = 200
"""Among so many of the newest conversations one is looked for."""
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
RESUMING = "resume"
"""The one that names a conversation."""
LEARNT = ("journey edit", "journey delete")
"""Those that name entries, which can be found by their words, too."""


def suggest(
    db: Database, access: Access, person: Person, chat: Chat, server: str, command: str, typed: str
) -> Sequence[Suggestion]:
    """The writes that this person may decide about here and whose id begins with what was typed last."""
    if command in LEARNT:
        return _learnt(db, access, person, chat, server, typed)
    if command == RESUMING:
        return _conversations(db, access, person, chat, server, typed)
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
    known = _their_chat(rd, access, person, standing, chat)
    if known is None:
        return ()
    space = None if standing is Standing.OWNER and known.private else known.space
    if command in UNDOING:
        return writes.in_force(rd, space, UNDOING[command], most, begins)
    return writes.staged(rd, space, DECIDING[command], most, begins)


def _their_chat(rd: Reader, access: Access, person: Person, standing: Standing, chat: Chat) -> KnownChat | None:
    """The chat, where this person may see and decide what is remembered in it."""
    known = people.chat(rd, chat)
    if known is None or known.space is None:
        return None
    mine = known.private and known.person == person.key and access.may_decide(rd, person, known.space)
    return known if standing is Standing.OWNER or mine else None


def _learnt(
    db: Database, access: Access, person: Person, chat: Chat, server: str, typed: str
) -> Sequence[Suggestion]:
    """The entries of the chat's own space that hold these words, the newest first, as their files were last."""
    sought = typed.strip().casefold()
    with db.read() as rd:
        standing = access.standing_in(rd, person, chat, server)
        known = None if standing is Standing.STRANGER else _their_chat(rd, access, person, standing, chat)
        if known is None or known.space is None:
            return ()
        on = [target for target in Target if access.settings.enabled(target)]
        files = {target: writes.known_file(rd, known.space, target) for target in on}
    found = [
        Suggestion(_cut(f"{target.upper()}: {entries.preview(entry.text)}"), tracing.entry_id(target, entry))
        for target, file in files.items()
        if file is not None
        for entry in reversed(entries.parse(file.text).entries)
    ]
    return [one for one in found if sought in one.label.casefold() or sought in one.value][:MOST]


def _conversations(
    db: Database, access: Access, person: Person, chat: Chat, server: str, typed: str
) -> Sequence[Suggestion]:
    """The conversations that may be taken up here, by what they are called; the value is the id."""
    sought = fold(typed.strip())
    with db.read() as rd:
        standing = access.standing_in(rd, person, chat, server)
        known = None if standing is Standing.STRANGER else _their_chat(rd, access, person, standing, chat)
        if known is None or known.space is None:
            return ()
        member = members.member_of(rd, access.settings, chat, person.key)
        listed = lists.recent(rd, known.space, member, RECENT)
        named = [(each.id, each.title or lists.first_words(rd, each.id)) for each in listed]
    found = [(id, name) for id, name in named if sought in fold(name) or id.startswith(sought)]
    return [Suggestion(_cut(" ".join(name.split()) or id), id) for id, name in found[:MOST]]


def _label(write: Write, language: str) -> str:
    pending_line = skilltext.pending_line if write.kind == "skill" else phrases.pending_line
    line = phrases.unescape(pending_line(write, with_space=False, language=language))
    return _cut(line)


def _cut(line: str) -> str:
    return line if len(line) <= LABEL_CHARS else line[: LABEL_CHARS - 1] + "…"
