"""`hikae backup`, as somebody types it."""

import pytest

from gateway.home import Home
from gateway.store import textfile
from tests.flows.test_cli import Machine
from tests.flows.test_cli import machine as machine


def test_a_copy_is_made_listed_checked_and_taken_back(machine: Machine) -> None:
    """The four commands of a bad day."""
    machine.hikae("memory", "show")
    machine.home.memory_file("owner", "memory").write_text("Likes tea\n")
    made = machine.hikae("backup", "create", "--json").json
    machine.home.memory_file("owner", "memory").write_text("Likes coffee\n")

    listed = machine.hikae("backup", "list", "--json").json
    checked = machine.hikae("backup", "verify", made["name"])
    restored = machine.hikae("backup", "restore", made["name"], "--yes", "--json")

    assert set(made) == {"name", "at", "bytes"}
    assert listed == [made]
    assert checked.out == f"{made['name']} is whole: it was restored for a try, 2 files.\n"
    assert restored.json["restored"] == made["name"]
    assert machine.home.memory_file("owner", "memory").read_text() == "Likes tea\n"
    assert [one["name"] for one in machine.hikae("backup", "list", "--json").json] == [
        made["name"], restored.json["before"],
    ]  # fmt: skip


def test_without_a_terminal_it_must_be_said_twice(machine: Machine) -> None:
    """Going back is asked for; a script says --yes."""
    made = machine.hikae("backup", "create", "--json").json

    asked = machine.hikae("backup", "restore", made["name"])

    assert asked.code == 1
    assert "Say --yes to do it" in asked.err


@pytest.mark.parametrize("command", ["verify", "restore"])
def test_a_backup_that_is_not_there_is_said(machine: Machine, command: str) -> None:
    """With what to type instead."""
    ran = machine.hikae("backup", command, "yesterday")

    assert (ran.code, ran.out) == (1, "")
    assert ran.err == (
        "There is no backup yesterday. `hikae backup list` shows what there is; a folder will do, too.\n"
    )


def test_on_a_new_machine_it_is_said_that_forgotten_things_may_be_back(machine: Machine, tmp_path: object) -> None:
    """Its home has no marks."""
    made = machine.hikae("backup", "create", "--json").json
    folder = machine.home.backups / made["name"]
    other = Machine(Home(machine.home.path.parent / "other"), machine.captured)

    ran = other.hikae("backup", "restore", str(folder), "--yes")

    assert ran.code == 0
    assert "may have come back: this home had no marks of it." in ran.out


@pytest.mark.parametrize(
    "command", [("create",), ("verify",), ("restore", "--yes")], ids=lambda command: command[0]
)
@pytest.mark.parametrize(
    ("language", "said"), [("en", "Something is being forgotten, or "), ("ja", "いま、内容を忘れる処理か、")]
)
def test_who_comes_while_something_is_forgotten_is_told_to_wait(
    machine: Machine, command: tuple[str, ...], language: str, said: str
) -> None:
    """All of them work in one place, a forget too; nothing of it may be pulled out from under anybody."""
    machine.configure(f"display: {{language: {language}}}\n")
    made = machine.hikae("backup", "create", "--json").json
    name = () if command == ("create",) else (made["name"],)

    with textfile.lock(machine.home.forget_lock, 1):
        ran = machine.hikae("backup", *command, *name)

    assert (ran.code, ran.err.startswith(said)) == (1, True)
    assert [one["name"] for one in machine.hikae("backup", "list", "--json").json] == [made["name"]]
