"""A bot on real processes with traffic, and the promises that must hold after every fault.

What is checked is read from the files, the database and what the fake Telegram received, never from the
bot's own word. The model is the offline one: it does the same again when it is asked again.
"""

import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.fakes.telegram import FakeTelegram, Shown
from tests.processes import Machine, machine, until

ANNA = 123
SETTLE_SECONDS = 60.0


@dataclass
class World:
    """The bot's machine, its Telegram, and what has been said so far."""

    here: Machine
    telegram: FakeTelegram
    kills: int = 0
    facts: list[str] = field(default_factory=list)
    """What Anna asked the bot to remember, as it is to stand in her file."""
    asked: list[int] = field(default_factory=list)
    """The ids of all her messages, commands apart."""
    approves: bool = False
    """Whether writes wait for a tap."""

    # -- traffic -----------------------------------------------------------------------------------------

    def remember(self, animal: str) -> None:
        """Anna tells a fact; the offline model writes it down."""
        self.asked.append(self.telegram.says(ANNA, f"remember that my {animal} is called {animal.title()}son"))
        self.facts.append(f"{animal.title()} is called {animal.title()}son")

    def chat(self, text: str) -> None:
        """Anna says something that is not to be remembered."""
        self.asked.append(self.telegram.says(ANNA, text))

    def tap_all(self) -> None:
        """Tap every Approve button that is to be seen."""
        for card in self.cards():
            self.telegram.taps(ANNA, card, "Approve")

    def cards(self) -> list[Shown]:
        """The cards that wait for a tap."""
        return [shown for shown in self.telegram.screen(ANNA) if "Approve" in shown.labels]

    # -- processes ---------------------------------------------------------------------------------------

    def start(self, *arguments: str, **environment: str) -> None:
        """Start the bot; a failpoint may be armed by HIKAE_FAILPOINT."""
        self.process = self.here.start(*(arguments or ("gateway",)), **self.environment(), **environment)

    def environment(self) -> dict[str, str]:
        """What its processes are started with."""
        return {
            "TELEGRAM_BOT_TOKEN": self.telegram.token,
            "HIKAE_TELEGRAM_BASE_URL": self.telegram.url,
            "HIKAE_MODEL_PROVIDER": "offline",
        }

    def kill(self) -> None:
        self.here.kill(self.process)
        self.kills += 1

    def died(self) -> bool:
        return self.process.poll() is not None

    # -- waiting -----------------------------------------------------------------------------------------

    def settle(self) -> None:
        """Wait until everything said is answered, written, delivered and (with a worker) reviewed."""
        until(lambda: not self.telegram.unconfirmed and self.is_quiet(), SETTLE_SECONDS)

    def is_quiet(self) -> bool:
        """Whether everything said so far has been dealt with."""
        if not self.here.home.state_db.exists():
            return not self.asked
        waiting = self._one(
            "SELECT count(*) FROM messages WHERE done IS NULL AND role IN ('user', 'command', 'tap')"
        )
        unsaid = self._one("SELECT count(*) FROM outbox WHERE status = 'waiting'")
        unfinished = self._one("SELECT count(*) FROM writes WHERE status = 'approved'")
        kept = self._one("SELECT count(*) FROM messages WHERE role = 'user'")
        return not (waiting or unsaid or unfinished) and kept == len(self.asked)

    def reviews_are_done(self) -> bool:
        return not self._one("SELECT count(*) FROM reviews WHERE status IN ('due', 'running')")

    # -- the promises ------------------------------------------------------------------------------------

    def broken_promises(self) -> list[str]:
        """End the bot as a service manager does, and say in words what does not hold; [] when all is well."""
        checks = (
            self._ended_badly(),
            self._messages_lost(),
            self._answers_doubled(),
            self._said_too_often(),
            self._memory_wrong(),
            self._ledger_wrong(),
            self._reviews_wrong(),
        )
        return [problem for found in checks for problem in found]

    def _ended_badly(self) -> Iterator[str]:
        code = self.process.poll() if self.died() else self.here.end(self.process)
        if code:
            yield f"ended with {code}"

    def _messages_lost(self) -> Iterator[str]:
        kept = {row[0] for row in self._rows("SELECT platform_id FROM messages WHERE role = 'user'")}
        yield from (f"message {number} was lost" for number in self.asked if str(number) not in kept)
        unanswered = self._one(
            """SELECT count(*) FROM messages AS m WHERE m.role = 'user'
                AND NOT EXISTS (SELECT 1 FROM messages AS a WHERE a.answers = m.id)"""
        )
        if unanswered:
            yield f"{unanswered} messages have no answer in the transcript"

    def _answers_doubled(self) -> Iterator[str]:
        rows = self._rows(
            "SELECT platform_id, count(*) FROM messages WHERE role = 'user' GROUP BY 1 HAVING count(*) > 1"
        )
        yield from (f"message {number} is kept {count} times" for number, count in rows)

    def _said_too_often(self) -> Iterator[str]:
        """Each row of the outbox is seen at least once, and again at most once for each kill."""
        replies = self._one("SELECT count(*) FROM outbox WHERE kind = 'reply'")
        notices = self._one("SELECT count(*) FROM outbox WHERE kind = 'notice' AND status = 'delivered'")
        seen = Counter(self._kind(shown) for shown in self.telegram.sent if not shown.edited)
        if not replies <= seen["reply"] <= replies + self.kills:
            yield f"{replies} replies, seen {seen['reply']} times after {self.kills} kills"
        if not notices <= seen["notice"] <= notices + self.kills:
            yield f"{notices} notices, seen {seen['notice']} times after {self.kills} kills"
        if replies != len(self.asked):
            yield f"{len(self.asked)} messages have {replies} replies in the outbox"

    def _kind(self, shown: Shown) -> str:
        if shown.text.startswith("💾"):
            return "notice"
        starts = ("Hello! I am hikae. I keep", "Ask me before", "🗂", "🗜", "✓", "Waiting")
        return "other" if shown.text.startswith(starts) else "reply"

    def _memory_wrong(self) -> Iterator[str]:
        path = self.here.home.path / "memories" / "USER.md"
        text = path.read_text("utf-8") if path.exists() else ""
        found = Counter(entry for entry in text.rstrip("\n").split("\n§\n") if entry)
        wanted = Counter(self.facts)
        if found != wanted:
            yield f"the memory file differs: missing {dict(wanted - found)}, too much {dict(found - wanted)}"
        leavings = [left.name for left in path.parent.glob("*") if left.name not in ("MEMORY.md", "USER.md")]
        if leavings:
            yield f"left beside the memory file: {leavings}"

    def _ledger_wrong(self) -> Iterator[str]:
        applied = self._one("SELECT count(*) FROM writes WHERE status = 'applied'")
        if applied != len(self.facts):
            yield f"{len(self.facts)} facts, {applied} applied writes"
        others = self._rows("SELECT status, reason, count(*) FROM writes WHERE status != 'applied' GROUP BY 1, 2")
        yield from (f"{count} writes ended {status} ({reason})" for status, reason, count in others)

    def _reviews_wrong(self) -> Iterator[str]:
        """No turn is in two reviews, and none failed."""
        spans = self._rows("SELECT session, first_turn, turn, status FROM reviews ORDER BY session, turn")
        seen: Counter[tuple[str, int]] = Counter()
        for session, first, last, status in spans:
            seen.update((session, turn) for turn in range(first, last + 1))
            if status == "failed":
                yield f"the review of {session} up to {last} failed"
        yield from (f"turn {turn} was reviewed {count} times" for turn, count in seen.items() if count > 1)

    # -- reading -----------------------------------------------------------------------------------------

    def _rows(self, query: str) -> list[tuple[Any, ...]]:
        """Any: what SQLite gives."""
        with closing(sqlite3.connect(f"file:{self.here.home.state_db}?mode=ro", uri=True, timeout=10)) as db:
            return db.execute(query).fetchall()

    def _one(self, query: str) -> int:
        return int(self._rows(query)[0][0])


@contextmanager
def world(path: Path, *, approves: bool = False, interval: int = 0) -> Iterator[World]:
    """A world with nothing running yet; all its processes are gone afterwards."""
    with FakeTelegram() as telegram, machine(path) as here:
        here.configure(
            access=f"owners: ['telegram:{ANNA}']",
            memory=f"write_approval: {str(approves).lower()}, nudge_interval: {interval}",
        )
        yield World(here, telegram, approves=approves)
