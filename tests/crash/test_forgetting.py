"""A forget survives kills (`python -m tests.crash.forgetting` is the long form)."""

from pathlib import Path

import pytest

from tests.crash.forgetting import trial


@pytest.mark.processes
def test_ten_kills_leave_no_byte_and_a_true_receipt(tmp_path: Path) -> None:
    """In the gateway, the bot with its worker, and the command; whoever comes next finishes it."""
    with trial(tmp_path, seed=4) as one:
        problems = one.run(10)

    assert problems == []
    assert one.kills >= 10
