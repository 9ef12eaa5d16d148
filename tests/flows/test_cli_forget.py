"""`hikae forget`, `receipts` and `export`, as somebody types them."""

import json

import pytest

from gateway import app
from gateway.chat import TERMINAL_OWNER
from gateway.memory.forgetting import Scope
from gateway.records import Role, Space
from gateway.store import messages, people, textfile
from tests import processes
from tests.flows.test_cli import AT, CHAT, Machine
from tests.flows.test_cli import core as core
from tests.flows.test_cli import machine as machine

FACT = "Keeps her bees in Lysekil"


@pytest.fixture
def kept(machine: Machine) -> Machine:
    """A home that remembers something."""
    machine.hikae("memory", "show")
    machine.home.memory_file("owner", "memory").write_text(f"{FACT}\n§\nLikes tea\n", "utf-8")
    return machine


def said(core: app.Core, text: str, space: str = "owner", kind: str = "owner") -> Space:
    with core.db.write() as tx:
        found = people.ensure_space(tx, space, kind, space, AT)
        messages.keep(
            tx,
            messages.NewMessage(
                space=found.id, chat=CHAT, person="telegram:123", role=Role.USER, text=text, at=AT, platform_id=text
            ),
        )
    return found


def test_a_dry_run_says_what_would_go_and_changes_nothing(kept: Machine) -> None:
    """The JSON is a contract (design.md 6.8)."""
    ran = kept.hikae("forget", "bees in Lysekil", "--dry-run", "--json")

    assert ran.code == 0
    layers = {one["layer"]: one for one in ran.json["layers"]}
    assert layers["entries"]["found"] == 1
    assert layers["entries"]["items"][0]["excerpt"] == FACT
    assert layers["entries"]["items"][0]["ref"].startswith("entries:memory:")
    assert ran.json["left"] == []
    assert FACT in kept.memory_file()
    shown = kept.hikae("forget", "bees in Lysekil", "--dry-run")
    assert f"Entries: 1\n  {FACT}\n" in shown.out
    assert shown.out.endswith("Nothing was changed.\n")


def test_with_a_yes_it_goes_and_the_receipt_is_printed(kept: Machine) -> None:
    """And the other entry stays, byte for byte."""
    ran = kept.hikae("forget", "bees in Lysekil", "--yes")

    assert ran.code == 0
    assert kept.memory_file() == "Likes tea\n"
    assert ran.out.startswith("✓ Forgotten (receipt 1).\n")
    assert "by terminal:owner" in ran.out
    assert "Lysekil" not in ran.out
    assert kept.hikae("forget", "bees in Lysekil", "--verify").code == 0


def test_verify_finds_what_is_left(kept: Machine) -> None:
    """1 when something is found, as scripts expect."""
    ran = kept.hikae("forget", "bees in Lysekil", "--verify", "--json")

    assert ran.code == 1
    assert ran.json["clean"] is False
    assert "memories/MEMORY.md" in {hit["path"] for hit in ran.json["hits"]}
    assert kept.hikae("forget", "tea in Lysekil", "--verify").code == 0


def test_the_persons_own_files_are_named_and_left(kept: Machine) -> None:
    """Nobody edits SOUL.md but they."""
    kept.home.soul.write_text("You keep bees in Lysekil.\n", "utf-8")

    ran = kept.hikae("forget", "bees in Lysekil", "--yes", "--json")

    assert ran.json["left"] == [{"path": "SOUL.md", "found": 1}]
    assert kept.home.soul.read_text() == "You keep bees in Lysekil.\n"
    only_there = kept.hikae("forget", "bees in Lysekil", "--yes")
    assert (only_there.code, "SOUL.md" in only_there.out) == (0, True)


def test_other_parts_of_the_fact_go_with_also(kept: Machine) -> None:
    """A fact is rarely said in one way."""
    assert kept.hikae("forget", "bees in Lysekil", "--also", "Likes tea", "--yes").code == 0
    assert kept.memory_file() == ""


