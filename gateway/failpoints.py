"""Named steps at which a test may stop the process.

`reach("turn.answer_committed")` costs one comparison in production. A test arms one name for a whole
process (settings reads HIKAE_FAILPOINT, the composition roots call `arm`); the process then dies there
as if by `kill -9`. This holds the one piece of module-level state in the house.
"""

import os
import signal

_armed: str | None = None
_visits_left = 0


def arm(spec: str | None) -> None:
    """Arm one step: `name`, or `name:3` to let two visits pass and die at the third; None disarms."""
    global _armed, _visits_left  # noqa: PLW0603 - the one mutable module state, see the docstring
    name, _, visits = (spec or "").partition(":")
    _armed = name or None
    _visits_left = int(visits or 1)


def reach(name: str) -> None:
    """Say that a step was reached; dies here when it is the armed one."""
    if _armed is not None and name == _armed:
        _die_on_last_visit()


def _die_on_last_visit() -> None:
    global _visits_left  # noqa: PLW0603 - as above
    _visits_left -= 1
    if _visits_left <= 0:
        os.kill(os.getpid(), signal.SIGKILL)
