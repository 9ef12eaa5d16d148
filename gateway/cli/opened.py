"""What commands about a home share: opening it, naming its spaces, and how words look in a terminal."""

import contextlib
import re
import shutil
from collections.abc import Iterator, Sequence
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING

import click

from gateway import logs, words
from gateway.chat import Chat
from gateway.cli import Options
from gateway.conversation import phrases
from gateway.core import Core, open_core, services_of
from gateway.errors import NotFound
from gateway.records import Space
from gateway.store import people

if TYPE_CHECKING:
    from gateway.conversation.commands.call import Services

OWNER = "owner"
one_space = click.option("--space", "space_name", metavar="NAME", default=OWNER, help="Whose (default: yours).")
any_space = click.option("--space", "space_name", metavar="NAME", help="Only this space (default: all).")
_NOT_SHOWN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


@contextlib.contextmanager
def opened(options: Options) -> Iterator[Core]:
    """The home, open for one command; created when it is new. What happens is logged to its file."""
    core = open_core(options.home)
    options.language = words.at_the_prompt(core.loaded.settings.display.language)
    try:
        logs.setup(core.home, to_stderr=False, secrets=core.loaded.settings.secrets())
        yield core
    finally:
        core.close()
        logs.close()


def services_for(core: Core) -> "Services":
    """What the commands of the chat work with, for `hikae`."""
    return services_of(core, core.loaded.settings.model.name)


def space_named(core: Core, name: str) -> Space:
    """The space with this folder name; the owner's is made on first need. Raises NotFound."""
    with core.db.read() as rd:
        found = next((space for space in people.spaces(rd) if space.name == name), None)
    if found is not None:
        return found
    if name != OWNER:
        raise NotFound("space.unknown", name=shown(name))
    from gateway.conversation import access  # late: the owner's space is there from the first time on

    with core.db.write() as tx:
        return access.owner_space(tx, core.clock.now())


# -- in a terminal -----------------------------------------------------------------------------------------


def shown(text: str) -> str:
    """Somebody's words without what could move the cursor, change colours or turn the line around."""
    return _NOT_SHOWN.sub("�", text)


def from_markdown(text: str) -> str:
    """A text written for a chat, as a terminal shows it."""
    return shown(phrases.unescape(text))


def one_line(text: str, most: int) -> str:
    """At most `most` characters on one line."""
    line = " ".join(shown(text).split())
    return line if len(line) <= most else line[: max(most - 1, 0)] + "…"


def columns(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Rows under each other; the last one of each is cut at the terminal's width (80 where there is none)."""
    from gateway.cli.cells import cells, clip, pad  # late: not every command prints a table

    width = shutil.get_terminal_size((80, 24)).columns
    sizes = [max(map(cells, column)) for column in zip(*rows, strict=True)][:-1]
    for row in rows:
        fixed = "".join(f"{pad(cell, size)}  " for cell, size in zip(row, sizes, strict=False))
        last = clip(" ".join(shown(row[-1]).split()), max(width - cells(fixed), 20))
        yield (fixed + last).rstrip()


def clock_time(at: datetime, zone: tzinfo) -> str:
    return f"{at.astimezone(zone):%Y-%m-%d %H:%M}"


# -- in JSON -----------------------------------------------------------------------------------------------


def chat_id(chat: Chat) -> str:
    return chat.id + (f"/{chat.thread}" if chat.thread else "")
