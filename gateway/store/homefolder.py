"""Making the folders of a home, and closing what is ours to other accounts. Where things are: `home`."""

import contextlib
import stat
from collections.abc import Iterator
from pathlib import Path

from gateway.home import Home
from gateway.store.filetrouble import Unwritable, trouble


def prepare_home(home: Home) -> None:
    """Make the folders of a home (0700) and close what is ours to other accounts (files 0600).

    Memory files keep the mode that their person gave them; the home around them is closed.
    """
    try:
        for folder in (
            home.path, home.space_dir("owner"), home.path / "spaces", home.skills, home.backups, home.exports,
            home.logs, home.run,
        ):  # fmt: skip
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            _tighten(folder, 0o700)
        for file in (home.env_file, home.config, *_ours(home)):
            _tighten(file, 0o600)
    except OSError as error:
        raise trouble(Unwritable, "file.unwritable", home.path, error) from error


def _ours(home: Home) -> Iterator[Path]:
    yield from home.path.glob("state.db*")
    for folder in (home.backups, home.logs, home.exports):
        yield from folder.iterdir()


def _tighten(path: Path, mode: int) -> None:
    # A link may point into a folder shared with others on purpose; what belongs to others is for `doctor`.
    with contextlib.suppress(FileNotFoundError, PermissionError):
        now = path.lstat().st_mode
        if not stat.S_ISLNK(now) and now & 0o077:
            path.chmod(mode | 0o100 if stat.S_ISDIR(now) else mode)
