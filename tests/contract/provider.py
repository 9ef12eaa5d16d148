"""What an external memory must do when it is asked to forget: written once, passed by the fake and by adapters."""

from typing import Protocol

import pytest

from gateway.errors import ProviderBusy
from gateway.ports import Provider


class Rig(Protocol):
    """A provider, and how a test fills and disturbs what is behind it."""

    provider: Provider

    def keep(self, space: str, *texts: str) -> None: ...

    def be_busy(self) -> None:
        """The next call is not answered."""
        ...


class ProviderContract:
    """Subclass it and offer a `rig`."""

    async def test_what_holds_it_is_found_and_erased(self, rig: Rig) -> None:
        """Of one space, and nothing else."""
        rig.keep("owner", "Keeps bees in Lysekil", "Likes tea")
        rig.keep("telegram-456", "Keeps bees in Lysekil")

        assert await rig.provider.find("owner", ["bees in Lysekil"]) == 1
        assert await rig.provider.erase("owner", ["bees in Lysekil"]) == 1

        assert await rig.provider.find("owner", ["bees in Lysekil"]) == 0
        assert await rig.provider.find("owner", ["Likes tea"]) == 1
        assert await rig.provider.find("telegram-456", ["bees in Lysekil"]) == 1

    async def test_erasing_again_does_no_harm(self, rig: Rig) -> None:
        """A job that was killed asks once more."""
        rig.keep("owner", "Keeps bees in Lysekil")

        assert [await rig.provider.erase("owner", ["bees in Lysekil"]) for _ in range(2)] == [1, 0]

    async def test_everything_of_a_space_goes(self, rig: Rig) -> None:
        """Without any words: whoever leaves need not say what was kept."""
        rig.keep("owner", "Keeps bees in Lysekil", "Likes tea")
        rig.keep("telegram-456", "Likes tea")

        assert await rig.provider.erase("owner", [], everything=True) == 2

        assert await rig.provider.find("owner", ["Likes tea"]) == 0
        assert await rig.provider.find("telegram-456", ["Likes tea"]) == 1

    async def test_one_that_does_not_answer_is_busy(self, rig: Rig) -> None:
        """The forget waits for it; it does not count as done."""
        rig.be_busy()

        with pytest.raises(ProviderBusy):
            await rig.provider.erase("owner", ["bees in Lysekil"])
