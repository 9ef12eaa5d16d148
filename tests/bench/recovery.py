"""What follows a kill: how soon a reply, a review and a new chat come to their turn again."""

import os
import signal
import time
from contextlib import suppress
from pathlib import Path
from statistics import median

from gateway.home import Home
from tests.bench import filling
from tests.bench.rig import Figure, Running, Server, configure, hikae, in_ms, running, scratch

TIMES = 5
LONG = 60.0
"""Seconds of a model that thinks while we are killed."""
WAITING_CHATS, WAITING_EACH = 1_000, 10


def replies_and_reviews(server: Server) -> list[Figure]:
    """An interrupted reply after the restart; an interrupted review after the kill of who did it."""
    with scratch() as folder:
        ready = [_ready(server, folder / "home") for _ in range(3)]
        replies = [_interrupted_reply(server, folder / "home") for _ in range(TIMES)]
        horse = _interrupted_review(server, folder / "horse", whole_worker=False)
        worker = _interrupted_review(server, folder / "worker", whole_worker=True)
    reply, plain = max(replies), median(ready)
    return [
        Figure(
            f"restart → interrupted reply, longest of {TIMES}",
            f"{reply:.2f} s",
            f"{plain:.2f} s (ready)",
            f"≤ 2 s ({reply / plain:.2f}×)",
            reply <= 2,
        ),
        Figure("killed work horse → its review runs again", f"{horse:.2f} s", "–", "≤ 10 s", horse <= 10),
        Figure("killed worker, Redis with it → the same", f"{worker:.2f} s", "–", "≤ 10 s", worker <= 10),
    ]


def backlog(server: Server) -> list[Figure]:
    """A start with ten thousand messages waiting, and somebody who has never written before."""
    with scratch() as folder:
        none = _new_chat_at_start(server, _home(folder / "none", waiting=False))
        many = _new_chat_at_start(server, _home(folder / "many", waiting=True))
    waiting = f"{WAITING_CHATS * WAITING_EACH:,} waiting"
    return [
        Figure(f"start with {waiting} → ready", f"{many[0]:.2f} s", f"{none[0]:.2f} s", "≤ 1 s", many[0] <= 1),
        Figure(f"start with {waiting}: a new chat's reply", in_ms(many[1]), in_ms(none[1]), "≤ 1 s", many[1] <= 1),
    ]


def _ready(server: Server, home: Path) -> float:
    environment = configure(home, server)
    with running(hikae(home, "gateway"), **environment) as process:
        server.ask("/wait_poll")
        return time.perf_counter() - process.began


def _interrupted_reply(server: Server, home: Path) -> float:
    """From the start of the next process to the reply in the chat; the model answers at once by then."""
    environment = configure(home, server)
    asked = int(server.ask("/count_asked", task="chat")["times"])
    server.ask("/model", seconds=LONG)
    first = Running(hikae(home, "gateway"), **environment)
    server.ask("/say", chat=1000, text="hello")
    server.ask("/wait_asked", task="chat", times=asked + 1)
    first.kill()
    server.ask("/model", seconds=0.0)
    with running(hikae(home, "gateway"), **environment) as second:
        return float(server.ask("/next", chat=1000)["at"]) - second.began


def _interrupted_review(server: Server, home: Path, *, whole_worker: bool) -> float:
    """From the kill to the next time that the model is asked for this review."""
    environment = configure(home, server, memory="nudge_interval: 1")
    asked = int(server.ask("/count_asked", task="review")["times"])
    server.ask("/model", review_seconds=LONG)
    with running(hikae(home, "up"), **environment) as process:
        server.ask("/say", chat=1000, text="I live in Bergen")
        server.ask("/wait_asked", task="review", times=asked + 1)
        server.ask("/model", review_seconds=0.0)
        # Below the gateway: supervisor, then RQ's worker and Redis, then the work horse.
        doomed = process.pids()[1:] if whole_worker else [_youngest(process)]
        killed = time.perf_counter()
        for pid in doomed:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return float(server.ask("/wait_asked", task="review", times=asked + 2)["at"]) - killed


def _youngest(process: Running) -> int:
    """The work horse: the process that was started last."""
    return max(process.pids(), key=_started_at)


def _started_at(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19])


def _home(path: Path, *, waiting: bool) -> Path:
    path.mkdir(mode=0o700)
    if waiting:
        with filling.filling(Home(path)) as db:
            filling.waiting_messages(db, filling.known_people(db, WAITING_CHATS), WAITING_EACH)
    return path


def _new_chat_at_start(server: Server, home: Path) -> tuple[float, float]:
    """Seconds from the start to the first poll, and from a message said then to its reply."""
    environment = configure(home, server, memory="nudge_interval: 0")
    with running(hikae(home, "gateway"), **environment) as process:
        server.ask("/wait_poll")
        ready = time.perf_counter() - process.began
        said = float(server.ask("/say", chat=2000, text="hello")["at"])
        replied = float(server.ask("/next", chat=2000)["at"])
        return ready, replied - said