def test_without_text_it_is_read_from_where_no_history_keeps_it(
    kept: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An argument stands in the shell's history."""
    import io

    monkeypatch.setattr("sys.stdin", io.StringIO("bees in Lysekil\n"))
    assert kept.hikae("forget", "--yes").code == 0
    assert kept.memory_file() == "Likes tea\n"
    monkeypatch.setattr("sys.stdin", io.StringIO("\n"))
    assert kept.hikae("forget", "--yes").code == 2


def test_without_a_terminal_it_must_be_said_twice(kept: Machine) -> None:
    """A script says --yes."""
    ran = kept.hikae("forget", "bees in Lysekil")

    assert ran.code == 1
    assert "Say --yes to do it" in ran.err
    assert FACT in kept.memory_file()


def test_everything_of_a_space_goes_by_its_name(kept: Machine, core: app.Core) -> None:
    """Another person's, and nobody else's."""
    said(core, "I like boats", "telegram-456", "person")

    dry = kept.hikae("forget", "--everything", "--space", "telegram-456", "--dry-run")
    assert "that you may talk to me (pairing)" in dry.out
    ran = kept.hikae("forget", "--everything", "--space", "telegram-456", "--yes", "--json")

    assert (ran.code, ran.json["kind"], ran.json["space"]) == (0, "everything", "telegram-456")
    assert FACT in kept.memory_file()
    with core.db.read() as rd:
        assert [row["text"] for row in rd.rows("SELECT text FROM messages")] in ([], [""])
    assert kept.hikae("forget", "tea", "--everything").code == 2


def test_receipts_are_listed_shown_and_exported(kept: Machine) -> None:
    """Without the words, with everything else."""
    assert kept.hikae("receipts").out == "Nothing was forgotten yet.\n"
    kept.hikae("forget", "bees in Lysekil", "--no-mark", "--yes")

    (listed,) = kept.hikae("receipts", "--json").json
    assert (listed["id"], listed["by"], listed["space"], listed["verified"]) == (
        1,
        TERMINAL_OWNER.key,
        "owner",
        True,
    )
    assert {"layer": "entries", "erased": 1} in listed["layers"]
    assert listed["mark"] is False
    assert kept.hikae("receipts", "show", "1", "--json").json == listed
    assert "Entries: 1" in kept.hikae("receipts").out
    shown = kept.hikae("receipts", "show", "1").out
    assert "I leave no mark" in shown
    assert "Lysekil" not in json.dumps(listed) + shown
    missing = kept.hikae("receipts", "show", "7")
    assert (missing.code, missing.err) == (1, "There is no request 7 to forget something.\n")


def test_what_a_kill_left_is_finished_by_the_next(kept: Machine, core: app.Core) -> None:
    """Whoever forgets next, or the gateway, goes on with it."""
    space = said(core, "I keep bees in Lysekil")
    id = core.forgetting.forget(space, Scope(("bees in Lysekil",)), TERMINAL_OWNER.key)
    assert kept.hikae("receipts", "--json").json[0]["status"] == "erasing"

    assert core.forgetting.resume() == 1
    assert kept.hikae("receipts", "show", str(id), "--json").json["status"] == "done"


def test_the_same_command_given_again_finishes_what_a_kill_left(kept: Machine, core: app.Core) -> None:
    """Its words may stand in the request alone by then: "nothing is known" would leave them there for good."""
    space = said(core, "I keep bees in Lysekil")
    core.forgetting.forget(space, Scope(("bees in Lysekil",)), TERMINAL_OWNER.key)
    held = textfile.try_lock(kept.home.forget_lock)
    assert held is not None
    again = processes.Machine(kept.home)

    process = again.start("forget", "bees in Lysekil", "--yes")
    try:
        processes.until(lambda: "something else is at work" in again.output(process))
        held.release()
        assert process.wait(processes.PATIENCE_SECONDS) == 0
    finally:
        again.end_all()

    assert "✓ Forgotten (receipt 1)." in again.output(process)
    assert kept.hikae("receipts", "show", "1", "--json").json["status"] == "done"


def test_an_earlier_forget_that_waits_for_others_is_named(kept: Machine, core: app.Core) -> None:
    """A provider that is away keeps nothing else from being forgotten, and nobody is told that all is well."""
    space = said(core, "I keep bees in Lysekil")
    core.forgetting.forget(space, Scope(("bees in Lysekil",)), TERMINAL_OWNER.key)
    held = textfile.try_lock(kept.home.forget_lock)
    assert held is not None
    try:
        ran = kept.hikae("forget", "never said at all", "--yes")
    finally:
        held.release()

    assert "An earlier forget is not done yet" in ran.err
    assert kept.hikae("receipts", "--json").json[0]["status"] == "erasing"


def test_an_export_has_everything_and_of_others_nothing(kept: Machine, core: app.Core) -> None:
    """Standard output holds one JSON value."""
    said(core, "I like boats", "telegram-456", "person")
    kept.hikae("memory", "approval", "on")
    kept.hikae("forget", "bees in Lysekil", "--yes")

    mine = kept.hikae("export").json
    theirs = kept.hikae("export", "--space", "telegram-456").json

    assert mine["memory"]["memory"] == "Likes tea\n"
    assert [one["key"] for one in mine["settings"]] == ["memory.write_approval"]
    assert [one["id"] for one in mine["receipts"]] == [1]
    assert mine["writes"] != []
    assert "boats" not in json.dumps(mine)
    assert (theirs["space"], theirs["memory"]["memory"]) == ("telegram-456", "")
    assert kept.hikae("export", "--space", "nobody").code == 1
