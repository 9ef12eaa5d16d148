"""A SIGKILL at every step of a compression: nothing is lost, nothing is done twice."""

from pathlib import Path

import pytest

from tests.crash.world import World, world
from tests.processes import until

pytestmark = pytest.mark.processes

STEPS = ("flush.committed", "write.approved", "write.replaced", "compression.summarised", "compression.committed")
FACTS = {"My dog is called Dogson.": "Dog is called Dogson", "My cat is called Catson.": "Cat is called Catson"}
MOST_TURNS = 40


def talk(one: World) -> None:
    """Talk about this and that until the conversation is compressed, or the process has died."""
    for fact in FACTS:
        one.chat(fact)
    for number in range(MOST_TURNS):
        one.chat(f"Thought number {number}: {'the weather was fine. ' * 12}")
        until(lambda: one.died() or (not one.telegram.unconfirmed and one.is_quiet()), 60)
        if one.died() or count(one, "summaries"):
            return


def count(one: World, table: str) -> int:
    return len(one._rows(f"SELECT * FROM {table}"))


@pytest.mark.parametrize("step", STEPS)
def test_a_kill_at_any_step_of_a_compression_loses_and_doubles_nothing(tmp_path: Path, step: str) -> None:
    """Each fact is kept once, the session goes on with one summary, every message has its one answer."""
    with world(tmp_path) as one:
        one.here.configure(
            access="owners: ['telegram:123']", memory="nudge_interval: 0", model="context_window: 7000"
        )
        one.start(HIKAE_FAILPOINT=step)
        talk(one)
        assert one.died(), f"{step} was never reached"
        one.kills += 1
        one.facts += FACTS.values()

        one.start()
        one.settle()
        talked = len(one.asked)
        for number in range(MOST_TURNS):
            one.chat(f"And thought number {number}: {'it rained. ' * 12}")
            one.settle()
            if count(one, "summaries"):
                break
        until(lambda: count(one, "summaries") == 1)

        assert len(one.asked) - talked <= 2
        assert [row[0] for row in one._rows("SELECT origin FROM writes WHERE status = 'applied'")] == ["flush"] * 2
        assert one._rows("SELECT count(*) FROM sessions WHERE generation > 1") == [(1,)]
        assert one.broken_promises() == []
