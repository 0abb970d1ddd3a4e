"""Networks apart from the machine's."""

import os
import socket
import subprocess
import sys
from contextlib import ExitStack
from typing import Self

import pytest

from harness.relay import Relay

_BIND = """
import socket, sys
bound = socket.socket()
bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
bound.bind(("127.0.0.1", int(sys.argv[1])))
socket.send_fds(socket.socket(fileno=int(sys.argv[2])), [b"bound"], [bound.fileno()])
"""


class NetworkNamespace:
    """A namespace of the kernel's, without a card. Use as a context manager, as root.

    Where the machine makes none, the test is skipped with the reason.
    """

    def __init__(self) -> None:
        self._name = f"tempinbox-{os.getpid()}"
        # Stands before a command that runs there. Not `ip -n` or `ip netns exec`: they change how /
        # is mounted, which fails in a chroot whose / is a plain folder.
        self.there = ["nsenter", f"--net=/run/netns/{self._name}"]

    def __enter__(self) -> Self:
        made = subprocess.run(
            ["ip", "netns", "add", self._name], capture_output=True, text=True, timeout=10
        )
        if made.returncode != 0:
            pytest.skip(f"this machine makes no network namespace: {made.stderr.strip()}")
        try:
            self._furnish()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        subprocess.run(["ip", "netns", "delete", self._name], capture_output=True)

    def run(self, *command: str) -> str:
        """Runs a command there, which must succeed; what it printed."""
        return self._run([*self.there, *command])

    def _furnish(self) -> None:
        """What it has from the start."""

    @staticmethod
    def _run(command: list[str]) -> str:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10)
        assert done.returncode == 0, f"{' '.join(command)}: {done.stderr.strip()}"
        return done.stdout


class Island(NetworkNamespace):
    """A namespace without a route: it has nothing but a loopback of its own, where these ports of
    our loopback are found by the same numbers.
    """

    def __init__(self, ports: set[int]) -> None:
        super().__init__()
        self._ports = ports
        self._bridges = ExitStack()

    def _furnish(self) -> None:
        self.run("ip", "link", "set", "lo", "up")
        assert self.run("ip", "route", "show") == ""
        for port in self._ports:
            self._bridges.enter_context(_Bridge(self, port))

    def __exit__(self, *_: object) -> None:
        self._bridges.close()
        super().__exit__()

    def bound(self, port: int) -> socket.socket:
        """A socket of that network, bound to a port of its loopback."""
        here, there = socket.socketpair()
        with here, there:
            python = [sys.executable, "-c", _BIND, str(port), str(there.fileno())]
            subprocess.run(
                [*self.there, *python], pass_fds=[there.fileno()], timeout=10, check=True
            )
            _, (descriptor,), _, _ = socket.recv_fds(here, 16, 1)
        return socket.socket(fileno=descriptor)


class _Bridge(Relay):
    """Listens at a port of the island, and connects to the same of ours."""

    def __init__(self, island: Island, port: int) -> None:
        self._island = island
        super().__init__(("127.0.0.1", port))

    def _bind(self, _port: int) -> socket.socket:
        return self._island.bound(self._target[1])
