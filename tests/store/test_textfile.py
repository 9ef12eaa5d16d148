"""Files that a person owns: replaced whole or not at all, and never taken for empty."""

import errno
import multiprocessing
import os
import resource
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gateway.errors import GatewayError, StoreBusy
from gateway.home import Home
from gateway.store import textfile
from gateway.store.filetrouble import trouble
from gateway.store.textfile import Unreadable, Unwritable
from tests.store import given


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "MEMORY.md"
    path.write_bytes(b"Lives in Oslo\n")
    return path


def test_a_file_is_replaced_with_its_mode_kept(file: Path) -> None:
    """A household may share a memory file with a group."""
    file.chmod(0o660)

    textfile.replace(file, b"Lives in Bergen\n")

    assert file.read_bytes() == b"Lives in Bergen\n"
    assert stat.S_IMODE(file.stat().st_mode) == 0o660
    assert _names(file) == ["MEMORY.md"]


def test_a_new_file_is_private_and_gets_its_folder(tmp_path: Path) -> None:
    """The first write of a fresh home or a fresh space."""
    file = tmp_path / "spaces" / "telegram-123" / "MEMORY.md"

    textfile.replace(file, b"Lives in Bergen\n")

    assert file.read_bytes() == b"Lives in Bergen\n"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


def test_a_link_stays_and_its_target_is_changed(tmp_path: Path, file: Path) -> None:
    """People keep their notes in a synced folder and link them here."""
    link = tmp_path / "home" / "MEMORY.md"
    link.parent.mkdir()
    link.symlink_to(file)

    textfile.replace(link, b"Lives in Bergen\n")

    assert link.readlink() == file
    assert (file.read_bytes(), textfile.read(link)) == (b"Lives in Bergen\n", b"Lives in Bergen\n")


def test_a_dangling_link_is_not_an_empty_file(tmp_path: Path) -> None:
    """A drive that is not mounted yet: writing now would fork the memory."""
    link = tmp_path / "MEMORY.md"
    link.symlink_to(tmp_path / "usb" / "MEMORY.md")

    with pytest.raises(Unreadable, match=r"is a link to .*usb/MEMORY.md, which is not there"):
        textfile.read(link)
    with pytest.raises(Unwritable, match=r"is a link to .*usb/MEMORY.md, which is not there"):
        textfile.replace(link, b"Lives in Bergen\n")

    assert (link.is_symlink(), link.exists()) == (True, False)


def test_a_link_to_itself_ends_in_a_sentence(tmp_path: Path) -> None:
    """Not in a RuntimeError."""
    link = tmp_path / "MEMORY.md"
    link.symlink_to(link)

    with pytest.raises(Unreadable):
        textfile.read(link)
    with pytest.raises(Unwritable):
        textfile.replace(link, b"")


def test_a_folder_in_place_of_a_file_is_named(tmp_path: Path) -> None:
    """`mkdir` instead of `touch` happens."""
    folder = tmp_path / "MEMORY.md"
    folder.mkdir(mode=0o755)

    with pytest.raises(Unreadable, match=r"MEMORY.md cannot be read: Is a directory \(mode 0755\)"):
        textfile.read(folder)
    with pytest.raises(Unwritable, match=r"MEMORY.md cannot be changed: not a file \(mode 0755\)"):
        textfile.replace(folder, b"")


def test_a_read_only_file_stays_as_it_is(file: Path) -> None:
    """A rename would replace it without asking; its person wrote-protected it for a reason."""
    file.chmod(0o444)

    for refuse in (textfile.refuse_unwritable, lambda path: textfile.replace(path, b"Lives in Bergen\n")):
        with pytest.raises(Unwritable, match=r"MEMORY.md cannot be changed: read-only \(mode 0444\)"):
            refuse(file)

    assert file.read_bytes() == b"Lives in Oslo\n"


def test_a_missing_file_is_empty_and_may_be_written(tmp_path: Path) -> None:
    """An empty store has no file."""
    textfile.refuse_unwritable(tmp_path / "MEMORY.md")

    assert textfile.read(tmp_path / "MEMORY.md") == b""


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that any account may enter, unlike pytest's."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o777)
        yield folder


def test_a_file_closed_to_us_is_never_read_as_empty(open_folder: Path) -> None:
    """Other bots read it as empty, and the next write wiped it."""
    file = open_folder / "MEMORY.md"
    file.write_bytes(b"Lives in Oslo\n")
    file.chmod(0o000)

    said = _as_nobody(lambda: textfile.read(file))

    assert said.startswith(
        f"Unreadable: {file} cannot be read: Permission denied (mode 0000). Nothing was changed."
    )


def test_a_folder_closed_to_us_is_said_with_the_file(open_folder: Path) -> None:
    """The temporary copy cannot be made there."""
    folder = open_folder / "memories"
    folder.mkdir()
    file = folder / "MEMORY.md"
    file.write_bytes(b"Lives in Oslo\n")
    file.chmod(0o666)
    folder.chmod(0o555)

    said = _as_nobody(lambda: textfile.replace(file, b""))

    assert said.startswith(f"Unwritable: {file} cannot be changed: its folder is read-only (mode 0555).")


def test_a_write_that_breaks_off_leaves_the_old_file_and_no_words(file: Path) -> None:
    """A full disk: the half-written copy holds somebody's words and must not stay."""
    said = _in_child(_limited, file)

    assert said.startswith("Unwritable:") or said.startswith("StoreBusy:")
    assert file.read_bytes() == b"Lives in Oslo\n"
    assert _names(file) == ["MEMORY.md"]


def test_a_full_disk_is_worth_another_try() -> None:
    """Space comes back; a message that could not be kept is not confirmed until then."""
    full = OSError(errno.ENOSPC, "No space left on device")

    assert isinstance(trouble(Unwritable, "file.unwritable", Path("MEMORY.md"), full), StoreBusy)


