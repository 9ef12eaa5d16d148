"""What a memory file held before it was replaced: overwritten a little later, and never left for good."""

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from gateway.store import copying, leavings, textfile

OLD, NEW = b"Lives in Oslo\n", b"Lives in Bergen\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "MEMORY.md"
    path.write_bytes(OLD)
    path.chmod(0o640)
    return path


def test_a_swapped_file_keeps_its_mode_and_what_it_held_waits_beside_it(file: Path) -> None:
    """The write need not wait until it is overwritten; but somebody must be able to find it."""
    textfile.swap(file, NEW)

    (second,) = _seconds(file)
    assert (file.read_bytes(), (file.parent / second).read_bytes()) == (NEW, OLD)
    assert file.stat().st_mode & 0o777 == 0o640
    assert textfile.has_replaced(file.parent)


def test_what_it_held_is_overwritten_and_then_loses_its_name(file: Path) -> None:
    """A replaced file is overwritten before it is unlinked (design.md, promise 5)."""
    with file.open("rb") as held:
        textfile.swap(file, NEW)

        assert textfile.overwrite_replaced(file.parent) == 1

        assert held.read() == bytes(len(OLD))
    assert _names(file) == ["MEMORY.md"]
    assert file.read_bytes() == NEW


def test_a_file_that_was_replaced_at_once_leaves_nothing_of_earlier_swaps(file: Path) -> None:
    """What erases for good must not leave what an earlier write put off."""
    textfile.swap(file, NEW)

    textfile.replace(file, b"")

    assert _names(file) == ["MEMORY.md"]


def test_little_waits_however_often_a_file_is_written(file: Path) -> None:
    """Where nobody keeps house, the writes themselves see to it."""
    waiting = []
    for number in range(3 * leavings.MOST_REPLACED):
        textfile.swap(file, f"{number}\n".encode())
        waiting.append(len(_seconds(file)))

    assert max(waiting) == leavings.MOST_REPLACED + 1


@pytest.mark.parametrize("code", [errno.EPERM, errno.ENOTSUP, errno.EMLINK, errno.EXDEV, errno.ENOSYS])
def test_where_no_links_can_be_made_it_is_overwritten_at_once(
    file: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    """FAT, some network disks. The kernel is the port that is faked."""

    def refuse(*_: object, **__: object) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "link", refuse)
    with file.open("rb") as held:
        textfile.swap(file, NEW)

        assert held.read() == bytes(len(OLD))
    assert _names(file) == ["MEMORY.md"]


def test_beside_the_target_of_a_link_nothing_waits(tmp_path: Path, file: Path) -> None:
    """That folder is not ours: a synced one would carry the words off."""
    link = tmp_path / "home" / "MEMORY.md"
    link.parent.mkdir()
    link.symlink_to(file)

    textfile.swap(link, NEW)

    assert (_names(file), _names(link)) == (["MEMORY.md", "home"], ["MEMORY.md"])
    assert file.read_bytes() == NEW


def test_a_second_name_that_a_person_made_keeps_the_words(tmp_path: Path, file: Path) -> None:
    """`cp -l` is how some make their copies."""
    theirs = tmp_path / "theirs"
    os.link(file, theirs)
    textfile.swap(file, NEW)

    textfile.overwrite_replaced(file.parent)

    assert theirs.read_bytes() == OLD
    assert _names(file) == ["MEMORY.md", "theirs"]


def test_a_file_that_a_person_called_old_stays(file: Path) -> None:
    """Only our own names are ours."""
    for name in (".MEMORY.md.old", "MEMORY.md.1-0123abcd.old", ".notes.old"):
        (file.parent / name).write_bytes(b"mine")

    textfile.overwrite_replaced(file.parent)
    textfile.replace(file, NEW)

    assert len(_names(file)) == 4
    assert (file.parent / ".MEMORY.md.old").read_bytes() == b"mine"


def test_who_reads_while_it_is_replaced_and_overwritten_reads_again(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An overwritten file still has a name for an instant: zeros must not be taken for somebody's memory."""
    opened: list[object] = []

    def opening(path: Path, mode: str) -> object:
        found = Path(path).open(mode)  # noqa: SIM115 - closed by the reader
        if not opened:
            opened.append(path)
            _overwritten_but_named(file)
        return found

    monkeypatch.setattr(textfile, "open", opening, raising=False)

    assert textfile.read(file) == NEW


def _overwritten_but_named(file: Path) -> None:
    os.link(file, file.parent / ".MEMORY.md.1-0123abcd.old")
    (file.parent / "copy").write_bytes(NEW)
    (file.parent / "copy").replace(file)
    (file.parent / ".MEMORY.md.1-0123abcd.old").write_bytes(bytes(len(OLD)))


def test_the_rename_is_on_disk_before_anything_is_overwritten(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed after the rename, and then the power goes: the old name may come back, and it needs its words."""
    _dies_at(file, "textfile.replaced")
    done: list[str] = []

    def noted(name: str) -> None:
        real = getattr(os, name)

        def call(*given: object) -> object:
            done.append(name)
            return real(*given)

        monkeypatch.setattr(os, name, call)

    for name in ("fsync", "pwrite", "fdatasync"):
        noted(name)

    textfile.overwrite_replaced(file.parent)

    assert done == ["fsync", "pwrite", "fdatasync"]


@pytest.mark.parametrize(
    ("step", "content"),
    [
        ("textfile.copy_written", OLD),
        ("textfile.linked", OLD),
        ("textfile.replaced", NEW),
        ("textfile.old_overwritten", NEW),
        ("textfile.old_removed", NEW),
    ],
)
@pytest.mark.parametrize("then", ["housekeeping", "a write"])
def test_a_kill_leaves_the_file_whole_and_what_it_left_goes(
    file: Path, step: str, content: bytes, then: str
) -> None:
    """Above all between link and rename: the file has two names then, and must not be overwritten under one."""
    _dies_at(file, step)

    assert file.read_bytes() == content
    textfile.overwrite_replaced(file.parent)
    assert file.read_bytes() == content
    if then == "a write":
        textfile.swap(file, b"Lives in Tromso\n")
        textfile.overwrite_replaced(file.parent)
        assert _names(file) == ["MEMORY.md"]
    assert not _seconds(file)


def test_copies_of_a_folder_do_not_take_it_along(file: Path) -> None:
    """A backup would keep for years what was to be gone in a minute."""
    textfile.swap(file, NEW)

    assert list(copying.files_below(file.parent)) == [file]


_KILLED = """
import sys
from pathlib import Path
from gateway import failpoints
from gateway.store import textfile
from gateway.store.filetrouble import trouble
failpoints.arm(sys.argv[2])
textfile.swap(Path(sys.argv[1]), b"Lives in Bergen\\n")
textfile.overwrite_replaced(Path(sys.argv[1]).parent)
"""


def _dies_at(file: Path, step: str) -> None:
    killed = subprocess.run([sys.executable, "-c", _KILLED, file, step], check=False)
    assert killed.returncode == -signal.SIGKILL


def _names(file: Path) -> list[str]:
    return sorted(os.listdir(file.parent))


def _seconds(file: Path) -> list[str]:
    return [name for name in _names(file) if name.endswith(".old")]
