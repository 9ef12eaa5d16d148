"""A home in which two phrases have gone through every door, and how to look for them byte by byte."""

import base64
import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from gateway.chat import How, Piece
from gateway.home import Home
from gateway.memory import backup
from gateway.memory.proposals import Proposal
from gateway.memory.writing import Memory
from gateway.ports import Clock
from gateway.records import Action, Operation, Origin, Role, Session, Status, Summary, Target, ToolCall
from gateway.store import migrating, outbox, people, prompts, sessions, summaries, textfile, writes
from gateway.store.db import Database
from tests.store.given import CHAT, NINE, StillClock, keep, proposal, said, session, to_say
from tests.store.remembering import OWNER, SAID, settings

ENGLISH = "the blue heron of Lysekil"
JAPANESE = "千代田区の鯨の隠れ家"
CANARIES = (ENGLISH, JAPANESE)
BOTH = f"{ENGLISH} and {JAPANESE}"
ESCAPED = json.dumps({"query": BOTH})

MARKED = "(forgotten)"


def plant(home: Home, clock: Clock | None = None) -> None:
    """Everything that holds the phrases, and beside each something that does not."""
    clock = clock or StillClock()
    with Database.open(home, clock) as db:
        memory = Memory(db, home, clock, settings())
        with db.write() as tx:
            people.ensure_space(tx, "owner", "owner", OWNER, NINE)
            people.ensure_space(tx, "telegram-456", "person", "telegram:456", NINE)
            people.keep_chat(tx, CHAT, space=1, private=True, person=OWNER, language="en", at=NINE)
            opened = session(tx, turns=2)
        _ledger(db, memory)
        _transcript(db, opened)
        _others(db)
        _files(home)
        memory.notice_all_hand_edits()
        _to_say(db)
        with db.read() as rd:
            migrating.copy(rd.connection, home.backups / "state-v3-20261101T000000Z.db")
        backup.create(db, home, clock, 7)
        db.checkpoint()


def hits(folder: Path) -> list[str]:
    """The files that hold a part of a phrase, in any plain encoding."""
    return sorted({str(path.relative_to(folder)) for path in files(folder) if any(_in(path.read_bytes()))})


def _in(data: bytes) -> Iterator[bool]:
    lower = data.lower()
    for word in ("lysekil", "鯨の隠", "の隠れ家"):
        yield from (word.encode(encoding) in lower for encoding in ("utf-8", "utf-16-le", "utf-16-be"))
        yield json.dumps(word)[1:-1].encode() in lower
    for word in ("Lysekil", "鯨の隠"):
        for shift in range(3):
            inner = base64.b64encode(bytes(shift) + word.encode())[4 if shift else 0 : -4]
            yield inner in data


def files(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.rglob("*")) if path.is_file())


# -- the doors ---------------------------------------------------------------------------------------------


def _ledger(db: Database, memory: Memory) -> None:
    with db.read() as rd:
        space = people.space_named(rd, "owner")

    def propose(number: int, *operations: Operation, **fields: object) -> int:
        values: dict[str, object] = {
            "space": space,
            "target": Target.MEMORY,
            "operations": operations,
            "origin": Origin.FOREGROUND,
            "dedupe": f"turn-412-1-{number}",
            "own": SAID,
            "message": 412,
            "quotes": (),
        }
        outcome = memory.propose(Proposal(**{**values, **fields}))  # type: ignore[arg-type]  # test data by name
        assert outcome.write is not None, outcome
        return outcome.write

    def adds(text: str) -> Operation:
        return Operation(Action.ADD, text)

    propose(1, adds(f"Knows {ENGLISH}"))
    propose(2, adds(f"{JAPANESE}が好き"), target=Target.USER)
    propose(3, adds("Likes short answers"))
    undone = propose(4, adds(f"Paints {ENGLISH}"))
    memory.undo(undone, OWNER)
    staged = propose(5, adds(f"Wrote first of {BOTH}"), approval_required=True, card_chat=CHAT)
    memory.edit(staged, f"Wrote of {BOTH}", OWNER)
    memory.edit(staged, "Wrote of something", OWNER)
    propose(6, adds(f"Waits for {BOTH}"), approval_required=True, card_chat=CHAT)
    propose(7, adds("Waits for spring"), approval_required=True, card_chat=CHAT)
    propose(9, adds(f"Sings of {BOTH}"))
    propose(10, Operation(Action.REPLACE, "Sings of rain", f"Sings of {BOTH}"))
    with db.write() as tx:
        refused = proposal(
            tx, f"Refused {BOTH}", dedupe="turn-412-1-8", status=Status.REFUSED, reason="reason.full"
        )
        writes.born(tx, refused)


