"""An external memory that keeps what it is given, and can be slow to answer."""

from collections.abc import Sequence

from gateway.errors import ProviderBusy


class FakeProvider:
    """Keeps texts by space."""

    name = "fake"

    def __init__(self) -> None:
        self.kept: dict[str, list[str]] = {}
        self.busy = 0
        """So many calls are not answered."""
        self.closed = False

    def keep(self, space: str, *texts: str) -> None:
        self.kept.setdefault(space, []).extend(texts)

    async def find(self, space: str, texts: Sequence[str]) -> int:
        self._answer()
        return sum(self._holds(kept, texts) for kept in self.kept.get(space, ()))

    async def erase(self, space: str, texts: Sequence[str], *, everything: bool = False) -> int:
        self._answer()
        before = self.kept.get(space, [])
        self.kept[space] = [] if everything else [kept for kept in before if not self._holds(kept, texts)]
        return len(before) - len(self.kept[space])

    async def close(self) -> None:
        self.closed = True

    def _answer(self) -> None:
        if self.busy:
            self.busy -= 1
            raise ProviderBusy("the fake was told to be busy")

    def _holds(self, kept: str, texts: Sequence[str]) -> bool:
        return any(text.casefold() in kept.casefold() for text in texts)
