"""A home whose bot has heard, said, shown, written and kept two phrases through every door that there is.

What `store.canaries` puts there is put there first; then people talk to a real bot on it, over the fake Telegram
and the fake model. `columns_without` says through which door they did not go.
"""

import asyncio
import base64
import json
import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import closing, suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

from gateway.chat import Chat
from gateway.clock import SystemClock
from gateway.home import Home
from gateway.memory import backup, passages
from gateway.memory.passages import Passage
from gateway.store import columns, forgets, outbox, people
from gateway.store.db import Database
from tests.bot import ANNA, Bot
from tests.fakes.model import ModelServer, is_chat
from tests.fakes.telegram import FakeTelegram
from tests.store import canaries
from tests.store.canaries import BOTH, ENGLISH, JAPANESE
from tests.store.given import to_say

PASSAGES = tuple(Passage.of(text) for text in canaries.CANARIES)
FORWARDED: dict[str, Any] = {"type": "hidden_user", "sender_user_name": f"Clara of {ENGLISH}", "date": 1}
"""Any: a field of the Bot API."""
SKILL = "the-blue-heron-of-lysekil"
UNREACHED = Chat("discord", "900")
"""A chat of a platform that is not set up: what is to be said there waits."""
A_MONTH = timedelta(days=30)


def plant(path: Path, telegram: FakeTelegram, server: ModelServer, **sections: str) -> Home:
    """Make that home, with nothing running on it."""
    bot = Bot(path, telegram, server)
    bot.configure(**{"memory": "nudge_interval: 2", "session": "reset: none", **sections})
    canaries.plant(bot.home, SystemClock())
    asyncio.run(_talk(bot))
    with Database.open(bot.home, SystemClock()) as db:
        _leave_waiting(db)
        backup.create(db, bot.home, SystemClock(), 7)
        db.checkpoint()
    return bot.home


async def _talk(bot: Bot) -> None:
    """A conversation about it, and all that hangs on it."""
    bot.server.otherwise = f"So it is {BOTH}."
    await bot.start()
    try:
        bot.server.titles(f"Of {BOTH}")
        await bot.says(f"I saw {ENGLISH}, and {JAPANESE}が好きです")
        bot.server.calls("memory", action="add", content=f"Goes to see {BOTH}", target="memory")
        first = bot.telegram.screen(ANNA)[-1]
        bot.telegram.says(ANNA, f"What do you mean, {BOTH}?", reply_to=first)
        await bot.settles()
        said = f"I paint {BOTH} in May"
        bot.server.calls("memory", action="add", content=f"Paints {BOTH}", target="memory", evidence=said)
        await bot.says(said)
        await bot.says("/memory refresh")  # the former prompt stays, for the review that is due
        skill = f"---\nname: {SKILL}\ndescription: How to find {ENGLISH}.\n---\n1. Ask.\n"
        bot.server.calls("skill", action="create", name=SKILL, content=skill)
        await bot.says("Keep how I find it")
        bot.telegram.says(ANNA, f"She wrote of {BOTH}", forward_origin=FORWARDED)
        await bot.settles()
        bot.server.calls("session_search", when=is_chat, query=JAPANESE)
        await bot.says("Search for it")
        await bot.says(f"/remember {BOTH} must be painted")
        await bot.says(f"/search {ENGLISH}")
        await bot.says("Thank you, this is all that I said of boats")
    finally:
        await bot.stop()


def _leave_waiting(db: Database) -> None:
    """An answer that cannot be said yet, and a plan that nobody said yes to."""
    now = SystemClock().now()
    with db.write() as tx:
        row = outbox.put(tx, to_say(tx, "reply-late", kind="reply", created_at=now, chat=UNREACHED))
        assert row is not None
        outbox.keep_chunks(tx, row, [f"It is {BOTH}!", "Good night."])
        forgets.plan(
            tx,
            people.space_named(tx, "owner").id,
            "passage",
            by=f"telegram:{ANNA}",
            passages=(f"all of {JAPANESE}",),
            rows=(),
            message=None,
            marks=True,
            at=now,
            expires_at=now + A_MONTH,
        )


# -- looking -------------------------------------------------------------------------------------------------


def columns_without(home: Home) -> list[str]:
    """The columns that may hold words and do not hold the phrases."""
    claimed = [name for name, layer in columns.COLUMNS.items() if layer != columns.NO_WORDS]
    return sorted(name for name in claimed if not _holds(home, *name.split(".")))


