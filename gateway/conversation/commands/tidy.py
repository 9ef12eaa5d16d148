"""`/memory tidy`: have the memory of this space made smaller. A worker does it; what comes of it is said then."""

from collections.abc import Sequence

from gateway.chat import Chat
from gateway.conversation.commands.call import Call, Said, Services
from gateway.jobs import TidyJob
from gateway.memory import tidiness
from gateway.records import Space, Target
from gateway.store.db import Transaction

NEXT_TERMINAL = Chat("terminal", "tidy")
"""Where it is said that has no chat: what waits for a terminal that has gone is said by the next one."""


def tidy(services: Services, call: Call) -> Said:
    """Make a tidy of each file due that holds anything and has none waiting for a yes."""
    targets, waiting = services.memory.tidies.wanted(call.space)
    if not targets:
        ids = ", ".join(str(write.id) for write in waiting)
        return Said("tidy.wait", {"ids": ids}) if ids else Said("tidy.empty")
    key = str(call.message.id)
    first = tidiness.id_of(call.space, targets[0], key)
    return Said(
        "tidy.begun",
        {"files": names(targets)},
        commit=lambda tx: make_due(services, tx, call.space, targets, call.message.chat, key),
        ring=TidyJob(first, 0),
    )


def make_due(
    services: Services, tx: Transaction, space: Space, targets: Sequence[Target], chat: Chat | None, key: str
) -> None:
    """Make a tidy of each of these files due; the answers go to `chat`."""
    for target in targets:
        services.memory.tidies.make_due(tx, space, target, chat, key)


def names(targets: Sequence[Target]) -> str:
    """The files as people read them."""
    return ", ".join(target.value.upper() for target in targets)
