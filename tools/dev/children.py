"""Describes a supervised process, and finds the processes of a suite whose supervisor is gone."""

import hashlib
import json
import os
import signal
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path

from dev.paths import SUITE_VARIABLE
from dev.waiting import wait_until

# Signals by which a process ends through a fault of its own; others end it by a request, or kill
# it.
_CRASH_SIGNALS = {
    signal.SIGILL,
    signal.SIGTRAP,
    signal.SIGABRT,
    signal.SIGBUS,
    signal.SIGFPE,
    signal.SIGSEGV,
    signal.SIGSYS,
}

CHILD_VARIABLE = "TEMPINBOX_DEV_CHILD"
SUPERVISOR = "supervisor"


def layer(name: str) -> int:
    """Higher layers are stopped first: services, then Kafka, then PostgreSQL."""
    return {"postgres": 1, "kafka": 2}.get(name.split("-", 1)[0], 3)


def stop_signal(name: str) -> signal.Signals:
    """Returns the signal that ends the process; SIGINT is PostgreSQL's fast shutdown."""
    return signal.SIGINT if layer(name) == 1 else signal.SIGTERM


def crash_of(exit_code: int | str | None) -> str:
    """The name of the signal by which a process ended through a fault of its own; empty for every
    other end.
    """
    return (
        signal.Signals(-exit_code).name
        if isinstance(exit_code, int) and -exit_code in _CRASH_SIGNALS
        else ""
    )


@dataclass(frozen=True)
class ChildSpec:
    """Says how to start one process.

    Equal fingerprints mean that a running one need not be started again.
    """

    name: str
    argv: list[str]
    folder: str
    log: str
    environment: dict[str, str] = field(default_factory=dict)
    user: str | None = None
    version: str = ""
    grace_seconds: float = 45.0

    def fingerprint(self) -> str:
        """A digest of everything above."""
        return hashlib.sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True)
class Process:
    """A live process of a suite."""

    pid: int
    name: str
    started: str

    def is_alive(self) -> bool:
        """Returns whether it still runs, and is not another process with the same id."""
        return _start_time(self.pid) == self.started

    def send(self, what: signal.Signals) -> None:
        """Signals it, if it is still there."""
        try:
            if self.is_alive():
                os.kill(self.pid, what)
        except ProcessLookupError:
            pass


def _start_time(pid: int) -> str | None:
    """Clock ticks from boot to the start of the process: with the pid, its identity; None when it
    has ended.
    """
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] == "Z" else fields[19]


def _parent(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def _environment(pid: str) -> dict[str, str]:
    try:
        text = Path(f"/proc/{pid}/environ").read_bytes().decode(errors="replace")
    except OSError:
        return {}
    return dict(entry.split("=", 1) for entry in text.split("\0") if "=" in entry)


def find(suite: Path) -> list[Process]:
    """Every process that carries the suite's mark in its environment, without the children of one
    that has the same name.
    """
    marked: dict[int, Process] = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        environment = _environment(pid)
        started = _start_time(int(pid))
        if (
            environment.get(SUITE_VARIABLE) == str(suite)
            and CHILD_VARIABLE in environment
            and started
        ):
            marked[int(pid)] = Process(int(pid), environment[CHILD_VARIABLE], started)
    same_as_parent = {
        pid
        for pid, it in marked.items()
        if (above := marked.get(_parent(pid))) and above.name == it.name
    }
    return [it for pid, it in marked.items() if pid not in same_as_parent]


def end(processes: list[Process], grace_seconds: float) -> None:
    """Ends processes layer by layer; what does not follow its signal in time is killed."""
    for step in sorted({layer(it.name) for it in processes}, reverse=True):
        here = [it for it in processes if layer(it.name) == step]
        for it in here:
            it.send(stop_signal(it.name))
        if not _wait_gone(here, grace_seconds):
            for it in here:
                it.send(signal.SIGKILL)
            _wait_gone(here, 5.0)


def _wait_gone(processes: list[Process], seconds: float) -> bool:
    try:
        wait_until(
            lambda: not any(it.is_alive() for it in processes),
            time.monotonic() + seconds,
            "the end of the processes",
        )
    except TimeoutError:
        return False
    return True
