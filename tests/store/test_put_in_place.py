"""Putting a restored home in the place of another one, with a kill in the middle."""

from pathlib import Path

import pytest

from gateway.home import Home
from gateway.store import copying, restoring, textfile


class Killed(BaseException):
    """Nothing catches it."""


@pytest.mark.parametrize("before", ["memories", "skills"])
def test_a_folder_that_was_replaced_goes_whenever_the_kill_comes(
    home: Home, before: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It holds what may be forgotten later, under a name that nobody looks at."""
    for name in ("memories", "skills"):
        _write(home.path / name / "text.md", "as it is now")
        _write(restoring.scratch(home) / name / "text.md", "as it was")
    restoring.begin(home)
    remove = copying.remove_folder

    def kill(path: Path) -> None:
        if path.name == f".{before}.old.part" and path.exists():
            raise Killed
        remove(path)

    with monkeypatch.context() as patched, pytest.raises(Killed):
        patched.setattr(copying, "remove_folder", kill)
        restoring.finish(home)

    assert restoring.finish(home)
    assert sorted(path.name for path in home.path.iterdir() if path.name.startswith(".")) == []
    for name in ("memories", "skills"):
        assert (home.path / name / "text.md").read_text("utf-8") == "as it was"
    assert not restoring.scratch(home).exists()


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    textfile.replace(path, text.encode())
