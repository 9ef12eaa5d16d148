"""One forget, and every layer of a home that holds it."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from gateway.chat import How, Person, Piece
from gateway.errors import Refused
from gateway.home import Home
from gateway.memory import entries
from gateway.memory.forgetting import Forgetting, Scope
from gateway.memory.proposals import Proposal
from gateway.records import Action, Operation, Origin, Role, Status, ToolCall
from gateway.skills.proposals import SkillProposal
from gateway.store import forgets, messages, outbox, people, prompts, sessions, textfile
from gateway.store.db import Database
from tests.store.given import CHAT, StillClock, keep, session, to_say
from tests.store.remembering import OWNER, Remembering, add

ENGLISH = "the blue heron of Lysekil"
JAPANESE = "千代田区の鯨の隠れ家"
OTHER_CHAT = replace(CHAT, id="124")


class Kept(Remembering):
    """Names its proposals as the house does: without words."""

    def proposal(self, *operations: Operation, **fields: object) -> Proposal:
        return super().proposal(*operations, **{"dedupe": f"turn-412-1-{len(self.log())}", **fields})


@pytest.fixture
def kept(db: Database, home: Home, clock: StillClock) -> Remembering:
    return Kept(db, home, clock)


@pytest.fixture
def forgetting(kept: Remembering) -> Forgetting:
    return Forgetting(kept.db, kept.home, kept.clock, kept.settings, kept.memory)


def test_what_a_message_said_before_it_was_edited_goes_too(kept: Remembering, forgetting: Forgetting) -> None:
    """No row holds it any more, but the pages of the index do until they are rewritten."""
    kept.add("Owns the quillfeather bakery")
    with kept.db.write() as tx:
        session(tx)
        id = keep(tx, "I bought quillfeather flour")
    with kept.db.write() as tx:
        messages.reword(tx, messages.get(tx, id), "I bought flour", ())

    forget(kept, forgetting, "quillfeather")

    with kept.db.read() as rd:
        assert forgets.get(rd, 1).verified["clean"] is True
        assert messages.get(rd, id).text == "I bought flour"
    assert b"quillfeather" not in everything_in(kept.home.path)


def test_an_entry_that_holds_it_goes_whole_and_the_others_stay(kept: Remembering, forgetting: Forgetting) -> None:
    """Half an entry would say something that nobody ever said."""
    kept.add(f"Anna knows {ENGLISH} well")
    kept.add("Likes short answers")

    forget(kept, forgetting, ENGLISH)

    assert kept.file() == "Likes short answers\n"
    with kept.db.read() as rd:
        assert b"Lysekil" not in everything_in(kept.home.path)
        assert forgets.get(rd, 1).status == "done"


def test_only_the_words_of_a_message_go(kept: Remembering, forgetting: Forgetting) -> None:
    """A neutral mark stays, tool pairs stay valid, nothing else changes."""
    call = ToolCall("c1", "memory", f'{{"action":"add","content":"Knows {JAPANESE}"}}')
    with kept.db.write() as tx:
        opened = session(tx)
        said = keep(tx, f"I saw {ENGLISH.upper()} today, and {JAPANESE}です", session=opened.id, turn=1)
        asked = keep(tx, "", role=Role.ASSISTANT, session=opened.id, turn=1, tool_calls=(call,))
        other = keep(tx, "The heron is grey", session=opened.id, turn=2)

    forget(kept, forgetting, ENGLISH, JAPANESE)

    with kept.db.read() as rd:
        assert messages.get(rd, said).text == "I saw (forgotten) today, and (forgotten)です"
        assert messages.get(rd, asked).tool_calls[0].arguments == '{"action":"add","content":"Knows (forgotten)"}'
        assert messages.get(rd, other).text == "The heron is grey"
    for word in ("Lysekil", "lysekil", "鯨"):
        assert word.encode() not in everything_in(kept.home.path), word


def test_words_of_our_own_forms_may_be_forgotten_too(kept: Remembering, forgetting: Forgetting) -> None:
    """Somebody who forgets the word `own` or `content` must not find a transcript that nobody can read."""
    call = ToolCall("c1", "memory", '{"action":"add","content":"My own text"}')
    piece = Piece(How.OWN, "", "My own text is content")
    with kept.db.write() as tx:
        opened = session(tx)
        said = keep(tx, "My own text is content", pieces=(piece,), session=opened.id, turn=1)
        asked = keep(tx, "", role=Role.ASSISTANT, session=opened.id, turn=1, tool_calls=(call,))

    forget(kept, forgetting, "own text", "content")

    with kept.db.read() as rd:
        assert messages.get(rd, said).pieces == (Piece(How.OWN, "", "My (forgotten) is (forgotten)"),)
        arguments = messages.get(rd, asked).tool_calls[0].arguments
        assert json.loads(arguments) == {"action": "add", "(forgotten)": "My (forgotten)"}


def test_a_write_that_holds_it_keeps_what_happened_and_no_word(kept: Remembering, forgetting: Forgetting) -> None:
    """What waits is rejected; what was applied can no longer be taken back."""
    waiting = kept.stage(add(f"Wrote to {ENGLISH}"))
    applied = kept.add(f"Saw {ENGLISH}")

    forget(kept, forgetting, ENGLISH)

    assert (kept.status(waiting), kept.row(waiting).reason) == (Status.REJECTED, "reason.forgotten")
    assert (kept.status(applied), kept.row(applied).after) == (Status.APPLIED, "")
    assert {operation.content for id in (waiting, applied) for operation in kept.row(id).operations} == {""}


def test_a_prompt_that_held_it_is_erased_whole(kept: Remembering, forgetting: Forgetting) -> None:
    """The session freezes another at its next turn."""
    with kept.db.write() as tx:
        opened = session(tx)
        prompts.refreeze(tx, opened.id, f"You know {ENGLISH}.", "[]", kept.clock.now())

    forget(kept, forgetting, ENGLISH)

    with kept.db.read() as rd:
        assert sessions.get(rd, opened.id).system_prompt == ""


def test_what_was_left_out_stays(kept: Remembering, forgetting: Forgetting) -> None:
    """The person decides hit by hit."""
    kept.add(f"Anna knows {ENGLISH}")
    with kept.db.write() as tx:
        id = keep(tx, f"About {ENGLISH}", session=session(tx).id, turn=1)

    done = forgetting.forget(kept.space, Scope((ENGLISH,)), OWNER, left_out=[f"messages:{id}"])
    assert forgetting.go_on(done)

    with kept.db.read() as rd:
        assert messages.get(rd, id).text == f"About {ENGLISH}"
        assert forgets.get(rd, done).left_out == (f"messages:{id}",)
    assert kept.file() == ""


def test_an_entry_that_was_left_out_is_accounted_for(kept: Remembering, forgetting: Forgetting) -> None:
    """It stays in its file and in what we know of that file: the receipt must not call either a failure."""
    kept.add(f"Anna knows {ENGLISH}")
    kept.add(f"Ben knows {ENGLISH}")
    entries = forgetting.plan(kept.space, Scope((ENGLISH,))).layer("entries").items

    done = forgetting.forget(kept.space, Scope((ENGLISH,)), OWNER, left_out=[entries[0].ref])
    assert forgetting.go_on(done)

    assert kept.file() == f"Anna knows {ENGLISH}\n"
    with kept.db.read() as rd:
        assert forgets.get(rd, done).verified["clean"] is True


def test_the_plan_lists_every_layer_and_changes_nothing(kept: Remembering, forgetting: Forgetting) -> None:
    """Nobody says yes to what they have not seen."""
    kept.add(f"Anna knows {ENGLISH}")
    kept.stage(add(f"Wrote to {ENGLISH}"))
    with kept.db.write() as tx:
        keep(tx, f"About {ENGLISH}", session=session(tx).id, turn=1)
    before = kept.db.data_version()

    plan = forgetting.plan(kept.space, Scope((ENGLISH,)))

    assert {one.layer: one.found for one in plan.layers if one.found} == {"entries": 1, "ledger": 2, "messages": 1}
    assert plan.layer("messages").items[0].excerpt == f"About {ENGLISH}"
    assert kept.db.data_version() == before
    assert kept.file() == f"Anna knows {ENGLISH}\n"


def test_what_is_still_to_be_said_is_cut(kept: Remembering, forgetting: Forgetting) -> None:
    """A reply that waits for its platform must not bring it back."""
    with kept.db.write() as tx:
        row = outbox.put(tx, to_say(tx, "reply-1", kind="reply"))
        assert row is not None
        outbox.keep_chunks(tx, row, [f"It is {ENGLISH}!"])

    forget(kept, forgetting, ENGLISH)

    with kept.db.read() as rd:
        assert [chunk.text for chunk in outbox.chunks(rd, row)] == ["It is (forgotten)!"]


def test_a_plan_shows_the_line_that_was_typed(kept: Remembering, forgetting: Forgetting) -> None:
    """The history of the terminal has marks and times around it, which nobody typed."""
    kept.home.run.mkdir(exist_ok=True)
    kept.home.terminal_history.write_text(f"\n# 2026\n+hello\n\n# 2026\n+/forget {ENGLISH}\n\n# 2027\n+bye\n")

    items = forgetting.plan(kept.space, Scope((ENGLISH,))).layer("files").items

    assert [item.excerpt for item in items] == [f"{kept.home.terminal_history.name}: /forget {ENGLISH}"]


def test_files_that_we_left_are_searched_too(kept: Remembering, forgetting: Forgetting) -> None:
    """What was set aside, exports, our own history."""
    folder = kept.home.space_dir("owner")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "MEMORY.md.bak.20261130T090007Z").write_text(f"Knows {ENGLISH}\n§\nLikes tea\n")
    kept.home.exports.mkdir(exist_ok=True)
    (kept.home.exports / "old.json").write_text(f'{{"entries": ["{ENGLISH}"]}}')
    kept.home.run.mkdir(exist_ok=True)
    kept.home.terminal_history.write_text(f"\n# 2026\n+hello\n\n# 2026\n+/forget {ENGLISH}\n\n# 2027\n+bye\n")

    forget(kept, forgetting, ENGLISH)

    assert (folder / "MEMORY.md.bak.20261130T090007Z").read_text() == "Likes tea\n"
    assert not (kept.home.exports / "old.json").exists()
    assert kept.home.terminal_history.read_text() == "\n# 2026\n+hello\n\n# 2027\n+bye\n"


def test_skills_are_cut_and_renamed(kept: Remembering, forgetting: Forgetting) -> None:
    """Also those in the archive."""
    root = kept.home.skills_dir("owner")
    skill = root / "lysekil-heron"
    skill.mkdir(parents=True)
    (skill / "SKILL.md").write_text("---\nname: x\n---\nAsk the heron of Lysekil first. Then go.\n")
    archived = root / ".archive" / "old-20261130T090007Z"
    archived.mkdir(parents=True)
    (archived / "SKILL.md").write_text("Ask at LYSEKIL heron\n")

    forget(kept, forgetting, "Lysekil heron", "heron of Lysekil")

    assert (
        root / "forgotten-1" / "SKILL.md"
    ).read_text() == "---\nname: x\n---\nAsk the (forgotten) first. Then go.\n"
    assert (archived / "SKILL.md").read_text() == "Ask at (forgotten)\n"


def test_whole_sessions_go_with_the_entries_that_were_ticked(kept: Remembering, forgetting: Forgetting) -> None:
    """`sessions delete`: rows, not words; and what rests on them only if its person says so."""
    kept.add("Anna lives in Bergen")
    kept.add("Anna likes tea")
    with kept.db.write() as tx:
        gone, stays = session(tx).id, session(tx, "20261130_090008_000000", chat=OTHER_CHAT).id
        keep(tx, "I live in Bergen", session=gone, turn=1)
        kept_message = keep(tx, "I live in Bergen", session=stays, turn=1)
    entry = f"entries:memory:{entries.fingerprint('Anna lives in Bergen')}"

    id = forgetting.forget(kept.space, Scope(rows=(f"sessions:{gone}", entry)), OWNER)
    assert forgetting.go_on(id)

    with kept.db.read() as rd:
        assert [one.id for one in sessions.recent(rd, kept.space.id, 10)] == [stays]
        assert messages.get(rd, kept_message).text == "I live in Bergen"
        assert {step.layer: step.erased for step in forgets.get(rd, id).steps if step.erased} == {
            "entries": 1,
            "sessions": 1,
        }
    assert kept.file() == "Anna likes tea\n"


def test_everything_of_a_person_goes_and_nothing_of_others(kept: Remembering, forgetting: Forgetting) -> None:
    """Transcripts, memory, ledger, settings and pairing: what is left are ids."""
    with kept.db.write() as tx:
        ben = people.ensure_space(tx, "telegram-456", "person", "telegram:456", kept.clock.now())
        people.keep_account(tx, Person("telegram", "456"), "allowed", ben.id, kept.clock.now())
        said = keep(tx, "Ben keeps bees", space=ben.id, person="telegram:456")
        mine = keep(tx, "Anna keeps bees")
    path = kept.home.memory_file("telegram-456", "memory")
    path.parent.mkdir(parents=True)
    path.write_text("Ben keeps bees\n")
    skill = kept.home.skills_dir("telegram-456") / "bees"
    skill.mkdir(parents=True)
    (skill / "SKILL.md").write_text("Look for Ben's bees\n")
    kept.add("Anna likes honey")
    kept.memory.notice_all_hand_edits()

    id = forgetting.forget(ben, Scope(everything=True), "telegram:456")
    assert forgetting.go_on(id)

    assert b"Ben" not in everything_in(kept.home.path)
    assert not path.exists() and not skill.exists()
    with kept.db.read() as rd:
        assert messages.get(rd, said).text == ""
        assert messages.get(rd, mine).text == "Anna keeps bees"
        assert people.account(rd, Person("telegram", "456")) is None
    assert kept.file() == "Anna likes honey\n"


def test_a_plan_that_nobody_says_yes_to_is_gone_after_a_day(kept: Remembering, forgetting: Forgetting) -> None:
    """Its words are kept only as long as they are needed."""
    with kept.db.write() as tx:
        id = forgetting.propose(tx, kept.space, Scope((ENGLISH,)), OWNER)
    kept.clock.at += timedelta(hours=25)

    assert forgetting.expire() == 1

    with kept.db.read() as rd:
        assert (forgets.get(rd, id).status, forgets.passages(rd, id)) == ("expired", ())
    with kept.db.write() as tx:
        assert not forgetting.begin(tx, id, OWNER)


def test_the_request_itself_leaves_no_trace(kept: Remembering, forgetting: Forgetting) -> None:
    """It says what was forgotten. Its chat gets the receipt, and the card of the plan loses its words."""
    with kept.db.write() as tx:
        asked = keep(tx, f"please forget all about {ENGLISH}, and about the birds", session=session(tx).id, turn=1)
        id = forgetting.propose(tx, kept.space, Scope((ENGLISH,)), OWNER, message=asked)
        twin = forgetting.propose(tx, kept.space, Scope((f"oh, {ENGLISH}",)), OWNER)
        card = outbox.put(tx, to_say(tx, "plan-1", kind="forget_plan", values={"forget": id}))
        assert forgetting.begin(tx, id, OWNER)
        assert not forgetting.begin(tx, id, OWNER)

    assert forgetting.go_on(id)

    with kept.db.read() as rd:
        assert messages.get(rd, asked).text == "(forgotten)"
        assert forgets.get(rd, twin).status == "cancelled"
        said = outbox.by_dedupe(rd, f"forget-{id}-done")
        assert said is not None and (said.kind, said.chat, said.values) == ("forgotten", CHAT, {"forget": id})
        changed = [outbox.by_dedupe(rd, f"forget-{id}-{word}-{card}") for word in ("begun", "done")]
        assert [(one.kind, one.edits) for one in changed if one] == [("forget_plan_update", card)] * 2
    assert b"birds" not in everything_in(kept.home.path)


def test_near_matches_become_parts_of_the_fact_when_they_are_ticked(
    kept: Remembering, forgetting: Forgetting
) -> None:
    """The same in other words is for the person to see, not for us to guess."""
    kept.add("Anna paints in Lysekil on Thursdays")
    kept.add("Anna likes tea")
    plan = forgetting.plan(kept.space, Scope(("birds of Lysekil",)))
    assert [one.text for one in plan.near] == ["Anna paints in Lysekil on Thursdays"]

    with kept.db.write() as tx:
        id = forgetting.propose(tx, kept.space, Scope(("birds of Lysekil",)), OWNER)
        assert forgetting.widen(tx, id, [one.text for one in plan.near])
        assert forgetting.begin(tx, id, OWNER)
    assert forgetting.go_on(id)

    assert kept.file() == "Anna likes tea\n"


def test_the_persons_own_files_are_named_and_not_touched(kept: Remembering, forgetting: Forgetting) -> None:
    """SOUL.md is theirs to change."""
    kept.home.soul.write_text(f"You love {ENGLISH}.")

    assert [(one.path, one.found) for one in forgetting.plan(kept.space, Scope((ENGLISH,))).left] == [
        ("SOUL.md", 1)
    ]
    id = forget(kept, forgetting, ENGLISH)

    assert kept.home.soul.read_text() == f"You love {ENGLISH}."
    with kept.db.read() as rd:
        assert forgets.get(rd, id).left == (("SOUL.md", 1),)


def test_what_is_too_little_to_look_for_is_refused(kept: Remembering, forgetting: Forgetting) -> None:
    """It would be everywhere."""
    with pytest.raises(Refused):
        forgetting.plan(kept.space, Scope(("a",)))
    with kept.db.write() as tx, pytest.raises(Refused):
        forgetting.propose(tx, kept.space, Scope(("...",)), OWNER)


def test_a_skill_that_says_it_again_waits_for_a_yes(kept: Remembering, forgetting: Forgetting) -> None:
    """Skills are learnt, too."""
    kept.add(f"Anna knows {ENGLISH}")
    forget(kept, forgetting, ENGLISH)

    def create(name: str, text: str) -> Status:
        content = f"---\nname: {name}\ndescription: {name}\n---\n{text}\n"
        operation = Operation(Action.CREATE, content)
        outcome = kept.memory.skills.propose(
            SkillProposal(kept.space, name, operation, Origin.PERSON, f"command-{name}", by=OWNER)
        )
        assert outcome.write is not None
        return kept.status(outcome.write)

    assert create("birds", f"Look for {ENGLISH}.") is Status.STAGED
    assert create("eggs", "Look for eggs.") is Status.APPLIED


def test_every_connection_overwrites_what_it_deletes(db: Database) -> None:
    """From the first write on: words that were deleted without it lie in free pages for ever."""
    with db.read() as rd:
        assert rd.execute("PRAGMA secure_delete").fetchone()[0] == 1
    with db.write() as tx:
        assert tx.execute("PRAGMA secure_delete").fetchone()[0] == 1


def test_a_process_that_crashes_leaves_no_memory_on_the_disk() -> None:
    """Both scripts say so before they do anything else."""
    asked = "import resource; from gateway import lifeline; lifeline.leave_no_core(); print(resource.getrlimit(4))"
    said = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True, timeout=60)

    assert said.stdout.strip() == "(0, 0)"


def test_two_processes_never_erase_at_once(kept: Remembering, forgetting: Forgetting) -> None:
    """The gateway and a command of the terminal may both come for it."""
    id = forgetting.forget(kept.space, Scope((ENGLISH,)), OWNER)
    with textfile.lock(kept.home.forget_lock, 1):
        assert not forgetting.go_on(id)

    assert forgetting.go_on(id)
    assert forgetting.go_on(id)


def test_a_file_that_is_closed_to_us_is_waited_for(kept: Remembering, forgetting: Forgetting) -> None:
    """A receipt must not say done of a file that nobody could read."""
    kept.add(f"Knows {ENGLISH}")
    path = kept.home.memory_file("owner", "memory")
    path.chmod(0o400)
    id = forgetting.forget(kept.space, Scope((ENGLISH,)), OWNER)
    assert not forgetting.go_on(id)

    path.chmod(0o600)
    assert forgetting.go_on(id)

    assert kept.file() == ""


def test_a_long_look_into_the_database_is_waited_for(
    kept: Remembering, forgetting: Forgetting, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever reads the database for long keeps the old pages in sight; done is said after that (PI-225)."""
    monkeypatch.setattr("gateway.memory.forgeterasing.CHECKPOINT_TRIES", 2)
    kept.add(f"Knows {ENGLISH}")
    id = forgetting.forget(kept.space, Scope((ENGLISH,)), OWNER)
    with kept.db.read() as rd:
        rd.rows("SELECT text FROM messages")
        assert not forgetting.go_on(id)

    assert forgetting.go_on(id)
    assert b"Lysekil" not in everything_in(kept.home.path)


def test_a_replaced_file_is_overwritten(kept: Remembering, tmp_path: Path) -> None:
    """Its blocks stay on the disk after its name is gone. One that has another name is somebody's copy."""
    path, copy = tmp_path / "note", tmp_path / "copy"
    path.write_text("old words")
    os.link(path, copy)
    with path.open("rb") as linked:
        textfile.replace(path, b"new words")
        assert linked.read() == copy.read_bytes() == b"old words"

    with path.open("rb") as old:
        textfile.replace(path, b"newer words")
        assert old.read() == bytes(9)


def forget(kept: Remembering, forgetting: Forgetting, *texts: str) -> int:
    id = forgetting.forget(kept.space, Scope(texts), OWNER)
    assert forgetting.go_on(id)
    return id


def everything_in(folder: Path) -> bytes:
    return b"\n".join(path.read_bytes() for path in files(folder))


def files(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.rglob("*")) if path.is_file())
