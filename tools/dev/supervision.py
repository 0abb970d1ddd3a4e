"""Talking to a suite's supervisor, and starting one."""

import contextlib
import json
import os
import socket
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from dev import children, paths
from dev.children import CHILD_VARIABLE, SUPERVISOR, ChildSpec
from dev.terminal import Failure, fail
from dev.waiting import wait_until


def crashes(logs: Path) -> list[str]:
    """Returns what a suite's supervisor logged of processes that ended through a fault of their
    own.
    """
    log = logs / "supervisor.log"
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines() if log.is_file() else []
    return [line for line in lines if " crashed (" in line]


class Supervision:
    """The supervisor of one data folder, seen from another process.

    Every call fails with an explanation when it is not there.
    """

    def __init__(self, suite: Path) -> None:
        self._suite = suite
        self._lifeline: int | None = (
            None  # kept open for as long as a suite that must not outlive this process is wanted
        )
        self._process: subprocess.Popen[bytes] | None = None  # if started here

    def is_running(self) -> bool:
        """Returns whether it answers."""
        try:
            self.status()
        except Failure:
            return False
        return True

    def start(self, outlives_caller: bool) -> None:
        """Starts the supervisor and waits until it answers."""
        command = [sys.executable, "-m", "dev.supervisor", "--suite", str(self._suite)]
        environment = {**paths.clean_environment(), "PYTHONPATH": str(paths.ROOT / "tools")}
        environment |= {paths.SUITE_VARIABLE: str(self._suite), CHILD_VARIABLE: SUPERVISOR}
        passed: tuple[int, ...] = ()
        if not outlives_caller:
            reading, self._lifeline = os.pipe()
            passed = (reading,)
            command += ["--lifeline", str(reading)]
        with open(self._suite / "logs" / "supervisor.log", "ab") as log:
            process = self._process = subprocess.Popen(
                command,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=passed,
                start_new_session=True,
            )
        for descriptor in passed:
            os.close(descriptor)
        with contextlib.suppress(TimeoutError):
            wait_until(
                lambda: self.is_running() or process.poll() is not None,
                time.monotonic() + 10,
                "the supervisor answers",
            )
        if not self.is_running():
            fail(f"the supervisor did not start; see {self._suite}/logs/supervisor.log")

    def put(self, spec: ChildSpec) -> bool:
        """Has a child run as described; says whether anything had to change."""
        return bool(self._call("put", spec=asdict(spec))["changed"])

    def restart(self, name: str) -> None:
        """Stops and starts one child."""
        self._call("restart", name=name)

    def remove(self, names: list[str]) -> None:
        """Stops children for good."""
        self._call("remove", names=names)

    def status(self) -> dict[str, dict[str, Any]]:
        """The children by name."""
        return {child["name"]: child for child in self._call("status")["children"]}

    def shutdown(self, quick_layers: int = 0) -> None:
        """Stops everything, the supervisor included; also when it hangs or has been killed."""
        with contextlib.suppress(Failure):  # what is left is ended below
            self._call("shutdown", quick_layers=quick_layers)
        leftover = children.find(self._suite)
        supervisors = [it for it in leftover if it.name == SUPERVISOR]
        children.end(supervisors, grace_seconds=55.0)  # stops its children itself, when it can
        children.end(
            [it for it in children.find(self._suite) if it.name != SUPERVISOR], grace_seconds=30.0
        )
        if self._process:
            self._process.poll()  # leaves no zombie

    def _call(self, command: str, **arguments: Any) -> dict[str, Any]:
        try:
            folder = os.open(self._suite, os.O_RDONLY | os.O_DIRECTORY)
        except OSError:
            fail(f"no suite runs with the data folder {self._suite}: ./dev up")
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
                connection.settimeout(5 if command == "status" else 150)
                connection.connect(
                    f"/proc/self/fd/{folder}/supervisor.sock"
                )  # a short name for any folder
                connection.sendall(json.dumps({"do": command, **arguments}).encode() + b"\n")
                answer: dict[str, Any] = json.loads(
                    connection.makefile("rb").readline()
                    or b'{"ok": false, "error": "it left without an answer"}'
                )
        except OSError:
            fail(f"no suite runs with the data folder {self._suite}: ./dev up")
        finally:
            os.close(folder)
        if not answer.pop("ok"):
            fail(f"the supervisor refused {command}: {answer['error']}")
        return answer
