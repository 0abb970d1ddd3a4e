"""A host that can vanish: its connections stay open here, and nothing more comes from it."""

import os
import subprocess

from harness.network_namespace import NetworkNamespace

_NETWORK = "198.18.61"  # of those kept for benchmarks of networks (RFC 2544)


class FarHost(NetworkNamespace):
    """A network namespace behind a pair of virtual cards; `here` is our address as it sees it."""

    here = f"{_NETWORK}.1"

    def __init__(self) -> None:
        super().__init__()
        self._card = f"ti{os.getpid()}"

    def _furnish(self) -> None:
        cable = ["ip", "link", "add", self._card, "type", "veth"]
        self._run([*cable, "peer", "name", "far", "netns", self._name])
        self._run(["ip", "address", "add", f"{self.here}/30", "dev", self._card])
        self._run(["ip", "link", "set", self._card, "up"])
        self.run("ip", "address", "add", f"{_NETWORK}.2/30", "dev", "far")
        self.run("ip", "link", "set", "far", "up")

    def __exit__(self, *_: object) -> None:
        # The cards do not always go with the namespace: the kernel keeps it while it waits for
        # answers to its connections, and the next FarHost needs the same addresses.
        subprocess.run(["ip", "link", "delete", self._card], capture_output=True)
        super().__exit__()

    def start(self, command: list[str]) -> subprocess.Popen[bytes]:
        """A program there."""
        return subprocess.Popen(
            [*self.there, *command],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def vanish(self) -> None:
        """Neither FIN nor RST comes, nor will."""
        self.run("ip", "link", "set", "far", "down")