def _transcript(db: Database, opened: Session) -> None:
    call = ToolCall("c1", "memory", ESCAPED)
    asked = ToolCall("c2", "session_search", ESCAPED)
    piece = Piece(How.FORWARDED, f"Clara of {ENGLISH}", "an innocent text")
    with db.write() as tx:
        keep(tx, f"I saw {ENGLISH.upper()}, {JAPANESE}だ", session=opened.id, turn=1, done="answered")
        keep(tx, "I saw a grey heron", session=opened.id, turn=1)
        keep(tx, "an innocent text", pieces=(piece,), sent=f"[09:00] {piece.by}: an innocent text")
        keep(tx, "", role=Role.ASSISTANT, session=opened.id, turn=1, round=1, tool_calls=(call, asked))
        for one in (call, asked):
            result = json.dumps({"success": True, "current_entries": [BOTH]})
            keep(tx, result, role=Role.TOOL, session=opened.id, turn=1, tool_call_id=one.id, tool_name=one.name)
        keep(tx, f"So it is {BOTH}", role=Role.ASSISTANT, session=opened.id, turn=1, round=2)
        keep(tx, f"/remember {BOTH}", role=Role.COMMAND, session=opened.id)
        keep(tx, "hello", speaker="Lysekil heron", session=opened.id, turn=2)
        told_by = f"Clara of {BOTH}"
        keep(tx, "hello, too", speaker=told_by, stamp=f"[{told_by}, 09:00] ", session=opened.id, turn=2)
        sessions.rename(tx, opened.id, f"About {BOTH}")
        prompts.refreeze(tx, opened.id, f"You know {BOTH}.", "[]", NINE)
        prompts.refreeze(tx, opened.id, f"You know all of {BOTH}.", "[]", NINE)
        ids = [row["id"] for row in tx.rows("SELECT id FROM messages WHERE session = ?", (opened.id,))]
        summary = Summary(0, 9, min(ids), max(ids), f"They spoke of {BOTH}")
        summaries.keep(tx, opened.id, 3, summary, NINE)


def _others(db: Database) -> None:
    """What must not change by a byte."""
    with db.write() as tx:
        other = replace(session(tx, "20261130_090007_innocent", chat=replace(CHAT, id="124")))
        keep(tx, "The whale is grey, and so is the heron", session=other.id, turn=1)
        sessions.rename(tx, other.id, "About herons")


def _files(home: Home) -> None:
    folder = home.space_dir("owner")
    memory = home.memory_file("owner", "memory")
    memory.write_text(f"{memory.read_text()}§\nBy hand: {ENGLISH}\n§\nBy hand: something\n")
    (folder / "MEMORY.md.bak.20261101T000000Z").write_text(f"Old: {BOTH}\n§\nOld: tea\n")
    (folder / ".MEMORY.md.999999-0a1b2c3d.tmp").write_text(f"half of {BOTH}")
    skill = home.skills / "birds"
    skill.mkdir(parents=True)
    (skill / "SKILL.md").write_text(f"---\nname: birds\n---\nLook for {BOTH}.\nLook for eggs.\n")
    archived = home.skills / ".archive" / "whales-20261101T000000Z"
    archived.mkdir(parents=True)
    (archived / "SKILL.md").write_text(f"Look for {BOTH}.\n")
    other = home.skills_dir("telegram-456") / "tea"
    other.mkdir(parents=True)
    (other / "SKILL.md").write_text("Boil water.\n")
    for name in ("owner", "telegram-456"):
        textfile.replace(
            home.exports / name / "all.json", json.dumps({"said": BOTH if name == "owner" else "-"}).encode()
        )
    textfile.replace(home.terminal_history, f"\n# 2026\n+hello\n\n# 2026\n+/forget {ENGLISH}\n".encode())
    home.memory_file("telegram-456", "memory").write_text("Likes herons\n")


def _to_say(db: Database) -> None:
    with db.write() as tx:
        row = outbox.put(tx, to_say(tx, "reply-1", kind="reply", created_at=NINE - timedelta(hours=1)))
        assert row is not None
        outbox.keep_chunks(tx, row, [f"It is {BOTH}!", "Good night."])
        said(tx, "")