def _holds(home: Home, table: str, column: str) -> bool:
    if table in ("message_words", "session_words"):  # they keep no text, only what of it is looked up
        return True
    with closing(opened(home)) as db:
        return any(
            passages.holds(str(value), (one,))
            for (value,) in db.execute(f"SELECT {column} FROM {table}")
            for one in PASSAGES
        )


def opened(home: Home) -> sqlite3.Connection:
    """To look without leaving a trace: whoever may write tidies up when closing."""
    return sqlite3.connect(f"file:{home.state_db}?mode=ro", uri=True, timeout=10)


def rows(home: Home, sql: str) -> list[tuple[Any, ...]]:
    """Any: what SQLite gives."""
    with closing(opened(home)) as db:
        return db.execute(sql).fetchall()


# -- byte by byte, in another way than the bot does -------------------------------------------------------------


def hits(folder: Path) -> list[str]:
    """The files that hold a telling part of a phrase, in any plain, coded or packed form."""
    found = []
    for path in canaries.files(folder):
        data = path.read_bytes()
        if any(holds(form) for form in (data, *_unpacked(data))):
            found.append(str(path.relative_to(folder)))
    return found


def holds(data: bytes) -> bool:
    """Whether bytes hold a part of a phrase: as text, as UTF-16, escaped as JSON does, or in base64."""
    lower = data.lower()
    return any(form in lower for form in _TEXTS) or any(form in data for form in _CODED)


def _texts() -> Iterator[bytes]:
    for part in PARTS:
        yield from (part.encode(code) for code in ("utf-8", "utf-16-le", "utf-16-be"))
        yield json.dumps(part)[1:-1].encode()


def _coded() -> Iterator[bytes]:
    """Three bytes become four letters, so there are three ways in which a text can begin."""
    for part in (*PARTS, ENGLISH, ENGLISH.upper()):
        for code in ("utf-8", "utf-16-le"):
            for shift in range(3):
                inner = base64.b64encode(bytes(shift) + part.encode(code))
                yield inner[4 if shift else 0 : -4]


PARTS = ("of lysekil", "-lysekil", "鯨の隠れ")
_TEXTS = tuple(_texts())
_CODED = tuple(_coded())


def _unpacked(data: bytes) -> Iterator[bytes]:
    """Whatever in it looks packed, as far as it can be unpacked."""
    for begins, window in ((b"\x1f\x8b\x08", 31), (b"\x78\x01", 15), (b"\x78\x9c", 15), (b"\x78\xda", 15)):
        at = data.find(begins)
        while at >= 0:
            with suppress(zlib.error):
                yield zlib.decompressobj(window).decompress(data[at:])
            at = data.find(begins, at + 1)


# -- what must not change by a byte ------------------------------------------------------------------------------


def others(home: Home) -> dict[str, object]:
    """Every row and file that does not hold the phrases, and of those that do the rest of what a person wrote."""
    found: dict[str, object] = {}
    for path in canaries.files(home.path):
        name = str(path.relative_to(home.path))
        if path.name == home.state_db.name:
            found |= {f"{name} {row}": True for row in _rows_of(path)}
        elif not name.startswith(_MOVING) and path.name != backup.MANIFEST:
            found |= _of_file(name, path.read_bytes())
    return found


_MOVING = ("run/", "logs/", "state.db", "config.yaml", "backups/state-v3")
_TABLES = ("messages", "writes", "summaries", "people", "choices", "usage", "chats")
_RESTLESS = ("last_at", "refused_at", "place")


def _rows_of(path: Path) -> Iterator[str]:
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
        for table in _TABLES:
            names = [row[1] for row in db.execute(f"PRAGMA table_info({table})") if row[1] not in _RESTLESS]
            for row in db.execute(f"SELECT {', '.join(names)} FROM {table}").fetchall():
                if not any(passages.holds(str(value), PASSAGES) for value in row):
                    yield f"{table} {row!r}"


def _of_file(name: str, data: bytes) -> dict[str, object]:
    lines = data.decode("utf-8", "replace").splitlines()
    kept = [line for line in lines if line not in ("", "§") and not passages.holds(line, PASSAGES)]
    whole: dict[str, object] = {} if holds(data) else {name: data}
    return whole | {f"{name}: {line}": True for line in kept}
