"""An nginx of its own on loopback: the proxy of the end-to-end tests, a floor of the benches."""

import contextlib
import shutil
import socket
import subprocess
from pathlib import Path

_FRAME = Path(__file__).with_suffix(".conf")


class Nginx:
    """A running one, until `end` is called; one worker that keeps everything in the folder.

    `served` is what the `http` block holds: servers, one of which listens on the port of 127.0.0.1.
    """

    def __init__(self, folder: Path, port: int, served: str) -> None:
        self._port = port
        self._log = folder / "error.log"
        shutil.copyfile(_FRAME, folder / "nginx.conf")
        (folder / "server.conf").write_text(served, encoding="utf-8")
        command = ["nginx", "-p", str(folder), "-c", "nginx.conf", "-e", "error.log"]
        self._process = subprocess.Popen(
            [*command, "-g", "daemon off;"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self.pid = self._process.pid

    def is_listening(self) -> bool:
        """Returns whether it takes connections; raises ChildProcessError with its log once it has
        ended.
        """
        ended = self._process.poll()
        if ended is not None:
            said = self._log.read_text(encoding="utf-8") if self._log.exists() else ""
            raise ChildProcessError(f"nginx ended with {ended}: {said}")
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self._port), 1):
            return True
        return False

    def end(self) -> None:
        """Returns when it is gone."""
        self._process.terminate()
        self._process.wait(timeout=10)
