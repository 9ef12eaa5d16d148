"""Real `hikae` processes for tests: started on a home, waited for, killed, and gone at the end."""

import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from gateway.home import Home

PATIENCE_SECONDS = 40.0
ROOT = Path(__file__).parents[1]


class Machine:
    """One home and the processes on it."""

    def __init__(self, home: Home) -> None:
        self.home = home
        self._started: list[subprocess.Popen[bytes]] = []

    def configure(self, **sections: str) -> None:
        """Write config.yaml, each section as the body of a YAML mapping in braces."""
        self.home.path.mkdir(mode=0o700, exist_ok=True)
        text = "".join(f"{name}: {{{body}}}\n" for name, body in sections.items())
        self.home.config.write_text(text, "utf-8")

    def start(self, *arguments: str, **environment: str) -> subprocess.Popen[bytes]:
        """Start `hikae …`, its output into a file beside the home: it may hold words of people."""
        with self._output(len(self._started)).open("wb") as out:
            process = subprocess.Popen(
                self._command(arguments),
                cwd=ROOT,
                env=self._environment(environment),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self._started.append(process)
        return process

    def limit_files(self, process: subprocess.Popen[bytes], largest: int = resource.RLIM_INFINITY) -> None:
        """Let no file that this process writes grow beyond so many bytes, as on a full disk; without, lift it."""
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (largest, resource.RLIM_INFINITY))

    def run(self, *arguments: str, given: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
        """Run `hikae …` to its end."""
        return subprocess.run(
            self._command(arguments),
            cwd=ROOT,
            env=self._environment(environment),
            input=given,
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
            check=False,
        )

    def output(self, process: subprocess.Popen[bytes]) -> str:
        """What a started process has printed so far."""
        return self._output(self._started.index(process)).read_text("utf-8")

    def _output(self, number: int) -> Path:
        return self.home.path.with_name(f"{self.home.path.name}-out-{number}")

    def kill(self, process: subprocess.Popen[bytes]) -> None:
        """SIGKILL, and wait until it is gone."""
        process.kill()
        process.wait()

    def end(self, process: subprocess.Popen[bytes]) -> int:
        """SIGTERM; returns the exit code."""
        process.send_signal(signal.SIGTERM)
        return process.wait(PATIENCE_SECONDS)

    def end_all(self) -> None:
        """Whatever still runs is killed, with all its children."""
        for process in self._started:
            if process.poll() is None:
                process.kill()
                process.wait()
        for pid in self.pids():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        until(lambda: not self.pids())

    def pids(self, holding: str = "") -> list[int]:
        """Processes whose command line names this home (and `holding`)."""
        found = []
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit() and int(entry.name) != os.getpid():
                line = _command_line(entry)
                if str(self.home.path) in line and holding in line:
                    found.append(int(entry.name))
        return found

    def _command(self, arguments: Sequence[str]) -> list[str]:
        return [sys.executable, "-m", "tests.unhurried", "--home", str(self.home.path), *arguments]

    def _environment(self, extra: dict[str, str]) -> dict[str, str]:
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "VIRTUAL_ENV") if name in os.environ}
        return {**kept, "HOME": str(self.home.path.parent), **extra}


def _command_line(entry: Path) -> str:
    try:
        return (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
    except OSError:
        return ""


def until(predicate: Callable[[], object], seconds: float = PATIENCE_SECONDS) -> None:
    """Wait for a condition of other processes, looking often."""
    deadline = time.monotonic() + seconds
    while not predicate():
        if time.monotonic() > deadline:
            raise AssertionError(f"did not happen within {seconds} s")
        time.sleep(0.02)


@contextmanager
def machine(path: Path) -> Iterator[Machine]:
    """A home in `path`; every process on it is gone afterwards."""
    one = Machine(Home(path / "home"))
    one.home.path.mkdir(mode=0o700, parents=True)
    try:
        yield one
    finally:
        one.end_all()
