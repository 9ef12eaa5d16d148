"""An opened home: what every command needs, be it the gateway, a chat command or `hikae`.

Without the bot's moving parts (`app`), so that a quick command is quick.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from gateway import failpoints, settings
from gateway.clock import SystemClock
from gateway.home import Home
from gateway.ports import Clock
from gateway.settings import Loaded
from gateway.store import textfile
from gateway.store.db import Database

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gateway.conversation.commands.call import Services
    from gateway.memory.forgetting import Forgetting
    from gateway.memory.writing import Memory


@dataclass(frozen=True)
class Core:
    """The home, its settings, its database and its memory."""

    home: Home
    loaded: Loaded
    db: Database
    clock: Clock

    @cached_property
    def memory(self) -> "Memory":
        """The door to memory."""
        from gateway.memory.writing import Memory  # late: what only lists what waits needs none of it

        return Memory(self.db, self.home, self.clock, self.loaded.settings)

    @cached_property
    def forgetting(self) -> "Forgetting":
        """Erasing what is to be forgotten."""
        from gateway import broker  # late, too
        from gateway.memory.forgetting import Forgetting

        settings = self.loaded.settings

        def redis() -> "Sequence[tuple[str, bytes]]":
            return tuple(broker.contents(broker.connect_url(self.home, settings)))

        return Forgetting(self.db, self.home, self.clock, settings, self.memory, redis)

    def close(self) -> None:
        """The end of the process's work here: what its writes left to do later is done."""
        if "memory" in self.__dict__:  # made, so perhaps written
            self.memory.overwrite_replaced()
        self.db.close()


def open_core(home: Home, clock: Clock | None = None) -> Core:
    """Open a home, creating it when it is new. Raises ConfigError (settings) and Unusable (database)."""
    loaded = settings.load(home)
    failpoints.arm(loaded.settings.failpoint)
    textfile.prepare_home(home)
    if home.restoring.exists():
        from gateway.store import restoring  # late: once in a life

        restoring.finish(home)
    clock = clock or SystemClock()
    db = Database.open(home, clock)
    return Core(home, loaded, db, clock)


def services_of(core: Core, model_name: str) -> "Services":
    """What commands work with, those of the chat and those of `hikae`."""
    from gateway.conversation.access import Access  # late, too
    from gateway.conversation.commands.call import Services
    from gateway.conversation.freezing import Freezer

    wanted = core.loaded.settings
    access = Access(core.home, wanted)
    freezer = Freezer(core.home, wanted, core.memory, wanted.zone(), model_name)
    return Services(core.db, core.home, core.loaded, core.memory, freezer, access, core.clock, model_name)
