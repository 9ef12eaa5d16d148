"""A home with reviews that are due, for tests of real workers: no gateway, no chat platform.

bench.due("I live in Bergen")
bench.model.calls("memory", action="add", …)
worker = bench.worker()
bench.until(bench.all_done)
"""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from redis import Redis
from redis.exceptions import RedisError

from gateway import broker, settings
from gateway.chat import Chat
from gateway.home import Home
from gateway.memory import tool
from gateway.records import Review, Role, Session, Target
from gateway.store import messages, people, reviews, sessions, textfile, usage, writes
from gateway.store.db import Database
from tests.fakes.model import ModelServer

PATIENCE_SECONDS = 30.0
ROOT = Path(__file__).parent.parent
PROMPT = "You are hikae."
TOOLS = json.dumps([tool.definition((Target.MEMORY, Target.USER))])


class WallClock:
    """The machine's clock."""

    def now(self) -> datetime:
        return datetime.now(UTC)


@dataclass
class Workbench:
    """One home, one model server, and the workers that a test starts."""

    home: Home
    model: ModelServer
    db: Database = field(init=False)
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)
    chats: int = 0

    def __post_init__(self) -> None:
        textfile.prepare_home(self.home)
        self.configure(f"model: {{provider: openai, name: fake-1, base_url: '{self.model.url}'}}")
        self.db = Database.open(self.home, WallClock())

    def configure(self, text: str) -> None:
        self.home.config.write_text(text + "\n", encoding="utf-8")

    # -- what was said -------------------------------------------------------------------------------

    def due(self, *said: str, answer: str = "I see.", answered: bool = True) -> Review:
        """A chat in which this was said and answered, and whose review is due."""
        self.chats += 1
        now = WallClock().now()
        chat = Chat("telegram", str(1000 + self.chats))
        with self.db.write() as tx:
            space = people.ensure_space(tx, "owner", "owner", "telegram:1", now)
            session = sessions.new_id(now)
            sessions.open(tx, _session(session, space.id, chat, now))
            for words in said:
                self._turn(tx, session, space.id, chat, words, answer if answered else "")
            reviews.make_due(tx, session, space.id, len(said), 1, "interval", now)
            return reviews.get(tx, session, len(said))

    def _turn(self, tx: Any, session: str, space: int, chat: Chat, words: str, answer: str) -> None:
        now = WallClock().now()
        turn = sessions.begin_turn(tx, session, now)
        new = messages.NewMessage(space=space, chat=chat, person="telegram:1", role=Role.USER, text=words, at=now)
        question = messages.keep(tx, new)
        assert question is not None
        messages.begin(tx, question, session, turn, 1, "[09:00] ", None)
        if answer:
            row = messages.NewMessage(space=space, chat=chat, person="", role=Role.ASSISTANT, text=answer, at=now)
            messages.keep(tx, _in_turn(row, session, turn, question))

    # -- what became of it ---------------------------------------------------------------------------

    def review(self, which: Review) -> Review:
        """The row as it is now."""
        with self.db.read() as rd:
            return reviews.get(rd, which.session, which.turn)

    def all_done(self) -> bool:
        """Whether nothing is due, running or failed."""
        with self.db.read() as rd:
            return not any(reviews.counts(rd).values())

    def statuses(self) -> dict[str, int]:
        with self.db.read() as rd:
            return reviews.counts(rd)

    def writes(self) -> list[str]:
        """The new texts in the ledger, oldest first."""
        with self.db.read() as rd:
            rows = writes.log(rd, None, 1000)
        return sorted(operation.content for row in rows for operation in row.operations)

    def profile(self) -> str:
        """USER.md of the owner."""
        return textfile.read(self.home.memory_file("owner", Target.USER)).decode()

    def spent(self) -> int:
        """Model calls of reviews that were written down."""
        with self.db.read() as rd:
            sums = usage.between(rd, datetime(2000, 1, 1, tzinfo=UTC), datetime(3000, 1, 1, tzinfo=UTC))
        return sum(each.calls for each in sums if each.task == "background_review")

    def log(self) -> str:
        return self.home.log_file.read_text(encoding="utf-8") if self.home.log_file.exists() else ""

    # -- processes -----------------------------------------------------------------------------------

    def worker(self, *arguments: str) -> subprocess.Popen[bytes]:
        """Start `python -m workers` as a service manager would."""
        process = subprocess.Popen(
            [sys.executable, "-m", "workers", "--home", str(self.home.path), *arguments],
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self.workers.append(process)
        return process

    def rq_worker(self, supervisor: subprocess.Popen[bytes]) -> int:
        """The pid of a supervisor's RQ worker, once it is there."""
        return self.child(supervisor.pid, "--rq-worker")

    def work_horse(self, supervisor: subprocess.Popen[bytes]) -> int:
        """The pid of the process that does the review now."""
        return self.child(self.rq_worker(supervisor), "--rq-worker")

    def child(self, parent: int, word: str) -> int:
        """The pid of a child whose command line holds this word, once it is there."""
        found: list[int] = []

        def look() -> bool:
            found[:] = [pid for pid in children(parent) if word in command_of(pid)]
            return bool(found)

        self.until(look)
        return found[0]

    def redis(self) -> Redis:
        return Redis.from_url(broker.own_url(self.home))

    def redis_pid(self) -> int:
        with self.redis() as redis:
            info: Any = redis.info("server")
        return int(info["process_id"])

    def until(self, condition: Callable[[], bool], seconds: float = PATIENCE_SECONDS) -> None:
        """Wait until it holds."""
        end = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < end, f"waited in vain; reviews: {self.statuses()}\n{self.log()[-3000:]}"
            threading.Event().wait(0.02)

    def close(self) -> None:
        """End everything that was started."""
        for process in self.workers:
            process.send_signal(signal.SIGTERM)
        for process in self.workers:
            try:
                process.wait(PATIENCE_SECONDS)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        self.db.close()

    def worker_is_up(self) -> bool:
        """Whether a supervisor runs and its RQ worker listens."""
        try:
            with self.redis() as redis:
                return bool(redis.smembers("rq:workers"))
        except RedisError:
            return False


def children(parent: int) -> Sequence[int]:
    """The living children of a process."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if fields[1] == str(parent) and fields[0] != "Z":
            found.append(int(stat.parent.name))
    return found


def command_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace")
    except OSError:
        return ""


def alive(pid: int) -> bool:
    """Whether it runs (a zombie does not)."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def _session(id: str, space: int, chat: Chat, at: datetime) -> Session:
    return Session(
        id=id,
        space=space,
        chat=chat,
        member="",
        opened_at=at,
        ended_at=None,
        system_prompt=PROMPT,
        tools=TOOLS,
        generation=1,
        frozen_at=at,
        turns=0,
        last_at=at,
        title="",
        model="fake-1",
    )


def _in_turn(row: messages.NewMessage, session: str, turn: int, question: int) -> messages.NewMessage:
    return replace(row, session=session, turn=turn, round=1, generation=1, answers=question)


def open_bench(path: Path, model: ModelServer) -> Workbench:
    """A bench in this folder. HIKAE_HOME and REDIS_URL of the tests' own environment must not reach it."""
    assert not settings.load(Home(path)).settings.redis.url
    return Workbench(Home(path), model)
