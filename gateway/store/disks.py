"""What a file is kept on, and what overwriting it is worth there."""

from pathlib import Path

_MOUNTS = Path("/proc/self/mounts")
_IN_PLACE = frozenset({"ext2", "ext3", "ext4", "xfs", "vfat", "exfat", "tmpfs", "ramfs", "jfs", "hfsplus"})
"""Write new bytes where the old ones were, as far as the disk below does. Others keep the old ones for a while."""


def filesystem_of(path: Path) -> str:
    """The kind of file system that holds this path; "" where nobody says."""
    try:
        lines = _MOUNTS.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    here = path.absolute()
    mounted = [(Path(at.replace("\\040", " ")), kind) for _, at, kind, *_ in map(str.split, lines)]
    holding = [(len(at.parts), kind) for at, kind in mounted if here.is_relative_to(at)]
    return max(holding, default=(0, ""))[1]


def overwrites(filesystem: str) -> bool:
    """Whether a file that is overwritten there is overwritten on the disk, as far as a program can tell."""
    return filesystem in _IN_PLACE
