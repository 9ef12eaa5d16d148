"""Copies that we left in the home: what was set aside of memory files, half-written ones, exports, our own history.

An entry that holds it leaves a `.bak` file as it leaves the memory file; an export goes whole: it is a copy.
"""

import gzip
import os
import re
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

from gateway import failpoints
from gateway.errors import StoreBusy
from gateway.memory import entries
from gateway.memory.layers import trees
from gateway.memory.layers.layer import Ground, Item, Kind, Layer, LayerPlan, Sought, listed
from gateway.records import Action, Operation
from gateway.store import leavings, restoring, textfile

NAME = "files"


def find(ground: Ground, sought: Sought) -> LayerPlan:
    return listed(NAME, (item for item, _ in _found(ground, sought)))


def erase(ground: Ground, sought: Sought) -> int:
    erased = 0
    with ground.files.locked(ground.space):
        textfile.overwrite_replaced(ground.home.space_dir(ground.space.name))  # whatever it holds
        for _, path in list(_found(ground, sought)):
            _erase(ground, sought, path)
            failpoints.reach("forget.files.one")
            erased += 1
    return erased


def exports(ground: Ground) -> Iterator[Path]:
    """The exports of a space: a folder of its own; what lies outside of those counts as the owner's."""
    root = ground.home.exports
    yield from trees.files(root / ground.space.name)
    if ground.is_owners and root.is_dir():
        yield from (path for path in sorted(root.iterdir()) if path.is_file() and not path.is_symlink())


def _found(ground: Ground, sought: Sought) -> Iterator[tuple[Item, Path]]:
    for path in paths(ground):
        ref = trees.ref_of(NAME, ground.home.path, path)
        text = _text(path)
        if text is None:  # packed, and broken: it may hold anything
            if ref not in sought.left_out:
                yield Item(ref, path.name), path
        elif sought.goes(ref, text, path.name):
            yield Item(ref, f"{path.name}: {sought.excerpt(_shown(ground, path, text, sought))}"), path


def _shown(ground: Ground, path: Path, text: str, sought: Sought) -> str:
    """What of a file its excerpt is from: of the history of the terminal, the line that was typed."""
    if path != ground.home.terminal_history:
        return text
    return next((said for lines in _typed(text) if sought.holds(said := _said(lines))), text)


def paths(ground: Ground) -> Iterator[Path]:
    """All such copies that belong to a space."""
    folder = ground.home.space_dir(ground.space.name)
    if folder.is_dir():
        for path in sorted(folder.iterdir()):
            ours = ".bak." in path.name or leavings.is_leaving(path.name)
            if ours and path.is_file() and not path.is_symlink():
                yield path
    yield from exports(ground)
    if ground.is_owners:
        yield from trees.files(ground.home.import_scratch)
        if _restores_nothing(ground):
            yield from trees.files(restoring.scratch(ground.home))
        if ground.home.terminal_history.is_file():
            yield ground.home.terminal_history


def _restores_nothing(ground: Ground) -> bool:
    """Whether what lies ready was left by somebody who was killed: a restore holds the lock of the gateway."""
    lock = ground.home.gateway_lock
    free = not textfile.is_locked(lock) or textfile.holder(lock) == os.getpid()
    return free and not ground.home.restoring.exists()


def _text(path: Path) -> str | None:
    """What a file says; of an export that is packed, what is in it. None: it cannot be unpacked."""
    try:
        text = _unpacked(path).decode("utf-8", "surrogateescape")
    except (OSError, EOFError, zlib.error, zipfile.BadZipFile, RuntimeError):
        return None
    return f"{text}\n{_unescaped(text)}" if "\\u" in text else text


def _unpacked(path: Path) -> bytes:
    data = textfile.read(path)
    if data[:2] == b"\x1f\x8b":
        return gzip.decompress(data)
    if data[:4] == b"PK\x03\x04":
        with zipfile.ZipFile(path) as packed:
            return b"\n".join(packed.read(name) for name in packed.namelist())
    return data


def _unescaped(text: str) -> str:
    """JSON may write any character as an escape."""
    plain = _ESCAPE.sub(lambda escape: chr(int(escape[1], 16)), text)
    return plain.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


_ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})")


def _erase(ground: Ground, sought: Sought, path: Path) -> None:
    if path.is_relative_to(ground.home.import_scratch) and textfile.is_locked(ground.home.import_lock):
        raise StoreBusy("something is being imported")
    whole = (ground.home.exports, ground.home.import_scratch, restoring.scratch(ground.home))
    if sought.everything or leavings.is_leaving(path.name) or any(map(path.is_relative_to, whole)):
        textfile.remove(path)
    elif path == ground.home.terminal_history:
        textfile.replace(path, _without_lines(trees.text_of(path), sought).encode("utf-8", "surrogateescape"))
    else:
        _without_entries(path, sought)
        trees.cut(path, sought)
        if sought.holds(path.name):
            trees.rename(path)


def _without_entries(path: Path, sought: Sought) -> None:
    doc = entries.parse(textfile.read(path))
    removing = [Operation(Action.REMOVE, old_text=text) for text in doc.texts if sought.holds(text)]
    change = entries.apply(removing, doc, None) if removing else entries.AlreadyThere()
    if isinstance(change, entries.Applied):
        textfile.replace(path, entries.render(change.doc))


def _without_lines(history: str, sought: Sought) -> str:
    """The history of the terminal without what was typed that holds it."""
    return "".join("".join(lines) for lines in _typed(history) if not sought.holds(_said(lines)))


def _typed(history: str) -> list[list[str]]:
    """The lines of each thing that was typed: `# time`, then lines with a `+` before."""
    typed: list[list[str]] = []
    for line in history.splitlines(keepends=True):
        ended = bool(typed) and typed[-1][-1].startswith("+") and not line.startswith("+")
        if not typed or ended:
            typed.append([])
        typed[-1].append(line)
    return typed


def _said(lines: list[str]) -> str:
    return "".join(line.removeprefix("+") for line in lines if line.startswith("+"))


LAYER = Layer(NAME, find, erase, (Kind.PASSAGE, Kind.EVERYTHING))
