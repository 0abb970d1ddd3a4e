"""A mail server of a test's own beside those of the suite, for limits the suite's have switched
off.
"""

import os
import subprocess
import tempfile
from typing import Self

import requests
from dev.ports import free_port

from harness.suite import Suite
from harness.waiting import eventually


class MailServer:
    """tempinbox-mail-ingest on the suite's database and Kafka, with settings by name.

    Use as a context manager; `address` is host:port.
    """

    def __init__(self, suite: Suite, **settings: str) -> None:
        self.address, self._admin = (f"127.0.0.1:{free_port()}" for _ in range(2))
        given = {
            "smtp_listen": self.address,
            "admin_listen": self._admin,
            "database": suite["DATABASE"],
            "kafka_brokers": suite["KAFKA"],
            "hostname": "mx.own.example",
            **settings,
        }
        known = {
            name: value for name, value in os.environ.items() if not name.startswith("TEMPINBOX_")
        }
        self._environment = known | {
            "TEMPINBOX_" + name.upper(): value for name, value in given.items()
        }
        self._program = str(suite.program("tempinbox-mail-ingest"))
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - closed in __exit__
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            [self._program],
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=self._log,
        )
        try:
            eventually(self._is_ready, "the mail server is ready", seconds=30)
        except TimeoutError:
            self._log.seek(0)
            print(self._log.read().decode(errors="replace"))
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process
        self._process.terminate()
        self._process.wait(timeout=40)
        self._log.close()

    def _is_ready(self) -> bool:
        assert self._process, "the mail server was not started"
        assert self._process.poll() is None, "the mail server has ended"
        try:
            return requests.get(f"http://{self._admin}/readyz", timeout=2).status_code == 200
        except requests.RequestException:
            return False
