"""Our own Redis: started on demand, private, on the same data after every kind of death."""

import logging
import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from redis import Redis
from redis.exceptions import RedisError

from gateway import broker, lifeline
from gateway.broker import Broker
from gateway.home import Home

pytestmark = pytest.mark.processes


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "h")
    home.run.mkdir(parents=True, mode=0o700)
    return home


@pytest.fixture
def started(home: Home) -> Iterator[Callable[[], Broker]]:
    """Makes brokers for the home and ends them."""
    brokers: list[Broker] = []

    def start() -> Broker:
        brokers.append(Broker(home, broker.own_url(home)))
        return brokers[-1]

    yield start
    for each in brokers:
        each.stop()


def test_nobody_else_on_the_machine_can_talk_to_it(home: Home, started: Callable[[], Broker]) -> None:
    """Who can write to Redis can make workers run jobs: no port, and a socket for our own account only."""
    assert started().ensure()

    assert stat.S_IMODE(home.redis_socket.stat().st_mode) == 0o700
    assert stat.S_IMODE(home.redis_dir.stat().st_mode) == 0o700
    with _client(home) as redis:
        assert redis.config_get("port")["port"] == "0"


def test_it_is_set_up_to_lose_nothing_it_was_given(home: Home, started: Callable[[], Broker]) -> None:
    """Append-only file without a preamble, so that any server from 7.0 on reads what another wrote."""
    assert started().ensure()

    with _client(home) as redis:
        wanted = ("appendonly", "appendfsync", "aof-use-rdb-preamble", "maxmemory-policy")
        assert {name: redis.config_get(name)[name] for name in wanted} == {
            "appendonly": "yes",
            "appendfsync": "everysec",
            "aof-use-rdb-preamble": "no",
            "maxmemory-policy": "noeviction",
        }


def test_what_was_rung_is_still_there_after_the_server_was_killed(
    home: Home, started: Callable[[], Broker]
) -> None:
    """A killed server comes back with its data at the next call."""
    ours = started()
    assert ours.ensure()
    with _client(home) as redis:
        redis.rpush("queue", "job")
    os.kill(_server_pid(home), signal.SIGKILL)

    _until(lambda: ours.ensure() and _get(home, "queue") == [b"job"])


def test_a_second_one_who_needs_it_uses_the_first_ones(home: Home, started: Callable[[], Broker]) -> None:
    """Gateway, worker and one-shot runs share a home; two servers on one data directory would destroy it."""
    first, second = started(), started()
    assert first.ensure()
    pid = _server_pid(home)

    assert second.ensure()
    second.stop()

    assert _server_pid(home) == pid
    assert first.ensure()


def test_two_who_need_it_at_the_same_moment_get_one_server(home: Home, started: Callable[[], Broker]) -> None:
    """`hikae up` starts everything at once."""
    brokers = [started() for _ in range(4)]
    answers: list[bool] = []
    threads = [threading.Thread(target=lambda each=each: answers.append(each.ensure())) for each in brokers]

    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert answers == [True] * 4
    _until(lambda: len(_servers_of(home)) == 1)


def test_the_next_one_starts_it_again_when_its_starter_has_ended(home: Home, started: Callable[[], Broker]) -> None:
    """It ends with its starter, in order, and the data stays."""
    first, second = started(), started()
    assert first.ensure()
    assert second.ensure()
    with _client(home) as redis:
        redis.set("kept", "yes")
    first.stop()

    assert not _servers_of(home)
    assert second.ensure()
    with _client(home) as redis:
        assert redis.get("kept") == b"yes"


def test_it_dies_with_a_starter_that_is_killed_and_starts_again_on_the_same_data(
    home: Home, started: Callable[[], Broker]
) -> None:
    """A killed gateway leaves no server behind that nobody watches; its lock is free only once it is gone."""
    starter = subprocess.Popen([sys.executable, "-c", _STARTER, str(home.path)], stdout=subprocess.PIPE)
    with starter:
        assert starter.stdout is not None
        assert starter.stdout.readline() == b"up\n"
        with _client(home) as redis:
            redis.set("kept", "yes")
        old = _server_pid(home)
        starter.kill()

    ours = started()
    _until(lambda: ours.ensure() and _is_another_server(home, old))
    assert _servers_of(home) == [_server_pid(home)]
    assert _value(home, "kept") == b"yes"


def test_a_socket_left_by_a_dead_server_is_no_obstacle(home: Home, started: Callable[[], Broker]) -> None:
    """A power cut leaves the file; binding to it would fail."""
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(home.redis_socket))

    assert started().ensure()


