"""An nginx of its own on loopback: the proxy of the end-to-end tests, a floor of the benches."""

import contextlib
import socket
import subprocess
from pathlib import Path

_TEMPORARY = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")


def configuration(folder: Path, server: str, http: str = "") -> str:
    """One worker that keeps everything in the folder; `server` and `http` are what those blocks
    hold besides.
    """
    temporary = "\n".join(f"    {kind}_temp_path {folder}/{kind};" for kind in _TEMPORARY)
    return f"""worker_processes 1;
pid {folder}/pid;
error_log {folder}/error.log;
events {{ worker_connections 1024; }}
http {{
    access_log off;
{temporary}
    {http}
    server {{
        {server}
    }}
}}
"""


class Nginx:
    """A running one, until `end` is called. `server` says which port of 127.0.0.1 it listens on."""

    def __init__(self, folder: Path, port: int, server: str, http: str = "") -> None:
        self._port = port
        self._log = folder / "error.log"
        settings = folder / "nginx.conf"
        settings.write_text(configuration(folder, server, http), encoding="utf-8")
        self._process = subprocess.Popen(
            ["nginx", "-c", str(settings), "-e", str(self._log), "-g", "daemon off;"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self.pid = self._process.pid

    def is_listening(self) -> bool:
        """Whether it takes connections; raises ChildProcessError with its log once it has ended."""
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
