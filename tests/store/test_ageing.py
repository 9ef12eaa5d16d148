"""`session.keep_days` through the layers: quietly, out of the backups, too, and one receipt a day."""

from datetime import timedelta

import pytest

from gateway import app, failpoints
from gateway.chat import Chat
from gateway.housekeeping import Housekeeping
from gateway.memory import ageing, backup
from gateway.memory.forgetting import Forgetting
from gateway.store import forgets, textfile
from tests.bot import NoQueue
from tests.flows.test_cli import AT, Machine
from tests.flows.test_cli import machine as machine
from tests.flows.test_cli_sessions import ids, talk
from tests.store.given import StillClock


def forgetting_after(core: app.Core, days: float) -> Forgetting:
    clock = StillClock(AT + timedelta(days=days))
    return Forgetting(core.db, core.home, clock, core.loaded.settings, core.memory)


def keep_house(core: app.Core, days: float) -> None:
    forgetting = forgetting_after(core, days)
    clock, settings = forgetting.clock, forgetting.settings
    Housekeeping(core.db, core.memory, settings, NoQueue(), clock, lambda: None, core.home, forgetting).tidy()


def test_what_is_over_its_days_leaves_the_backups_too(machine: Machine) -> None:
    """Erased by age is erased: a restore must not bring it back."""
    machine.configure("session: {keep_days: 30}\n")
    core = app.open_core(machine.home)
    talk(core, "I keep bees in Lysekil", "Nice.")
    talk(core, "I like boats", "Nice.", chat=Chat("telegram", "9"))
    talk(core, "young", "Nice.", at=AT + timedelta(days=20), chat=Chat("telegram", "10"))
    made = backup.create(core.db, core.home, core.clock, 7)
    assert b"Lysekil" in (made.path / "state.db").read_bytes()

    keep_house(core, 31)

    assert len(ids(core)) == 1
    with core.db.read() as rd:
        (known,) = forgets.listed(rd, None)
    assert (known.by, known.status, len(known.rows), known.marks) == ("keep_days", "done", 2, False)
    (copy,) = backup.listed(core.home)
    assert b"Lysekil" not in (copy.path / "state.db").read_bytes()
    core.close()


def test_there_is_one_receipt_a_day_at_most(machine: Machine) -> None:
    """And none where nothing went."""
    machine.configure("session: {keep_days: 30}\n")
    core = app.open_core(machine.home)
    talk(core, "one", "1")
    talk(core, "two", "2", at=AT + timedelta(hours=3), chat=Chat("telegram", "9"))

    def receipts() -> int:
        with core.db.read() as rd:
            return len(forgets.listed(rd, None))

    for days, left, told in ((29, 2, 0), (30.1, 1, 1), (30.2, 1, 1), (31.2, 0, 2), (33, 0, 2)):
        keep_house(core, days)
        assert (len(ids(core)), receipts()) == (left, told), days
    core.close()


def test_whoever_erases_meanwhile_is_not_past_what_goes_next(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A tap wakes the eraser between two conversations: the second would stay in a backup for good."""
    machine.configure("session: {keep_days: 30}\n")
    core = app.open_core(machine.home)
    talk(core, "I keep bees in Lysekil", "Nice.")
    talk(core, "I keep boats in Drammen", "Nice.", chat=Chat("telegram", "9"))
    backup.create(core.db, core.home, core.clock, 7)
    forgetting = forgetting_after(core, 31)

    def reach(name: str) -> None:
        if name == "session.deleted":
            forgetting.resume()

    monkeypatch.setattr(failpoints, "reach", reach)
    assert ageing.erase_old(forgetting) == 2
    monkeypatch.undo()
    forgetting.resume()

    (copy,) = backup.listed(core.home)
    data = (copy.path / "state.db").read_bytes()
    assert (b"Lysekil" in data, b"Drammen" in data) == (False, False)
    with core.db.read() as rd:
        (known,) = forgets.listed(rd, None)
    assert (known.status, len(known.rows)) == ("done", 2)
    core.close()


def test_while_something_else_is_erased_they_wait(machine: Machine) -> None:
    """Until the next minute, not until the next day."""
    machine.configure("session: {keep_days: 30}\n")
    core = app.open_core(machine.home)
    talk(core, "one", "1")

    with textfile.lock(core.home.forget_lock, 1):
        keep_house(core, 31)
        assert len(ids(core)) == 1
    keep_house(core, 31)

    assert ids(core) == []
    core.close()
