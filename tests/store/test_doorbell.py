"""The byte that wakes the gateway."""

import socket
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from gateway.home import Home
from gateway.store import doorbell, textfile
from gateway.store.db import Database


@pytest.fixture
def listener(home: Home, db: Database) -> Iterator[socket.socket]:
    with doorbell.open_listener(home) as bell:
        yield bell


def test_a_ring_is_heard(home: Home, listener: socket.socket) -> None:
    """A worker's notice is said at once, not within a second."""
    doorbell.ring(home)

    assert listener.recv(16) == b"\n"
    assert stat.S_IMODE(home.gateway_socket.stat().st_mode) == 0o600


def test_a_socket_that_a_killed_gateway_left_is_taken_over(home: Home, listener: socket.socket) -> None:
    """Nobody deletes files by hand to start a bot."""
    with doorbell.open_listener(home) as bell:
        doorbell.ring(home)

        assert bell.recv(16) == b"\n"


def test_ringing_where_nobody_listens_does_nothing(home: Home) -> None:
    """A worker may run without a gateway."""
    doorbell.ring(home)
    textfile.prepare_home(home)
    doorbell.ring(home)

    assert not home.gateway_socket.exists()


def test_a_bell_that_nobody_answers_never_blocks(home: Home, listener: socket.socket) -> None:
    """The gateway may be busy; its queue of datagrams is short."""
    for _ in range(5000):
        doorbell.ring(home)

    assert listener.recv(16) == b"\n"


def test_a_home_too_deep_for_a_socket_works_without_it(tmp_path: Path) -> None:
    """A kernel's bound on socket paths must not bound where homes may be."""
    deep = Home(tmp_path / ("deep" * 30))
    textfile.prepare_home(deep)

    with doorbell.open_listener(deep) as bell:
        doorbell.ring(deep)

        with pytest.raises(BlockingIOError):
            bell.recv(16)
