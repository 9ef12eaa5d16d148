"""What a power cut finds of a copy that was to take another one's place."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from gateway.store import copying


def test_all_of_a_folder_is_on_disk_before_it_takes_the_place_of_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What had the name is overwritten at once: with neither on disk a backup would be gone."""
    new, old = tmp_path / ".20261130.part", tmp_path / "20261130"
    for folder, text in ((new, "Likes tea\n"), (old, "Lives in Drammen\n")):
        (folder / "memories").mkdir(parents=True)
        (folder / "memories" / "MEMORY.md").write_text(text)
    done = _watched(monkeypatch)

    copying.put_in_place(new, old)

    assert (old / "memories" / "MEMORY.md").read_text() == "Likes tea\n"
    taken = done.index(f"replace {new}")
    overwritten = next(at for at, one in enumerate(done) if one.startswith("pwrite "))
    for path in (new / "memories" / "MEMORY.md", new / "memories", new):
        assert f"fsync {path}" in done[:taken]
    assert f"fsync {tmp_path}" in done[taken:overwritten]


def test_a_file_is_on_disk_before_it_gets_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A copy of a database is not synced while it is made."""
    new, old = tmp_path / "new.db", tmp_path / "state.db"
    new.write_text("whole")
    done = _watched(monkeypatch)

    copying.put_in_place(new, old)

    assert done == [f"fsync {new}", f"replace {new}", f"fsync {tmp_path}"]


def _watched(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is done to which file from now on, by the name that it has then."""
    done: list[str] = []

    def watch(name: str, named: Callable[[object], str]) -> None:
        real = getattr(os, name)

        def call(what: object, *given: object) -> object:
            done.append(f"{name} {named(what)}")
            return real(what, *given)

        monkeypatch.setattr(os, name, call)

    watch("replace", str)
    for name in ("fsync", "pwrite"):
        watch(name, lambda handle: os.readlink(f"/proc/self/fd/{handle}"))
    return done
