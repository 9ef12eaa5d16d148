"""Two phrases that went through every door, one forget, and a kill -9 at each step of it."""

import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from gateway import failpoints
from gateway.home import Home
from gateway.memory.forgetting import Forgetting, Scope
from gateway.memory.layers import LAYERS
from gateway.memory.writing import Memory
from gateway.records import Forget
from gateway.store import forgets, people
from gateway.store.db import Database
from tests.store import canaries
from tests.store.canaries import CANARIES, hits
from tests.store.given import StillClock
from tests.store.remembering import OWNER, settings

SCOPE = Scope((*CANARIES, "Lysekil heron"))
UNTOUCHED = ["SOUL.md", "notes.txt"]
INSIDE = (
    "forget.begun",
    "forget.entries.noted",
    "forget.entries.replaced",
    "forget.ledger.row:2",
    "forget.skills.file",
    "forget.files.one:2",
    "forget.messages.batch",
    "forget.prompts.one",
    "forget.copies.one",
    "forget.backups.rewritten",
    "forget.backups.one",
    "textfile.copy_written:2",
    "textfile.replaced:2",
    "search.merged",
    "forget.layers_erased",
    "forget.swept",
    "forget.verified",
    "forget.words_gone",
    "forget.done",
)
BETWEEN = tuple(
    f"forget.{when}.{layer.name}"
    for layer in LAYERS
    if layer.name not in ("sessions", "people", "providers")
    for when in ("layer", "erased")
)


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Besides all that is to go, something that is left and something that no layer knows: both are told."""
    home = Home(tmp_path_factory.mktemp("canaries") / "home")
    canaries.plant(home)
    home.soul.write_text(f"You love {CANARIES[0]}, {CANARIES[0]}.")
    (home.path / "notes.txt").write_text(CANARIES[1])
    return home.path


@pytest.fixture(scope="module")
def told(planted: Path, tmp_path_factory: pytest.TempPathFactory) -> Forget:
    """The receipt where nobody is killed."""
    home = Home(tmp_path_factory.mktemp("whole") / "home")
    shutil.copytree(planted, home.path, copy_function=shutil.copy2)
    forget(home)
    return receipt(home)


@pytest.fixture
def home(planted: Path, tmp_path: Path) -> Home:
    shutil.copytree(planted, tmp_path / "home", copy_function=shutil.copy2)
    return Home(tmp_path / "home")


def test_the_phrases_were_everywhere(planted: Path) -> None:
    """A forget of what is nowhere would prove nothing."""
    found = hits(planted)

    assert len(found) >= 12, found


def test_one_forget_leaves_no_byte_and_changes_nothing_else(home: Home) -> None:
    """The promise (5), for what can be reached without a chat."""
    before = innocents(home)

    forget(home)

    assert hits(home.path) == UNTOUCHED
    assert innocents(home) == before


def test_the_receipt_tells_what_is_left_and_what_nobody_knew(told: Forget) -> None:
    """Only such a one shows whether it is still the same after a kill: a clean one is easily made up."""
    assert told.left == (("SOUL.md", 2),)
    assert (told.verified["how"], told.verified["clean"], told.verified["where"]) == ("bytes", False, ["notes.txt"])


@pytest.mark.parametrize("step", (*INSIDE, *BETWEEN))
def test_killed_anywhere_it_is_finished_by_whoever_comes_next(home: Home, told: Forget, step: str) -> None:
    """Every step may be repeated, and the receipt is true: it says what went before the kill, too."""
    before = innocents(home)
    killed = subprocess.run(
        [sys.executable, "-m", "tests.store.test_forgetting_kills", str(home.path), step], check=False, timeout=120
    )
    assert killed.returncode == -9, step

    with Database.open(home, StillClock()) as db:
        forgetting = forgetting_of(home, db)
        with db.read() as rd:
            waiting = forgets.erasing(rd)
        assert all(forgetting.go_on(id) for id in waiting)

    assert hits(home.path) == UNTOUCHED
    assert innocents(home) == before
    done = receipt(home)
    assert (done.status, done.verified, done.left) == ("done", told.verified, told.left)
    gone, whole = counts(done), counts(told)
    assert [layer for layer in whole if gone[layer] < whole[layer]] == []


def test_a_receipt_says_as_much_as_the_plan_showed(home: Home) -> None:
    """Whoever saw a summary in the plan must not read on the receipt that none went."""
    with Database.open(home, StillClock()) as db, db.read() as rd:
        space = people.space_named(rd, "owner")
        plan = forgetting_of(home, db).plan(space, SCOPE)

    forget(home)

    shown = {layer.layer: layer.found for layer in plan.layers if layer.layer not in ("backups", "copies")}
    shown["files"] -= 1  # what was half-written goes with the file that it was to become
    gone = counts(receipt(home))
    assert {layer: gone[layer] for layer in shown} == shown


def forget(home: Home) -> None:
    with Database.open(home, StillClock()) as db:
        forgetting = forgetting_of(home, db)
        with db.read() as rd:
            space = people.space_named(rd, "owner")
        assert forgetting.go_on(forgetting.forget(space, SCOPE, OWNER))


def receipt(home: Home) -> Forget:
    with Database.open(home, StillClock()) as db, db.read() as rd:
        [one] = forgets.listed(rd, None)
    return one


def counts(one: Forget) -> dict[str, int]:
    """What the receipt says of each layer; copies that were rewritten before a kill are not counted again."""
    return {step.layer: step.erased or 0 for step in one.steps if step.layer not in ("backups", "copies")}


def forgetting_of(home: Home, db: Database) -> Forgetting:
    clock = StillClock()
    return Forgetting(db, home, clock, settings(), Memory(db, home, clock, settings()))


def innocents(home: Home) -> Mapping[str, object]:
    """What must be the same, byte for byte."""
    memory = home.memory_file("owner", "memory").read_text().split("\n§\n")
    found: dict[str, object] = {
        "entries": [text for text in memory if "Lysekil" not in text],
        "other": home.memory_file("telegram-456", "memory").read_bytes(),
        "skill": (home.skills_dir("telegram-456") / "tea" / "SKILL.md").read_bytes(),
        "export": (home.exports / "telegram-456" / "all.json").read_bytes(),
    }
    with Database.open(home, StillClock()) as db, db.read() as rd:
        for sql in (
            "SELECT * FROM messages WHERE text LIKE '%grey%' ORDER BY id",
            "SELECT * FROM sessions WHERE id LIKE '%innocent'",
            "SELECT operations, status, reason, before, after FROM writes "
            "WHERE operations LIKE '%short answers%' OR operations LIKE '%spring%' ORDER BY id",
            "SELECT text FROM chunks WHERE text LIKE 'Good night%'",
        ):
            found[sql] = [tuple(row) for row in rd.rows(sql)]
    return found


def _die(path: str, step: str) -> None:
    home = Home(Path(path))
    with Database.open(home, StillClock()) as db:
        forgetting = forgetting_of(home, db)
        with db.read() as rd:
            space = people.space_named(rd, "owner")
            begun = [one.id for one in forgets.listed(rd, None)]
        failpoints.arm(step)
        for id in begun or [forgetting.forget(space, SCOPE, OWNER)]:
            forgetting.go_on(id)


if __name__ == "__main__":
    _die(*sys.argv[1:])
