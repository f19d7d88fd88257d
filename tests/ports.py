"""Ports for servers that are processes of their own and must be told where to listen."""

import os
import socket
from contextlib import suppress
from random import Random

# Below the ports that Linux gives to outgoing connections (32768 and above). One of those, free when it was
# looked for, can be a client's by the time the server has started, or while a killed one is started again.
PORTS = range(20_000, 32_000)
_chance = Random(os.getpid())  # processes of tests that run side by side look at different ports


def free_port() -> int:
    """Return a port that nothing uses."""
    while True:
        port = _chance.choice(PORTS)
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            with suppress(OSError):
                probe.bind(("127.0.0.1", port))
                return port
