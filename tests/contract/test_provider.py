"""The fake provider keeps the contract; and the job that asks a provider to forget."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from gateway.errors import ProviderBusy
from gateway.home import Home
from gateway.jobs import ForgetJob
from gateway.ports import Provider
from gateway.store import duejobs, forgets, people
from gateway.store.db import Database
from tests.contract.provider import ProviderContract
from tests.fakes.provider import FakeProvider
from tests.store.given import NINE, StillClock
from workers import runtime
from workers.forget import Eraser


class FakeRig:
    """The fake is what is behind it."""

    def __init__(self) -> None:
        self.fake = FakeProvider()
        self.provider: Provider = self.fake
        self.keep = self.fake.keep

    def be_busy(self) -> None:
        self.fake.busy = 1


class TestFakeProvider(ProviderContract):
    @pytest.fixture
    def rig(self) -> FakeRig:
        return FakeRig()


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    with Database.open(Home(tmp_path / "home"), StillClock()) as opened:
        yield opened


async def test_a_job_asks_and_marks_it_done(db: Database) -> None:
    """The words come from the request's row: they are in no job."""
    id, rig = begun(db), FakeRig()
    rig.keep("owner", "Keeps bees in Lysekil", "Likes tea")

    assert await Eraser(db, StillClock(), rig.provider).erase(id)

    assert rig.fake.kept == {"owner": ["Likes tea"]}
    with db.read() as rd:
        assert duejobs.due(rd, NINE) == []
        assert [(step.erased, step.done_at) for step in forgets.get(rd, id).steps] == [(1, NINE)]


async def test_one_that_is_busy_is_asked_again(db: Database) -> None:
    """The step stays open, and the next ring is another job."""
    id, rig = begun(db), FakeRig()
    rig.be_busy()

    with pytest.raises(ProviderBusy):
        await Eraser(db, StillClock(), rig.provider).erase(id)

    with db.read() as rd:
        assert [job.id for job in duejobs.due(rd, NINE)] == [f"forget-{id}-1"]


def test_a_worker_does_the_job_that_is_rung_for(tmp_path: Path, db: Database) -> None:
    """Without an external memory there is nothing to ask: the step is done, and nobody waits for it."""
    id = begun(db)

    runtime.run(Home(tmp_path / "home"), ForgetJob(id, 0))
    runtime.run(Home(tmp_path / "home"), ForgetJob(77, 0))

    with db.read() as rd:
        assert [step.erased for step in forgets.get(rd, id).steps] == [0]
        assert duejobs.due(rd, NINE) == []


def begun(db: Database) -> int:
    with db.write() as tx:
        space = people.ensure_space(tx, "owner", "owner", "telegram:123", NINE)
        id = forgets.plan(
            tx,
            space.id,
            "passage",
            by="telegram:123",
            passages=["bees in Lysekil"],
            rows=[],
            message=None,
            marks=False,
            at=NINE,
            expires_at=NINE,
        )
        assert forgets.begin(tx, id, "telegram:123", None, ["providers"], NINE)
    return id
