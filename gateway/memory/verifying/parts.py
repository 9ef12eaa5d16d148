"""How the reading of a home is shared out: a large file in parts, each part to one of a few processes. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass

SMALL = 64 << 20
"""One process reads so much sooner than two have started."""
PROCESSES = 2


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a file, as far as hits begin in it; `end` None: up to the file's end, however long it has grown."""

    path: str
    first: int = 0
    end: int | None = None


def shared_out(files: Iterable[tuple[str, int]]) -> list[list[Part]]:
    """Who reads what of these files (path, bytes): every byte once, about as much for each."""
    known = list(files)
    if sum(size for _, size in known) < SMALL:
        return [[Part(path) for path, _ in known]]
    shares: list[list[Part]] = [[] for _ in range(PROCESSES)]
    for path, size in known:
        if size < SMALL // PROCESSES:
            shares[0].append(Part(path))
            continue
        cuts = [size * number // PROCESSES for number in range(PROCESSES)]
        for share, first, end in zip(shares, cuts, (*cuts[1:], None), strict=True):
            share.append(Part(path, first, end))
    return shares
