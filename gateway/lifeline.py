"""Processes that end with the process that started them.

A killed gateway or worker cannot tidy up after itself, so the kernel does it: Linux sends a signal to a
child when the thread that started it ends (PR_SET_PDEATHSIG). That is why a start belongs into a thread
that lives long. Elsewhere than on Linux nothing happens here: there an orderly stop has to do.

`command` starts a foreign program under this care by running this file as a small script, which then
becomes that program; it needs the standard library only. The one thing you would not guess: the script
also takes the program's lock and leaves it open, so the lock is the program's own and outlives whoever
started it by exactly as long as the program does.
"""

import ctypes
import fcntl
import os
import resource
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

ALREADY_RUNS = 75
"""The exit code of a program that was not started because its lock is taken."""

_PR_SET_PDEATHSIG = 1


def die_with(parent: int, how: signal.Signals) -> None:
    """Have the kernel send us `how` when our parent ends; ends us now if that has happened already."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(how), 0, 0, 0)
    if os.getppid() != parent:
        os._exit(0)


def leave_no_core() -> None:
    """A process that crashes writes nothing of its memory to a disk: people's words are in it."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def command(argv: Sequence[str], *, how: signal.Signals, lock: Path) -> list[str]:
    """The command line that runs `argv` bound to us and under `lock`."""
    script = str(Path(__file__).resolve())
    return [sys.executable, "-I", "-S", script, str(os.getpid()), str(int(how)), str(lock), *argv]


def _become(parent: int, how: signal.Signals, lock: Path, argv: list[str]) -> None:
    # A mask is inherited: whoever started us may have been waiting for signals with them blocked.
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    die_with(parent, how)
    _hold(lock)
    os.execv(argv[0], argv)


def _hold(lock: Path) -> None:
    holder = os.open(lock, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(holder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise SystemExit(ALREADY_RUNS) from None
    os.ftruncate(holder, 0)
    os.write(holder, str(os.getpid()).encode())
    os.set_inheritable(holder, True)


if __name__ == "__main__":
    _become(int(sys.argv[1]), signal.Signals(int(sys.argv[2])), Path(sys.argv[3]), sys.argv[4:])
