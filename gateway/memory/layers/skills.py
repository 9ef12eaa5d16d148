"""Skills, and those in the archive: words are cut out of their files, and out of their names."""

from collections.abc import Iterator
from pathlib import Path

from gateway import failpoints
from gateway.memory.layers import trees
from gateway.memory.layers.layer import Ground, Item, Kind, Layer, LayerPlan, Sought, listed
from gateway.store import textfile

NAME = "skills"


def find(ground: Ground, sought: Sought) -> LayerPlan:
    return listed(NAME, (item for item, _ in _found(ground, sought)))


def erase(ground: Ground, sought: Sought) -> int:
    root = ground.home.skills_dir(ground.space.name)
    erased = 0
    with ground.files.locked(ground.space):
        ground.memory.skills.finish(ground.space)
        for _, path in list(_found(ground, sought)):
            if sought.everything:
                textfile.remove(path)
            elif path.is_file():
                trees.cut(path, sought)
            if path.exists() and sought.holds(path.name):
                trees.rename(path)
            failpoints.reach("forget.skills.file")
            erased += 1
        if sought.everything:
            textfile.remove_folders(root)
    return erased


def _found(ground: Ground, sought: Sought) -> Iterator[tuple[Item, Path]]:
    """Files first, then folders, the deepest first: a name is changed when nothing below it is left to do."""
    root = ground.home.skills_dir(ground.space.name)
    for path in trees.files(root):
        ref = trees.ref_of(NAME, ground.home.path, path)
        text = "" if sought.everything else trees.text_of(path)
        if sought.goes(ref, text, path.name):
            shown = text if sought.holds(text) else path.name
            yield Item(ref, f"{path.relative_to(root)}: {sought.excerpt(shown)}"), path
    for path in () if sought.everything else trees.folders(root):
        ref = trees.ref_of(NAME, ground.home.path, path)
        if sought.goes(ref, path.name):
            yield Item(ref, str(path.relative_to(root))), path


LAYER = Layer(NAME, find, erase, (Kind.PASSAGE, Kind.EVERYTHING))
