"""What `hikae` says in passing: whole sentences, and what to type next as a shell knows it."""

import pytest

from gateway import app
from tests.flows.test_cli import Machine, add, core, machine, stage

__all__ = ["core", "machine"]


def test_what_was_decided_before_says_what_and_when(machine: Machine, core: app.Core) -> None:
    """`10 was decided before` leaves open which way."""
    yes, no = stage(core, add("Lives in Bergen")), stage(core, add("Likes tea"))
    machine.hikae("memory", "approve", str(yes.id))
    machine.hikae("memory", "reject", str(no.id))

    approved = machine.hikae("memory", "reject", str(yes.id))
    rejected = machine.hikae("memory", "approve", str(no.id))
    machine.hikae("memory", "undo", str(yes.id))
    undone = machine.hikae("memory", "approve", str(yes.id))

    assert approved.out.startswith(f"{yes.id} was approved before, 20") and approved.out.endswith(".\n")
    assert rejected.out.startswith(f"{no.id} was rejected before, 20")
    assert undone.out.startswith(f"{yes.id} was approved and taken back before, 20")
    assert (approved.code, rejected.code, undone.code) == (1, 1, 1)


def test_what_waits_is_edited_in_one_line(machine: Machine, core: app.Core) -> None:
    """As `/memory edit 4 foo` does in a chat; without a text the editor opens."""
    write = stage(core, add("Lives in Bergen"))

    said = machine.hikae("memory", "edit", str(write.id), "Lives", "in", "Oslo")
    machine.hikae("memory", "approve", str(write.id))
    late = machine.hikae("memory", "edit", str(write.id), "x")

    assert (said.code, said.out) == (0, f'✏️ {write.id} still waits for your yes and says now: "Lives in Oslo"\n')
    assert machine.memory_file() == "Lives in Oslo\n"
    assert "`hikae journey edit ID` changes an entry" in late.err


def test_the_log_puts_blanks_between_its_parts(machine: Machine, core: app.Core) -> None:
    """`USER(owner) "Lives in Oslo"(by the owner, …)` was one word."""
    write = stage(core, add("Lives in Bergen"))
    machine.hikae("memory", "approve", str(write.id))

    assert (
        f'{write.id} ✓ add to MEMORY (owner) "Lives in Bergen" (by the owner, 20'
        in machine.hikae("memory", "log").out
    )


def test_the_newest_backup_is_the_one_that_is_checked(machine: Machine, core: app.Core) -> None:
    """Nobody knows its name by heart; where one is needed, it is said where names are."""
    assert machine.hikae("backup", "verify").err == "There are no backups yet. `hikae backup create` makes one.\n"
    machine.hikae("backup", "create")
    name = machine.hikae("backup", "create", "--json").json["name"]

    assert machine.hikae("backup", "verify").out.startswith(f"{name} is whole")
    which = machine.hikae("backup", "restore")
    assert (which.code, which.err) == (2, "Say which: `hikae backup list` shows the names.\n")


def test_receipts_say_how_one_is_read(machine: Machine, core: app.Core) -> None:
    """A list of numbers is for something."""
    write = stage(core, add("Keeps bees in Lysekil"))
    machine.hikae("memory", "approve", str(write.id))
    machine.hikae("forget", "bees in Lysekil", "--yes")

    assert machine.hikae("receipts").out.endswith("`hikae receipts show ID` shows one.\n")


def test_a_code_without_a_bot_says_what_is_missing(machine: Machine) -> None:
    """ "Send it to your bot" helps nobody who has none."""
    none = machine.hikae("pair", "code").out
    (machine.home.path / ".env").write_text("TELEGRAM_BOT_TOKEN=123:abc\n")
    (machine.home.path / ".env").chmod(0o600)

    assert f"Set TELEGRAM_BOT_TOKEN or DISCORD_BOT_TOKEN (environment or {machine.home.env_file})" in none
    assert "no chat platform has a token" not in machine.hikae("pair", "code").out


@pytest.mark.parametrize("group", ["memory", "sessions", "skills", "backup"])
def test_help_says_whole_lines(machine: Machine, group: str) -> None:
    """A line that ends in `…` says half of what a command does."""
    shown = machine.hikae(group, "--help").out

    assert "Commands:" in shown
    assert "..." not in shown.split("Commands:")[1]
