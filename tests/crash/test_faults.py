"""Faults other than a kill: after each the promises hold, and what was said meanwhile is answered.

The disk, the mount, the database and Redis are real and so are the processes; the clock and the model are
those of the in-process bot. What a broken answer of a model is taken for is in `contract/test_openai`.
"""

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from redis import Redis

from gateway.conversation import thinking
from gateway.llm import server as model_server
from gateway.records import Status
from gateway.store.db import WAIT_SECONDS
from tests.bot import Bot, running_bot
from tests.crash.world import World, world
from tests.fakes.model import ModelServer
from tests.fakes.telegram import FakeTelegram
from tests.processes import until

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount")

ROOM = 150_000
"""Bytes that the database may still grow by: a few turns."""
LINE = 4096
"""Bytes that are enough to say why, and for nothing else."""


# -- the database and the disk -----------------------------------------------------------------------------


@pytest.mark.processes
def test_a_database_held_by_another_program_delays_and_loses_nothing(tmp_path: Path) -> None:
    """A backup program or a curious person with sqlite3 open, for longer than we wait at a time."""
    with world(tmp_path) as one:
        one.start()
        one.remember("dog")
        one.settle()
        with closing(sqlite3.connect(one.here.home.state_db, isolation_level=None)) as db:
            db.execute("BEGIN IMMEDIATE")
            one.remember("cat")
            one.chat("good morning")
            time.sleep(WAIT_SECONDS + 1)
            assert one.telegram.unconfirmed, "nothing is confirmed that is not kept"
            db.execute("ROLLBACK")
        one.settle()

        assert not one.died()
        assert one.broken_promises() == []


def fill_up(one: World) -> None:
    """Talk until nothing more is kept."""
    for number in range(40):
        one.chat(f"good morning {number}")
        try:
            until(lambda: not one.telegram.unconfirmed and one.is_quiet(), 1)
        except AssertionError:
            return
    raise AssertionError("the disk never became full")


@pytest.mark.processes
@pytest.mark.parametrize("how", ["room is made", "killed and started again"])
def test_a_full_disk_loses_nothing(tmp_path: Path, how: str) -> None:
    """Every file has reached its largest size in the middle of the traffic; then there is room again."""
    with world(tmp_path) as one:
        one.start()
        one.remember("dog")
        one.settle()
        one.here.limit_files(one.process, _largest(one) + ROOM)
        fill_up(one)
        one.remember("cat")
        until(lambda: one.telegram.unconfirmed)
        if how == "room is made":
            one.here.limit_files(one.process)
        else:
            one.kill()
            one.start()
        one.settle()

        assert not one.died()
        assert one.broken_promises() == []


@pytest.mark.processes
def test_a_start_on_a_full_disk_says_so_and_harms_nothing(tmp_path: Path) -> None:
    """There is no room for the first page; where there is room again it starts as if nothing had been."""
    with world(tmp_path) as one:
        one.start()
        one.remember("dog")
        one.settle()
        one.here.end(one.process)
        one.start()
        one.here.limit_files(one.process, LINE)
        one.remember("cat")
        assert one.process.wait(10) == 1
        assert one.here.output(one.process) == "state.db: the disk is full or broken. Nothing was changed.\n"
        one.start()
        one.settle()

        assert one.broken_promises() == []


@contextmanager
def mounted(path: Path, megabytes: int) -> Iterator[Path]:
    """A small disk of its own."""
    path.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "hikae-test", str(path)], check=True)
    try:
        yield path
    finally:
        subprocess.run(["umount", "--lazy", str(path)], check=True)


@as_root
@pytest.mark.processes
def test_a_disk_without_room_loses_nothing(tmp_path: Path) -> None:
    """A real one: database, memory file, Redis and log share it, and somebody else has filled it."""
    with mounted(tmp_path / "disk", 8) as disk, world(disk, interval=3) as one:
        one.start("up")
        one.remember("dog")
        one.settle()
        filler = disk / "filler"
        fill(filler)
        one.remember("cat")
        one.chat("good morning")
        one.remember("horse")
        polls = len(one.telegram.called("getUpdates"))
        until(lambda: len(one.telegram.called("getUpdates")) >= polls + 3, 120)  # it has tried, and tried again
        assert one.telegram.unconfirmed or not one.is_quiet()
        filler.unlink()
        one.settle()
        until(one.reviews_are_done)

        assert not one.died()
        assert one.broken_promises() == []


