"""Files of a folder, read as text and cut: what the layers of skills and of other files have in common. No layer.

A link is not followed. What is no UTF-8 keeps its bytes, but for what is cut.
"""

import hashlib
from collections.abc import Iterator
from pathlib import Path

from gateway.memory.layers.layer import Sought
from gateway.store import textfile


def files(folder: Path) -> Iterator[Path]:
    """Every file below a folder, in order."""
    if folder.is_symlink() or not folder.is_dir():
        return
    for path in sorted(folder.iterdir()):
        if path.is_symlink():
            continue
        if path.is_dir():
            yield from files(path)
        elif path.is_file():
            yield path


def folders(folder: Path) -> Iterator[Path]:
    """Every folder below a folder, the deepest first."""
    if folder.is_symlink() or not folder.is_dir():
        return
    for path in sorted(folder.iterdir()):
        if path.is_dir() and not path.is_symlink():
            yield from folders(path)
            yield path


def text_of(path: Path) -> str:
    """A file as text; each byte that is no UTF-8 as a character of its own. Raises Unreadable."""
    return textfile.read(path).decode("utf-8", "surrogateescape")


def ref_of(layer: str, home: Path, path: Path) -> str:
    """How a file is named without saying its name, which may be words."""
    name = str(path.relative_to(home)).encode("utf-8", "surrogateescape")
    return f"{layer}:{hashlib.sha256(name).hexdigest()[:12]}"


def cut(path: Path, sought: Sought) -> bool:
    """Cut what is sought out of a file. True if it held it."""
    text = text_of(path)
    if not sought.holds(text):
        return False
    textfile.replace(path, sought.cut(text).encode("utf-8", "surrogateescape"))
    return True


def rename(path: Path) -> Path:
    """Give a file or folder a name without words."""
    number = 1
    while (free := path.with_name(f"forgotten-{number}{path.suffix if path.is_file() else ''}")).exists():
        number += 1
    textfile.rename(path, free)
    return free
