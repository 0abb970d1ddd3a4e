"""HAProxy in front of a mail server, as operators put it there."""

import contextlib
import os
import socket
import subprocess
from pathlib import Path
from typing import Self

from dev.ports import free_port

from harness.suite import ROOT
from harness.waiting import eventually

_EXAMPLE = ROOT / "deploy" / "haproxy" / "haproxy.cfg"


class HAProxy:
    """Passes connections on to `server` (host:port) by the project's example, with a PROXY header
    of version 2, or of 1 where `send` is `send-proxy`.

    Use as a context manager; clients connect to `address`.
    """

    def __init__(self, folder: Path, server: str, send: str = "send-proxy-v2") -> None:
        self._port = free_port()
        self.address = f"127.0.0.1:{self._port}"
        self._environment = os.environ | {"SMTP_LISTEN": self.address, "MAIL_INGEST_1": server}
        self._log = folder / "haproxy.log"
        self._configuration = folder / "haproxy.cfg"
        example = _EXAMPLE.read_text(encoding="utf-8")
        assert " send-proxy-v2 " in example
        self._configuration.write_text(
            example.replace(" send-proxy-v2 ", f" {send} "), encoding="utf-8"
        )

    def __enter__(self) -> Self:
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                ["haproxy", "-db", "-f", str(self._configuration)],
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        try:
            eventually(self._is_listening, "HAProxy listens")
        except (AssertionError, TimeoutError):
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait(timeout=10)

    def _is_listening(self) -> bool:
        assert self._process.poll() is None, self._log.read_text(encoding="utf-8")
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self._port), 1):
            return True
        return False
