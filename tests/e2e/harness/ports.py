"""Ports for what a test starts by itself."""

import random
import socket

# Below the kernel's range for outgoing connections, or one of those could hold a port before it is listened on; and below the suite's own.
_CHOICES = range(10_000, 20_000)
_given: set[int] = set()


def free_port() -> int:
    """A port of 127.0.0.1 that nobody listens on, never the same one twice."""
    for port in random.sample(_CHOICES, 100):
        if port not in _given and _is_free(port):
            _given.add(port)
            return port
    raise OSError(f"no free port found between {_CHOICES.start} and {_CHOICES.stop - 1}")


def _is_free(port: int) -> bool:
    try:
        socket.create_server(("127.0.0.1", port)).close()
    except OSError:
        return False
    return True
