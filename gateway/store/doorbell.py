"""The byte that tells a running gateway that something waits in the outbox.

Losing it does no harm: the gateway also looks once a second whether anything was committed.
"""

import contextlib
import socket

from gateway.home import Home
from gateway.store import textfile

_LONGEST_ADDRESS = 103
"""What every kernel takes as the path of a socket (Linux 107 bytes, macOS 103)."""


def ring(home: Home) -> None:
    """Wake the gateway of this home, if there is one. Never raises, never waits."""
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as bell:
        bell.setblocking(False)
        bell.sendto(b"\n", str(home.gateway_socket))


def open_listener(home: Home) -> socket.socket:
    """The gateway's end, not blocking. The caller holds `run/gateway.lock`, reads bytes and closes it.

    In a home whose path is too long for a socket it is one that nobody can ring.
    """
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    try:
        listener.setblocking(False)
        if len(bytes(home.gateway_socket)) <= _LONGEST_ADDRESS:
            textfile.remove(home.gateway_socket)
            listener.bind(str(home.gateway_socket))
            home.gateway_socket.chmod(0o600)
    except BaseException:
        listener.close()
        raise
    return listener