def test_damaged_data_is_put_aside_and_said_in_the_log(
    home: Home, started: Callable[[], Broker], caplog: pytest.LogCaptureFixture
) -> None:
    """Redis is only a doorbell: starting empty loses nothing, not starting would stop all reviews."""
    first = started()
    assert first.ensure()
    with _client(home) as redis:
        for number in range(50):
            redis.set(f"key-{number}", "value")
    first.stop()
    for file in home.redis_dir.rglob("*.aof"):
        file.write_bytes(b"*3\r\n$broken\r\n" + file.read_bytes())

    with caplog.at_level(logging.WARNING):
        assert started().ensure()

    assert "redis.damaged_data_put_aside" in caplog.messages
    assert home.redis_dir.with_name("redis.damaged").is_dir()
    assert _value(home, "key-1") is None


def test_a_path_too_long_for_a_socket_is_explained(tmp_path: Path) -> None:
    """The kernel would answer with an error that nobody understands; reviews wait, the chat goes on."""
    home = Home(tmp_path / ("long" * 30))
    ours = Broker(home, broker.own_url(home))

    assert not ours.ensure()

    assert "107 are possible" in ours.problem
    assert "REDIS_URL" in ours.problem
    ours.stop()


def test_a_home_with_odd_signs_in_its_path_works(tmp_path: Path) -> None:
    """The path travels in an address, where some signs mean something."""
    home = Home(tmp_path / "a b%20?#é")
    home.run.mkdir(parents=True)
    ours = Broker(home, broker.own_url(home))

    assert ours.ensure()

    ours.stop()


def test_a_configured_redis_that_is_away_is_a_sentence_and_not_started_by_us(home: Home) -> None:
    """REDIS_URL is somebody else's server: we say what we see and ask again."""
    ours = Broker(home, f"unix://{home.run}/elsewhere.sock")

    assert not ours.ensure()

    assert "redis.url" in ours.problem
    assert not home.redis_lock.exists()
    ours.stop()


@pytest.mark.parametrize(
    ("says", "usable"),
    [
        ("Redis server v=7.0.15 sha=00000000:0 malloc=jemalloc", True),
        ("Valkey server v=8.1.1 sha=00000000:0", True),
        ("Redis server v=6.2.14 sha=00000000:0", False),
        ("nothing one could read", False),
    ],
)
def test_a_server_on_the_path_is_used_if_it_is_new_enough(
    says: str, usable: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An old one would silently start empty on our data; the distribution's updates are welcome otherwise."""
    server = tmp_path / "redis-server"
    server.write_text(f"#!/bin/sh\necho '{says}'\n")
    server.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")

    found = broker.find_server()

    assert (found == server) == usable
    assert found is not None


def test_without_any_server_the_sentence_says_what_to_install(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """There are platforms without a bundled one."""
    monkeypatch.setenv("PATH", str(home.path))
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    ours = Broker(home, broker.own_url(home))

    assert not ours.ensure()

    assert ours.problem.startswith("There is no Redis here.")
    ours.stop()


def test_a_program_whose_parent_is_gone_already_does_not_start(tmp_path: Path) -> None:
    """The parent may die between its fork and the child's request to be told."""
    argv = lifeline.command([shutil.which("echo") or "", "hello"], how=signal.SIGTERM, lock=tmp_path / "lock")
    of_somebody_else = [str(os.getpid() + 1) if each == str(os.getpid()) else each for each in argv]

    assert subprocess.run(argv, capture_output=True, check=True).stdout == b"hello\n"
    assert subprocess.run(of_somebody_else, capture_output=True, check=False).stdout == b""


_STARTER = """
import sys, time
from pathlib import Path
from gateway import broker
from gateway.home import Home
home = Home(Path(sys.argv[1]))
assert broker.Broker(home, broker.own_url(home)).ensure()
print("up", flush=True)
time.sleep(60)
"""


def _client(home: Home) -> Redis:
    return Redis.from_url(broker.own_url(home))


def _get(home: Home, key: str) -> object:
    with _client(home) as redis:
        return redis.lrange(key, 0, -1)


def _value(home: Home, key: str) -> object:
    with _client(home) as redis:
        return redis.get(key)


def _server_pid(home: Home) -> int:
    with _client(home) as redis:
        return int(redis.info("server")["process_id"])


def _is_another_server(home: Home, old: int) -> bool:
    """False also while the old one still answers, or hangs up because it is ending."""
    try:
        return _server_pid(home) != old
    except RedisError:
        return False


def _servers_of(home: Home) -> list[int]:
    """The processes that listen on the home's socket."""
    found = []
    for command in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            said = command.read_bytes()
        except OSError:
            continue
        if bytes(home.redis_socket) in said:
            found.append(int(command.parent.name))
    return found


def _until(condition: Callable[[], bool]) -> None:
    """Wait until it holds, at most 10 seconds."""
    end = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        threading.Event().wait(0.02)
