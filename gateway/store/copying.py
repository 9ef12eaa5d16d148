"""Whole copies of a home's words: the database by SQLite's own backup, files one by one.

A copy is made beside its place and renamed when it is complete. Which files belong to one is `memory.backup`.
"""

import contextlib
import hashlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from gateway.store import leavings, migrating, textfile
from gateway.store.filetrouble import Unreadable, Unwritable, trouble
from gateway.store.transaction import Reader

_PART = 1 << 20


def copy_database(rd: Reader, to: Path) -> None:
    """The database as this snapshot sees it, whatever is written meanwhile."""
    with _in_words(to):
        migrating.copy(rd.connection, to)


def copy_database_file(path: Path, to: Path) -> None:
    """A database that nobody uses, byte by byte: whoever opens the copy is told where it is damaged.

    Not synced: most are for a moment. What is to stay goes through `put_in_place`.
    """
    textfile.copy_private(path, to)


def copy_file(path: Path, to: Path) -> None:
    """One file, with its mode."""
    textfile.replace(to, textfile.read(path))
    with _in_words(to):
        to.chmod(path.stat().st_mode & 0o777)


def move(path: Path, to: Path) -> None:
    """Take a file to where none is, on the same disk."""
    with _in_words(to):
        to.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        os.replace(path, to)


def files_below(folder: Path) -> Iterator[Path]:
    """The regular files in a folder and below it, in order; no links, nothing that `leavings` names."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink() and not leavings.is_leaving(path.name):
            yield path


def sha256_of(path: Path) -> str:
    """Of a file of any length. Raises Unreadable."""
    found = hashlib.sha256()
    try:
        with path.open("rb") as file:
            while part := file.read(_PART):
                found.update(part)
    except OSError as error:
        raise trouble(Unreadable, "file.unreadable", path, error) from error
    return found.hexdigest()


def make_folder(path: Path) -> None:
    """An empty folder for us alone; what was there goes."""
    remove_folder(path)
    with _in_words(path):
        path.mkdir(parents=True, mode=0o700)


def remove_folder(path: Path) -> None:
    """Delete a folder with all that is in it, overwritten; a link goes, not what it points at."""
    with _in_words(path):
        if path.is_symlink():
            path.unlink()
        elif path.is_dir():
            for file in sorted(path.rglob("*")):
                if file.is_file() and not file.is_symlink():
                    textfile.remove(file)
            shutil.rmtree(path)
        else:
            textfile.remove(path)


def put_in_place(path: Path, to: Path) -> None:
    """Give a finished file or folder its name; what had it goes. May be repeated after a kill.

    Each step is on disk before the next: what had the name is overwritten, and a power cut must find the one or the
    other whole.
    """
    with _in_words(to):
        if not path.exists():
            return  # it is there already
        _sync_all(path)
        if path.is_dir() and to.exists():
            # Nobody finds neither: what was there goes after the new one has its name.
            old = to.with_name(f".{to.name}.old.part")
            remove_folder(old)
            os.replace(to, old)
            os.replace(path, to)
            leavings.sync_folder(to.parent)
            remove_folder(old)
        else:
            os.replace(path, to)
        leavings.sync_folder(to.parent)


def _sync_all(path: Path) -> None:
    """A file, or a folder with all that is in it. Nobody may have a database in it open."""
    for each in (*path.rglob("*"), path):
        if not each.is_symlink() and (each.is_file() or each.is_dir()):
            handle = os.open(each, os.O_RDONLY)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)


@contextlib.contextmanager
def _in_words(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise trouble(Unwritable, "file.unwritable", path, error) from error
