"""Starting `python -m workers`: what keeps it from working is a sentence and an exit code."""

import pytest

from workers.__main__ import main


@pytest.mark.parametrize("arguments", [[], ["--burst"]])
def test_a_home_that_cannot_be_written_is_a_sentence(
    capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    """A read-only disk is for the operator to put right, and a traceback tells them nothing."""
    code = main(["--home", "/proc/nowhere", *arguments])

    said = capsys.readouterr()
    assert (code, said.out) == (1, "")
    assert said.err.startswith("/proc/nowhere cannot be changed: ")
