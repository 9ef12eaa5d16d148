"""Ledger and files agree, whoever does what at the same time (`python -m tests.crash.ledger` is the long form)."""

from pathlib import Path

import pytest

from tests.crash.ledger import trouble


@pytest.mark.processes
def test_eight_processes_at_one_memory_lose_and_resurrect_nothing(tmp_path: Path) -> None:
    """Adding, replacing, removing, approving, undoing, editing by hand, and being killed in the middle."""
    problems, told = trouble(tmp_path, seconds=10, processes=8, seed=7)

    assert problems == []
    assert min(told[status] for status in ("applied", "undone", "rejected", "kills")) > 0
