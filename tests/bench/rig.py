"""What the figures are measured with: the load server, the bot's processes, /proc."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import quantiles
from typing import Any

ROOT = Path(__file__).parents[2]
PATIENCE_SECONDS = 180.0


@dataclass(frozen=True, slots=True)
class Figure:
    """One row of the table. `met` is None where there is no goal."""

    name: str
    value: str
    floor: str
    goal: str
    met: bool | None


def in_ms(seconds: float) -> str:
    return f"{seconds * 1000:.1f} ms" if seconds >= 0.0005 else f"{seconds * 1e6:.0f} µs"


class Server:
    """The load server in its own process."""

    def __init__(self) -> None:
        command = (sys.executable, "-m", "tests.bench.server")
        self._process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        self.url = f"http://127.0.0.1:{self._process.stdout.readline().strip()}"

    def ask(self, path: str, **asked: Any) -> dict[str, Any]:
        request = urllib.request.Request(
            self.url + path, json.dumps(asked).encode(), {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=PATIENCE_SECONDS) as answer:
            found: dict[str, Any] = json.load(answer)
            return found

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()


class Running:
    """A started process and its children."""

    def __init__(self, command: Sequence[str], **environment: str) -> None:
        kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        self.began = time.perf_counter()
        self.process = subprocess.Popen(
            command,
            cwd=ROOT,
            env={**kept, **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def pids(self) -> list[int]:
        """This process and all below it."""
        found, waiting = [], [self.process.pid]
        while waiting:
            pid = waiting.pop()
            found.append(pid)
            for task in Path(f"/proc/{pid}/task").glob("*/children"):
                waiting += [int(child) for child in task.read_text().split()]
        return found

    def megabytes(self, *, whole_family: bool = False) -> float:
        """Proportional set size."""
        pids = self.pids() if whole_family else [self.process.pid]
        return sum(_pss_kilobytes(pid) for pid in pids) / 1024

    def cpu_seconds(self) -> float:
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def end(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def _pss_kilobytes(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))


@contextmanager
def running(command: Sequence[str], **environment: str) -> Iterator[Running]:
    """A process that is ended with the block."""
    one = Running(command, **environment)
    try:
        yield one
    finally:
        one.end()


@contextmanager
def scratch() -> Iterator[Path]:
    """A folder on the same disk as this checkout, where fsyncs cost what they cost."""
    with tempfile.TemporaryDirectory(prefix="hikae-bench-", dir=ROOT.parent) as name:
        yield Path(name)


def hikae(home: Path, *arguments: str, program: str = "tests.unhurried") -> list[str]:
    """The program with its gates open: the platforms' bounds are not what is measured, but by `gateway`."""
    return [sys.executable, "-m", program, "--home", str(home), *arguments]


def configure(home: Path, server: Server, **sections: str) -> dict[str, str]:
    """Write config.yaml for the load server; returns the environment to start with."""
    home.mkdir(mode=0o700, exist_ok=True)
    body = {
        "model": f"provider: openai, name: bench, base_url: '{server.url}/v1'",
        "access": access("telegram", (*range(1001, 1021), *range(2000, 2011), *range(3000, 3016))),
        "web": "enabled: false",
        **sections,
    }
    (home / "config.yaml").write_text("".join(f"{key}: {{{text}}}\n" for key, text in body.items()), "utf-8")
    return {"TELEGRAM_BOT_TOKEN": "1:bench", "HIKAE_TELEGRAM_BASE_URL": server.url, "HOME": str(home.parent)}


def access(platform: str, people: Iterable[int]) -> str:
    """The owner and these people may talk to the bot."""
    allowed = ", ".join(f"'{platform}:{number}'" for number in people)
    return f"owners: ['{platform}:1000'], allowed: [{allowed}]"


def percentile(values: Sequence[float], share: int) -> float:
    """The value below which `share` percent lie."""
    return values[0] if len(values) == 1 else quantiles(values, n=100)[share - 1]


def best_of(times: int, command: Sequence[str], **environment: str) -> float:
    """Seconds of the quickest run: what the program costs without the machine's noise."""
    seconds = []
    for _ in range(times):
        running = Running(command, **environment)
        running.process.wait(PATIENCE_SECONDS)
        seconds.append(time.perf_counter() - running.began)
    return min(seconds)


def bare_syncs(folder: Path) -> list[float]:
    """What a write of memory has to wait for: two commits, the file, its folder, the old file overwritten."""
    db = sqlite3.connect(folder / "bare.db", isolation_level=None)
    db.execute("PRAGMA journal_mode=WAL")
    db.execute("PRAGMA synchronous=FULL")
    db.execute("CREATE TABLE t (x TEXT)")
    seconds = []
    for _ in range(60):
        began = time.perf_counter()
        db.execute("INSERT INTO t VALUES ('x')")
        with (folder / "new").open("wb") as file:
            file.write(b"x" * 1000)
            file.flush()
            os.fsync(file.fileno())
        old = os.open(folder / "file", os.O_WRONLY | os.O_CREAT)
        os.replace(folder / "new", folder / "file")
        handle = os.open(folder, os.O_RDONLY)
        os.fsync(handle)
        os.close(handle)
        os.pwrite(old, bytes(1000), 0)
        os.fsync(old)
        os.close(old)
        db.execute("INSERT INTO t VALUES ('y')")
        seconds.append(time.perf_counter() - began)
    db.close()
    return seconds[10:]
