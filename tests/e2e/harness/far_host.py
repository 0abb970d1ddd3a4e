"""A host that can vanish: its connections stay open here, and nothing more comes from it."""

import os
import subprocess
from typing import Self

import pytest

_NETWORK = "198.18.61"  # of those kept for benchmarks of networks (RFC 2544)


class FarHost:
    """A network namespace behind a pair of virtual cards.

    Use as a context manager, as root; `here` is our address as it sees it. Where the machine makes
    no namespaces, the test is skipped with the reason.
    """

    here = f"{_NETWORK}.1"

    def __init__(self) -> None:
        self._name = f"tempinbox-{os.getpid()}"
        # Not `ip -n` or `ip netns exec`: they change how / is mounted, which fails in a chroot
        # whose / is a plain folder.
        self._there = ["nsenter", f"--net=/run/netns/{self._name}"]
        self._card = f"ti{os.getpid()}"

    def __enter__(self) -> Self:
        made = subprocess.run(
            ["ip", "netns", "add", self._name], capture_output=True, text=True, timeout=10
        )
        if made.returncode != 0:
            pytest.skip(f"this machine makes no network namespace: {made.stderr.strip()}")
        try:
            self._ip(
                "link",
                "add",
                self._card,
                "type",
                "veth",
                "peer",
                "name",
                "far",
                "netns",
                self._name,
            )
            self._ip("address", "add", f"{self.here}/30", "dev", self._card)
            self._ip("link", "set", self._card, "up")
            self._ip_there("address", "add", f"{_NETWORK}.2/30", "dev", "far")
            self._ip_there("link", "set", "far", "up")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        # The cards do not always go with the namespace: the kernel keeps it while it waits for
        # answers to its connections, and the next FarHost needs the same addresses.
        subprocess.run(["ip", "link", "delete", self._card], capture_output=True)
        subprocess.run(["ip", "netns", "delete", self._name], capture_output=True)

    def start(self, command: list[str]) -> subprocess.Popen[bytes]:
        """A program there."""
        return subprocess.Popen(
            [*self._there, *command],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def vanish(self) -> None:
        """Neither FIN nor RST comes, nor will."""
        self._ip_there("link", "set", "far", "down")

    def _ip(self, *arguments: str) -> None:
        self._run(["ip", *arguments])

    def _ip_there(self, *arguments: str) -> None:
        self._run([*self._there, "ip", *arguments])

    @staticmethod
    def _run(command: list[str]) -> None:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10)
        assert done.returncode == 0, f"{' '.join(command)}: {done.stderr.strip()}"
