"""A replica of a service beside those of the suite, with settings of a test's own."""

import json
import os
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import requests
from dev.children import crash_of
from dev.ports import free_port

from harness.suite import Suite
from harness.waiting import eventually


class Replica:
    """A further replica of `service`: the settings of the suite's first one, changed by name
    (`tls_key_file`). Use as a context manager; ends with it. Its lines go to `log`. `there` brings
    it into another network, `within` stands before its command.
    """

    service: str
    listener: str  # the setting that says where it listens

    def __init__(
        self,
        suite: Suite,
        *,
        log: str | Path = os.devnull,
        there: Sequence[str] = (),
        within: Sequence[str] = (),
        **settings: str,
    ) -> None:
        self._suite = suite
        self._there = there
        self._within = within
        self._log = Path(log)
        self.address = f"127.0.0.1:{free_port()}"
        self.admin = f"127.0.0.1:{free_port()}"
        self._settings = {self.listener: self.address, "admin_listen": self.admin} | settings

    @classmethod
    def settings_of(cls, suite: Suite, number: int = 1) -> dict[str, str]:
        """The environment of one of the suite's, which runs."""
        pairs = (
            Path(f"/proc/{suite.pid(cls.service, number)}/environ")
            .read_text(encoding="utf-8")
            .split("\0")
        )
        return dict(pair.split("=", 1) for pair in pairs if "=" in pair)

    def start(self) -> None:
        """Does not wait until it is ready."""
        environment = self.settings_of(self._suite) | {
            f"TEMPINBOX_{name.upper()}": value for name, value in self._settings.items()
        }
        program = str(self._suite.program(f"tempinbox-{self.service}"))
        with self._log.open("ab") as log:
            command = [*self._there, *self._within, program]
            self._process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)

    def __enter__(self) -> Self:
        self.start()
        try:
            eventually(self.is_ready, f"{self.service} is ready", seconds=60)
        except TimeoutError:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        ended = self._process.wait()
        assert not crash_of(ended), f"{self.service} crashed ({crash_of(ended)})"

    def is_ready(self) -> bool:
        """Returns what the status of /readyz says; fails when the process has ended."""
        ended = self._process.poll()
        assert ended is None, f"{self.service} has ended with {ended}"
        return self.readiness()[0] == 200

    def readiness(self) -> tuple[int, dict[str, Any]]:
        """The status and the body of /readyz; 0 and nothing while nobody answers."""
        if self._there:
            return self._readiness_there()
        try:
            answer = requests.get(f"http://{self.admin}/readyz", timeout=2)
        except (requests.exceptions.ConnectionError, requests.exceptions.Timeout):
            return 0, {}
        return answer.status_code, answer.json()

    def _readiness_there(self) -> tuple[int, dict[str, Any]]:
        ask = ["curl", "--silent", "--max-time", "2", "--write-out", "\n%{http_code}"]
        url = f"http://{self.admin}/readyz"
        done = subprocess.run([*self._there, *ask, url], capture_output=True, text=True)
        body, _, status = done.stdout.rpartition("\n")
        return (int(status), json.loads(body)) if done.returncode == 0 else (0, {})

    def metric(self, name: str) -> float:
        """A metric's sum over its labels."""
        lines = requests.get(f"http://{self.admin}/metrics", timeout=5).text.splitlines()
        return sum(float(line.split()[-1]) for line in lines if line.startswith(name))

    def terminate(self) -> None:
        """Asks it to drain."""
        self._process.send_signal(signal.SIGTERM)

    def end(self) -> str:
        """Drains it, so that no line is left unwritten; its whole log."""
        self.terminate()
        assert self.wait(60) == 0, f"{self.service} did not drain"
        return self._log.read_text(encoding="utf-8")

    def kill(self) -> None:
        """Ends it as a crash would."""
        self._process.kill()
        self._process.wait()

    def wait(self, seconds: float = 30.0) -> int:
        """Its exit code."""
        return self._process.wait(seconds)


class Gateway(Replica):
    """Serves the API at `address`."""

    service = "gateway"
    listener = "listen"


class RateLimit(Replica):
    """Takes the calls of gateways at `address`."""

    service = "rate-limit"
    listener = "rpc_listen"


class Inbox(Replica):
    """Takes the calls of gateways at `address`."""

    service = "inbox"
    listener = "rpc_listen"


class WebhookDispatcher(Replica):
    """Takes the calls of gateways at `address`, and its share of the events."""

    service = "webhook-dispatcher"
    listener = "rpc_listen"


class MailIngest(Replica):
    """Takes mail at `address`."""

    service = "mail-ingest"
    listener = "smtp_listen"

    @classmethod
    def settings_of(cls, suite: Suite, number: int = 1) -> dict[str, str]:
        """The environment of one of the suite's, without the ports for logins that it has open."""
        settings = super().settings_of(suite, number)
        ports = ("SUBMISSION_LISTEN", "SUBMISSIONS_LISTEN", "SUBMISSION_CLEAR_LISTEN")
        taken = {f"TEMPINBOX_{port}" for port in ports}
        return {name: value for name, value in settings.items() if name not in taken}
