"""Free ports: for tests and benches, and for suites, which keep theirs over restarts."""

import random
import socket
import zlib
from pathlib import Path

# Below the kernel's range for outgoing connections, or one of those could hold a port while its
# service is being restarted.
_FIRST, _LAST = 20_000, 31_999
# Below those of suites.
_CHOICES = range(10_000, 20_000)
_given: set[int] = set()


def is_free(port: int) -> bool:
    """Returns whether a service could listen on it now."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
            probe.listen()
        except OSError:
            return False
    return True


def free_port() -> int:
    """A port of 127.0.0.1 for a process of a test or a bench, never the same one twice."""
    for port in random.sample(_CHOICES, 100):
        if port not in _given and is_free(port):
            _given.add(port)
            return port
    raise OSError(f"no free port found between {_CHOICES.start} and {_CHOICES.stop - 1}")


class Ports:
    """The ports of one suite by name.

    A remembered one is kept while it is free or known to be in use by the suite itself.
    """

    def __init__(self, suite: Path, remembered: dict[str, int]) -> None:
        self._remembered = remembered
        self._next = _FIRST + zlib.crc32(str(suite).encode()) % (_LAST - _FIRST)

    def take(self, name: str, requested: int | None = None, in_use_by_suite: bool = False) -> int:
        """The port for a name: the requested one, the remembered one, or a free one."""
        known = self._remembered.get(name)
        if requested is not None:
            self._remembered[name] = requested
        elif known is None or not (in_use_by_suite or is_free(known)):
            self._remembered[name] = self._find()
        return self._remembered[name]

    def _find(self) -> int:
        given = set(self._remembered.values())
        for _ in range(_FIRST, _LAST + 1):
            self._next = _FIRST + (self._next + 1 - _FIRST) % (_LAST + 1 - _FIRST)
            if self._next not in given and is_free(self._next):
                return self._next
        raise OSError(f"no free port between {_FIRST} and {_LAST}")
