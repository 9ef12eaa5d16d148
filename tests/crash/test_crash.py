"""The short form: a SIGKILL at every named step, and some at random moments. The seed is printed."""

import random
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest

from tests.crash.world import World, world
from tests.processes import until

pytestmark = pytest.mark.processes

ANIMALS = ("dog", "cat", "horse", "parrot", "tortoise", "goat")
SEED = 20261130

STEPS_OF_A_TURN = (
    "intake.kept",
    "turn.begun",
    "turn.calls_committed",
    "write.approved",
    "textfile.copy_written",
    "textfile.replaced",
    "write.replaced",
    "write.applied",
    "turn.tools_run",
    "turn.results_committed",
    "turn.answer_committed",
    "delivery.sent",
    "delivery.marked",
)

STEPS_OF_A_TAP = ("tap.acted", "write.approved", "textfile.replaced", "write.replaced", "write.applied")


def survives(one: World, step: str, visit: int) -> None:
    """Run the traffic with a step armed; when the process has died there, start again and wait."""
    one.start(HIKAE_FAILPOINT=f"{step}:{visit}")
    for animal in ANIMALS[:3]:
        one.remember(animal)
    until(lambda: one.died() or (not one.telegram.unconfirmed and one.is_quiet()), 60)
    if one.died():
        one.kills += 1
        one.start()
    one.settle()


@pytest.mark.parametrize("visit", [1, 3])
@pytest.mark.parametrize("step", STEPS_OF_A_TURN)
def test_a_kill_at_any_step_of_a_turn_loses_and_doubles_nothing(tmp_path: Path, step: str, visit: int) -> None:
    """One answer for each message, one write for each fact, one notice; whatever was half done is finished."""
    with world(tmp_path) as one:
        survives(one, step, visit)

        assert one.kills == 1, f"{step} was never reached"
        assert one.broken_promises() == []


@pytest.mark.parametrize("step", STEPS_OF_A_TAP)
def test_a_kill_at_any_step_of_a_tap_decides_once(tmp_path: Path, step: str) -> None:
    """A tap that was taken counts, and changes the file once."""
    with world(tmp_path, approves=True) as one:
        one.start()
        one.remember("dog")
        one.telegram.wait_until(lambda: one.cards(), 40)
        one.settle()
        one.here.end(one.process)
        one.start(HIKAE_FAILPOINT=step)
        one.tap_all()
        until(one.died)
        one.kills += 1
        one.start()
        one.settle()
        until(lambda: any("Use now" in shown.labels for shown in one.telegram.screen(123)))

        assert one.broken_promises() == []


def test_kills_at_random_moments_lose_and_double_nothing(tmp_path: Path) -> None:
    """What nobody thought of a name for."""
    chance = random.Random(SEED)
    print(f"seed {SEED}")
    with world(tmp_path, interval=2) as one:
        one.start("up")
        for number, animal in enumerate(ANIMALS):
            one.remember(animal)
            one.chat(f"good morning {number}")
            with suppress(subprocess.TimeoutExpired):
                one.process.wait(chance.uniform(0.05, 1.2))
            one.kill()
            one.start("up")
        one.settle()
        until(one.reviews_are_done, 60)

        assert one.broken_promises() == []