@as_root
@pytest.mark.processes
def test_a_read_only_home_is_said_and_changes_nothing(tmp_path: Path) -> None:
    """As after a disk error: the start ends with a sentence; writable again, it goes on as if nothing had been."""
    with mounted(tmp_path / "disk", 32) as disk, world(disk) as one:
        one.start()
        one.remember("dog")
        one.settle()
        one.here.end(one.process)
        before = _files(one.here.home.path)
        _remount(disk, "ro")
        refused = one.here.run("gateway", **one.environment())
        one.remember("cat")
        assert refused.returncode == 1
        assert "Traceback" not in refused.stderr
        assert "read-only" in refused.stderr.lower() or "may not be written" in refused.stderr, refused.stderr
        assert _files(one.here.home.path) == before
        _remount(disk, "rw")
        one.start()
        one.settle()

        assert one.broken_promises() == []


def _largest(one: World) -> int:
    """Bytes of the larger of the database's files."""
    path = one.here.home.state_db
    return max(path.stat().st_size, path.with_name("state.db-wal").stat().st_size)


def fill(path: Path) -> None:
    with path.open("wb", buffering=0) as file:
        for size in (65536, 4096, 1):
            try:
                while file.write(b"\0" * size) == size:
                    pass
            except OSError:
                continue


