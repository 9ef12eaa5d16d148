"""`session.keep_days` through the layers: quietly, out of the backups, too, and one receipt a day."""

from datetime import timedelta

from gateway import app
from gateway.chat import Chat
from gateway.housekeeping import Housekeeping
from gateway.memory import backup
from gateway.memory.forgetting import Forgetting
from gateway.store import forgets
from tests.bot import NoQueue
from tests.flows.test_cli import AT, Machine
from tests.flows.test_cli import machine as machine
from tests.flows.test_cli_sessions import ids, talk
from tests.store.given import StillClock


def keep_house(core: app.Core, days: float) -> None:
    clock, settings = StillClock(AT + timedelta(days=days)), core.loaded.settings
    forgetting = Forgetting(core.db, core.home, clock, settings, core.memory)
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
