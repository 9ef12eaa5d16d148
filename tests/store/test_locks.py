"""Locks between processes: freed by death, named by pid, waited for only so long."""

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from gateway.errors import StoreBusy
from gateway.store import locks
from gateway.store.filetrouble import Unwritable
from tests.store import given

_HOLD = """
import sys, signal
from pathlib import Path
from gateway.store import locks
from gateway.store.filetrouble import Unwritable
held = locks.try_lock(Path(sys.argv[1]))
print("held" if held else "refused", flush=True)
signal.pause()
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "run" / "gateway.lock"


def test_one_holder_at_a_time(path: Path) -> None:
    """Two gateways on one home would rewrite each other's memory."""
    first = locks.try_lock(path)
    assert first is not None

    assert (locks.try_lock(path), locks.is_locked(path), locks.holder(path)) == (None, True, os.getpid())
    first.release()
    second = locks.try_lock(path)
    assert second is not None
    second.release()
    assert (locks.is_locked(path), locks.holder(path)) == (False, None)


def test_a_killed_holder_is_no_obstacle(path: Path) -> None:
    """Nobody should have to delete a stale file by hand."""
    holder = subprocess.Popen([sys.executable, "-c", _HOLD, path], stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None
    with holder.stdout:
        assert holder.stdout.readline() == "held\n"
    with pytest.raises(StoreBusy, match=f"gateway.lock is held by process {holder.pid}"), locks.lock(path, 0.02):
        pass

    holder.send_signal(signal.SIGKILL)
    holder.wait()

    assert (locks.holder(path), locks.is_locked(path)) == (holder.pid, False)
    with locks.lock(path, 0):
        assert locks.holder(path) == os.getpid()


def test_waiting_ends_when_the_holder_lets_go(path: Path) -> None:
    """A tap that comes while a review writes waits a moment and is then done."""
    held = locks.try_lock(path)
    assert held is not None

    def take() -> int | None:
        with locks.lock(path, 10):
            return locks.holder(path)

    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(take)
        with pytest.raises(TimeoutError):
            waiting.result(timeout=0.05)
        held.release()

        assert waiting.result(timeout=10) == os.getpid()


def test_threads_exclude_each_other_too(path: Path) -> None:
    """Two lanes of one gateway write one space."""
    counted: list[int] = []

    def count() -> None:
        for _ in range(20):
            with locks.lock(path, 10):
                before = len(counted)
                counted.append(before)

    given.at_once(count, count, count)

    assert counted == list(range(60))


def test_a_discarded_lock_leaves_no_file_and_no_gap(path: Path) -> None:
    """Each job has a lock of its own; who waited for a file that was deleted must not think to hold it."""
    inside: list[int] = []
    most: list[int] = []

    def work() -> None:
        for _ in range(300):
            held = locks.try_lock(path)
            if held is not None:
                inside.append(1)
                most.append(len(inside))
                inside.pop()
                held.discard()

    given.at_once(work, work, work, work)

    assert (set(most), path.exists()) == ({1}, False)


def test_asking_about_a_lock_that_never_was_makes_no_file(path: Path) -> None:
    """`status` only looks."""
    assert (locks.is_locked(path), locks.holder(path), path.exists()) == (False, None, False)


def test_a_lock_in_a_home_that_cannot_be_written_is_a_sentence() -> None:
    """Every command takes one first: a read-only disk would give each of them a traceback."""
    nowhere = Path("/proc/nowhere/run/state.lock")

    with pytest.raises(Unwritable, match=f"{nowhere} cannot be changed"), locks.lock(nowhere, 0):
        pass


def test_a_full_disk_holds_locks_all_the_same(path: Path) -> None:
    """The pid in the file is a courtesy; what needs room says so itself."""
    script = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))\n" + _HOLD
    holder = subprocess.Popen([sys.executable, "-c", script, path], stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None
    with holder.stdout:
        assert holder.stdout.readline() == "held\n"

    assert (locks.is_locked(path), locks.holder(path)) == (True, None)

    holder.kill()
    holder.wait()