def _remount(disk: Path, mode: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{mode}", str(disk)], check=True)


def _files(home: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(home.rglob("*")) if path.is_file()}


# -- Redis -------------------------------------------------------------------------------------------------


def stopped(one: World) -> None:
    """It hangs: connections are taken and nothing is answered."""
    for pid in one.here.pids("redis"):
        os.kill(pid, signal.SIGSTOP)


def going_on(one: World) -> None:
    for pid in one.here.pids("redis"):
        os.kill(pid, signal.SIGCONT)


def wiped(one: World) -> None:
    with Redis.from_url(f"unix://{one.here.home.redis_socket}") as redis:
        redis.flushall()


def replaced(one: World) -> None:
    """Killed, with all it knew gone: the next one starts empty."""
    for pid in one.here.pids("redis"):
        os.kill(pid, signal.SIGKILL)
    shutil.rmtree(one.here.home.redis_dir, ignore_errors=True)


@pytest.mark.processes
@pytest.mark.parametrize(
    ("fault", "mend"), [(stopped, going_on), (wiped, None), (replaced, None)], ids=["stopped", "wiped", "replaced"]
)
def test_chats_go_on_whatever_becomes_of_redis(
    tmp_path: Path, fault: Callable[[World], None], mend: Callable[[World], None] | None
) -> None:
    """It only rings: answers come as ever, and each review is done once, later."""
    with world(tmp_path, interval=2) as one:
        one.start("up")
        one.remember("dog")
        one.chat("good morning")
        one.settle()
        until(lambda: one.here.home.redis_socket.exists())

        fault(one)
        for animal in ("cat", "horse", "goat"):
            one.remember(animal)
        began = time.monotonic()
        one.settle()
        took = time.monotonic() - began
        if mend:
            mend(one)
        until(one.reviews_are_done, 30)

        assert took < 10
        assert one.broken_promises() == []


# -- the clock ---------------------------------------------------------------------------------------------


class SteppedClock:
    """The real time, as many days off as a test says."""

    def __init__(self) -> None:
        self.days = 0

    def now(self) -> datetime:
        return datetime.now(UTC) + timedelta(days=self.days)


async def test_a_clock_that_jumps_by_days_loses_and_doubles_nothing(tmp_path: Path) -> None:
    """A board without a battery, before and after it hears of the real time: every step is taken once."""
    with FakeTelegram() as telegram, ModelServer() as server:
        clock = SteppedClock()
        bot = Bot(tmp_path, telegram, server, clock)
        bot.configure(memory="write_approval: true, nudge_interval: 1, pending_ttl_days: 0")
        await bot.start()
        steps = (0, 20, -20, 3, -9000, 400, 0)
        for number, days in enumerate(steps):
            clock.days = days
            if number == 3:
                await bot.restart()
            server.answers(f"answer {number}")
            server.calls("memory", action="add", content=f"Fact {number}", when=_is_review_of(number))
            await bot.says(f"message {number}")
            await bot.run_jobs()
            clock.days = -days
            await bot.taps("Approve")

        with bot.core.db.read() as rd:
            answers = [row[0] for row in rd.rows("SELECT text FROM messages WHERE answers IS NOT NULL ORDER BY id")]
            reviewed = [tuple(row) for row in rd.rows("SELECT turn, status, attempts FROM reviews ORDER BY turn")]
        assert answers == [f"answer {number}" for number in range(len(steps))]
        assert [text for text in bot.sees() if text.startswith("answer")] == answers
        assert reviewed == [(turn, "done", 1) for turn in range(1, len(steps) + 1)]
        assert [write.status for write in bot.ledger()] == [Status.APPLIED] * len(steps)
        assert bot.memory_file() == "\n§\n".join(f"Fact {number}" for number in range(len(steps))) + "\n"
        assert bot.outbox_is_empty()
        await bot.stop()


def _is_review_of(number: int) -> Callable[[dict[str, Any]], bool]:
    """The first request of the review that follows message `number`."""

    def fits(request: dict[str, Any]) -> bool:
        messages = request["messages"]
        return "Background review" in str(messages[-1]["content"]) and f"message {number}" in json.dumps(messages)

    return fits


# -- the model ---------------------------------------------------------------------------------------------


def hangs(server: ModelServer) -> None:
    for _ in range(TRIES):
        server.holds()


def floods(server: ModelServer) -> None:
    event = {"choices": [{"index": 0, "delta": {"content": "x" * 10_000}, "finish_reason": None}]}
    server.streams_events(*[event] * 400)


def answers_rubbish(server: ModelServer) -> None:
    for _ in range(TRIES):
        server.says_raw("<html>Welcome to our wonderful proxy!</html>", content_type="text/html")


def cuts_the_stream(server: ModelServer) -> None:
    for _ in range(TRIES):
        server.cuts(after_events=2)


TRIES = thinking.MODEL_TRIES * (model_server.MAX_RETRIES + 1)
SILENT = "The model does not answer right now. Please say it again in a while."


@pytest.mark.parametrize("fault", [hangs, floods, answers_rubbish, cuts_the_stream])
async def test_after_a_model_that_breaks_the_next_message_is_answered(
    tmp_path: Path, fault: Callable[[ModelServer], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The message itself gets one answer too, and what a flood brought is cut."""
    monkeypatch.setattr(thinking, "MODEL_WAIT_MOST_SECONDS", 0.01)
    async with running_bot(tmp_path) as bot:
        bot.configure(model=f"provider: openai, name: fake-1, base_url: '{bot.server.url}', timeout_seconds: 0.2")
        await bot.restart()
        fault(bot.server)
        await bot.says("hello")
        bot.server.forget_script()
        first = [text for text in bot.sees() if not text.startswith("Hello! I am hikae")]
        await bot.says("and now?")

        assert bot.sees()[-1] == "Hello from the fake model."
        with bot.core.db.read() as rd:
            answers = [row[0] for row in rd.rows("SELECT text FROM messages WHERE answers IS NOT NULL ORDER BY id")]
        assert len(answers) == 2
        assert answers[0] == SILENT or (fault is floods and set(answers[0][:200_000]) == {"x"})
        assert first[0] == SILENT or fault is floods


async def test_after_a_refused_network_the_next_message_is_answered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The model's machine is away, and comes back at the same address."""
    monkeypatch.setattr(thinking, "MODEL_WAIT_MOST_SECONDS", 0.01)
    async with running_bot(tmp_path) as bot:
        address = bot.server.url
        bot.configure(model="provider: openai, name: fake-1, base_url: 'http://127.0.0.1:1/v1'")
        await bot.restart()
        await bot.says("hello")
        assert bot.sees()[0] == SILENT

        bot.configure(model=f"provider: openai, name: fake-1, base_url: '{address}'")
        await bot.restart()
        await bot.says("and now?")
        assert bot.sees()[-1] == "Hello from the fake model."
        assert bot.outbox_is_empty()
