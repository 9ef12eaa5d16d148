"""`hikae memory pending` is looked at often: it imports what it shows and no more."""

import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = (
    "gateway.app",
    "gateway.serving",
    "gateway.conversation.commands",
    "gateway.conversation.tools",
    "gateway.memory.writing",
    "asyncio",
)


@pytest.mark.processes
def test_looking_imports_nothing_of_deciding(tmp_path: Path) -> None:
    """A third of a second was the import of what the list has no use for."""
    program = (
        "import sys; from gateway import cli; "
        f"cli.main(['--home', {str(tmp_path / 'home')!r}, 'memory', 'pending']); "
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert done.stdout == "Nothing waits for your yes.\n[]\n"
