"""The lock of all who write state.db, and seeing that somebody waits for it.

Whoever cannot have it at once says so while waiting. Long work done in slices (`search_upkeep`) looks for that and
lets them in: the kernel gives a lock to whoever asks at the right moment, which between two slices is nearly never.
"""

import contextlib
from collections.abc import Iterator

from gateway.home import Home
from gateway.store import locks


@contextlib.contextmanager
def lock(home: Home, wait_seconds: float) -> Iterator[None]:
    """Hold the lock for a block. Raises StoreBusy, naming the holder, when it is not free in time."""
    held = locks.try_lock(home.state_lock, 0)
    with contextlib.ExitStack() as mine:
        if held is not None:
            mine.callback(held.release)
        else:
            with locks.said(home.state_waiting):
                mine.enter_context(locks.lock(home.state_lock, wait_seconds))
        yield


def somebody_waits(home: Home) -> bool:
    """Whether another process waits for the lock."""
    return locks.is_said(home.state_waiting)