_KILLED = """
import sys
from pathlib import Path
from gateway import failpoints
from gateway.store import textfile
from gateway.store.filetrouble import trouble
failpoints.arm(sys.argv[2])
textfile.replace(Path(sys.argv[1]), b"Lives in Bergen\\n")
"""


@pytest.mark.parametrize(
    ("step", "content"),
    [("textfile.copy_written", b"Lives in Oslo\n"), ("textfile.replaced", b"Lives in Bergen\n")],
)
def test_a_kill_leaves_the_old_or_the_new_file_whole(file: Path, step: str, content: bytes) -> None:
    """And what the killed process left beside it goes with the next write."""
    killed = subprocess.run([sys.executable, "-c", _KILLED, file, step], check=False)

    assert killed.returncode == -signal.SIGKILL
    assert file.read_bytes() == content
    textfile.replace(file, b"Lives in Tromso\n")
    assert _names(file) == ["MEMORY.md"]


@pytest.mark.parametrize("code", [errno.EXDEV, errno.EBUSY])
def test_a_file_that_is_a_mount_point_is_written_in_place(
    file: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    """Containers mount single files; nothing can be renamed over them. The kernel is the port that is faked."""

    def refuse(source: Path, target: Path) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "replace", refuse)

    textfile.replace(file, b"Hi\n")

    assert file.read_bytes() == b"Hi\n"
    assert _names(file) == ["MEMORY.md"]


def test_what_is_set_aside_is_never_overwritten(file: Path) -> None:
    """Content that we cannot keep is its person's to sort out; a retry makes no second copy of the same."""
    first = textfile.set_aside(file, given.NINE)
    again = textfile.set_aside(file, given.after(hours=1))
    textfile.replace(file, b"Lives in Bergen\n")
    second = textfile.set_aside(file, given.NINE)

    assert first.name == "MEMORY.md.bak.20261130T090007Z"
    assert again == first
    assert second.name == "MEMORY.md.bak.20261130T090007Z-2"
    assert (first.read_bytes(), second.read_bytes()) == (b"Lives in Oslo\n", b"Lives in Bergen\n")


def test_private_files_are_private_whatever_they_were(file: Path) -> None:
    """The owner code opens the door."""
    file.chmod(0o644)

    textfile.write_private(file, b"K7QX29PD")

    assert (file.read_bytes(), stat.S_IMODE(file.stat().st_mode)) == (b"K7QX29PD", 0o600)


def test_removing_twice_is_fine_and_a_link_loses_only_itself(tmp_path: Path, file: Path) -> None:
    """`memory reset` deletes the file of this home, not what it points at."""
    link = tmp_path / "USER.md"
    link.symlink_to(file)

    textfile.remove(link)
    textfile.remove(link)

    assert _names(file) == ["MEMORY.md"]


def test_a_home_is_made_closed_and_loose_modes_are_closed(home: Home) -> None:
    """A memory file keeps the mode its person gave it."""
    home.space_dir("owner").mkdir(parents=True, mode=0o755)
    memory = home.space_dir("owner") / "MEMORY.md"
    for path in (home.env_file, home.config, memory):
        path.write_text("x", encoding="utf-8")
        path.chmod(0o664)

    textfile.prepare_home(home)

    modes = {path.relative_to(home.path).as_posix(): stat.S_IMODE(path.stat().st_mode) for path in _all(home.path)}
    assert modes == {
        ".": 0o700,
        ".env": 0o600,
        "backups": 0o700,
        "config.yaml": 0o600,
        "exports": 0o700,
        "logs": 0o700,
        "memories": 0o700,
        "memories/MEMORY.md": 0o664,
        "run": 0o700,
        "skills": 0o700,
        "spaces": 0o700,
    }


def test_a_linked_config_keeps_its_mode(home: Home, tmp_path: Path) -> None:
    """It may lie in a folder that others read on purpose."""
    dotfiles = tmp_path / "config.yaml"
    dotfiles.write_text("{}", encoding="utf-8")
    dotfiles.chmod(0o644)
    home.path.mkdir()
    home.config.symlink_to(dotfiles)

    textfile.prepare_home(home)

    assert stat.S_IMODE(dotfiles.stat().st_mode) == 0o644


def test_a_file_in_place_of_the_home_is_named(tmp_path: Path) -> None:
    """`--home notes.txt`."""
    (tmp_path / "notes.txt").write_text("x", encoding="utf-8")

    with pytest.raises(Unwritable, match=r"notes\.txt cannot be changed"):
        textfile.prepare_home(Home(tmp_path / "notes.txt"))


def _names(file: Path) -> list[str]:
    return sorted(path.name for path in file.parent.iterdir())


def _all(folder: Path) -> list[Path]:
    return [folder, *sorted(folder.rglob("*"))]


def _limited(path: Path) -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
    textfile.replace(path, b"Lives in Bergen\n" * 1000)


def _as_nobody(action: Callable[[], object]) -> str:
    """What is said when an account without rights does it: root would be let in everywhere."""

    def act(_: Path) -> None:
        if os.geteuid() == 0:
            os.setgid(65534)
            os.setuid(65534)
        action()

    return _in_child(act, Path())


def _in_child(action: Callable[[Path], None], path: Path) -> str:
    """Run it in a process of its own; the class and text of the error of ours that it ended with."""
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe(duplex=False)

    def run() -> None:
        try:
            action(path)
            theirs.send("done")
        except GatewayError as error:
            theirs.send(f"{type(error).__name__}: {error}")

    child = context.Process(target=run)
    child.start()
    theirs.close()
    with ours:
        said: str = ours.recv()
    child.join()
    child.close()
    return said
