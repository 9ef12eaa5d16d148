"""An opened home: what every command needs, be it the gateway, a chat command or `hikae`.

Without the bot's moving parts (`app`), so that a quick command is quick.
"""

from dataclasses import dataclass

from gateway import failpoints, settings
from gateway.clock import SystemClock
from gateway.conversation.access import Access
from gateway.conversation.commands.call import Services
from gateway.conversation.freezing import Freezer
from gateway.home import Home
from gateway.memory.writing import Memory
from gateway.ports import Clock
from gateway.settings import Loaded
from gateway.store import textfile
from gateway.store.db import Database


@dataclass(frozen=True)
class Core:
    """The home, its settings, its database and its memory."""

    home: Home
    loaded: Loaded
    db: Database
    memory: Memory
    clock: Clock

    def close(self) -> None:
        self.db.close()


def open_core(home: Home, clock: Clock | None = None) -> Core:
    """Open a home, creating it when it is new. Raises ConfigError (settings) and Unusable (database)."""
    loaded = settings.load(home)
    failpoints.arm(loaded.settings.failpoint)
    textfile.prepare_home(home)
    clock = clock or SystemClock()
    db = Database.open(home, clock)
    return Core(home, loaded, db, Memory(db, home, clock, loaded.settings), clock)


def services_of(core: Core, model_name: str) -> Services:
    """What commands work with, those of the chat and those of `hikae`."""
    wanted = core.loaded.settings
    access = Access(core.home, wanted)
    freezer = Freezer(core.home, wanted, core.memory, wanted.zone(), model_name)
    return Services(core.db, core.home, core.loaded, core.memory, freezer, access, core.clock, model_name)
